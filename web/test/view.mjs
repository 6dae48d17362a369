// The page in a real browser (Debian's chromium, software GL). `make test-view` runs it.
//   node test/view.mjs PROGRAM [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const program = process.argv[2];
const pictures = process.argv[3] ?? mkdtempSync(join(tmpdir(), "barchan-view-"));
const SMALL = ["--set", "resolution=0.06", "--threads", "1"];
const slow = Number(process.env.BARCHAN_PATIENCE ?? 60) * 1000; // software GL on a busy machine

const token = "0123456789abcdef";
function view(...words) {
  const child = spawn(program, ["view", ...words], { env: { ...process.env, BARCHAN_VIEW_TOKEN: token }, stdio: ["ignore", "pipe", "inherit"] });
  const url = new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
    child.once("exit", () => reject(new Error("barchan view ended")));
  });
  return { child, url, stop: () => new Promise((done) => { child.once("exit", done); child.kill("SIGTERM"); }) };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
page.setDefaultTimeout(slow);
const faults = [];
page.on("pageerror", (error) => faults.push(String(error)));
page.on("console", (message) => { if (message.type() === "error" && !message.text().includes("WebSocket")) faults.push(message.text()); });

const time = () => page.evaluate(() => window.barchan.last()?.time ?? -1);
const count = () => page.evaluate(() => window.barchan.last()?.count ?? 0);
const playing = () => page.evaluate(() => window.barchan.playing());
const later = (test, argument) => page.waitForFunction(test, argument, { timeout: slow, polling: 50 });
const shot = (name) => page.screenshot({ path: join(pictures, name + ".png") });
const middle = () => page.screenshot({ clip: { x: 100, y: 100, width: 800, height: 500 } });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const said = (text) => console.log("ok  " + text);

try {
  // Live: it moves, and what is drawn changes
  const began = Date.now();
  const live = view("dam-break", ...SMALL);
  const url = await live.url;
  await page.goto(url);
  await later(() => window.barchan.last() && window.barchan.drawn() > 1);
  said(`first picture ${Date.now() - began} ms after the command`);
  const first = await middle(), start = await time();
  await later((t) => window.barchan.last().time > t + 0.3, start);
  assert.notDeepEqual(await middle(), first);
  said("a dam break moves");
  await shot("water-live");

  // Space pauses
  await page.locator("#stage").focus();
  await page.keyboard.press("Space");
  await later(() => !window.barchan.playing());
  await pause(700);
  const held = await time();
  await pause(1500);
  assert.equal(await time(), held);
  said("pause stops it");
  await page.keyboard.press(".");
  await later((t) => window.barchan.last().time > t, held);
  const stepped = await time();
  assert.ok(stepped - held < 0.05 && !(await playing()));
  said("a step is one step");

  // A slider changes the physics: the solver is told, and works differently
  await page.locator('input[data-key="pbf.iterations"]').fill("9");
  await page.locator('input[data-key="pbf.iterations"]').dispatchEvent("change");
  await later(() => window.barchan.scene().params.find((p) => p.key === "pbf.iterations").value === 9);
  assert.equal(await time(), stepped); // the same particles go on
  await page.keyboard.press(".");
  await later((t) => window.barchan.last().time > t, stepped);
  said("a slider changes a parameter of the particles under way");

  // A click pours
  const before = await count();
  await page.selectOption("#tool", "pour");
  await page.mouse.click(500, 200);
  await later((n) => window.barchan.last().count > n, before);
  said(`a click pours ${(await count()) - before} particles`);
  await page.selectOption("#tool", "look");

  // R begins again
  await page.locator("#stage").focus();
  await page.keyboard.press("r");
  await later(() => window.barchan.last().time === 0);
  said("reset begins again");

  // Colours and themes
  await page.selectOption("#color", "material");
  await page.click("#theme");
  await pause(500);
  await shot("water-dark");
  await page.click("#theme");

  // A server that dies is reported; the page comes back to a new one at the same address
  await live.stop();
  await page.waitForFunction(() => document.getElementById("link").textContent.includes("gone"));
  said("a server that is gone is reported");

  const again = view("dam-break", ...SMALL, "--port", new URL(url).port);
  const there = new URL(await again.url);
  const end = await time();
  await later((t) => document.getElementById("link").textContent === "" && window.barchan.last().time !== t, end);
  said("the page comes back to a new server at the same address");

  // Nothing without the token
  assert.equal((await page.request.get(there.origin + "/")).status(), 403);
  await again.stop();
  said("no page without the token");

  // A cached run
  const folder = join(mkdtempSync(join(tmpdir(), "barchan-run-")), "run");
  execFileSync(program, ["run", "dam-break", "--frames", "12", "--out", folder, "--quiet", ...SMALL]);
  const cached = view(folder, "--paused");
  await page.goto(await cached.url);
  await later(() => window.barchan.last()?.frame === 0);
  await page.locator("#timeline").fill("9");
  await later(() => window.barchan.last().frame === 9);
  await shot("cached");
  await page.click("#play");
  await later(() => window.barchan.last().frame === 12);
  await cached.stop();
  said("the timeline seeks a cached run");

  // Other looks
  for (const [name, scene, until] of [["sand", "sand-pour", 0.25], ["gallery", "", 0]]) {
    const other = view(...(scene ? [scene, "--threads", "1"] : []));
    await page.goto(await other.url);
    if (scene) await later((t) => window.barchan.last()?.time > t, until);
    else await page.waitForSelector(".card");
    await pause(500);
    await shot(name);
    await other.stop();
  }
  said("sand and the gallery");
  assert.deepEqual(faults, []);
  said("no errors in the console");
  console.log("pictures in " + pictures);
} finally {
  await browser.close();
}
