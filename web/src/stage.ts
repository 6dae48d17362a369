// What stands before the camera: particles and solids of a scene, and the camera itself. Draws only when something has
// changed, and coarser where the machine cannot keep up.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Picture } from "./picture";
import type { Frame, Scene, Solid } from "./protocol";

export type ColorBy = "material" | "speed" | "density" | "pressure";
export type Axis = "off" | "x" | "y" | "z";
export const COLORINGS: ColorBy[] = ["material", "speed", "density", "pressure"];

const MOVING = [0xd07a33, 0xb9493f, 0xd9b25f, 0x6f7fb8, 0xe3ddd0];
const STANDING = 0x98a1ac;
const SCALES = [1, 0.7, 0.5]; // of the screen's pixels

const color = (rgb: number) => new THREE.Color().setHex(rgb, THREE.SRGBColorSpace);

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly picture: Picture;
  readonly software: boolean; // no graphics card
  private placed: THREE.Object3D[] = []; // the solids, as frames tell their poses
  private slopes: THREE.Mesh[] = []; // endless: as large as what is looked at
  private capacity = 0; // particles there is room for; none before the first frame
  private spacing = 0.01;
  private readonly box = new THREE.Box3(); // of the particles
  private readonly stands = new THREE.Box3(); // of the solids
  private around = new THREE.Sphere(new THREE.Vector3(), 1);
  private framed = false;
  private scale = 0; // which of SCALES is drawn with
  private coarse = 0; // which one while things change
  private changed = performance.now();
  private dirty = true;
  private cutting: { axis: Axis; share: number; flip: boolean } = { axis: "off", share: 0.5, flip: false };
  margin = 0; // pixels at the right that a panel covers
  drawn = 0; // pictures
  milliseconds = 0; // a picture
  beforePicture = () => {};

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: false, powerPreference: "high-performance" });
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // the last pass writes the screen's colours itself
    this.renderer.debug.checkShaderErrors = false; // asking after each program is slow
    this.picture = new Picture(this.renderer);
    this.picture.prepare();
    this.software = /swiftshader|llvmpipe|software/i.test(this.cardName());
    if (this.software) this.scale = this.coarse = SCALES.length - 1;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.listenToKeyEvents(canvas);
    this.controls.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(canvas);
    let before = 0, drew = false;
    this.renderer.setAnimationLoop((now) => {
      if (drew && this.scale === this.coarse) this.keepUp(now - before);
      before = now;
      this.beforePicture();
      this.controls.update();
      // At rest: once more, in full
      if (!this.dirty && this.scale > 0 && performance.now() - this.changed > 500) this.setScale(0);
      drew = this.dirty && this.capacity > 0;
      if (drew) this.draw();
    });
  }

  private cardName(): string {
    const gl = this.renderer.getContext(), names = gl.getExtension("WEBGL_debug_renderer_info");
    return names ? String(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  }

  redraw() {
    this.dirty = true;
    this.changed = performance.now();
    if (this.scale !== this.coarse) this.setScale(this.coarse);
  }

  private draw() {
    this.dirty = false;
    this.placeCut();
    this.picture.draw(this.camera, this.around, this.spacing);
    ++this.drawn;
  }

  private keepUp(milliseconds: number) {
    this.milliseconds += 0.25 * (milliseconds - this.milliseconds);
    const before = this.coarse;
    if (this.milliseconds > 70 && this.coarse + 1 < SCALES.length) ++this.coarse;
    if (this.milliseconds < 17 && this.coarse > 0) --this.coarse;
    if (this.coarse !== before) this.milliseconds = 30;
  }
  private setScale(scale: number) {
    this.scale = scale;
    this.resize();
  }

  private resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (w === 0 || h === 0) return;
    const ratio = Math.min(devicePixelRatio, 2) * SCALES[this.scale];
    if (this.canvas.width !== Math.floor(w * ratio) || this.canvas.height !== Math.floor(h * ratio)) {
      this.renderer.setDrawingBufferSize(w, h, ratio);
      this.picture.resize(this.canvas.width, this.canvas.height);
    }
    this.camera.aspect = w / h;
    this.camera.setViewOffset(w, h, 0.5 * this.margin, 0, w, h);
    this.dirty = true;
  }

  // The picture's middle is the middle of what panels leave free.
  setMargin(pixels: number) { this.margin = pixels; this.resize(); }

  look(light: boolean) {
    const p = this.picture, set = (c: THREE.Color, rgb: number) => c.copy(color(rgb));
    set(p.sky.horizon.value, light ? 0xeef1f5 : 0x2b343f);
    set(p.sky.zenith.value, light ? 0xb9cbdd : 0x10151b);
    set(p.ground.floorColor.value, light ? 0xe9ebee : 0x56606c);
    set(p.light.skyColor.value, light ? 0xb4c4d6 : 0x93a6bd);
    set(p.light.groundColor.value, light ? 0xa39d94 : 0x5d5a56);
    this.redraw();
  }

  // ---- A scene; `again`: the same one with other numbers, seen from where it was seen

  open(scene: Scene, again: boolean) {
    const p = this.picture, z = scene.up === "z";
    this.spacing = scene.spacing;
    this.camera.up.set(0, z ? 0 : 1, z ? 1 : 0);
    p.light.up.value.copy(this.camera.up);
    p.light.sun.value.set(-0.45, z ? -0.5 : 0.78, z ? 0.78 : 0.5).normalize();
    const materials = scene.materials.slice(0, 8);
    materials.forEach((m, i) => p.particles.palette.value[i].setRGB(...m.color));
    p.particles.fluids.value = materials.reduce((bits, m, i) => (m.fluid ? bits | (1 << i) : bits), 0);
    p.onlyFluids = materials.every((m) => m.fluid);
    this.openSolids(scene);
    if (!again) {
      this.framed = this.takeCamera(scene);
      this.box.makeEmpty();
    }
    this.redraw();
  }

  private takeCamera(scene: Scene): boolean {
    const { position, target, fov } = scene.camera;
    this.camera.fov = fov;
    if (!position || !target) return false;
    // Composed for a wide picture without panels: from further away where less is free
    const free = this.camera.aspect * (1 - this.margin / this.canvas.clientWidth), back = Math.max(1, 16 / 9 / free);
    this.controls.target.set(...target);
    this.camera.position.set(...position).sub(this.controls.target).multiplyScalar(back).add(this.controls.target);
    const reach = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = 0.01 * reach;
    this.camera.far = 40 * reach;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    return true;
  }

  private openSolids(scene: Scene) {
    const p = this.picture;
    for (const group of [p.solids, p.glass]) {
      group.traverse((o) => (o as THREE.Mesh).geometry?.dispose());
      group.clear();
    }
    let moving = 0;
    const lowest: number[] = [], up = this.camera.up;
    this.stands.makeEmpty();
    this.placed = scene.solids.map((solid) => {
      const object = this.makeSolid(solid, solid.moves ? MOVING[moving++ % MOVING.length] : STANDING);
      (solid.container ? p.glass : p.solids).add(object);
      const bounds = new THREE.Box3().setFromObject(object);
      this.stands.union(bounds);
      if (!solid.moves) lowest.push(bounds.min.dot(up));
      return object;
    });
    this.slopes = scene.slopes.map(({ point, normal }) => {
      const slope = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), p.solidMaterial(color(STANDING)));
      slope.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...normal));
      slope.userData.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(new THREE.Vector3(...normal), new THREE.Vector3(...point));
      p.solids.add(slope);
      return slope;
    });
    p.ground.level.value = scene.ground ?? (lowest.length > 0 ? Math.min(...lowest) : NaN);
  }

  private makeSolid(solid: Solid, rgb: number): THREE.Object3D {
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute("position", new THREE.BufferAttribute(new Float32Array(solid.vertices), 3));
    indexed.setIndex(solid.triangles);
    // Few triangles have edges, many are a curve
    const curved = solid.triangles.length >= 300;
    const geometry = curved ? indexed : indexed.toNonIndexed();
    geometry.computeVertexNormals();
    const object = new THREE.Group();
    if (!solid.container) return object.add(new THREE.Mesh(geometry, this.picture.solidMaterial(color(rgb))));
    object.add(new THREE.Mesh(geometry, this.picture.glassMaterial(curved)));
    const edges = new THREE.LineBasicMaterial({ color: 0x8d9bab, transparent: true, opacity: 0.55 });
    if (!curved) object.add(new THREE.LineSegments(new THREE.EdgesGeometry(indexed, 25), edges));
    return object;
  }

  // ---- A frame

  show(frame: Frame) {
    const u = this.picture.particles;
    u.lo.value.set(...frame.lo);
    u.extent.value.set(...frame.extent);
    u.radius.value = frame.radius;
    if (frame.count > this.capacity || this.capacity === 0) this.grow(Math.max(frame.count, 1));
    const geometry = this.picture.points.geometry;
    (["place", "value", "id"] as const).forEach((name, k) => {
      const attribute = geometry.getAttribute(name) as THREE.BufferAttribute;
      attribute.array.set([frame.places, frame.values, frame.ids][k]);
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, frame.count * attribute.itemSize);
      attribute.needsUpdate = true;
    });
    geometry.setDrawRange(0, frame.count);
    this.placed.forEach((solid, i) => {
      const b = frame.bodies.subarray(7 * i, 7 * i + 7);
      if (b.length < 7) return;
      solid.position.set(b[0], b[1], b[2]);
      solid.quaternion.set(b[3], b[4], b[5], b[6]);
    });
    if (frame.count > 0) {
      const lo = new THREE.Vector3(...frame.lo);
      this.box.set(lo, lo.clone().add(new THREE.Vector3(...frame.extent))).expandByScalar(frame.radius);
    }
    if (this.measure() && !this.framed) this.frameAll();
    this.redraw();
  }

  private grow(count: number) {
    this.capacity = Math.ceil(1.25 * count);
    this.picture.points.geometry.dispose();
    const geometry = new THREE.BufferGeometry();
    const add = (name: string, array: THREE.TypedArray, items: number, normalized: boolean) => {
      const attribute = new THREE.BufferAttribute(array, items, normalized);
      attribute.setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute(name, attribute);
    };
    add("place", new Uint16Array(4 * this.capacity), 4, true);
    add("value", new Uint8Array(4 * this.capacity), 4, true);
    add("id", new Uint32Array(this.capacity), 1, false);
    this.picture.points.geometry = geometry;
  }

  // How large all of it is. Solids that are much larger than the material do not count. False where there is nothing.
  private measure(): boolean {
    const all = this.box.clone(), size = (b: THREE.Box3) => b.getSize(new THREE.Vector3()).length();
    if (!this.stands.isEmpty() && (all.isEmpty() || size(this.stands) < 20 * size(all))) all.union(this.stands);
    if (all.isEmpty()) return false;
    all.getBoundingSphere(this.around);
    const g = this.picture.ground;
    if (Number.isNaN(g.level.value)) g.level.value = all.min.dot(this.camera.up);
    for (const slope of this.slopes) {
      (slope.userData.plane as THREE.Plane).projectPoint(this.around.center, slope.position);
      slope.scale.setScalar(1.2 * this.around.radius);
    }
    g.center.value.copy(this.around.center);
    g.reach.value = 2.6 * this.around.radius;
    g.cell.value = Math.pow(10, Math.floor(Math.log10(0.6 * this.around.radius)));
    return true;
  }

  colorBy(what: ColorBy) {
    const by = COLORINGS.indexOf(what);
    if (this.picture.particles.by.value !== by) this.redraw();
    this.picture.particles.by.value = by;
  }
  drawFluid(surface: boolean) { this.picture.surface = surface; this.redraw(); }
  hasFluid(): boolean { return this.picture.particles.fluids.value !== 0; }

  cut(axis: Axis, share: number, flip: boolean) { this.cutting = { axis, share, flip }; this.redraw(); }
  private placeCut() {
    const { axis, share, flip } = this.cutting, plane = this.picture.cut.cut.value;
    if (axis === "off") { plane.set(0, 0, 0, 1); return; }
    const side = flip ? -1 : 1, range = this.box.clone().union(this.stands);
    const at = range.min[axis] + share * (range.max[axis] - range.min[axis]);
    plane.set(axis === "x" ? side : 0, axis === "y" ? side : 0, axis === "z" ? side : 0, side * at);
  }

  // All of it, from a little above.
  frameAll() {
    this.framed = true;
    this.measure();
    const z = this.camera.up.z > 0, from = z ? new THREE.Vector3(0.45, -1, 0.5) : new THREE.Vector3(0.45, 0.5, 1);
    const half = (0.5 * this.camera.fov * Math.PI) / 180, wide = this.camera.aspect * (1 - this.margin / this.canvas.clientWidth);
    const reach = (1.02 * this.around.radius) / Math.sin(Math.min(half, Math.atan(Math.tan(half) * wide)));
    this.controls.target.copy(this.around.center);
    this.camera.position.copy(this.around.center).addScaledVector(from.normalize(), reach);
    this.camera.near = 0.01 * reach;
    this.camera.far = 40 * reach;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.redraw();
  }

  // Where the mouse points: on the plane through the middle of the material, across the line of sight.
  under(event: PointerEvent): THREE.Vector3 {
    const box = this.canvas.getBoundingClientRect();
    const p = new THREE.Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(p, this.camera);
    const ahead = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(ahead, this.box.getCenter(new THREE.Vector3()));
    return ray.ray.intersectPlane(plane, new THREE.Vector3()) ?? this.controls.target.clone();
  }

  // In full, as a data: address.
  photograph(): string {
    this.setScale(0);
    this.draw();
    return this.canvas.toDataURL("image/png");
  }

  // How long pictures take that are waited for [ms], the machine being otherwise idle.
  time(pictures: number): number[] {
    this.setScale(0);
    return Array.from({ length: pictures }, () => {
      const start = performance.now();
      this.draw();
      this.finish();
      return performance.now() - start;
    });
  }
  // Waits until the last picture is whole.
  finish() {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}
