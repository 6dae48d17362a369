// The programs of the graphics card. Colours are linear until `COMPOSE` makes them the screen's.

// ---- Light, shared by everything solid: one sun with shadows, a sky above, light from the ground below

const LIGHT = /* glsl */ `
  uniform vec3 sun, up, skyColor, groundColor; uniform sampler2D shadowMap; uniform mat4 shadowMatrix; uniform float shadowBias, shadowOffset;
  float sunlight(vec3 world) {
    vec3 at = (shadowMatrix * vec4(world, 1.0)).xyz * 0.5 + 0.5;
    if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
    vec2 texel = 1.0 / vec2(textureSize(shadowMap, 0));
    float free = 0.0;
    for (int i = 0; i < 9; ++i) {
      vec2 offset = (vec2(i % 3, i / 3) - 1.0) * 1.4 * texel;
      free += step(at.z - shadowBias, texture(shadowMap, at.xy + offset).r);
    }
    return free / 9.0;
  }
  vec3 shade(vec3 albedo, vec3 normal, vec3 world, vec3 toEye, float gloss) {
    float free = sunlight(world + shadowOffset * normal);
    vec3 sky = mix(groundColor, skyColor, 0.5 + 0.5 * dot(normal, up));
    float facing = max(dot(normal, sun), 0.0);
    vec3 halfway = normalize(sun + toEye);
    float shine = gloss * pow(max(dot(normal, halfway), 0.0), 40.0) * facing;
    return albedo * (sky + 2.1 * vec3(1.0, 0.95, 0.87) * facing * free) + vec3(shine * free);
  }`;

const CUT = /* glsl */ `
  uniform vec4 cut; // what lies beyond this plane is not drawn
  bool hidden(vec3 world) { return dot(cut.xyz, world) > cut.w; }`;

// ---- Particles: each a point that is drawn as a sphere

export const PARTICLE_VERTEX = /* glsl */ `
  precision highp float; precision highp int;
  uniform mat4 viewMatrix, projectionMatrix;
  in vec4 place; in vec4 value; in uint id;
  uniform vec3 lo, extent; uniform float radius, pixels, grow; uniform int by, which, fluids; uniform vec3 palette[8];
  uniform sampler2D map;
  out vec3 tint, middle, world; out float size;
  ${CUT}
  void main() {
    world = lo + place.xyz * extent;
    int m = min(int(value.w * 255.0 + 0.5), 7);
    bool fluid = ((fluids >> m) & 1) == 1;
    // which: 0 all, 1 grains, 2 fluids
    if ((which == 1 && fluid) || (which == 2 && !fluid) || hidden(world)) {
      gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
      gl_PointSize = 0.0;
      return;
    }
    size = radius * place.w * grow;
    vec4 at = viewMatrix * vec4(world, 1.0);
    middle = at.xyz;
    gl_Position = projectionMatrix * at;
    gl_PointSize = max(1.0, 2.1 * size * projectionMatrix[1][1] * pixels / gl_Position.w);
    if (by == 0) {
      // Grains differ a little, each always in the same way.
      float vary = fract(float(id & 0xffffu) * 0.618034);
      tint = palette[m] * (fluid ? 1.0 : 0.72 + 0.5 * vary);
    } else {
      float v = by == 1 ? value.x : (by == 2 ? value.y : value.z);
      tint = texture(map, vec2(v, 0.5)).rgb;
    }
  }`;

const SPHERE = /* glsl */ `
  in vec3 tint, middle, world; in float size;
  uniform mat4 projectionMatrix, viewMatrix;
  vec3 sphereNormal() {
    vec2 p = (2.0 * gl_PointCoord - 1.0) * vec2(1.05, -1.05);
    float r2 = dot(p, p);
    if (r2 > 1.0) discard;
    return vec3(p, sqrt(1.0 - r2));
  }
  float depthOf(vec3 eye) { vec4 clip = projectionMatrix * vec4(eye, 1.0); return 0.5 + 0.5 * clip.z / clip.w; }`;

