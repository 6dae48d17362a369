import "./style.css";
import { buildGallery, fillPicker } from "./gallery";
import { buildParams, make, round } from "./panel";
import { STOPS } from "./picture";
import { Pile, Plot } from "./plots";
import { Link, type Frame, type Message, type Scene, type Shipped, type Stats, type Timeline, type Warnings } from "./protocol";
import { COLORINGS, Stage, type Axis, type ColorBy } from "./stage";

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const choice = (id: string) => $<HTMLSelectElement>(id);
const slider = (id: string) => $<HTMLInputElement>(id);
const token = new URLSearchParams(location.search).get("token") ?? "";
// First of all: what it asks for comes while the picture is made ready.
const link = new Link(take, (frame) => { if (pending) link.seen(); pending = frame; }, (up) => {
  $("link").textContent = up ? "" : "The server is gone; trying again ...";
});
const stage = new Stage($<HTMLCanvasElement>("stage"));
document.documentElement.classList.toggle("software", stage.software);
let scene: Scene | null = null, last: Frame | null = null, playing = false, frames: number[] = [], shipped: Shipped[] = [];
let plotted = 0, news = "";

const plots = {
  error: new Plot($("plots"), "density error, largest", ""),
  kinetic: new Plot($("plots"), "kinetic energy", "J"),
  potential: new Plot($("plots"), "potential energy", "J"),
  total: new Plot($("plots"), "energy, both", "J"),
  ms: new Plot($("plots"), "time a step", "ms"),
  particles: new Plot($("plots"), "particles", ""),
};
const stages = new Pile($("plots"), "time a step, by stage");
const clearPlots = () => [...Object.values(plots), stages].forEach((plot) => plot.clear());

// Frames may come faster than they can be drawn: only the newest is. It is reported when the next picture may begin.
let pending: Frame | null = null, drawing = false;
stage.beforePicture = () => {
  if (drawing) link.seen();
  drawing = pending !== null;
  if (pending) showFrame(pending);
  pending = null;
};

// ---- What comes in

function take(message: Message) {
  if (message.type === "scene") openScene(message);
  else if (message.type === "stats") takeStats(message);
  else if (message.type === "timeline") takeTimeline(message);
  else if (message.type === "warnings") takeWarnings(message);
  else if (message.type === "gallery") {
    shipped = message.scenes;
    buildGallery($("cards"), shipped, token, openShipped);
    fillPicker(choice("scene"), shipped, scene?.name ?? "");
  } else {
    playing = message.playing;
    document.body.classList.toggle("playing", playing);
    $("message").textContent = message.message;
  }
}

function openShipped(name: string) {
  frames = [];
  $("gallery").hidden = true;
  link.send({ do: "open", scene: name });
}

function openScene(next: Scene) {
  const again = scene?.name === next.name && scene?.mode === next.mode && scene?.solver === next.solver;
  $("gallery").hidden = next.mode !== "gallery";
  if (next.mode === "gallery") return;
  $("gallery-close").hidden = false;
  scene = next;
  stage.open(next, again);
  document.title = `${next.name} - Barchan`;
  $("title").textContent = next.title || next.name;
  $("timeline").hidden = next.mode !== "cached";
  $("params-section").hidden = next.params.length === 0;
  choice("tool").disabled = next.mode !== "live";
  $("draw-row").hidden = !stage.hasFluid();
  plots.error.rename(next.solver === "flip" ? "divergence, largest [1/s]" : "density error, largest");
  fillPicker(choice("scene"), shipped, next.name);
  const solvers = next.params.find((p) => p.key === "solver");
  choice("solver").replaceChildren(...(solvers?.choices ?? [next.solver]).map((word) => new Option(word, word, false, word === next.solver)));
  choice("solver").disabled = !solvers;
  if (!document.activeElement?.closest("#params") || !again) {
    buildParams($("params"), next.params, (key, value) => link.send({ do: "set", key, value }));
  }
  if (again) return;
  clearPlots();
  news = "";
  if (next.mode !== "cached") frames = [];
  choice("color").replaceChildren();
}

function showFrame(frame: Frame) {
  if (scene === null) return;
  last = frame;
  updateColors(frame);
  stage.show(frame);
  $("clock").textContent = `t = ${frame.time.toFixed(3)} s   frame ${frame.frame}${news}`;
  if (frames.length === 0) return;
  slider("timeline").value = String(frames.indexOf(frame.frame));
  Object.values(plots).forEach((plot) => plot.mark(frame.time));
}

