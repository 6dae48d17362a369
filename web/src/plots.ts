// Small plots over time: lines, and stages piled up.
import { make, round } from "./panel";

const MOST = 600; // points
const PILE = ["#5b8def", "#e8a34f", "#5fbf8f", "#d46a6a", "#9a7bd0", "#7d8896"];

class Sheet {
  protected readonly block = make("div", "plot");
  protected readonly label = make("span");
  protected readonly now = make("span");
  protected readonly canvas = make("canvas");
  private waiting = 0;
  constructor(into: HTMLElement, name: string) {
    const head = make("div", "row quiet");
    this.label.textContent = name;
    head.append(this.label, this.now);
    this.canvas.width = 536; this.canvas.height = 92;
    this.block.append(head, this.canvas);
    this.block.hidden = true;
    into.append(this.block);
  }
  protected draw() {}
  // A few times a second at most, and not where nobody sees it.
  protected drawSoon() {
    if (this.waiting) return;
    this.waiting = window.setTimeout(() => { this.waiting = 0; if (!document.hidden) this.draw(); }, 250);
  }
  rename(name: string) { this.label.textContent = name; }
  protected paper(): { c: CanvasRenderingContext2D; w: number; h: number; color: (name: string) => string } {
    const c = this.canvas.getContext("2d")!, w = this.canvas.width, h = this.canvas.height;
    const style = getComputedStyle(document.documentElement);
    this.block.hidden = false;
    c.clearRect(0, 0, w, h);
    return { c, w, h, color: (name) => style.getPropertyValue(name) };
  }
}

export class Plot extends Sheet {
  private points: [number, number][] = [];
  private cursor: number | null = null;
  constructor(into: HTMLElement, name: string, private unit: string) { super(into, name); }
  clear() { this.points = []; this.cursor = null; this.block.hidden = true; }
  set(t: (number | null)[], v: (number | null)[]) {
    this.clear();
    t.forEach((time, i) => this.add(time, v[i]));
  }
  // A line where a cached run is looked at.
  mark(t: number) { this.cursor = t; this.drawSoon(); }
  add(t: number | null, v: number | null) {
    if (t === null || v === null || v === undefined) return;
    if (this.points.length > 0 && t < this.points[this.points.length - 1][0]) this.points = [];
    this.points.push([t, v]);
    if (this.points.length > MOST) this.points.splice(0, 100);
    this.drawSoon();
  }
  protected override draw() {
    if (this.points.length === 0) return;
    const { c, w, h, color } = this.paper();
    const t0 = this.points[0][0], t1 = Math.max(this.points[this.points.length - 1][0], t0 + 1e-9);
    let lo = 0, hi = 1e-30;
    for (const [, v] of this.points) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    const x = (t: number) => ((t - t0) / (t1 - t0)) * w, y = (v: number) => h - 6 - ((v - lo) / (hi - lo)) * (h - 14);
    c.beginPath();
    for (const [t, v] of this.points) c.lineTo(x(t), y(v));
    c.strokeStyle = color("--plot");
    c.lineWidth = 2.5;
    c.stroke();
    c.lineTo(w, y(lo)); c.lineTo(0, y(lo));
    c.globalAlpha = 0.13; c.fillStyle = color("--plot"); c.fill(); c.globalAlpha = 1;
    let shown = this.points[this.points.length - 1][1];
    if (this.cursor !== null) {
      const at = this.cursor;
      shown = this.points.reduce((best, p) => (Math.abs(p[0] - at) < Math.abs(best[0] - at) ? p : best))[1];
      c.fillStyle = color("--accent");
      c.fillRect(x(at) - 1, 0, 2.5, h);
    }
    this.now.textContent = `${round(shown)} ${this.unit}`;
    this.now.title = `largest ${round(hi)} ${this.unit}, from t = ${round(t0)} to ${round(t1)} s`;
  }
}

export class Pile extends Sheet {
  private columns: { t: number; stages: Record<string, number> }[] = [];
  private readonly names = make("div", "quiet");
  constructor(into: HTMLElement, name: string) { super(into, name); this.block.append(this.names); }
  clear() { this.columns = []; this.block.hidden = true; }
  add(t: number, stages: Record<string, number>) {
    if (Object.keys(stages).length === 0) return;
    this.columns.push({ t, stages });
    if (this.columns.length > MOST) this.columns.splice(0, 100);
    this.drawSoon();
  }
  protected override draw() {
    if (this.columns.length === 0) return;
    const { c, w, h } = this.paper(), sums: Record<string, number> = {};
    for (const { stages } of this.columns) for (const [name, ms] of Object.entries(stages)) sums[name] = (sums[name] ?? 0) + ms;
    const first = Object.keys(sums).sort((a, b) => sums[b] - sums[a]).slice(0, PILE.length - 1);
    const heights = (stages: Record<string, number>) => {
      const all = Object.values(stages).reduce((a, b) => a + b, 0), known = first.map((name) => stages[name] ?? 0);
      return [...known, Math.max(0, all - known.reduce((a, b) => a + b, 0))];
    };
    const bars = this.columns.map(({ stages }) => heights(stages));
    const total = (bar: number[]) => bar.reduce((a, b) => a + b, 0), top = Math.max(1e-9, ...bars.map(total));
    bars.forEach((bar, i) => {
      let y = h;
      bar.forEach((ms, k) => {
        const high = (ms / top) * (h - 6);
        c.fillStyle = PILE[k];
        c.fillRect((i / bars.length) * w, y - high, w / bars.length + 1, high);
        y -= high;
      });
    });
    const last = bars[bars.length - 1];
    this.now.textContent = `${round(total(last))} ms`;
    this.names.replaceChildren(...[...first, "others"].map((name, k) => {
      const row = make("div", "stage-name"), left = make("span"), dot = make("i");
      dot.style.background = PILE[k];
      left.append(dot, name);
      row.append(left, make("span", "", `${round(last[k])} ms`));
      return row;
    }));
  }
}
