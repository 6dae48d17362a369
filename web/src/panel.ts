// Sliders from the parameter tables.
import type { Param } from "./protocol";

export function round(v: number): string {
  if (v === 0) return "0";
  return Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : String(Number(v.toPrecision(4)));
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, name = "", text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

// For a number field, which is narrow.
const short = (v: number, digits: number) => (Math.abs(v) >= 1e6 ? v.toExponential().replace("+", "") : String(Number(v.toPrecision(digits))));

type Change = (key: string, value: number | string | number[]) => void;

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

function sliderRow(key: string, name: string, value: number, [lo, hi]: [number, number], whole: boolean, change: (value: number) => void): HTMLElement {
  const row = make("div", "row"), slider = make("input"), number = make("input");
  slider.type = "range"; number.type = "number";
  slider.min = String(lo); slider.max = String(hi);
  slider.step = whole ? "1" : String((hi - lo) / 200);
  number.step = whole ? "1" : "any";
  slider.value = String(value); number.value = short(value, 6);
  slider.setAttribute("aria-label", name); number.setAttribute("aria-label", name + ", as a number");
  slider.dataset.key = key;
  slider.oninput = () => { number.value = short(Number(Number(slider.value).toPrecision(4)), 4); };
  slider.onchange = () => change(Number(number.value));
  number.onchange = () => { slider.value = number.value; change(Number(number.value)); };
  row.append(slider, number);
  return row;
}

function control(param: Param, change: Change): HTMLElement[] {
  const value = param.value;
  if (Array.isArray(value)) {
    const now = [...value], most = Math.max(20, 2 * Math.max(...value.map(Math.abs)));
    return ["x", "y", "z"].map((axis, i) =>
      sliderRow(`${param.key}.${axis}`, `${param.key} along ${axis}`, value[i], [-most, most], false, (v) => { now[i] = v; change(param.key, [...now]); }));
  }
  if (param.choices.length > 0) {
    const row = make("div", "row"), select = make("select");
    for (const word of param.choices) select.add(new Option(word, word, false, word === value));
    select.onchange = () => change(param.key, select.value);
    select.setAttribute("aria-label", param.key);
    select.style.width = "100%";
    row.append(select);
    return [row];
  }
  return [sliderRow(param.key, param.key, value as number, ends(param, value as number), param.whole, (v) => change(param.key, v))];
}

export function buildParams(into: HTMLElement, params: Param[], change: Change) {
  into.replaceChildren();
  let group = "";
  for (const param of params) {
    if (param.key === "solver" || param.key === "duration" || param.value === null) continue;
    const dot = param.key.lastIndexOf("."), owner = dot < 0 ? "scene" : param.key.slice(0, dot).replace("material.", "");
    if (owner !== group) into.append(make("div", "group", (group = owner)));
    const block = make("div", "param"), name = param.key.slice(dot + 1).replaceAll("_", " ");
    block.title = param.help + (param.live ? "" : " (with the next reset)");
    const label = make("label", "", name + (param.unit ? ` [${param.unit}]` : "") + (param.live ? "" : " *"));
    block.append(label, ...control(param, change), make("div", "help quiet", block.title));
    into.append(block);
  }
}