function takeStats(stats: Stats) {
  const busy = stage.milliseconds > 0 ? `, ${stage.milliseconds.toFixed(0)} ms a picture` : "";
  $("facts").textContent = `${scene?.solver ?? ""}, ${stats.particles.toLocaleString("en")} particles${busy}`;
  if (scene?.mode === "cached") return;
  if (stats.time < plotted) clearPlots();
  plotted = stats.time;
  plots.error.add(stats.time, stats.error);
  plots.kinetic.add(stats.time, stats.kinetic);
  plots.potential.add(stats.time, stats.potential);
  if (stats.kinetic !== null && stats.potential !== null) plots.total.add(stats.time, stats.kinetic + stats.potential);
  plots.ms.add(stats.time, stats.ms);
  plots.particles.add(stats.time, stats.particles);
  stages.add(stats.time, stats.stages);
}

function takeTimeline(timeline: Timeline) {
  frames = timeline.frames;
  slider("timeline").max = String(frames.length - 1);
  const of = timeline.planned > 0 ? ` of ${timeline.planned - 1}` : "";
  news = `${of}${timeline.news === "done" ? "" : `, ${timeline.news === "running" ? "still computing" : timeline.news}`}`;
  const ledger = timeline.ledger;
  if (!ledger) return;
  const column = (name: string) => ledger[name] ?? [], time = column("time"), has = (name: string) => column(name).some((v) => v !== null);
  plots.error.set(time, has("density_error_max") ? column("density_error_max") : column("divergence_max"));
  plots.kinetic.set(time, column("kinetic_energy"));
  plots.potential.set(time, column("potential_energy"));
  plots.total.set(time, column("kinetic_energy").map((v, i) => (v === null ? null : v + (column("potential_energy")[i] ?? 0))));
  plots.ms.set(time, column("ms_per_step"));
  plots.particles.set(time, column("particles"));
  stages.clear();
  stages.add(0, timeline.stages);
}

function takeWarnings(warnings: Warnings) {
  $("warnings-section").hidden = warnings.count === 0;
  $("warnings-count").textContent = String(warnings.count);
  $("warnings").replaceChildren(...[...warnings.newest].reverse().map((text) => make("li", "", text)));
}

// ---- Colours and legend

function updateColors(frame: Frame) {
  const select = choice("color");
  const words = COLORINGS.filter((_, i) => i === 0 || frame.has & (1 << (i - 1)));
  if (select.options.length !== words.length) {
    const before = select.value;
    select.replaceChildren(...words.map((word) => new Option(word, word)));
    if (words.includes(before as ColorBy)) select.value = before;
  }
  const by = select.value as ColorBy;
  stage.colorBy(by);
  $("legend-block").hidden = by === "material";
  $("swatches").hidden = by !== "material";
  if (by === "material") {
    $("swatches").replaceChildren(...(scene?.materials ?? []).map((m) => {
      const one = make("span"), dot = make("i");
      dot.style.background = `rgb(${m.color.map((c) => Math.round(255 * Math.pow(c, 1 / 2.2))).join(" ")})`;
      one.append(dot, m.name);
      return one;
    }));
    return;
  }
  const range = by === "speed" ? frame.speed : by === "density" ? frame.density : frame.pressure;
  const unit = by === "speed" ? "m/s" : by === "density" ? "of its density at rest" : "Pa";
  $("legend-ends").replaceChildren(make("span", "", round(range[0])), make("span", "", `${round(0.5 * (range[0] + range[1]))}`), make("span", "", `${round(range[1])} ${unit}`));
}

function drawLegend() {
  const canvas = $<HTMLCanvasElement>("legend"), c = canvas.getContext("2d")!;
  const blend = c.createLinearGradient(0, 0, canvas.width, 0);
  STOPS.forEach((rgb, i) => blend.addColorStop(i / (STOPS.length - 1), "#" + rgb.toString(16).padStart(6, "0")));
  c.fillStyle = blend;
  c.fillRect(0, 0, canvas.width, canvas.height);
}

// ---- Controls

