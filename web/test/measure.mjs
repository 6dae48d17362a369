// What the view costs, and how fast the page draws; the figures of docs/view.md. On an idle machine:
//   node test/measure.mjs PROGRAM slowdown [SCENE [FRAMES [PAIRS]]]   the simulation with and without a viewer
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

// How long each frame of a run takes [ms]; a run does the same work every time.
async function frameTimes(scene, frames, watched) {
  const run = start(program, ["run", scene, "--view", "--json-log", "--overwrite", "--frames", String(frames), "--out", join(scratch, "run")], "stderr");
  const viewer = watched ? attach(await run.url) : null, times = [];
  let last = 0, rest = "";
  run.child.stdout.on("data", (data) => {
    const lines = (rest + data).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { event, frame } = JSON.parse(line), now = performance.now();
      if (event !== "frame") continue;
      if (last > 0) times[frame] = now - last;
      last = now;
    }
  });
  await new Promise((done) => run.child.once("exit", done));
  if (watched && viewer.bytes() === 0) throw new Error("the viewer got nothing");
  viewer?.leave();
  return times;
}

// Short runs in turn with a viewer and without; other work on the machine disturbs single pairs, hardly the median of many.
async function slowdown(scene = "bench/pbf-dam-100k", frames = 10, pairs = 12) {
  const total = async (watched) => (await frameTimes(scene, frames, watched)).slice(2).reduce((a, b) => a + b, 0);
  const ratios = [], alone = [];
  for (let k = 0; k < pairs; ++k) {
    const first = await total(k % 2 === 0), second = await total(k % 2 === 1);
    ratios.push(k % 2 === 0 ? first / second : second / first);
    alone.push((k % 2 === 0 ? second : first) / (frames - 1));
  }
  console.log(`${scene}: ${median(alone).toFixed(0)} ms a frame; with a viewer over without: ${ratios.map((r) => r.toFixed(3)).join(" ")}; median ${median(ratios).toFixed(3)}`);
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
  await ({ slowdown: () => slowdown(words[0], ...words.slice(1).map(Number)), pictures, first: () => first(words[0], Number(words[1] ?? 5), ...words.slice(2)) })[what]();
} finally {
  clean();
}
