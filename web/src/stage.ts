// The picture: particles as spheres that are drawn as points (impostors), solids as meshes.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Frame, Scene } from "./protocol";

export type ColorBy = "material" | "speed" | "density" | "pressure";
// The renderer's colour map (src/render/color_map.cpp).
export const STOPS = [0x3f5cb5, 0x3681c4, 0x2fa0b8, 0x3fb896, 0x7bcb62, 0xc8d94a, 0xfde85c];

const VERTEX = /* glsl */ `
  in vec4 place; in vec4 value; in uint id;
  uniform vec3 lo, extent; uniform float radius, pixels; uniform int by; uniform vec3 palette[8]; uniform sampler2D map;
  out vec3 tint; out vec3 middle; out float size; out vec3 world;
  void main() {
    world = lo + place.xyz * extent;
    size = radius * place.w;
    vec4 at = modelViewMatrix * vec4(world, 1.0);
    middle = at.xyz;
    gl_Position = projectionMatrix * at;
    gl_PointSize = max(1.0, 2.1 * size * projectionMatrix[1][1] * pixels / gl_Position.w);
    if (by == 0) {
      int m = int(value.w * 255.0 + 0.5);
      // Grains differ a little, each always in the same way.
      float vary = fract(float(id & 0xffffu) * 0.618034);
      tint = palette[min(m, 7)] * (0.82 + 0.36 * vary);
    } else {
      float v = by == 1 ? value.x : (by == 2 ? value.y : value.z);
      tint = texture(map, vec2(v, 0.5)).rgb;
    }
  }`;
const FRAGMENT = /* glsl */ `
  precision highp float;
  in vec3 tint; in vec3 middle; in float size; in vec3 world;
  uniform mat4 projectionMatrix; uniform vec3 sun; uniform float cut, cutLo, cutHi;
  out vec4 color;
  void main() {
    if (world.z > mix(cutLo, cutHi, cut) && cut < 1.0) discard;
    vec2 p = (2.0 * gl_PointCoord - 1.0) * vec2(1.05, -1.05);
    float r2 = dot(p, p);
    if (r2 > 1.0) discard;
    vec3 normal = vec3(p, sqrt(1.0 - r2));
    vec4 clip = projectionMatrix * vec4(middle + size * normal, 1.0);
    gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
    float light = 0.42 + 0.58 * max(dot(normal, sun), 0.0);
    vec3 shine = vec3(0.18) * pow(max(dot(reflect(-sun, normal), vec3(0, 0, 1)), 0.0), 24.0);
    color = vec4(pow(tint * light + shine, vec3(1.0 / 2.2)), 1.0);
  }`;

