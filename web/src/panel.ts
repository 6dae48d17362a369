// Sliders from the parameter tables, and small plots over time.
import type { Param } from "./protocol";

export function round(v: number): string {
  if (v === 0) return "0";
  return Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : String(Number(v.toPrecision(4)));
}

// A slider needs ends: those of the table where they are near, otherwise a factor around the value.
function ends(param: Param, value: number): [number, number] {
  let lo = param.lo ?? -1e9, hi = param.hi ?? 1e9;
  const scale = Math.max(Math.abs(value), param.whole ? 4 : 1e-6);
  if (hi - lo > 200 * scale) {
    hi = Math.min(hi, value === 0 ? (hi - lo > 1000 ? 10 : hi) : 5 * scale);
    lo = Math.max(lo, value < 0 ? -5 * scale : value === 0 ? Math.max(lo, 0) : 0);
  }
  return [lo, hi];
}

export function buildParams(into: HTMLElement, params: Param[], change: (key: string, value: number | string) => void) {
  into.replaceChildren();
  for (const param of params) {
    if (param.key === "solver" || param.key === "duration" || param.value === null) continue;
    const block = document.createElement("div");
    block.className = "param";
    block.title = param.help + (param.live ? "" : " (with the next reset)");
    const label = document.createElement("label");
    label.textContent = param.key + (param.unit ? ` [${param.unit}]` : "") + (param.live ? "" : " *");
    const row = document.createElement("div");
    row.className = "row";
    if (param.choices.length > 0) {
      const select = document.createElement("select");
      for (const word of param.choices) select.add(new Option(word, word, false, word === param.value));
      select.onchange = () => change(param.key, select.value);
      select.setAttribute("aria-label", param.key);
      row.append(select);
    } else {
      const value = param.value as number, [lo, hi] = ends(param, value);
      const slider = document.createElement("input"), number = document.createElement("input");
      slider.type = "range"; number.type = "number";
      slider.min = String(lo); slider.max = String(hi);
      slider.step = param.whole ? "1" : String((hi - lo) / 200);
      number.step = param.whole ? "1" : "any";
      slider.value = String(value); number.value = String(Number(value.toPrecision(6)));
      slider.setAttribute("aria-label", param.key); number.setAttribute("aria-label", param.key + ", as a number");
      slider.dataset.key = param.key;
      slider.oninput = () => { number.value = String(Number(Number(slider.value).toPrecision(4))); };
      slider.onchange = () => change(param.key, Number(number.value));
      number.onchange = () => { slider.value = number.value; change(param.key, Number(number.value)); };
      row.append(slider, number);
    }
    block.append(label, row);
    into.append(block);
  }
}

export class Plot {
  private points: [number, number][] = [];
  private readonly canvas = document.createElement("canvas");
  private readonly now = document.createElement("span");
  private readonly block = document.createElement("div");
  constructor(into: HTMLElement, name: string, private unit: string) {
    const head = document.createElement("div"), label = document.createElement("span");
    head.className = "row quiet";
    label.textContent = name;
    head.append(label, this.now);
    this.canvas.width = 516; this.canvas.height = 116;
    this.block.append(head, this.canvas);
    this.block.hidden = true;
    into.append(this.block);
  }
  clear() { this.points = []; this.block.hidden = true; }
  set(t: (number | null)[], v: (number | null)[]) {
    this.clear();
    t.forEach((time, i) => this.add(time, v[i], false));
    this.draw();
  }
  add(t: number | null, v: number | null, draw = true) {
    if (t === null || v === null || v === undefined) return;
    if (this.points.length > 0 && t < this.points[this.points.length - 1][0]) this.points = [];
    this.points.push([t, v]);
    if (this.points.length > 600) this.points.splice(0, 100);
    if (draw) this.draw();
  }
  private draw() {
    if (this.points.length === 0) return;
    this.block.hidden = false;
    const c = this.canvas.getContext("2d")!, w = this.canvas.width, h = this.canvas.height;
    const style = getComputedStyle(document.documentElement);
    const t0 = this.points[0][0], t1 = Math.max(this.points[this.points.length - 1][0], t0 + 1e-9);
    let lo = 0, hi = 1e-30;
    for (const [, v] of this.points) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    c.clearRect(0, 0, w, h);
    c.strokeStyle = style.getPropertyValue("--line");
    c.strokeRect(0.5, 0.5, w - 1, h - 1);
    c.strokeStyle = style.getPropertyValue("--accent");
    c.lineWidth = 2.5;
    c.beginPath();
    for (const [t, v] of this.points) c.lineTo(((t - t0) / (t1 - t0)) * w, h - 6 - ((v - lo) / (hi - lo)) * (h - 12));
    c.stroke();
    this.now.textContent = `${round(this.points[this.points.length - 1][1])} ${this.unit} (top ${round(hi)})`;
  }
}
