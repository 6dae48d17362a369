// How a picture is made, pass by pass: shadows, solids and grains, fluid (depth, thickness, smoothing), all of it
// together, smooth edges.
import * as THREE from "three";
import * as glsl from "./shaders";

// The renderer's colour map (src/render/color_map.cpp).
export const STOPS = [0x3f5cb5, 0x3681c4, 0x2fa0b8, 0x3fb896, 0x7bcb62, 0xc8d94a, 0xfde85c];
const SHADOW_SIZE = 1024;
const FLUID_GROW = 1.7; // spheres of half a spacing become a closed skin
const SMOOTHINGS = 2;

const linear = (rgb: number) => new THREE.Color().setHex(rgb, THREE.SRGBColorSpace);

function mapTexture(): THREE.DataTexture {
  const data = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; ++i) {
    const place = (i / 255) * (STOPS.length - 1), k = Math.min(Math.floor(place), STOPS.length - 2);
    const c = linear(STOPS[k]).lerp(linear(STOPS[k + 1]), place - k);
    data.set([255 * c.r, 255 * c.g, 255 * c.b, 255], 4 * i);
  }
  const texture = new THREE.DataTexture(data, 256, 1);
  texture.minFilter = texture.magFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

type Uniforms = Record<string, THREE.IUniform>;
const vec3 = () => ({ value: new THREE.Vector3() });
const mat4 = () => ({ value: new THREE.Matrix4() });

function program(vertexShader: string, fragmentShader: string, uniforms: Uniforms, more: THREE.ShaderMaterialParameters = {}) {
  return new THREE.RawShaderMaterial({ glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms, ...more });
}

function target(type: THREE.TextureDataType, format: THREE.PixelFormat = THREE.RGBAFormat, filter: THREE.MagnificationTextureFilter = THREE.NearestFilter, depthBuffer = false) {
  return new THREE.WebGLRenderTarget(1, 1, { type, format, minFilter: filter, magFilter: filter, depthBuffer, generateMipmaps: false });
}

export class Picture {
  // What all programs know of the light, the particles and the plane that cuts
  readonly light = {
    sun: vec3(), up: { value: new THREE.Vector3(0, 1, 0) }, skyColor: { value: new THREE.Color() }, groundColor: { value: new THREE.Color() },
    shadowMap: { value: null as THREE.Texture | null }, shadowMatrix: mat4(), shadowBias: { value: 0.01 }, shadowOffset: { value: 0.01 },
  };
  readonly sky = { horizon: { value: new THREE.Color() }, zenith: { value: new THREE.Color() } };
  readonly cut = { cut: { value: new THREE.Vector4(0, 0, 0, 1) } };
  readonly particles = {
    lo: vec3(), extent: { value: new THREE.Vector3(1, 1, 1) }, radius: { value: 0.01 }, by: { value: 0 }, fluids: { value: 0 },
    palette: { value: Array.from({ length: 8 }, () => new THREE.Color(0.5, 0.5, 0.5)) }, map: { value: mapTexture() },
  };
  readonly ground = { level: { value: 0 }, reach: { value: 1 }, cell: { value: 0.1 }, center: vec3(), floorColor: { value: new THREE.Color() } };
  surface = true; // fluids as a surface, otherwise as particles
  onlyFluids = false; // no other particles
  readonly solids = new THREE.Group(); // opaque
  readonly glass = new THREE.Group();
  readonly points = new THREE.Points(new THREE.BufferGeometry());

