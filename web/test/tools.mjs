// Programs and a browser for the tests; none is left behind.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const token = "0123456789abcdef";
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
export const scratch = mkdtempSync(join(tmpdir(), "barchan-view-"));

const children = new Set();
// `stream`: where the address is printed.
export function start(program, words, stream = "stdout") {
  const child = spawn(program, words, { env: { ...process.env, BARCHAN_VIEW_TOKEN: token }, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  let text = "";
  const url = new Promise((resolve, reject) => {
    for (const name of ["stdout", "stderr"]) {
      child[name].on("data", (data) => {
        text += data;
        const found = name === stream && /http:\S+/.exec(text);
        if (found) resolve(found[0]);
      });
    }
    child.once("exit", () => reject(new Error(`barchan ${words.join(" ")} ended: ${text}`)));
  });
  url.catch(() => {});
  const end = (signal) => new Promise((done) => { child.once("exit", done); child.kill(signal); });
  return { child, url, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

export async function launch() {
  const args = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  try {
    return await chromium.launch({ executablePath, args });
  } catch (error) {
    // In some containers chromium ends at once because it has the right to raise its priority but may not use it.
    const wrapper = join(scratch, "chromium.sh");
    writeFileSync(wrapper, `#!/bin/sh\nexec setpriv --bounding-set=-sys_nice ${executablePath} "$@"\n`);
    chmodSync(wrapper, 0o755);
    return chromium.launch({ executablePath: wrapper, args });
  }
}

export function clean() {
  for (const child of children) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
}