function linear(rgb: number): THREE.Color { return new THREE.Color().setHex(rgb, THREE.SRGBColorSpace); }

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

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  private readonly world = new THREE.Scene();
  private readonly solids = new THREE.Group();
  private readonly material: THREE.RawShaderMaterial;
  private geometry = new THREE.BufferGeometry();
  private readonly points: THREE.Points;
  private capacity = 0;
  private box = new THREE.Box3();
  private framed = false;
  drawn = 0; // pictures
  milliseconds = 0; // between pictures
  beforePicture = () => {};

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.material = new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3,
      vertexShader: "precision highp float; precision highp int; uniform mat4 modelViewMatrix, projectionMatrix;" + VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        lo: { value: new THREE.Vector3() }, extent: { value: new THREE.Vector3(1, 1, 1) }, radius: { value: 0.01 },
        pixels: { value: 1 }, by: { value: 0 }, palette: { value: Array.from({ length: 8 }, () => new THREE.Color(0.5, 0.5, 0.5)) },
        map: { value: mapTexture() }, sun: { value: new THREE.Vector3(0.4, 0.75, 0.53).normalize() },
        cut: { value: 1 }, cutLo: { value: 0 }, cutHi: { value: 1 },
      },
    });
    this.points = new THREE.Points(this.geometry, this.material);
    this.points.frustumCulled = false;
    this.world.add(this.points, this.solids, new THREE.HemisphereLight(0xffffff, 0x445566, 1.6));
    const sun = new THREE.DirectionalLight(0xffffff, 1.6);
    sun.position.set(0.4, 1, 0.6);
    this.camera.add(sun);
    this.world.add(this.camera);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.listenToKeyEvents(canvas);
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    let last = performance.now();
    this.renderer.setAnimationLoop((now) => {
      this.milliseconds += 0.1 * (now - last - this.milliseconds);
      last = now;
      this.beforePicture();
      this.controls.update();
      this.renderer.render(this.world, this.camera);
      ++this.drawn;
    });
  }

  background(color: string) { this.world.background = new THREE.Color(color); }

  private resize() {
    const w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    // The panel on the right covers part of the picture: the middle of the rest is the middle.
    if (w > 700) this.camera.setViewOffset(w, h, 147, 0, w, h);
    else this.camera.clearViewOffset();
    this.camera.updateProjectionMatrix();
    this.material.uniforms.pixels.value = 0.5 * this.renderer.domElement.height;
  }

  open(scene: Scene, again: boolean) {
    this.camera.up.set(0, scene.up === "y" ? 1 : 0, scene.up === "z" ? 1 : 0);
    scene.materials.slice(0, 8).forEach((m, i) => this.material.uniforms.palette.value[i].setRGB(...m.color));
    this.solids.clear();
    for (const solid of scene.solids) this.solids.add(this.model(solid));
    if (!again) { this.framed = false; this.box.makeEmpty(); }
  }

  private model(solid: Scene["solids"][number]): THREE.Object3D {
    let geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(solid.vertices), 3));
    geometry.setIndex(solid.triangles);
    const object = new THREE.Group();
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 25), new THREE.LineBasicMaterial({ color: 0x8899aa }));
    if (solid.container) return object.add(edges);
    geometry = geometry.toNonIndexed();
    geometry.computeVertexNormals();
    const color = solid.moves ? 0xc9803a : 0x8b95a3;
    return object.add(new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color, roughness: 0.75, flatShading: solid.triangles.length < 300 })));
  }

  show(frame: Frame) {
    const u = this.material.uniforms;
    u.lo.value.set(...frame.lo);
    u.extent.value.set(...frame.extent);
    u.radius.value = frame.radius;
    if (frame.count > this.capacity) this.grow(frame.count);
    (["place", "value", "id"] as const).forEach((name, k) => {
      const attribute = this.geometry.getAttribute(name) as THREE.BufferAttribute;
      attribute.array.set([frame.places, frame.values, frame.ids][k]);
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, frame.count * attribute.itemSize);
      attribute.needsUpdate = true;
    });
    this.geometry.setDrawRange(0, frame.count);
    this.solids.children.forEach((solid, i) => {
      const b = frame.bodies.subarray(7 * i, 7 * i + 7);
      if (b.length < 7) return;
      solid.position.set(b[0], b[1], b[2]);
      solid.quaternion.set(b[3], b[4], b[5], b[6]);
    });
    const lo = new THREE.Vector3(...frame.lo);
    this.box.set(lo, lo.clone().add(new THREE.Vector3(...frame.extent)));
    u.cutLo.value = frame.lo[2] - frame.radius;
    u.cutHi.value = frame.lo[2] + frame.extent[2] + frame.radius;
    if (!this.framed) this.frameAll();
  }

  private grow(count: number) {
    this.capacity = Math.ceil(1.25 * count);
    this.geometry.dispose();
    this.geometry = new THREE.BufferGeometry();
    const add = (name: string, array: THREE.TypedArray, items: number, normalized: boolean) => {
      const attribute = new THREE.BufferAttribute(array, items, normalized);
      attribute.setUsage(THREE.DynamicDrawUsage);
      this.geometry.setAttribute(name, attribute);
    };
    add("place", new Uint16Array(4 * this.capacity), 4, true);
    add("value", new Uint8Array(4 * this.capacity), 4, true);
    add("id", new Uint32Array(this.capacity), 1, false);
    this.points.geometry = this.geometry;
  }

  colorBy(what: ColorBy) { this.material.uniforms.by.value = ["material", "speed", "density", "pressure"].indexOf(what); }
  clip(share: number) { this.material.uniforms.cut.value = share; }

  // All of the particles and bounded solids, from a little above.
  frameAll() {
    this.framed = true;
    const all = this.box.clone();
    this.solids.updateMatrixWorld(true);
    const stands = new THREE.Box3().setFromObject(this.solids);
    if (!stands.isEmpty() && stands.getSize(new THREE.Vector3()).length() < 20 * all.getSize(new THREE.Vector3()).length()) all.union(stands);
    const ball = all.getBoundingSphere(new THREE.Sphere());
    const up = this.camera.up;
    const from = up.z > 0 ? new THREE.Vector3(0.45, -1, 0.5) : new THREE.Vector3(0.45, 0.5, 1);
    const reach = (1.02 * ball.radius) / Math.sin((0.5 * this.camera.fov * Math.PI) / 180);
    this.controls.target.copy(ball.center);
    this.camera.position.copy(ball.center).addScaledVector(from.normalize(), reach);
    this.camera.near = 0.01 * reach;
    this.camera.far = 20 * reach;
    this.camera.updateProjectionMatrix();
  }

  // Where the mouse points: on the plane through what is looked at, across the line of sight.
  under(event: PointerEvent): { at: THREE.Vector3; along: THREE.Vector3 } {
    const box = this.canvas.getBoundingClientRect();
    const p = new THREE.Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(p, this.camera);
    const ahead = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(ahead, this.box.getCenter(new THREE.Vector3()));
    const at = ray.ray.intersectPlane(plane, new THREE.Vector3()) ?? this.controls.target.clone();
    return { at, along: ray.ray.direction.clone() };
  }
  size(): number { return this.box.getSize(new THREE.Vector3()).length(); }
}