// Grains overlap many times: what is nearest is noted first (colour, normal, depth) and lit once.
export const GRAIN_FRAGMENT = /* glsl */ `
  precision highp float; precision highp int;
  ${SPHERE}
  layout(location = 0) out vec4 color; layout(location = 1) out vec4 facing;
  void main() {
    vec3 normal = sphereNormal();
    gl_FragDepth = depthOf(middle + size * normal);
    color = vec4(sqrt(tint), 1.0);
    facing = vec4(0.5 + 0.5 * normal.xy, 0.0, 1.0);
  }`;

export const GRAIN_LIGHT_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec2 at;
  uniform sampler2D tints, normals, depths; uniform mat4 toEye, toWorldTurn;
  ${LIGHT}
  out vec4 color;
  void main() {
    vec4 tint = texture(tints, at);
    if (tint.a < 0.5) discard;
    float depth = texture(depths, at).r;
    gl_FragDepth = depth;
    vec2 n = 2.0 * texture(normals, at).xy - 1.0;
    vec3 normal = vec3(n, sqrt(max(0.0, 1.0 - dot(n, n))));
    vec4 clip = toEye * vec4(2.0 * vec3(at, depth) - 1.0, 1.0);
    vec3 eye = clip.xyz / clip.w, world = (toWorldTurn * vec4(eye, 1.0)).xyz;
    mat3 turn = mat3(toWorldTurn);
    color = vec4(shade(tint.rgb * tint.rgb, turn * normal, world, turn * normalize(-eye), 0.12), 1.0);
  }`;

export const SHADOW_FRAGMENT = /* glsl */ `
  precision highp float; precision highp int;
  ${SPHERE}
  out vec4 color;
  void main() { sphereNormal(); color = vec4(1.0); } // flat discs do`;

// Distance from the eye along the line of sight, and colour, of the nearest fluid sphere.
export const FLUID_FRAGMENT = /* glsl */ `
  precision highp float; precision highp int;
  ${SPHERE}
  uniform sampler2D solidDepth; uniform vec2 screen;
  out vec4 color;
  void main() {
    vec3 eye = middle + size * sphereNormal();
    gl_FragDepth = depthOf(eye);
    if (gl_FragDepth > texture(solidDepth, gl_FragCoord.xy / screen).r) discard;
    color = vec4(-eye.z, tint);
  }`;

// How much fluid the line of sight passes: each particle adds its volume, spread over its disc.
export const THICKNESS_FRAGMENT = /* glsl */ `
  precision highp float; precision highp int;
  ${SPHERE}
  uniform sampler2D solidDepth; uniform vec2 screen; uniform float volume; // of a particle, in spacings
  out vec4 color;
  void main() {
    vec3 normal = sphereNormal();
    if (depthOf(middle) > texture(solidDepth, gl_FragCoord.xy / screen).r) discard;
    color = vec4(volume * 2.0 * normal.z * normal.z, 0.0, 0.0, 1.0);
  }`;

// ---- Solids

export const SOLID_VERTEX = /* glsl */ `
  precision highp float;
  in vec3 position, normal; uniform mat4 modelMatrix, viewMatrix, projectionMatrix;
  out vec3 world, facing; out vec4 eye;
  void main() {
    world = (modelMatrix * vec4(position, 1.0)).xyz;
    facing = mat3(modelMatrix) * normal;
    eye = viewMatrix * vec4(world, 1.0);
    gl_Position = projectionMatrix * eye;
  }`;

export const SOLID_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec3 world, facing; in vec4 eye;
  uniform vec3 albedo; uniform mat4 viewMatrix;
  ${LIGHT} ${CUT}
  out vec4 color;
  void main() {
    if (hidden(world)) discard;
    vec3 toEye = transpose(mat3(viewMatrix)) * normalize(-eye.xyz), normal = normalize(facing);
    if (dot(normal, toEye) < 0.0) normal = -normal;
    color = vec4(shade(albedo, normal, world, toEye, 0.25), 1.0);
  }`;

// For shadows.
export const PLAIN_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec3 world;
  ${CUT}
  out vec4 color;
  void main() { if (hidden(world)) discard; color = vec4(1.0); }`;

