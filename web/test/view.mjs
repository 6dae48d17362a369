// The page in a real browser (Debian's chromium, software GL). `make test-view` runs it.
//   node test/view.mjs PROGRAM [FOLDER FOR SCREENSHOTS] [live|cached|running|gallery ...]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clean, launch, pause, scratch, start } from "./tools.mjs";

const program = process.argv[2], pictures = process.argv[3] ?? scratch;
const SMALL = ["--set", "resolution=0.08", "--threads", "1"];
const slow = Number(process.env.BARCHAN_PATIENCE ?? 120) * 1000; // software GL on a busy machine
const begun = performance.now();
const said = (text) => console.log(`ok ${((performance.now() - begun) / 1000).toFixed(0).padStart(4)} s  ${text}`);
const view = (...words) => start(program, ["view", ...words]);

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 640, height: 400 }, colorScheme: "dark" });
page.setDefaultTimeout(slow);
const faults = [];
page.on("pageerror", (error) => faults.push(String(error)));
page.on("console", (message) => { if (message.type() === "error" && !/WebSocket|ERR_CONNECTION/.test(message.text())) faults.push(message.text()); });

// ---- What the page shows

const time = () => page.evaluate(() => window.barchan.last()?.time ?? -1);
const count = () => page.evaluate(() => window.barchan.last()?.count ?? 0);
const later = (test, argument) => page.waitForFunction(test, argument, { timeout: slow, polling: 50 });
const picture = () => page.evaluate(() => window.barchan.stage.photograph());
const text = (id) => page.evaluate((id) => document.getElementById(id).textContent, id);
const shot = (name) => page.screenshot({ path: join(pictures, name + ".png") });
const key = async (name) => { await page.locator("#stage").focus(); await page.keyboard.press(name); };
// Mean height of the particles [m]
const height = () => page.evaluate(() => {
  const f = window.barchan.last();
  let sum = 0;
  for (let i = 0; i < f.count; ++i) sum += f.places[4 * i + 1];
  return f.lo[1] + (sum / f.count / 65535) * f.extent[1];
});
const slide = async (name, value) => {
  const slider = page.locator(`input[data-key="${name}"]`);
  await slider.fill(String(value));
  await slider.dispatchEvent("change");
};
const open = async (url) => { await page.goto(url); await later(() => window.barchan.last() && window.barchan.stage.drawn > 0); };

// ---- A live scene

async function moves() {
  const first = await picture(), begun = await time(), high = await height();
  await later((t) => window.barchan.last().time > t + 0.3, begun);
  assert.notEqual(await picture(), first);
  const sunk = (await height()) - high;
  assert.ok(sunk < 0);
  said("a dam break moves, and so does its picture");
}

// What was on its way when pause was asked for still comes; then nothing more does.
async function pausesAndHolds() {
  await key("Space");
  await later(() => !window.barchan.playing());
  let held = -1;
  for (let tries = 0; held !== (await time()); ++tries) {
    assert.ok(tries < 20, "it goes on after pause");
    held = await time();
    await pause(1500);
  }
  return held;
}

async function pausesAndSteps() {
  const held = await pausesAndHolds();
  await key(".");
  await later((t) => window.barchan.last().time > t, held);
  assert.ok((await time()) - held < 0.05 && !(await page.evaluate(() => window.barchan.playing())));
  said("pause stops it, and a step is one step");
}

// What falls begins to rise where gravity is turned round; the particles are the same.
async function slidersChangeThePhysics() {
  const held = await time();
  await slide("pbf.iterations", 9);
  await later(() => window.barchan.scene().params.find((p) => p.key === "pbf.iterations").value === 9);
  await slide("gravity.y", 20);
  await later(() => window.barchan.scene().params.find((p) => p.key === "gravity").value[1] === 20);
  assert.equal(await time(), held);
  const high = await height();
  await key("Space");
  await later((t) => window.barchan.last().time > t + 0.4, held);
  await key("Space");
  await later(() => !window.barchan.playing());
  assert.ok((await height()) > high + 0.05);
  said("sliders change the physics of the particles under way");
}