  private readonly screen = { value: new THREE.Vector2(1, 1) };
  private readonly solidDepth = { value: null as THREE.Texture | null };
  private readonly opaque = target(THREE.HalfFloatType, THREE.RGBAFormat, THREE.LinearFilter, true);
  private readonly shadow = new THREE.WebGLRenderTarget(SHADOW_SIZE, SHADOW_SIZE);
  private readonly grains = new THREE.WebGLRenderTarget(1, 1, { count: 2, minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter });
  private readonly nearest = target(THREE.FloatType, THREE.RGBAFormat, THREE.NearestFilter, true);
  private readonly smooth = [target(THREE.FloatType), target(THREE.FloatType)];
  private readonly thickness = target(THREE.HalfFloatType, THREE.RedFormat, THREE.LinearFilter);
  private readonly composed = target(THREE.UnsignedByteType, THREE.RGBAFormat, THREE.LinearFilter);
  private readonly sunCamera = new THREE.OrthographicCamera();
  private readonly world = new THREE.Scene();
  private readonly pointScene = new THREE.Scene();
  private readonly sheet = new THREE.Mesh(new THREE.PlaneGeometry(2, 2));
  private readonly sheetScene = new THREE.Scene();
  private readonly sheetCamera = new THREE.Camera();

  private readonly grainMaterial = this.pointProgram(glsl.GRAIN_FRAGMENT, 1, 1, {});
  private readonly grainLightMaterial = program(glsl.SCREEN_VERTEX, glsl.GRAIN_LIGHT_FRAGMENT, {
    ...this.light, tints: { value: this.grains.textures[0] }, normals: { value: this.grains.textures[1] }, depths: { value: null },
    toEye: mat4(), toWorldTurn: mat4(),
  });
  private readonly shadowMaterial = this.pointProgram(glsl.SHADOW_FRAGMENT, 1, 1, {});
  private readonly fluidMaterial = this.pointProgram(glsl.FLUID_FRAGMENT, 2, FLUID_GROW, { solidDepth: this.solidDepth, screen: this.screen });
  private readonly thicknessMaterial = this.pointProgram(glsl.THICKNESS_FRAGMENT, 2, FLUID_GROW,
    { solidDepth: this.solidDepth, screen: { value: new THREE.Vector2() }, volume: { value: 1 } },
    { blending: THREE.CustomBlending, blendSrc: THREE.OneFactor, blendDst: THREE.OneFactor, depthTest: false, depthWrite: false, transparent: true });
  private readonly plainMaterial = program(glsl.SOLID_VERTEX, glsl.PLAIN_FRAGMENT, { ...this.cut }, { side: THREE.DoubleSide });
  private readonly groundMaterial = program(glsl.SCREEN_VERTEX, glsl.GROUND_FRAGMENT,
    { ...this.light, ...this.sky, ...this.ground, toWorld: mat4(), viewProjection: mat4(), eyeAt: vec3() }, { depthFunc: THREE.AlwaysDepth });
  private readonly smoothMaterial = program(glsl.SCREEN_VERTEX, glsl.SMOOTH_FRAGMENT,
    { depths: { value: null }, direction: { value: new THREE.Vector2() }, reach: { value: 1 }, radius: { value: 1 } }, { depthTest: false, depthWrite: false });
  private readonly composeMaterial = program(glsl.SCREEN_VERTEX, glsl.COMPOSE_FRAGMENT, {
    ...this.light, ...this.sky, solidColor: { value: this.opaque.texture }, solidDepth: this.solidDepth, depths: { value: null },
    thicknesses: { value: this.thickness.texture }, toEye: mat4(), toWorldTurn: mat4(), lens: mat4(), water: { value: new THREE.Color() },
    screen: this.screen, spacing: { value: 1 }, clarity: { value: 1 }, crevice: { value: 1 }, fluid: { value: 0 }, tinted: { value: 0 },
  }, { depthTest: false, depthWrite: false });
  private readonly edgesMaterial = program(glsl.SCREEN_VERTEX, glsl.EDGES_FRAGMENT,
    { picture: { value: this.composed.texture }, screen: this.screen }, { depthTest: false, depthWrite: false });