// Walls of containers: clear where looked at straight on.
export const GLASS_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec3 world, facing; in vec4 eye;
  uniform mat4 viewMatrix; uniform vec3 skyColor; uniform float curved;
  out vec4 color;
  void main() {
    vec3 toEye = transpose(mat3(viewMatrix)) * normalize(-eye.xyz);
    float rim = pow(1.0 - abs(dot(normalize(facing), toEye)), 3.0);
    color = vec4(skyColor + 0.15, 0.015 + mix(0.05, 0.5, curved) * rim);
  }`;

// ---- Background: a sky, and ground with a grid that fades into it

export const SCREEN_VERTEX = /* glsl */ `
  precision highp float;
  in vec3 position; out vec2 at;
  void main() { at = 0.5 + 0.5 * position.xy; gl_Position = vec4(position.xy, 1.0, 1.0); }`;

const SKY = /* glsl */ `
  uniform vec3 horizon, zenith;
  vec3 skyAt(vec3 ray) { return mix(horizon, zenith, smoothstep(-0.02, 0.75, dot(ray, up))); }`;

export const GROUND_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec2 at;
  uniform mat4 toWorld, viewProjection; uniform vec3 eyeAt, floorColor; uniform float level, reach, cell; uniform vec3 center;
  ${LIGHT} ${SKY}
  out vec4 color;
  float grid(vec2 p) {
    vec2 width = max(fwidth(p), vec2(1e-6)), line = abs(fract(p - 0.5) - 0.5) / width;
    return (1.0 - min(min(line.x, line.y), 1.0)) * clamp(0.4 / max(width.x, width.y), 0.0, 1.0);
  }
  void main() {
    vec4 far = toWorld * vec4(2.0 * at - 1.0, 1.0, 1.0);
    vec3 ray = normalize(far.xyz / far.w - eyeAt);
    gl_FragDepth = 1.0;
    float fall = dot(ray, up), high = dot(eyeAt, up) - level, t = -high / fall;
    vec3 sky = skyAt(ray), hit = eyeAt + ray * t;
    vec2 plane = up.y > 0.5 ? hit.xz : hit.xy;
    float lines = 0.35 * grid(plane / cell) + 0.65 * grid(plane / (5.0 * cell));
    color = vec4(sky, 0.0);
    if (t <= 0.0 || high <= 0.0) return;
    vec4 clip = viewProjection * vec4(hit, 1.0);
    gl_FragDepth = clamp(0.5 + 0.5 * clip.z / clip.w, 0.0, 1.0);
    vec3 lit = floorColor * (0.42 + 0.58 * sunlight(hit)) * (1.0 + 0.22 * lines);
    float fade = exp(-pow(length(hit - center) / reach, 2.0));
    color = vec4(mix(sky, lit, fade), 0.0); // no crevices here
  }`;

// ---- Fluid surface: the depths of the spheres smoothed (narrow-range filter of Truong & Yuksel 2018, one direction
// at a time). Samples far in front are another surface and do not count; those far behind count as just behind.

export const SMOOTH_FRAGMENT = /* glsl */ `
  precision highp float;
  uniform sampler2D depths; uniform ivec2 direction; uniform float reach, radius; // reach: pixels at a distance of 1 m
  out vec4 color;
  void main() {
    ivec2 here = ivec2(gl_FragCoord.xy), most = textureSize(depths, 0) - 1;
    vec4 middle = texelFetch(depths, here, 0);
    color = middle;
    if (middle.x <= 0.0) return;
    float far = clamp(reach / middle.x, 1.0, 48.0);
    int count = int(min(far, 9.0));
    float stride = far / float(count);
    vec4 sum = middle; float weights = 1.0;
    for (int side = -1; side <= 1; side += 2) {
      for (int i = 1; i <= count; ++i) {
        float away = float(i) * stride;
        vec4 other = texelFetch(depths, clamp(here + side * int(away + 0.5) * direction, ivec2(0), most), 0);
        if (other.x <= 0.0 || other.x < middle.x - 6.0 * radius) continue;
        if (other.x > middle.x + radius) other.x = middle.x + radius;
        float w = exp(-4.5 * (away / far) * (away / far));
        sum += w * other; weights += w;
      }
    }
    color = sum / weights;
  }`;

