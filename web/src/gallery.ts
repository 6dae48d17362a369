// The page of the shipped scenes: pictures, one click to run.
import { make } from "./panel";
import type { Shipped } from "./protocol";

const GROUPS: Record<string, string> = {
  "": "Scenes", pbf13: "Macklin & Müller 2013, Position Based Fluids", zb05: "Zhu & Bridson 2005, Animating Sand as a Fluid",
  ao11: "Alduán & Otaduy 2011, SPH Granular Flow with Friction and Cohesion", bym05: "Bell, Yu & Mucha 2005, Particle-Based Simulation of Granular Materials",
  bench: "Benchmarks: large, for fast machines",
};

function card(scene: Shipped, token: string, open: (name: string) => void): HTMLElement {
  const button = make("button", "card"), words = make("div", "words");
  if (scene.picture) {
    const image = make("img");
    image.src = `/gallery/${scene.name}.jpg?token=${encodeURIComponent(token)}`;
    image.alt = "";
    image.loading = "lazy";
    button.append(image);
  } else {
    button.append(make("div", "blank"));
  }
  words.append(make("strong", "", scene.name.split("/").pop()!), make("div", "quiet", scene.title.replace(/ \(.*\d{4}.*\)$/, "")));
  button.append(make("span", "chip", scene.solver), words);
  button.dataset.scene = scene.name;
  button.onclick = () => open(scene.name);
  return button;
}

export function buildGallery(into: HTMLElement, scenes: Shipped[], token: string, open: (name: string) => void) {
  into.replaceChildren();
  const groupOf = (s: Shipped) => (s.name.includes("/") ? s.name.split("/")[0] : "");
  const known = Object.keys(GROUPS), others = [...new Set(scenes.map(groupOf))].filter((g) => !known.includes(g));
  for (const group of [...known.slice(0, -1), ...others, "bench"]) {
    const these = scenes.filter((s) => groupOf(s) === group);
    if (these.length === 0) continue;
    const cards = make("div", group === "bench" ? "list" : "cards");
    if (group === "bench") {
      cards.append(...these.map((s) => { const b = make("button", "", s.name.slice(6)); b.title = s.title; b.onclick = () => open(s.name); return b; }));
    } else {
      cards.append(...these.map((s) => card(s, token, open)));
    }
    into.append(make("h2", "", GROUPS[group] ?? group), cards);
  }
}

export function fillPicker(picker: HTMLSelectElement, scenes: Shipped[], current: string) {
  const known = scenes.some((s) => s.name === current);
  picker.replaceChildren(...(known || !current ? [] : [new Option(current, current)]), ...scenes.map((s) => new Option(s.name, s.name)));
  picker.value = current;
}