const next = (select: HTMLSelectElement) => {
  if (select.disabled || select.options.length === 0) return;
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
  select.dispatchEvent(new Event("change"));
};
const togglePlay = () => link.send({ do: playing ? "pause" : "play" });
const step = () => link.send({ do: "step" });
const reset = () => link.send({ do: "reset" });
const seek = (index: number) => { if (frames.length > 0) link.send({ do: "seek", frame: frames[Math.max(0, Math.min(index, frames.length - 1))] }); };
function back() { if (frames.length > 0 && last) { link.send({ do: "pause" }); seek(frames.indexOf(last.frame) - 1); } }
function gallery(open: boolean) { if (scene || open) $("gallery").hidden = !open; }
function save() {
  const anchor = make("a");
  anchor.download = `${(scene?.name ?? "barchan").replaceAll("/", "-")}.png`;
  anchor.href = stage.photograph();
  anchor.click();
}
let flipped = false;
function cut() {
  const axis = choice("cut-axis").value as Axis;
  slider("cut").hidden = axis === "off";
  stage.cut(axis, Number(slider("cut").value), flipped);
}
function panels(shown: boolean) {
  document.body.classList.toggle("bare", !shown);
  stage.setMargin(shown ? $("side").offsetWidth + 12 : 0);
  stage.redraw();
}

$("play").onclick = togglePlay;
$("step").onclick = step;
$("reset").onclick = reset;
$("frame").onclick = () => stage.frameAll();
$("shot").onclick = save;
$("color").onchange = () => last && updateColors(last);
$("draw").onchange = () => stage.drawFluid(choice("draw").value === "surface");
$("cut").oninput = cut;
$("cut-axis").onchange = cut;
$("cut-flip").onclick = () => { flipped = !flipped; cut(); };
$("solver").onchange = () => { link.send({ do: "set", key: "solver", value: choice("solver").value }); reset(); };
$("scene").onchange = () => openShipped(choice("scene").value);
$("gallery-open").onclick = () => gallery(true);
$("gallery-close").onclick = () => gallery(false);
$("help-open").onclick = () => $<HTMLDialogElement>("help").showModal();
$("timeline").oninput = () => seek(Number(slider("timeline").value));
$("tool").onchange = () => { stage.controls.enableRotate = tool() === "look"; };
$("theme").onclick = () => theme(!document.documentElement.classList.contains("light"));

const KEYS: Record<string, () => void> = {
  " ": togglePlay, ".": step, ",": back, r: reset, f: () => stage.frameAll(), c: () => next(choice("color")), w: () => next(choice("draw")),
  x: () => next(choice("cut-axis")), m: () => next(choice("tool")), p: save, t: () => $("theme").click(), g: () => gallery($("gallery").hidden),
  h: () => panels(document.body.classList.contains("bare")), "?": () => $<HTMLDialogElement>("help").showModal(),
};
addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || $<HTMLDialogElement>("help").open) return;
  if (event.key === "Escape") return gallery(false);
  if (/^(SELECT|TEXTAREA)$/.test(target.tagName) || target.matches("input[type=number]")) return;
  if (event.key === " " && /^(BUTTON|SUMMARY)$/.test(target.tagName)) return; // presses it
  const act = KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});

// Pour and push: at most twenty times a second while the button is down.
let busy = false, before: { x: number; y: number; z: number } | null = null, sent = 0;
const tool = () => choice("tool").value;
function stir(event: PointerEvent) {
  if (performance.now() - sent < 50) return;
  const at = stage.under(event);
  const from = before ?? at, seconds = Math.max((performance.now() - sent) / 1000, 0.02);
  const speed = [at.x - from.x, at.y - from.y, at.z - from.z].map((d) => Math.max(-5, Math.min(5, d / seconds)));
  const down = scene?.up === "z" ? [0, 0, -1] : [0, -1, 0];
  link.send({ do: tool(), at: [at.x, at.y, at.z], velocity: tool() === "pour" ? down : speed });
  before = at; sent = performance.now();
}
stage.canvas.addEventListener("pointerdown", (event) => {
  if (tool() === "look" || event.button !== 0) return;
  busy = true; before = null; stir(event);
});
stage.canvas.addEventListener("pointermove", (event) => { if (busy) stir(event); });
addEventListener("pointerup", () => { busy = false; });

function theme(light: boolean) {
  document.documentElement.classList.toggle("light", light);
  stage.look(light);
  try { localStorage.setItem("barchan-light", light ? "1" : "0"); } catch { /* private window */ }
}
let stored: string | null = null;
try { stored = localStorage.getItem("barchan-light"); } catch { /* private window */ }
theme(stored === null ? matchMedia("(prefers-color-scheme: light)").matches : stored === "1");
drawLegend();
panels(true);

// For tests: what is on the screen.
Object.assign(window, {
  barchan: { last: () => last, scene: () => scene, playing: () => playing, stage },
});