  constructor(private readonly renderer: THREE.WebGLRenderer) {
    renderer.autoClear = false;
    for (const owner of [this.opaque, this.shadow, this.grains]) owner.depthTexture = new THREE.DepthTexture(1, 1);
    this.shadow.depthTexture!.image.width = this.shadow.depthTexture!.image.height = SHADOW_SIZE;
    this.light.shadowMap.value = this.shadow.depthTexture;
    this.solidDepth.value = this.opaque.depthTexture;
    this.grainLightMaterial.uniforms.depths.value = this.grains.depthTexture;
    this.points.frustumCulled = this.sheet.frustumCulled = false;
    this.world.add(this.solids, this.glass);
    this.pointScene.add(this.points);
    this.sheetScene.add(this.sheet);
  }

  // Has the graphics card's programs compiled, which takes a while, without waiting for them.
  prepare() {
    for (const material of [this.fluidMaterial, this.thicknessMaterial]) {
      this.points.material = material;
      this.renderer.compile(this.pointScene, this.sheetCamera);
    }
    for (const material of [this.groundMaterial, this.smoothMaterial, this.composeMaterial, this.edgesMaterial]) {
      this.sheet.material = material;
      this.renderer.compile(this.sheetScene, this.sheetCamera);
    }
  }

  private pointProgram(fragment: string, which: number, grow: number, more: Uniforms, options: THREE.ShaderMaterialParameters = {}) {
    const own = { pixels: { value: 1 }, grow: { value: grow }, which: { value: which } };
    return program(glsl.PARTICLE_VERTEX, fragment, { ...this.particles, ...this.cut, ...own, ...more }, options);
  }

  solidMaterial(albedo: THREE.Color) {
    return program(glsl.SOLID_VERTEX, glsl.SOLID_FRAGMENT, { ...this.light, ...this.cut, albedo: { value: albedo } }, { side: THREE.DoubleSide });
  }
  glassMaterial(curved: boolean) {
    return program(glsl.SOLID_VERTEX, glsl.GLASS_FRAGMENT, { skyColor: this.light.skyColor, curved: { value: curved ? 1 : 0 } },
      { side: THREE.DoubleSide, transparent: true, depthWrite: false });
  }

  resize(width: number, height: number) {
    for (const each of [this.opaque, this.grains, this.nearest, ...this.smooth, this.composed]) each.setSize(width, height);
    this.thickness.setSize(Math.ceil(width / 2), Math.ceil(height / 2));
    this.screen.value.set(width, height);
    (this.thicknessMaterial.uniforms.screen.value as THREE.Vector2).set(this.thickness.width, this.thickness.height);
  }

  // `around`: what casts and takes shadows
  draw(camera: THREE.PerspectiveCamera, around: THREE.Sphere, spacing: number) {
    camera.updateMatrixWorld();
    const fluid = this.surface && this.particles.fluids.value !== 0, grains = !(fluid && this.onlyFluids);
    this.grainMaterial.uniforms.which.value = this.shadowMaterial.uniforms.which.value = fluid ? 1 : 0;
    this.castShadows(around, grains);
    this.drawSolids(camera, grains);
    if (fluid) this.drawFluid(camera, spacing);
    this.compose(camera, around, spacing, fluid);
  }

  private castShadows(around: THREE.Sphere, grains: boolean) {
    const c = this.sunCamera, r = around.radius;
    c.left = c.bottom = -r; c.right = c.top = r; c.near = 0; c.far = 4 * r;
    c.up.copy(this.light.up.value);
    c.position.copy(around.center).addScaledVector(this.light.sun.value, 2 * r);
    c.lookAt(around.center);
    c.updateProjectionMatrix();
    c.updateMatrixWorld();
    this.light.shadowMatrix.value.multiplyMatrices(c.projectionMatrix, c.matrixWorldInverse);
    this.light.shadowBias.value = Math.max(1.2 * this.particles.radius.value, 0.004 * r) / (4 * r);
    this.light.shadowOffset.value = (6 * r) / SHADOW_SIZE;
    this.into(this.shadow);
    this.glass.visible = false;
    this.world.overrideMaterial = this.plainMaterial;
    this.renderer.render(this.world, c);
    this.world.overrideMaterial = null;
    this.glass.visible = true;
    if (grains) this.drawPoints(this.shadowMaterial, c, SHADOW_SIZE);
  }

