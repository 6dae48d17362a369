import "./style.css";
import { Plot, buildParams, round } from "./panel";
import { Link, type Frame, type Gallery, type Message, type Scene, type Stats, type Timeline } from "./protocol";
import { STOPS, Stage, type ColorBy } from "./stage";

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const stage = new Stage($<HTMLCanvasElement>("stage"));
let scene: Scene | null = null, last: Frame | null = null, playing = false, frames: number[] = [], plotted = 0;

const plots = {
  error: new Plot($("plots"), "density or divergence error", ""),
  kinetic: new Plot($("plots"), "kinetic energy", "J"),
  potential: new Plot($("plots"), "potential energy", "J"),
  ms: new Plot($("plots"), "time a step", "ms"),
  particles: new Plot($("plots"), "particles", ""),
};

// Frames may come faster than they can be drawn: only the newest is.
let pending: Frame | null = null;
stage.beforePicture = () => {
  if (pending) showFrame(pending);
  pending = null;
};
const link = new Link(take, (frame) => { pending = frame; }, (up) => {
  $("link").textContent = up ? "" : "The server is gone; trying again ...";
});

// ---- What comes in

function take(message: Message) {
  if (message.type === "scene") openScene(message);
  else if (message.type === "stats") takeStats(message);
  else if (message.type === "timeline") takeTimeline(message);
  else if (message.type === "gallery") fillGallery(message);
  else {
    playing = message.playing;
    $("play").textContent = playing ? "Pause" : "Play";
    $("message").textContent = message.message;
  }
}

function openScene(next: Scene) {
  const again = scene?.name === next.name && scene?.mode === next.mode && scene?.solver === next.solver;
  $("gallery").hidden = next.mode !== "gallery";
  if (next.mode === "gallery") return;
  scene = next;
  stage.open(next, again);
  document.title = `${next.name} - Barchan`;
  $("title").textContent = next.title || next.name;
  $("timeline").hidden = next.mode !== "cached";
  $("params-section").hidden = next.params.length === 0;
  $<HTMLSelectElement>("tool").disabled = next.mode !== "live";
  ($("scene") as HTMLSelectElement).value = next.name;
  const solvers = next.params.find((p) => p.key === "solver");
  const solver = $<HTMLSelectElement>("solver");
  solver.replaceChildren(...(solvers?.choices ?? [next.solver]).map((word) => new Option(word, word, false, word === next.solver)));
  solver.disabled = !solvers;
  if (!document.activeElement?.closest("#params") || !again) {
    buildParams($("params"), next.params, (key, value) => link.send({ do: "set", key, value }));
  }
  if (!again) {
    Object.values(plots).forEach((plot) => plot.clear());
    const sand = next.materials.some((m) => !m.fluid) || next.solver === "dem";
    $<HTMLSelectElement>("color").dataset.wish = sand ? "material" : "speed";
  }
}

function showFrame(frame: Frame) {
  if ($("gallery").hidden === false && scene === null) return;
  last = frame;
  stage.show(frame);
  updateColors(frame);
  $("clock").textContent = `t = ${frame.time.toFixed(3)} s, frame ${frame.frame}`;
  if (frames.length > 0) $<HTMLInputElement>("timeline").value = String(frames.indexOf(frame.frame));
}

function takeStats(stats: Stats) {
  $("facts").textContent = `${scene?.solver ?? ""}, ${stats.particles.toLocaleString("en")} particles, page ${stage.milliseconds.toFixed(0)} ms a picture`;
  if (scene?.mode === "cached") return;
  if (stats.time < plotted) Object.values(plots).forEach((plot) => plot.clear());
  plotted = stats.time;
  plots.error.add(stats.time, stats.error);
  plots.kinetic.add(stats.time, stats.kinetic);
  plots.potential.add(stats.time, stats.potential);
  plots.ms.add(stats.time, stats.ms);
  plots.particles.add(stats.time, stats.particles);
  const most = Object.entries(stats.stages).sort((a, b) => b[1] - a[1]).slice(0, 5);
  $("stages").textContent = most.length > 0 ? "last step: " + most.map(([name, ms]) => `${name} ${round(ms)} ms`).join(", ") : "";
}

function takeTimeline(timeline: Timeline) {
  frames = timeline.frames;
  $<HTMLInputElement>("timeline").max = String(frames.length - 1);
  const ledger = timeline.ledger;
  if (!ledger) return;
  const column = (name: string) => ledger[name] ?? [];
  plots.error.set(column("time"), column("density_error_max").some((v) => v !== null) ? column("density_error_max") : column("divergence_max"));
  plots.kinetic.set(column("time"), column("kinetic_energy"));
  plots.potential.set(column("time"), column("potential_energy"));
  plots.ms.set(column("time"), column("ms_per_step"));
  plots.particles.set(column("time"), column("particles"));
}

