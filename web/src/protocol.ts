// What the server sends: JSON texts, and frames as binary (src/view/frame_message.h).

export interface Param {
  key: string; unit: string; lo: number | null; hi: number | null; whole: boolean;
  choices: string[]; help: string; live: boolean; value: number | string | number[] | null;
}
export interface Solid {
  name: string; container: boolean; moves: boolean; vertices: number[]; triangles: number[];
}
export interface Scene {
  type: "scene"; mode: "gallery" | "live" | "cached" | "run"; name: string; title: string; solver: string;
  up: "y" | "z"; fps: number; duration: number; spacing: number;
  camera: { position: [number, number, number] | null; target: [number, number, number] | null; fov: number };
  ground: number | null; // height of a level floor without an end
  slopes: { point: [number, number, number]; normal: [number, number, number] }[]; // other planes
  materials: { name: string; color: [number, number, number]; fluid: boolean }[];
  params: Param[]; solids: Solid[];
}
export interface Stats {
  type: "stats"; time: number; frame: number; particles: number; ms: number | null; iterations: number | null;
  error: number | null; kinetic: number | null; potential: number | null; stages: Record<string, number>;
}
export interface Timeline { type: "timeline"; frames: number[]; planned: number; news: string; stages: Record<string, number>; ledger: Record<string, (number | null)[]> | null }
export interface State { type: "state"; playing: boolean; message: string }
export interface Warnings { type: "warnings"; count: number; newest: string[] }
export interface Shipped { name: string; title: string; solver: string; picture: boolean }
export interface Gallery { type: "gallery"; scenes: Shipped[] }
export type Message = Scene | Stats | Timeline | State | Warnings | Gallery;

export type Range = [number, number];
export interface Frame {
  count: number; time: number; frame: number; bodies: Float32Array;
  lo: [number, number, number]; extent: [number, number, number]; radius: number;
  speed: Range; density: Range; pressure: Range; has: number;
  places: Uint16Array; values: Uint8Array; ids: Uint32Array;
}

const HEADER = 80;

export function decode(buffer: ArrayBuffer): Frame | null {
  if (buffer.byteLength < HEADER) return null;
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== 0x31465642) return null; // "BVF1"
  const f = (at: number) => view.getFloat32(at, true);
  const count = view.getUint32(4, true), bodies = view.getUint32(20, true);
  if (buffer.byteLength !== HEADER + 16 * count + 28 * bodies) return null;
  return {
    count, time: view.getFloat64(8, true), frame: view.getInt32(16, true),
    lo: [f(24), f(28), f(32)], extent: [f(36), f(40), f(44)], radius: f(48),
    speed: [f(52), f(56)], density: [f(60), f(64)], pressure: [f(68), f(72)], has: view.getUint32(76, true),
    places: new Uint16Array(buffer, HEADER, 4 * count),
    values: new Uint8Array(buffer, HEADER + 8 * count, 4 * count),
    ids: new Uint32Array(buffer, HEADER + 12 * count, count),
    bodies: new Float32Array(buffer, HEADER + 16 * count, 7 * bodies),
  };
}

// Comes back when the server does: tries again every second.
export class Link {
  private socket: WebSocket | null = null;
  constructor(
    private onMessage: (message: Message) => void,
    private onFrame: (frame: Frame) => void,
    private onLink: (up: boolean) => void,
  ) { this.connect(); }

  private connect() {
    const token = new URLSearchParams(location.search).get("token") ?? "";
    const socket = new WebSocket(`ws://${location.host}/ws?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.onLink(true);
    socket.onmessage = (event) => {
      if (typeof event.data === "string") return this.onMessage(JSON.parse(event.data) as Message);
      const frame = decode(event.data as ArrayBuffer);
      if (frame) this.onFrame(frame);
      else this.seen();
    };
    socket.onclose = () => { this.onLink(false); setTimeout(() => this.connect(), 1000); };
    this.socket = socket;
  }
  send(what: object) { this.say(JSON.stringify(what)); }
  // A frame was drawn: the server may send another.
  seen() { this.say("seen"); }
  private say(text: string) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
  }
}