  private drawSolids(camera: THREE.PerspectiveCamera, grains: boolean) {
    const u = this.groundMaterial.uniforms;
    u.viewProjection.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    u.toWorld.value.copy(u.viewProjection.value).invert();
    u.eyeAt.value.setFromMatrixPosition(camera.matrixWorld);
    if (grains) {
      this.into(this.grains);
      this.drawPoints(this.grainMaterial, camera, this.screen.value.y);
    }
    this.into(this.opaque);
    this.drawSheet(this.groundMaterial);
    this.renderer.render(this.world, camera);
    if (grains) this.lightGrains(camera);
  }
  private lightGrains(camera: THREE.PerspectiveCamera) {
    const u = this.grainLightMaterial.uniforms;
    u.toEye.value.copy(camera.projectionMatrixInverse);
    u.toWorldTurn.value.copy(camera.matrixWorld);
    this.drawSheet(this.grainLightMaterial);
  }

  private drawFluid(camera: THREE.PerspectiveCamera, spacing: number) {
    const height = this.screen.value.y, radius = FLUID_GROW * this.particles.radius.value;
    this.into(this.nearest);
    this.drawPoints(this.fluidMaterial, camera, height);
    this.into(this.thickness);
    this.thicknessMaterial.uniforms.volume.value = (spacing * spacing) / (Math.PI * radius * radius);
    this.drawPoints(this.thicknessMaterial, camera, this.thickness.height);
    const u = this.smoothMaterial.uniforms;
    u.radius.value = radius;
    let from = this.nearest;
    for (let i = 0; i < 2 * SMOOTHINGS; ++i) {
      u.depths.value = from.texture;
      u.direction.value.set(i % 2 === 0 ? 1 : 0, i % 2 === 0 ? 0 : 1);
      u.reach.value = (i < 2 ? 2.2 : 1.1) * radius * camera.projectionMatrix.elements[5] * 0.5 * height;
      this.into(this.smooth[i % 2]);
      this.drawSheet(this.smoothMaterial);
      from = this.smooth[i % 2];
    }
    this.composeMaterial.uniforms.depths.value = from.texture;
  }

  private compose(camera: THREE.PerspectiveCamera, around: THREE.Sphere, spacing: number, fluid: boolean) {
    const u = this.composeMaterial.uniforms, p = this.particles;
    u.toEye.value.copy(camera.projectionMatrixInverse);
    u.toWorldTurn.value.copy(camera.matrixWorld);
    u.lens.value.copy(camera.projectionMatrix);
    u.fluid.value = fluid ? 1 : 0;
    u.tinted.value = p.by.value === 0 ? 0 : 1;
    const first = Math.max(0, [...Array(8).keys()].findIndex((m) => (p.fluids.value >> m) & 1));
    u.water.value.copy(p.palette.value[first]);
    u.spacing.value = spacing;
    // Light gets as far as what is looked at is thick, at least some particles
    const e = p.extent.value;
    u.clarity.value = Math.min(0.35 * around.radius, Math.max(1.2 * Math.min(e.x, e.y, e.z), 6 * spacing));
    u.crevice.value = Math.max(2.5 * p.radius.value, 0.012 * around.radius);
    this.into(this.composed);
    this.drawSheet(this.composeMaterial);
    this.into(null);
    this.drawSheet(this.edgesMaterial);
  }

  private into(where: THREE.WebGLRenderTarget | null) {
    this.renderer.setRenderTarget(where);
    this.renderer.clear();
  }
  private drawPoints(material: THREE.RawShaderMaterial, camera: THREE.Camera, height: number) {
    material.uniforms.pixels.value = 0.5 * height;
    this.points.material = material;
    this.renderer.render(this.pointScene, camera);
  }
  private drawSheet(material: THREE.RawShaderMaterial) {
    this.sheet.material = material;
    this.renderer.render(this.sheetScene, this.sheetCamera);
  }
}