// ---- The picture: solids with their crevices darkened, fluid in front of them, the camera's response

export const COMPOSE_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec2 at;
  uniform sampler2D solidColor, solidDepth, depths, thicknesses;
  uniform mat4 toEye, toWorldTurn, lens; uniform vec3 water; uniform vec2 screen;
  uniform float spacing, clarity, crevice; uniform int fluid, tinted;
  ${LIGHT} ${SKY}
  out vec4 color;

  vec3 eyeAt(vec2 uv, float depth) { vec4 p = toEye * vec4(2.0 * vec3(uv, depth) - 1.0, 1.0); return p.xyz / p.w; }

  float openness(vec2 uv, float depth) {
    if (depth >= 1.0) return 1.0;
    vec3 here = eyeAt(uv, depth);
    vec2 right = uv + vec2(1.0 / screen.x, 0.0), above = uv + vec2(0.0, 1.0 / screen.y);
    vec3 normal = normalize(cross(eyeAt(right, texture(solidDepth, right).r) - here, eyeAt(above, texture(solidDepth, above).r) - here));
    float reach = clamp(crevice * lens[1][1] * 0.5 * screen.y / -here.z, 2.0, 40.0), closed = 0.0;
    float turn = fract(52.9829 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) * 6.2832;
    for (int i = 0; i < 8; ++i) {
      float r = sqrt((float(i) + 0.5) / 8.0) * reach, a = float(i) * 2.39996 + turn;
      vec2 other = uv + r * vec2(cos(a), sin(a)) / screen;
      vec3 to = eyeAt(other, texture(solidDepth, other).r) - here;
      closed += smoothstep(0.1 * crevice, 0.7 * crevice, dot(to, normal)) * (1.0 - smoothstep(1.5 * crevice, 4.0 * crevice, length(to)));
    }
    return 1.0 - 0.75 * closed / 8.0;
  }

  vec3 solidAt(vec2 uv) {
    vec4 solid = texture(solidColor, uv);
    return solid.a > 0.5 ? solid.rgb * openness(uv, texture(solidDepth, uv).r) : solid.rgb;
  }

  float distanceAt(ivec2 p) { return texelFetch(depths, clamp(p, ivec2(0), textureSize(depths, 0) - 1), 0).x; }
  vec3 surfaceAt(ivec2 p, float d) {
    vec2 ndc = 2.0 * (vec2(p) + 0.5) / screen - 1.0;
    return vec3((ndc + lens[2].xy) * d / vec2(lens[0][0], lens[1][1]), -d);
  }
  // The smaller of the two differences: across an edge the other one is of another surface.
  vec3 difference(ivec2 p, float d, ivec2 to) {
    float a = distanceAt(p + to), b = distanceAt(p - to);
    vec3 here = surfaceAt(p, d), ahead = surfaceAt(p + to, a) - here, back = here - surfaceAt(p - to, b);
    if (a <= 0.0 && b <= 0.0) return surfaceAt(p + to, d) - here;
    if (a <= 0.0 || (b > 0.0 && abs(b - d) < abs(a - d))) return back;
    return ahead;
  }

  vec3 environment(vec3 ray) {
    float high = dot(ray, up);
    vec3 sky = mix(vec3(0.62, 0.74, 0.86), vec3(0.26, 0.42, 0.62), smoothstep(0.0, 0.8, high)) + 0.5 * skyAt(ray);
    sky += vec3(0.9) * smoothstep(0.55, 0.75, dot(ray, sun)); // a large soft lamp
    return mix(groundColor * 0.45, sky, smoothstep(-0.12, 0.08, high));
  }

  vec3 fluidOver(vec4 surface, vec3 behind) {
    ivec2 p = ivec2(gl_FragCoord.xy);
    float d = surface.x, thick = texture(thicknesses, at).r * spacing;
    vec3 normal = normalize(cross(difference(p, d, ivec2(1, 0)), difference(p, d, ivec2(0, 1))));
    if (normal.z < 0.0) normal = -normal;
    vec3 eye = surfaceAt(p, d), toViewer = normalize(-eye);
    mat3 turn = mat3(toWorldTurn);
    vec3 worldNormal = turn * normal, worldViewer = turn * toViewer;
    // What is behind, bent by the surface and swallowed on the way
    float bend = min(thick, 0.6 * clarity) * 0.16 * lens[1][1] / d;
    vec2 bent = clamp(at - normal.xy * bend, vec2(0.001), vec2(0.999));
    if (-eyeAt(bent, texture(solidDepth, bent).r).z > d) behind = solidAt(bent);
    vec3 body = tinted == 1 ? surface.yzw : water;
    vec3 passes = exp(-(1.02 - body) * (tinted == 1 ? 6.0 : 4.2) * thick / clarity);
    float facing = max(dot(worldNormal, sun), 0.0);
    vec3 inside = body * (0.4 * mix(groundColor, skyColor, 0.5 + 0.5 * dot(worldNormal, up)) + 0.2 * facing + 0.04);
    if (tinted == 1) { passes *= 0.35; inside = body * (0.45 + 0.85 * facing); }
    vec3 below = behind * passes + inside * (1.0 - passes);
    // What is mirrored
    float cosine = clamp(dot(normal, toViewer), 0.0, 1.0), mirror = 0.03 + 0.97 * pow(1.0 - cosine, 4.0);
    vec3 ray = reflect(-worldViewer, worldNormal);
    float shine = pow(max(dot(ray, sun), 0.0), 220.0) * 5.0 + pow(max(dot(ray, sun), 0.0), 24.0) * 0.18;
    // Spray is thin and catches light from everywhere
    float skin = smoothstep(0.3 * spacing, 2.5 * spacing, thick);
    if (tinted == 0) below = mix(mix(below, vec3(0.55, 0.68, 0.76) * (0.3 + 0.7 * facing), 0.22), below, skin);
    return mix(below, environment(ray), mirror * mix(0.5, 1.0, skin)) + shine * mix(0.25, 1.0, skin);
  }

  vec3 film(vec3 x) { return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0); }

  void main() {
    vec3 picture = solidAt(at);
    if (fluid == 1) {
      vec4 surface = texelFetch(depths, ivec2(gl_FragCoord.xy), 0);
      if (surface.x > 0.0) picture = fluidOver(surface, picture);
    }
    vec2 off = at - 0.5;
    picture *= 1.0 - 0.35 * dot(off, off);
    color = vec4(pow(film(picture * 0.82), vec3(1.0 / 2.2)), 1.0);
  }`;

// ---- Smooth edges (FXAA, after Lottes)

export const EDGES_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec2 at;
  uniform sampler2D picture; uniform vec2 screen;
  out vec4 color;
  float bright(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }
  vec3 look(vec2 offset) { return texture(picture, at + offset / screen).rgb; }
  void main() {
    vec3 here = look(vec2(0.0));
    float m = bright(here), nw = bright(look(vec2(-1, -1))), ne = bright(look(vec2(1, -1)));
    float sw = bright(look(vec2(-1, 1))), se = bright(look(vec2(1, 1)));
    float lo = min(m, min(min(nw, ne), min(sw, se))), hi = max(m, max(max(nw, ne), max(sw, se)));
    color = vec4(here, 1.0);
    if (hi - lo < max(0.03, 0.1 * hi)) return;
    vec2 along = vec2(-((nw + ne) - (sw + se)), (nw + sw) - (ne + se));
    float least = max((nw + ne + sw + se) * 0.03125, 1.0 / 128.0);
    along = clamp(along / (min(abs(along.x), abs(along.y)) + least), -8.0, 8.0);
    vec3 near = 0.5 * (look(along * (1.0 / 3.0 - 0.5)) + look(along * (2.0 / 3.0 - 0.5)));
    vec3 far = 0.5 * near + 0.25 * (look(-0.5 * along) + look(0.5 * along));
    float b = bright(far);
    color = vec4(b < lo || b > hi ? near : far, 1.0);
  }`;