function fillGallery(gallery: Gallery) {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const open = (name: string) => { frames = []; link.send({ do: "open", scene: name }); };
  $("cards").replaceChildren(...gallery.scenes.filter((s) => !s.name.includes("/")).map((s) => {
    const card = document.createElement("button"), text = document.createElement("div"), name = document.createElement("strong");
    card.className = "card";
    if (s.picture) {
      const image = document.createElement("img");
      image.src = `/gallery/${s.name}.jpg?token=${encodeURIComponent(token)}`;
      image.alt = "";
      card.append(image);
    }
    name.textContent = s.name;
    text.append(name, document.createElement("br"), s.title);
    card.append(text);
    card.onclick = () => { $("gallery").hidden = true; open(s.name); };
    return card;
  }));
  const picker = $<HTMLSelectElement>("scene");
  picker.replaceChildren(new Option("", ""), ...gallery.scenes.map((s) => new Option(s.name, s.name)));
  picker.onchange = () => { if (picker.value) open(picker.value); };
}

// ---- Colours and legend

function updateColors(frame: Frame) {
  const select = $<HTMLSelectElement>("color");
  const words: ColorBy[] = ["material"];
  if (frame.has & 1) words.push("speed");
  if (frame.has & 2) words.push("density");
  if (frame.has & 4) words.push("pressure");
  if (select.options.length !== words.length) select.replaceChildren(...words.map((word) => new Option(word, word)));
  const wish = select.dataset.wish as ColorBy | undefined;
  if (wish && words.includes(wish)) { select.value = wish; delete select.dataset.wish; }
  const by = select.value as ColorBy;
  stage.colorBy(by);
  $("legend").hidden = by === "material";
  const range = by === "speed" ? frame.speed : by === "density" ? frame.density : frame.pressure;
  const unit = by === "speed" ? "m/s" : by === "density" ? "of its density at rest" : "Pa";
  const ends = by === "material" ? [scene?.materials.map((m) => m.name).join(", ") ?? ""] : [round(range[0]), `${round(range[1])} ${unit}`];
  $("legend-ends").replaceChildren(...ends.map((text) => { const span = document.createElement("span"); span.textContent = text; return span; }));
}

function drawLegend() {
  const canvas = $<HTMLCanvasElement>("legend"), c = canvas.getContext("2d")!;
  const blend = c.createLinearGradient(0, 0, canvas.width, 0);
  STOPS.forEach((rgb, i) => blend.addColorStop(i / (STOPS.length - 1), "#" + rgb.toString(16).padStart(6, "0")));
  c.fillStyle = blend;
  c.fillRect(0, 0, canvas.width, canvas.height);
}

// ---- Controls

function togglePlay() { link.send({ do: playing ? "pause" : "play" }); }
$("play").onclick = togglePlay;
$("step").onclick = () => link.send({ do: "step" });
$("reset").onclick = () => link.send({ do: "reset" });
$("frame").onclick = () => stage.frameAll();
$("color").onchange = () => last && updateColors(last);
$("clip").oninput = () => stage.clip(Number($<HTMLInputElement>("clip").value));
$("solver").onchange = () => { link.send({ do: "set", key: "solver", value: $<HTMLSelectElement>("solver").value }); link.send({ do: "reset" }); };
$("gallery-open").onclick = () => { $("gallery").hidden = false; };
$("timeline").oninput = () => link.send({ do: "seek", frame: frames[Number($<HTMLInputElement>("timeline").value)] ?? 0 });
$("shot").onclick = () => {
  const anchor = document.createElement("a");
  anchor.download = `${scene?.name ?? "barchan"}.png`;
  anchor.href = stage.canvas.toDataURL("image/png");
  anchor.click();
};

addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(target.tagName) || target.matches("input[type=number]")) return;
  if (event.key === "Escape" && scene) $("gallery").hidden = true;
  else if (event.key === " " && target.tagName !== "BUTTON") { event.preventDefault(); togglePlay(); }
  else if (event.key === ".") link.send({ do: "step" });
  else if (event.key === "r" || event.key === "R") link.send({ do: "reset" });
  else if (event.key === "f" || event.key === "F") stage.frameAll();
});

// Pour and push: at most twenty times a second while the button is down.
let busy = false, before: { x: number; y: number; z: number } | null = null, sent = 0;
const tool = () => $<HTMLSelectElement>("tool").value;
function stir(event: PointerEvent) {
  if (performance.now() - sent < 50) return;
  const { at } = stage.under(event);
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
$("tool").onchange = () => { stage.controls.enableRotate = tool() === "look"; };

function theme(light: boolean) {
  document.documentElement.classList.toggle("light", light);
  stage.background(light ? "#dfe5ec" : "#161b22");
  try { localStorage.setItem("barchan-light", light ? "1" : "0"); } catch { /* private window */ }
}
$("theme").onclick = () => theme(!document.documentElement.classList.contains("light"));
let stored: string | null = null;
try { stored = localStorage.getItem("barchan-light"); } catch { /* private window */ }
theme(stored === null ? matchMedia("(prefers-color-scheme: light)").matches : stored === "1");
drawLegend();

// For tests: what is on the screen.
Object.assign(window, { barchan: { last: () => last, scene: () => scene, playing: () => playing, drawn: () => stage.drawn, milliseconds: () => stage.milliseconds } });
