// What the view costs, and how fast the page draws; the figures of docs/view.md. On an idle machine:
//   node test/measure.mjs PROGRAM slowdown [SCENE] [FRAMES]   the simulation with and without a viewer, in one run
//   node test/measure.mjs PROGRAM pictures SCENE ...          milliseconds a picture, in this machine's browser
//   node test/measure.mjs PROGRAM first SCENE [TIMES] [KEY=VALUE ...]   from the command to the first picture
import { connect } from "node:net";
import { join } from "node:path";
import { clean, launch, scratch, start } from "./tools.mjs";

const [program, what, ...words] = process.argv.slice(2);
const median = (values) => { const v = [...values].sort((a, b) => a - b); return v[Math.floor(v.length / 2)]; };

// A viewer that takes all that comes, and draws nothing; into one buffer, so that it takes little of the processor itself.
function attach(url) {
  const { hostname, port, search } = new URL(url), buffer = Buffer.alloc(1 << 20);
  let bytes = 0;
  const socket = connect({ port: Number(port), host: hostname, onread: { buffer, callback: (n) => { bytes += n; return true; } } }, () => {
    socket.write(`GET /ws${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
  });
  socket.on("error", () => {});
  return { bytes: () => bytes, leave: () => socket.destroy() };
}

// Frames in turn with a viewer and without; the first after each change does not count. The flow changes slowly, so each
// pair of blocks is compared, and the median of these ratios is the result.
async function slowdown(scene = "bench/pbf-dam-100k", frames = 48) {
  const BLOCK = 4;
  const run = start(program, ["run", scene, "--view", "--json-log", "--frames", String(frames), "--out", join(scratch, "run")], "stderr");
  const url = await run.url;
  const seconds = [];
  let last = 0, viewer = null, bytes = 0, rest = "";
  await new Promise((done) => {
    run.child.once("exit", done);
    run.child.stdout.on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const { event, frame } = JSON.parse(line), now = performance.now();
        if (event !== "frame") continue;
        if (last > 0) seconds.push({ frame, ms: now - last });
        last = now;
        const attached = Math.floor(frame / BLOCK) % 2 === 1;
        if (attached && !viewer) viewer = attach(url);
        if (!attached && viewer) { bytes += viewer.bytes(); viewer.leave(); viewer = null; }
      }
    });
  });
  const blocks = [];
  for (const { frame, ms } of seconds) {
    const b = Math.floor((frame - 1) / BLOCK); // computed after the change at frame - 1
    if ((frame - 1) % BLOCK > 0) (blocks[b] ??= []).push(ms);
  }
  const means = blocks.filter((b) => b?.length === BLOCK - 1).map((b) => b.reduce((x, y) => x + y, 0) / b.length), ratios = [];
  // A block with a viewer against the mean of its neighbours without one
  const first = blocks.findIndex((b) => b?.length === BLOCK - 1);
  for (let i = 1; i + 1 < means.length; ++i) if ((i + first) % 2 === 1) ratios.push(means[i] / (0.5 * (means[i - 1] + means[i + 1])));
  console.log(`${scene}: ${(median(means)).toFixed(0)} ms a frame; with a viewer over without: ${ratios.map((r) => r.toFixed(3)).join(" ")}; median ${median(ratios).toFixed(3)}; ${(bytes / 1e6).toFixed(0)} MB sent`);
}

async function pictures() {
  const browser = await launch();
  for (const scene of words) {
    const server = start(program, ["view", scene, "--paused"]);
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    page.setDefaultTimeout(300000);
    await page.goto(await server.url);
    await page.waitForFunction(() => window.barchan?.last() && window.barchan.stage.drawn > 0, null, { polling: 100 });
    for (const look of ["surface", "particles"]) {
      await page.evaluate((look) => window.barchan.stage.drawFluid(look === "surface"), look);
      const times = await page.evaluate(() => window.barchan.stage.time(3));
      console.log(`${scene} ${await page.evaluate(() => window.barchan.last().count)} particles, ${look}: ${median(times).toFixed(0)} ms a picture of 1280 x 720`);
    }
    await page.close();
    await server.stop();
  }
  await browser.close();
}

// The browser is open, and has drawn nothing yet. The picture is there when its pixels can be read.
async function firstOnce(scene, settings) {
  const browser = await launch(), page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto("about:blank");
  const begun = performance.now(), server = start(program, ["view", scene, ...settings.flatMap((setting) => ["--set", setting])]);
  await page.goto(await server.url);
  await page.waitForFunction(() => window.barchan?.stage.drawn > 0, null, { polling: "raf", timeout: 120000 });
  const particles = await page.evaluate(() => { window.barchan.stage.finish(); return window.barchan.last().count; });
  const seconds = (performance.now() - begun) / 1000;
  await browser.close();
  await server.stop();
  return { particles, seconds };
}
async function first(scene, times = 5, ...settings) {
  const all = [];
  for (let i = 0; i < times; ++i) all.push(await firstOnce(scene, settings));
  const seconds = all.map((one) => one.seconds);
  console.log(`${[scene, ...settings].join(" ")}, ${all[0].particles} particles: first picture after ${seconds.map((s) => s.toFixed(2)).join(" ")}; median ${median(seconds).toFixed(2)} s`);
}

try {
  await ({ slowdown: () => slowdown(words[0], Number(words[1] ?? 48)), pictures, first: () => first(words[0], Number(words[1] ?? 5), ...words.slice(2)) })[what]();
} finally {
  clean();
}