async function poursAndPushes() {
  const before = await count(), box = await page.locator("#stage").boundingBox();
  await page.selectOption("#tool", "pour");
  await page.mouse.click(box.x + 150, box.y + 130);
  await later((n) => window.barchan.last().count > n, before);
  said(`a click pours ${(await count()) - before} particles`);
  await page.evaluate(() => {
    window.speeds = () => window.barchan.last().values.filter((_, i) => i % 4 === 0).join();
    window.calm = window.speeds();
  });
  await page.selectOption("#tool", "push");
  await page.mouse.move(box.x + 120, box.y + 200);
  await page.mouse.down();
  for (let x = 120; x <= 300; x += 20) {
    await page.mouse.move(box.x + x, box.y + 200);
    await pause(60);
  }
  await page.mouse.up();
  await later(() => window.speeds() !== window.calm);
  said("a drag pushes");
  await page.selectOption("#tool", "look");
}

// Two viewers see, and steer, the same simulation.
async function togetherWith(url) {
  const other = await browser.newPage({ viewport: { width: 480, height: 300 } });
  await other.goto(url);
  const same = (test, argument) => other.waitForFunction(test, argument, { timeout: slow, polling: 100 });
  await same((t) => window.barchan?.last()?.time === t, await time());
  await other.click("#play");
  await later(() => window.barchan.playing());
  await other.click("#play");
  await later(() => !window.barchan.playing());
  await other.close();
  said("a second viewer sees the same, and steers it");
}

async function savesAPicture() {
  const [file] = await Promise.all([page.waitForEvent("download"), key("p")]);
  assert.equal(file.suggestedFilename(), "dam-break.png");
  assert.equal(readFileSync(await file.path()).subarray(1, 4).toString(), "PNG");
  said("P saves a picture");
}

async function resets() {
  await key("r");
  await later(() => window.barchan.last().time === 0);
  said("reset begins again");
}

async function looks() {
  const seen = new Set([await picture()]);
  for (const by of ["speed", "density", "pressure"]) {
    if ((await page.locator(`#color option[value="${by}"]`).count()) === 0) continue;
    await page.selectOption("#color", by);
    assert.match(await text("legend-ends"), by === "speed" ? /m\/s/ : by === "density" ? /rest/ : /Pa/);
    seen.add(await picture());
  }
  await page.selectOption("#color", "material");
  for (const name of ["w", "x", "t"]) { await key(name); seen.add(await picture()); } // particles; cut; light
  assert.ok(seen.size >= 6, `${seen.size} different pictures`);
  await key("t"); await key("w");
  await page.selectOption("#cut-axis", "off");
  await key("h");
  assert.ok(await page.locator("#side").isHidden());
  await key("h");
  assert.ok(await page.locator("#side").isVisible());
  said("colours with legend, surface and particles, cut, light and dark, all by keys");
}

async function live() {
  const began = Date.now();
  const server = view("dam-break", ...SMALL);
  const url = await server.url;
  await open(url);
  said(`first picture ${Date.now() - began} ms after the command`);
  await moves();
  await shot("live");
  await pausesAndSteps();
  await slidersChangeThePhysics();
  await poursAndPushes();
  await togetherWith(url);
  await looks();
  await savesAPicture();
  await resets();
  await comesBack(server, url);
}

// A server that is killed is reported; the page comes back to a new one at the same address.
async function comesBack(server, url) {
  await server.kill();
  await later(() => document.getElementById("link").textContent.includes("gone"));
  await shot("gone");
  said("a server that is killed is reported");
  const again = view("dam-break", ...SMALL, "--port", new URL(url).port);
  await again.url;
  await later(() => document.getElementById("link").textContent === "" && window.barchan.last().time > 0);
  said("the page comes back to a new server at the same address");
  assert.equal((await page.request.get(new URL(url).origin + "/")).status(), 403);
  said("no page without the token");
  await again.stop();
}

// ---- Runs

async function cached() {
  const folder = join(scratch, "run");
  execFileSync(program, ["run", "dam-break", "--frames", "12", "--out", folder, "--quiet", ...SMALL]);
  // A ledger with something to warn of
  const ledger = readFileSync(join(folder, "ledger.csv"), "utf8").trimEnd().split("\n");
  const at = ledger[0].split(",").indexOf("leaks"), row = ledger[5].split(",");
  row[at] = "3";
  ledger[5] = row.join(",");
  writeFileSync(join(folder, "ledger.csv"), ledger.join("\n") + "\n");
  const server = view(folder, "--paused");
  await open(await server.url);
  assert.equal(await page.evaluate(() => window.barchan.last().frame), 0);
  const first = await picture();
  await page.locator("#timeline").fill("9");
  await later(() => window.barchan.last().frame === 9);
  assert.notEqual(await picture(), first);
  assert.match(await text("warnings"), /3 particles inside a solid/);
  await key(",");
  await later(() => window.barchan.last().frame === 8);
  await page.click("#play");
  await later(() => window.barchan.last().frame === 12 && !window.barchan.playing());
  await server.stop();
  said("the timeline seeks a cached run, its ledger warns");
}

// run --view: the run as it computes, paused and gone on with; its folder watched at the same time.
async function running() {
  const folder = join(scratch, "running");
  const run = start(program, ["run", "dam-break", "--view", "--frames", "2000", "--out", folder, ...SMALL], "stderr");
  await open(await run.url);
  assert.equal(await page.evaluate(() => window.barchan.scene().mode), "run");
  await later(() => window.barchan.last().frame > 2);
  await pausesAndHolds();
  said("run --view shows the run, and pauses it");
  const other = await browser.newPage({ viewport: { width: 480, height: 300 } });
  const server = view(folder);
  await other.goto(await server.url);
  await other.waitForFunction(() => window.barchan.last()?.frame > 1, null, { timeout: slow, polling: 100 });
  const most = () => Number(document.getElementById("timeline").max);
  const frames = await other.evaluate(most);
  await page.keyboard.press("Space");
  await other.waitForFunction((n) => Number(document.getElementById("timeline").max) > n, frames, { timeout: slow, polling: 100 });
  assert.match(await other.evaluate(() => document.getElementById("clock").textContent), /still computing/);
  await other.close();
  await server.stop();
  await run.stop();
  said("the folder of a run that still computes is watched");
}

// ---- The gallery

async function gallery() {
  const server = view();
  await page.goto(await server.url);
  await page.waitForSelector(".card img");
  await later(() => document.querySelector(".card img").naturalWidth > 0);
  await shot("gallery");
  await page.click('.card[data-scene="tumbling-blocks"]');
  await later(() => window.barchan.last() && window.barchan.scene().name === "tumbling-blocks");
  assert.equal(await page.locator("#scene").inputValue(), "tumbling-blocks");
  await later(() => window.barchan.last().time > 0.02);
  await shot("grains");
  await server.stop();
  const nested = view("ao11/cohesion", "--paused", "--set", "resolution=0.05");
  await open(await nested.url);
  assert.equal(await page.locator("#scene").inputValue(), "ao11/cohesion");
  await nested.stop();
  said("one click in the gallery runs a scene; the picker names it");
}

try {
  const parts = { live, cached, running, gallery }, asked = process.argv.slice(4);
  for (const name of asked.length > 0 ? asked : Object.keys(parts)) await parts[name]();
  assert.deepEqual(faults, []);
  said("no errors in the console");
} finally {
  if (faults.length > 0) console.log(faults.join("\n"));
  await browser.close();
  clean();
}
