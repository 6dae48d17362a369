#!/usr/bin/env python3
"""The program as its users meet it: exit codes, messages, files, and nothing lost when it dies.

Usage: test_cli.py PROGRAM [unittest arguments]. BARCHAN_FULL_TESTS=1 runs the long versions."""

import csv
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import hostile
import usda_reader

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
FULL = os.environ.get("BARCHAN_FULL_TESTS") == "1"

SCENE = """
title = "Two blocks fall into a tank with a turning paddle"
solver = "ballistic"
duration = 1.0
fps = 30
resolution = 0.03
[material.sand]
preset = "dry-sand"
[[fill]]
shape = { box = [[-0.3, 0.5, -0.3], [0.3, 1.1, 0.3]] }
velocity = [1, 0, 0.5]
[[solid]]
name = "tank"
inside_out = true
restitution = 0.5
shape = { box = [[-0.8, 0, -0.8], [0.8, 1.6, 0.8]] }
[[solid]]
name = "paddle"
shape = { box = [[-0.4, -0.04, -0.4], [0.4, 0.04, 0.4]] }
motion = "keyframes"
keyframes = [
  { time = 0, position = [0, 0.3, 0], rotation = { axis = [0, 0, 1], angle = 0 } },
  { time = 1, position = [0, 0.3, 0], rotation = { axis = [0, 0, 1], angle = 400 } },
]
[cache]
checkpoint_every = 4
"""

# Nobody at the start; a jet through a window onto a plate and into a drain.
STREAM = """
duration = 1.0
fps = 30
resolution = 0.03
[[emitter]]
shape = { cylinder = { from = [0, 1.2, 0], to = [0.1, 1.2, 0], radius = 0.12 } }
rate = 60
velocity = [1.5, 0.5, 0]
start = 0.05
[[solid]]
name = "plate"
friction = 0.05
restitution = 0.6
shape = { box = [[-2, -0.1, -1], [2, 0, 1]] }
[[sink]]
shape = { box = [[0.9, -1, -2], [4, 0.2, 2]] }
[[probe]]
name = "window"
kind = "flow"
from = [0.4, -1, -2]
to = [0.4, 3, 2]
normal = [1, 0, 0]
[[probe]]
name = "level"
at = [0.8, 0, 0]
[cache]
checkpoint_every = 4
"""

LEDGER = ("frame,time,steps,particles,mass,volume,momentum_x,momentum_y,momentum_z,kinetic_energy,"
          "potential_energy,max_speed,density_error_mean,density_error_max,divergence_max,"
          "iterations_mean,leaks,retries,ms_per_step")
BODIES = ("frame,time,name,position_x,position_y,position_z,orientation_w,orientation_x,"
          "orientation_y,orientation_z,velocity_x,velocity_y,velocity_z,angular_velocity_x,"
          "angular_velocity_y,angular_velocity_z,force_x,force_y,force_z,torque_x,torque_y,torque_z")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=600, **options)


def data_files(folder):
    """What must be the same bytes: frames, checkpoints and the scene."""
    found = {}
    for part in ("frames", "checkpoints"):
        for path in sorted((folder / part).iterdir()):
            found[f"{part}/{path.name}"] = path.read_bytes()
    found["scene.toml"] = (folder / "scene.toml").read_bytes()
    return found


def tables(folder):
    """ledger.csv without its clock, bodies.csv, and what the probes measured."""
    rows = list(csv.DictReader((folder / "ledger.csv").read_text().splitlines()))
    for row in rows:
        del row["ms_per_step"]
    probes = {path.name: path.read_text() for path in folder.glob("probes/*.csv")}
    return rows, (folder / "bodies.csv").read_text(), probes


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="barchan-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.scene = self.dir / "fall.toml"
        self.scene.write_text(SCENE)

    def expect(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stdout + result.stderr)
        if code != 0:  # one clear message, not a crash
            self.assertEqual(result.stderr.count("error:"), 1 if "error:" in result.stderr else 0)

    def same_run(self, a, b):
        left, right = data_files(a), data_files(b)
        self.assertEqual(sorted(left), sorted(right))
        for name in left:
            self.assertTrue(left[name] == right[name], f"{name} differs")
        self.assertEqual(tables(a), tables(b))


class Commands(Case):
    def test_version_and_help(self):
        self.expect(run("--version"), 0, "barchan 0.")
        self.expect(run("--help"), 0, "run", "check", "bench")

    def test_wrong_usage(self):
        for arguments in ([], ["fly"], ["run"], ["run", self.scene, "--threads", "many"],
                          ["run", self.scene, "--resume", "--overwrite"], ["render"],
                          ["run", "no-such-scene"], ["check", self.dir],
                          ["run", self.scene, "--device", "tpu"], ["export", self.dir, "--to", "doc"],
                          ["info", self.dir / "nothing"], ["render", self.dir / "nothing"],
                          ["run", self.scene, "--set", "resolution"],
                          ["run", self.scene, "--set", "resolutoin=0.1"], ["params", "sky"]):
            result = run(*arguments, cwd=self.dir)
            self.assertEqual(result.returncode, 2, (arguments, result.stdout, result.stderr))
            self.assertTrue(result.stderr.strip(), arguments)
        self.expect(run("rnu", self.scene), 2, "no command 'rnu'; did you mean 'run'?")
        self.expect(run("run", self.scene, "--out", "/dev/null/x"), 1, "choose another place with --out")

    def test_view_faults_before_it_listens(self):
        page = pathlib.Path(self.dir) / "web" / "dist"
        page.mkdir(parents=True)
        env = dict(os.environ, BARCHAN_WEB=str(page.parent))
        self.expect(run("view", self.scene, env=env), 2, "make page")
        (page / "index.html").write_text("<p>page</p>")
        self.expect(run("view", "no-such-scene", env=env), 2, "no-such-scene")
        self.expect(run("view", self.scene, "--host", "nowhere", env=env), 2, "nowhere")

    def watched(self, *arguments):
        """A program that prints the address of its view, and a page that is not the real one."""
        page = self.dir / "web" / "dist"
        page.mkdir(parents=True, exist_ok=True)
        (page / "index.html").write_text("<p>the page</p>")
        env = dict(os.environ, BARCHAN_WEB=str(page.parent))
        child = subprocess.Popen([PROGRAM, *map(str, arguments)], env=env, stderr=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, text=True)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        for line in child.stderr:
            if found := re.search(r"http://\S+", line):
                # What else it says must not fill the pipe.
                said = [line]
                threading.Thread(target=lambda: said.extend(child.stderr), daemon=True).start()
                return child, hostile.Address(found.group()), said
        self.fail("no address")

    def test_malformed_messages_leave_a_run_unharmed(self):
        half = 5000 if FULL else 1000
        whole, out = self.dir / "whole", self.dir / "watched"
        finer = ("--set", "resolution=0.02", "--threads", 1)
        self.expect(run("run", self.scene, "--out", whole, "--quiet", *finer), 0)
        child, address, said = self.watched("run", self.scene, "--view", "--out", out, *finer)
        viewer = hostile.Viewer(address)
        self.addCleanup(viewer.close)
        viewer.say(b'{"do":"pause"}')
        hostile.assault(address, half, seed=1)
        self.assertIsNone(child.poll())
        viewer.say(b'{"do":"play"}')
        hostile.assault(address, half, seed=2)
        self.assertEqual(child.wait(timeout=600), 0, "".join(said[-40:]))
        self.same_run(whole, out)

    def test_who_is_no_viewer_gets_nothing(self):
        child, address, _ = self.watched("run", self.scene, "--view", "--out", self.dir / "out",
                                         "--set", "duration=1000")
        token, own = f"token={address.token}", f"{address.host}:{address.port}"
        self.assertIn("the page", address.answer(f"/?{token}"))
        refused = [address.answer("/"), address.answer("/?token=0"), address.answer("/ws"),
                   address.answer("/", more=hostile.UPGRADE),
                   address.answer("/ws", more=hostile.UPGRADE),
                   address.answer(f"/ws?{token}", origin="http://evil.example", more=hostile.UPGRADE),
                   address.answer(f"/ws?{token}", origin="null", more=hostile.UPGRADE),
                   address.answer(f"/ws?{token}", host="evil.example", more=hostile.UPGRADE),
                   address.answer(f"/?{token}", origin="http://evil.example"),
                   address.answer(f"/?{token}", origin=f"https://{own}"),
                   address.answer(f"/?{token}", host=f"evil.example:{address.port}"),
                   address.answer(f"/?{token}", more=f"Host: {own}\r\n")]
        for text in refused:
            self.assertTrue(text.startswith("HTTP/1.1 403"), text)
            self.assertNotIn("the page", text)
        self.assertIsNone(child.poll())

    def test_scenes_params_check(self):
        self.expect(run("scenes"), 0, "spinning-drop")
        self.expect(run("params"), 0, "resolution", "friction_angle", "[[solid]]")
        self.expect(run("params", "ballistic"), 0, "dt_max")
        json.loads(run("params", "--json-schema").stdout)
        self.expect(run("check", self.scene), 0, "particles  8,000",
                    "spacing    0.03 m, radius 0.015 m, support 0.06 m", "memory", "disk")
        bad = self.dir / "bad.toml"
        bad.write_text(SCENE.replace("restitution", "restitutoin"))
        self.expect(run("check", bad), 2, "bad.toml:15:1: unknown key 'restitutoin'", "restitution")

    def test_check_foretells_the_compression_of_pbf(self):
        # 0.316 g H dt^2 / (0.6 n d^2) with H = 0.6 m, n = 3, d = 0.03 m.
        pbf = ("check", self.scene, "--set", "solver=pbf", "--set")
        fine = run(*pbf, "pbf.substeps=4")
        self.expect(fine, 0, "squeezed   2 % at the bottom of 0.6 m")
        self.assertNotIn("warning", fine.stderr)
        self.expect(run(*pbf, "pbf.substeps=2"), 0, "squeezed   8 %", "warning:",
                    "squeeze it by 8 % at the bottom, more than 5 %", "pbf.substeps = 3 would do")
        enough = run(*pbf, "pbf.substeps=3")
        self.expect(enough, 0, "squeezed   3.5 %")
        self.assertNotIn("warning", enough.stderr)
        # Along gravity, wherever it points; nothing without it, and not of other solvers.
        self.expect(run(*pbf, "gravity=[-20, 0, 0]", "--set", "fill.1.shape.box=[[-0.735, 0, 0], "
                        "[0.735, 0.3, 0.3]]"), 0, "squeezed   10 % at the bottom of 1.47 m",
                    "warning:")
        for other in (pbf + ("gravity=[0, 0, 0]",), ("check", self.scene)):
            self.assertNotIn("squeezed", run(*other).stdout)

    def test_an_artificial_pressure_that_blows_up_is_warned_of(self):
        pbf = ("check", self.scene, "--set", "solver=pbf", "--set")
        self.assertNotIn("s_corr", run(*pbf, "pbf.s_corr=0.2").stderr)
        self.expect(run(*pbf, "pbf.s_corr=0.3"), 0, "warning: pbf.s_corr = 0.3", "up to 0.2 none did")
        self.expect(run(*pbf, "pbf.s_corr_distance=0.45"), 0, "up to 0.022 none did")

    def test_check_weighs_fills_that_lie_on_each_other(self):
        # 0.6 m of water below 0.6 m of half its density, of twice its density, and far below it.
        layers = self.dir / "layers.toml"
        for density, bottom, expected in ((500, 0.6, "squeezed   3 % at the bottom of 1.2 m"),
                                          (2000, 0.6, "squeezed   6 % at the bottom of 1.2 m"),
                                          (2000, 0.7, "squeezed   2 % at the bottom of 0.6 m")):
            layers.write_text(f"""
                solver = "pbf"
                resolution = 0.03
                [material.water]
                preset = "water"
                [material.above]
                density = {density}
                [[fill]]
                shape = {{ box = [[0, 0, 0], [0.3, 0.6, 0.3]] }}
                [[fill]]
                material = "above"
                shape = {{ box = [[0, {bottom}, 0], [0.3, {bottom + 0.6}, 0.3]] }}
                """)
            self.expect(run("check", layers), 0, expected)

    def test_cuda_answers_in_one_sentence_or_works(self):
        result = run("run", self.scene, "--device", "cuda", "--frames", 1, "--out", self.dir / "gpu")
        if result.returncode != 0:
            self.expect(result, 2, "--device cuda:", "--device cpu")
            self.assertEqual(len(result.stderr.strip().splitlines()), 1)

    def test_bench(self):
        out = self.dir / "bench.json"
        self.expect(run("bench", self.scene, "--steps", 5, "--warmup", 1, "--json", out), 0, "stages")
        result = json.loads(out.read_text())
        for key in ("scene", "device", "threads", "particles", "boundary_particles", "steps",
                    "ms_per_step_median", "ms_per_step_min", "ns_per_particle_step",
                    "iterations_mean", "neighbours_mean", "pairs_per_second", "stages",
                    "floor_share", "peak_memory_bytes"):
            self.assertIn(key, result)
        self.assertEqual(result["particles"], 8000)
        self.assertGreater(result["stages"]["fly"], 0)


class Runs(Case):
    def test_what_a_run_leaves_behind(self):
        out = self.dir / "run"
        self.expect(run("run", self.scene, "--out", out), 0, "31 frames")
        self.assertEqual((out / "ledger.csv").read_text().splitlines()[0], LEDGER)
        self.assertEqual((out / "bodies.csv").read_text().splitlines()[0], BODIES)
        self.assertEqual(len(list((out / "frames").iterdir())), 31)
        self.assertEqual(sorted(p.name for p in (out / "checkpoints").iterdir()),
                         ["checkpoint_000028.h5", "checkpoint_000030.h5"])
        info = json.loads((out / "run.json").read_text())
        self.assertEqual(info["state"], "done")
        self.assertIn("fly", info["timings"])
        self.assertIn("frame_000030.h5", (out / "frames.xdmf").read_text())
        rows, _, _ = tables(out)
        self.assertEqual([int(row["frame"]) for row in rows], list(range(31)))
        self.assertTrue(all(row["leaks"] == "0" for row in rows))
        self.assertEqual(len({row["mass"] for row in rows}), 1)
        self.expect(run("info", out, "--verify"), 0, "done", "31")
        # The filled-in scene gives the same bytes.
        again = self.dir / "again"
        self.expect(run("run", out / "scene.toml", "--out", again), 0)
        self.same_run(out, again)

    def test_existing_folder_and_lock(self):
        out = self.dir / "run"
        self.expect(run("run", self.scene, "--out", out, "--frames", 2), 0)
        (out / "mine.txt").write_text("keep me")
        self.expect(run("run", self.scene, "--out", out), 2, "--resume", "--overwrite")
        self.expect(run("run", self.scene, "--out", out, "--frames", 3, "--overwrite"), 0)
        self.assertEqual((out / "mine.txt").read_text(), "keep me")
        slow = subprocess.Popen([PROGRAM, "run", self.scene, "--out", out, "--overwrite", "--quiet",
                                 "--set", "resolution=0.01"])
        try:
            while slow.poll() is None and (out / "frames" / "frame_000003.h5").exists():
                time.sleep(0.005)  # until it has begun to start again
            self.expect(run("run", self.scene, "--out", out, "--overwrite"), 1, "another run")
        finally:
            slow.kill()
            slow.wait()

    def test_same_bytes_for_any_number_of_threads(self):
        folders = []
        for threads in (1, 2, 4):
            out = self.dir / f"threads{threads}"
            self.expect(run("run", self.scene, "--out", out, "--threads", threads), 0)
            folders.append(out)
        self.same_run(folders[0], folders[1])
        self.same_run(folders[0], folders[2])

    def test_set_and_json_log(self):
        out = self.dir / "run"
        result = run("run", self.scene, "--out", out, "--frames", 3, "--json-log",
                     "--set", "solid.tank.friction=0.9", "--set", "fill.1.sampling=lattice")
        self.expect(result, 0)
        events = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([e["event"] for e in events], ["start", "frame", "frame", "frame", "done"])
        text = (out / "scene.toml").read_text()
        self.assertIn("friction = 0.9", text)
        self.assertIn('sampling = "lattice"', text)

    def test_a_still_run_can_be_drawn(self):
        out = self.dir / "still"
        self.expect(run("run", self.scene, "--out", out, "--frames", 0, "--set",
                        "fill.1.velocity=[0,0,0]"), 0, "1 frame in")
        self.expect(run("render", out, "--size", "64x36"), 0)
        self.assertTrue((out / "images" / "frame_000000.png").exists())

    def test_quiet_says_nothing(self):
        result = run("run", self.scene, "--out", self.dir / "q", "--frames", 1, "--quiet")
        self.expect(result, 0)
        self.assertEqual(result.stdout + result.stderr, "")

    def test_render_and_export(self):
        out = self.dir / "run"
        self.expect(run("run", self.scene, "--out", out, "--frames", 6), 0)
        self.expect(run("export", out, "--to", "ply"), 0)
        self.assertEqual(len(list((out / "ply").iterdir())), 7)
        self.expect(run("export", out, "--to", "csv", "--frames", "2..3"), 0)
        lines = (out / "csv" / "frame_000002.csv").read_text().splitlines()
        self.assertEqual(len(lines), 8001)
        self.expect(run("export", out, "--to", "ply", "--frames", "90.."), 2, "0 to 6")
        # A broken frame is named, the rest is done, and the exit code tells.
        broken = out / "frames" / "frame_000003.h5"
        broken.write_bytes(broken.read_bytes()[:5000])
        self.expect(run("render", out, "--size", "160x90"), 1, "frame_000003.h5")
        self.assertEqual(len(list((out / "images").iterdir())), 6)
        # So is one that is missing.
        (out / "frames" / "frame_000005.h5").unlink()
        self.expect(run("render", out, "--size", "160x90", "--frames", "4..6"), 1,
                    "frame_000005.h5 is missing", "2 pictures")
        self.assertTrue((out / "video.mp4").stat().st_size > 1000)
        self.assertTrue((out / "contact_sheet.png").exists())
        self.expect(run("info", out), 1, "frame_000003.h5")


    def test_looks(self):
        out = self.dir / "run"
        self.expect(run("run", self.scene, "--out", out, "--frames", 2), 0)
        seen = {}
        for look in ("auto", "sand", "grains", "water", "particles"):
            self.expect(run("render", out, "--size", "96x54", "--look", look, "--frames", 2), 0)
            seen[look] = (out / "images" / "frame_000002.png").read_bytes()
        self.assertEqual(len(set(seen.values())), 4)
        self.assertEqual(seen["auto"], seen["sand"])
        # A picture does not depend on which others are drawn: a farm may share them out
        self.expect(run("render", out, "--size", "96x54", "--look", "sand"), 0)
        self.assertEqual((out / "images" / "frame_000002.png").read_bytes(), seen["sand"])
        # The same bytes on any number of threads, with an open shutter, too
        blurred = []
        for threads in (1, 4):
            self.expect(run("render", out, "--size", "96x54", "--frames", 2, "--look", "water",
                            "--threads", threads, "--set", "render.shutter=0.5"), 0)
            blurred.append((out / "images" / "frame_000002.png").read_bytes())
        self.assertEqual(blurred[0], blurred[1])
        self.assertNotEqual(blurred[0], seen["water"])
        self.expect(run("render", out, "--size", "96x54", "--frames", 2, "--format", "exr",
                        "--quality", "final", "--samples", 2), 0)
        self.assertEqual((out / "images" / "frame_000002.exr").read_bytes()[:4],
                         b"\x76\x2f\x31\x01")
        for wrong in (["--look", "sandy"], ["--quality", "best"], ["--samples", 0],
                      ["--size", "9x9"], ["--format", "gif"]):
            self.expect(run("render", out, *wrong), 2)


class Surfaces(Case):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "run"
        self.expect(run("run", self.scene, "--out", self.out, "--frames", 4), 0)

    def surfaces(self, ending="ply"):
        return {p.name: p.read_bytes() for p in (self.out / "surface").glob("surface_*." + ending)}

    def test_meshes_are_made_once(self):
        self.expect(run("surface", self.out, "--threads", 2), 0, "5 surfaces", "8,000 particles")
        first = self.surfaces()
        self.assertEqual(sorted(first), [f"surface_{n:06}.ply" for n in range(5)])
        header, body = first["surface_000002.ply"].split(b"end_header\n", 1)
        vertices = int(header.split(b"element vertex ")[1].split()[0])
        faces = int(header.split(b"element face ")[1].split()[0])
        self.assertGreater(faces, 1000)
        self.assertEqual(len(body), 36 * vertices + 13 * faces)
        # What is there is left alone, unless a frame is newer or the settings differ.
        self.expect(run("surface", self.out), 0, "0 surfaces", "5 there already")
        os.utime(self.out / "frames" / "frame_000001.h5")
        self.expect(run("surface", self.out), 0, "1 surface in", "4 there already")
        self.assertEqual(self.surfaces(), first)
        self.expect(run("surface", self.out, "--set", "surface.voxel=1", "--frames", "1..2"), 0,
                    "2 surfaces")
        self.assertNotEqual(self.surfaces()["surface_000002.ply"], first["surface_000002.ply"])
        self.expect(run("surface", self.out), 0, "5 surfaces")
        self.assertEqual(self.surfaces(), first)

    def test_same_bytes_on_any_number_of_threads(self):
        everything = ("--format", "ply,obj,vdb")
        self.expect(run("surface", self.out, "--threads", 1, *everything), 0)
        one = {e: self.surfaces(e) for e in ("ply", "obj", "vdb")}
        self.assertTrue(all(len(files) == 5 for files in one.values()))
        shutil.rmtree(self.out / "surface")
        self.expect(run("surface", self.out, "--threads", 4, *everything), 0)
        self.assertEqual(one, {e: self.surfaces(e) for e in ("ply", "obj", "vdb")})

    def test_broken_and_missing_frames_are_named(self):
        frames = self.out / "frames"
        broken = frames / "frame_000002.h5"
        broken.write_bytes(broken.read_bytes()[:5000])
        self.expect(run("surface", self.out), 1, "frame_000002.h5", "4 surfaces")
        self.assertEqual(len(self.surfaces()), 4)
        broken.unlink()
        self.expect(run("surface", self.out), 1, "frame_000002.h5 is missing", "0 surfaces")
        self.expect(run("surface", self.out, "--frames", "3.."), 0, "2 there already")

    def test_refusals(self):
        self.expect(run("surface", self.dir / "nowhere"), 2, "no folder")
        self.expect(run("surface", self.out, "--format", "stl"), 2, "ply, obj or vdb")
        self.expect(run("surface", self.out, "--set", "surface.voxell=1"), 2, "did you mean 'voxel'")
        self.expect(run("surface", self.out, "--set", "surface.voxel=9"), 2, "voxel")
        self.expect(run("surface", self.out, "--set", "surface.voxel=0.05", "--set", "surface.radius=4"),
                    2, "80 voxels", "0.0833")
        self.expect(run("surface", self.out, "--frames", "9"), 2, "0 to 4")


class Exports(Case):
    FRAMES = range(4)

    def setUp(self):
        super().setUp()
        self.out = self.dir / "run"
        self.expect(run("run", self.scene, "--out", self.out, "--frames", 3, "--quiet"), 0)

    def export(self, to, *arguments, code=0, texts=(), folder=None):
        self.expect(run("export", folder or self.out, "--to", to, *arguments), code, *texts)

    def usda(self, folder=None):
        folder = folder or self.out
        return usda_reader.Reader((folder / "usda" / (folder.name + ".usda")).read_text())

    @staticmethod
    def volume(vertices, triangles):
        """Enclosed by triangles that face outwards."""
        total = 0.0
        for t in triangles:
            (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (vertices[k] for k in t)
            total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        return total / 6.0

    @staticmethod
    def obj(path):
        """name -> (all vertices of the file so far, the object's triangles)."""
        vertices, objects = [], {}
        for line in path.read_text().splitlines():
            words = line.split()
            if words[0] == "o":
                triangles = []
                objects[words[1]] = (vertices, triangles)
            elif words[0] == "v":
                vertices.append(tuple(map(float, words[1:])))
            elif words[0] == "f":
                triangles.append([int(word.split("//")[0]) - 1 for word in words[1:]])
        return objects

    def test_points_are_the_same_in_every_format(self):
        for to in ("ply", "csv", "usda"):
            self.export(to, texts=["4 frames in"])
        points = self.usda().prims["/run/particles"]
        for frame in self.FRAMES:
            rows = list(csv.DictReader((self.out / "csv" / f"frame_{frame:06}.csv").read_text().splitlines()))
            header, body = (self.out / "ply" / f"frame_{frame:06}.ply").read_bytes().split(b"end_header\n", 1)
            self.assertIn(b"element vertex 8000\n", header)
            self.assertEqual(len(body), 8000 * 33)
            self.assertEqual(len(points["ids"][frame]), 8000)
            for row, packed, id, place, velocity, material in zip(
                    rows, struct.iter_unpack("<6fdB", body), points["ids"][frame], points["points"][frame],
                    points["velocities"][frame], points["primvars:displayColor:indices"][frame]):
                text = [float(row[c]) for c in ("x", "y", "z", "vx", "vy", "vz")]
                self.assertEqual(int(row["id"]), id)
                self.assertEqual(packed[6:], (id, material))
                self.assertEqual(text, place + velocity)  # to the last digit
                self.assertEqual(struct.unpack("<6f", struct.pack("<6f", *text)), packed[:6])
            self.assertEqual(len(set(points["ids"][frame])), 8000)
            low, high = points["extent"][frame]  # particles are 0.03 m wide
            for axis in range(3):
                self.assertAlmostEqual(low[axis], min(p[axis] for p in points["points"][frame]) - 0.015, 5)
                self.assertAlmostEqual(high[axis], max(p[axis] for p in points["points"][frame]) + 0.015, 5)

    def test_usda_stage_surface_and_solids(self):
        self.export("usda", "--frames", "1..3", "--threads", 1)
        path = self.out / "usda" / "run.usda"
        first = path.read_bytes()
        self.export("usda", "--frames", "1..3", "--threads", 4)
        self.assertTrue(path.read_bytes() == first)
        self.assertEqual([p.name for p in path.parent.iterdir()], ["run.usda"])
        stage = self.usda()
        self.assertEqual({k: v for k, v in stage.stage.items() if k != "doc"},
                         {"defaultPrim": "run", "startTimeCode": 1, "endTimeCode": 3, "framesPerSecond": 30,
                          "timeCodesPerSecond": 30, "metersPerUnit": 1, "upAxis": "Y"})
        self.assertEqual({path: prim["type"] for path, prim in stage.prims.items()},
                         {"/run": "Xform", "/run/particles": "Points", "/run/surface": "Mesh",
                          "/run/solids": "Scope", "/run/solids/tank": "Mesh", "/run/solids/paddle": "Mesh"})
        self.assertEqual(stage.prims["/run/particles"]["widths"], [0.03])
        self.assertEqual(stage.interpolation["/run/surface", "normals"], "vertex")
        surface = stage.prims["/run/surface"]
        self.assertEqual(surface["subdivisionScheme"], "none")
        for name in ("points", "normals", "velocities", "faceVertexCounts", "faceVertexIndices", "extent"):
            self.assertEqual(list(surface[name]), [1, 2, 3])
        for frame in (1, 2, 3):
            corners, count = surface["faceVertexIndices"][frame], len(surface["points"][frame])
            self.assertEqual(set(surface["faceVertexCounts"][frame]), {3})
            self.assertEqual(3 * len(surface["faceVertexCounts"][frame]), len(corners))
            self.assertEqual(set(corners), set(range(count)))
            self.assertEqual(len(surface["normals"][frame]), count)
            self.assertEqual(len(surface["velocities"][frame]), count)
        # A block of 0.6 m that flies, and has not met the paddle yet
        corners = surface["faceVertexIndices"][1]
        triangles = list(zip(corners[0::3], corners[1::3], corners[2::3]))
        self.assertAlmostEqual(self.volume(surface["points"][1], triangles), 0.216, delta=0.01)
        for velocity in surface["velocities"][1]:
            for a, b in zip(velocity, (1, -9.81 / 30, 0.5)):
                self.assertAlmostEqual(a, b, delta=1e-4)
        # The tank stands and is a guide; the paddle turns by 400 degrees a second about z.
        tank, paddle = stage.prims["/run/solids/tank"], stage.prims["/run/solids/paddle"]
        self.assertEqual(tank["purpose"], "guide")
        self.assertNotIn("xformOpOrder", tank)
        self.assertNotIn("purpose", paddle)
        self.assertEqual(paddle["xformOpOrder"], ["xformOp:translate", "xformOp:orient"])
        for frame in (1, 2, 3):
            half = math.radians(400) * frame / 60
            for a, b in zip(paddle["xformOp:orient"][frame], (math.cos(half), 0, 0, math.sin(half))):
                self.assertAlmostEqual(a, b, 9)
            self.assertEqual(paddle["xformOp:translate"][frame], [0, 0.3, 0])

    def test_obj_has_solids_where_they_are(self):
        self.export("obj")
        flying = self.obj(self.out / "obj" / "frame_000001.obj")
        self.assertAlmostEqual(self.volume(*flying["surface"]), 0.216, delta=0.01)
        objects = self.obj(self.out / "obj" / "frame_000003.obj")
        self.assertEqual(list(objects), ["surface", "paddle"])  # a tank would hide what is in it
        self.assertAlmostEqual(self.volume(*objects["paddle"]), 0.8 * 0.08 * 0.8, 9)
        vertices, triangles = objects["paddle"]
        found = sorted({vertices[k] for t in triangles for k in t})
        turn = math.radians(40)
        expected = sorted((x * math.cos(turn) - y * math.sin(turn), 0.3 + x * math.sin(turn) + y * math.cos(turn), z)
                          for x in (-0.4, 0.4) for y in (-0.04, 0.04) for z in (-0.4, 0.4))
        for a, b in zip(found, expected):
            for p, q in zip(a, b):
                self.assertAlmostEqual(p, q, 6)

    def test_meshes_and_level_sets_are_those_of_barchan_surface(self):
        self.expect(run("surface", self.out, "--format", "ply,obj,vdb"), 0)
        self.export("vdb")
        self.export("obj", "--frames", "1..2", "--out", self.dir / "there")
        self.assertEqual(sorted(p.name for p in (self.dir / "there").iterdir()),
                         ["frame_000001.obj", "frame_000002.obj"])
        for frame in self.FRAMES:
            self.assertTrue((self.out / "vdb" / f"frame_{frame:06}.vdb").read_bytes() ==
                            (self.out / "surface" / f"surface_{frame:06}.vdb").read_bytes())
        text = (self.out / "surface" / "surface_000001.obj").read_text()
        self.assertTrue((self.dir / "there" / "frame_000001.obj").read_text().startswith("o surface\n" + text + "o "))
        # The solids as they are made, each about its own origin
        solids = self.obj(self.out / "surface" / "solids.obj")
        self.assertEqual(list(solids), ["tank", "paddle"])
        self.assertAlmostEqual(self.volume(*solids["tank"]), 1.6 ** 3, 9)
        self.export("usda", "--set", "surface.voxell=1", code=2, texts=["did you mean 'voxel'"])
        self.export("vdb", "--set", "surface.voxel=1", "--frames", "0")
        self.assertNotEqual((self.out / "vdb" / "frame_000000.vdb").read_bytes(),
                            (self.out / "surface" / "surface_000000.vdb").read_bytes())

    def test_one_particle_has_the_volume_of_its_sphere(self):
        self.scene.write_text("""
duration = 1
resolution = 0.1
up = "z"
[[fill]]
shape = { box = [[0, 0, 0], [0.1, 0.1, 0.1]] }
sampling = "lattice"
[[solid]]
name = "a-b"
shape = { sphere = { center = [3, 0, 0], radius = 0.5 } }
motion = "dynamic"
[[solid]]
name = "a_b"
shape = { torus = { center = [6, 0, 0], axis = [0, 0, 1], major = 0.5, minor = 0.1 } }
[[solid]]
name = "1st"
shape = { plane = { point = [0, 0, -9], normal = [0, 0, 1] } }
[[solid]]
name = "2nd"
shape = { box = [[8, 0, 0], [9, 1, 1]] }
""")
        one, fine = self.dir / "one", ("--set", "surface.voxel=0.06")
        self.expect(run("run", self.scene, "--out", one, "--frames", 1), 0)
        self.expect(run("surface", one, *fine), 0)
        self.export("obj", *fine, folder=one)
        self.export("usda", *fine, folder=one)
        sphere = 4 / 3 * math.pi * 0.05 ** 3
        stage = self.usda(one)
        self.assertEqual(stage.stage["upAxis"], "Z")
        surface = stage.prims["/run/surface"]
        for frame in (0, 1):
            header, body = (one / "surface" / f"surface_{frame:06}.ply").read_bytes().split(b"end_header\n", 1)
            count = int(header.split(b"element vertex ")[1].split()[0])
            ply = ([v[:3] for v in struct.iter_unpack("<9f", body[:36 * count])],
                   [f[1:] for f in struct.iter_unpack("<B3I", body[36 * count:])])
            corners = surface["faceVertexIndices"][frame]
            usda = (surface["points"][frame], list(zip(corners[0::3], corners[1::3], corners[2::3])))
            objects = self.obj(one / "obj" / f"frame_{frame:06}.obj")
            for mesh in (ply, usda, objects["surface"]):
                self.assertAlmostEqual(self.volume(*mesh), sphere, delta=0.02 * sphere)
            self.assertAlmostEqual(self.volume(*objects["a-b"]), math.pi / 6, delta=0.005)
        # Planes have no end; other names are made fit for USD, and stay apart.
        solids = {p: prim["barchan:name"] for p, prim in stage.prims.items() if p.startswith("/run/solids/")}
        self.assertEqual(solids, {"/run/solids/a_b": "a-b", "/run/solids/a_b_": "a_b", "/run/solids/_2nd": "2nd"})
        self.assertEqual(stage.prims["/run/solids/a_b"]["xformOp:translate"][0], [3, 0, 0])

    def test_broken_and_missing_frames_are_named(self):
        broken = self.out / "frames" / "frame_000002.h5"
        broken.write_bytes(broken.read_bytes()[:5000])
        for to in ("ply", "csv", "obj", "vdb"):
            self.export(to, code=1, texts=["frame_000002.h5", "3 frames in"])
            self.assertEqual([p.name for p in sorted((self.out / to).iterdir())],
                             [f"frame_{n:06}.{to}" for n in (0, 1, 3)])
        self.export("usda", code=1, texts=["frame_000002.h5", "3 frames in"])
        stage = self.usda()
        for path in ("/run/particles", "/run/surface"):
            self.assertEqual(list(stage.prims[path]["points"]), [0, 1, 3])
        self.assertEqual(list(stage.prims["/run/solids/paddle"]["xformOp:orient"]), [0, 1, 3])
        broken.unlink()
        self.export("ply", code=1, texts=["frame_000002.h5 is missing", "3 frames in"])
        self.export("ply", "--frames", "0..1", texts=["2 frames in"])
        # Nothing left to export: what was there stays
        before = (self.out / "usda" / "run.usda").read_bytes()
        alone = self.out / "frames" / "frame_000003.h5"
        alone.write_bytes(b"")
        result = run("export", self.out, "--to", "usda", "--frames", "3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("frame_000003.h5", result.stderr)
        self.assertIn("no frame", result.stderr)
        self.assertTrue((self.out / "usda" / "run.usda").read_bytes() == before)

    def test_refusals(self):
        self.export("doc", code=2, texts=["ply, obj, vdb, xdmf, csv or usda"])
        self.export("xdmf", "--frames", "1", code=2, texts=["neither --frames nor --out"])
        self.export("obj", "--frames", "9", code=2, texts=["0 to 3"])


class Streams(Case):
    def setUp(self):
        super().setUp()
        self.scene.write_text(STREAM)

    def test_who_comes_and_goes_is_told(self):
        out = self.dir / "run"
        self.expect(run("check", self.scene), 0, "0 at the start, 2,111 emitted")
        self.expect(run("run", self.scene, "--out", out), 0, "31 frames")
        info = json.loads((out / "run.json").read_text())
        self.assertEqual(info["emitted"], 2111)
        self.assertGreater(info["removed"], 100)
        self.assertEqual(info["emitted"] - info["removed"], info["particles"])
        self.expect(run("info", out, "--verify"), 0, "2,111 particles emitted", "level, window",
                    "every checksum matches")
        rows, _, probes = tables(out)
        self.assertEqual(rows[0]["particles"], "0")
        window = list(csv.DictReader(probes["window.csv"].splitlines()))
        self.assertEqual([int(row["frame"]) for row in window], list(range(31)))
        self.assertEqual(window[0]["value"], "")
        mean = sum(float(row["value"]) for row in window[15:]) / 16
        self.assertAlmostEqual(mean, 60.0, delta=3.0)
        self.expect(run("render", out, "--size", "160x90"), 0)
        self.expect(run("export", out, "--to", "ply", "--frames", "0"), 0)
        again = self.dir / "again"
        self.expect(run("run", out / "scene.toml", "--out", again, "--threads", 1), 0)
        self.same_run(out, again)

    def test_resumed_anywhere(self):
        whole = self.dir / "whole"
        self.expect(run("run", self.scene, "--out", whole), 0)
        out = self.dir / "parts"
        for frames in (1, 6, 17):  # the checkpoint of the end, and cut rows
            self.expect(run("run", self.scene, "--out", out, "--resume", "--frames", frames), 0)
            # Times are of all sessions: one that took an hour is not forgotten
            info = json.loads((out / "run.json").read_text())
            self.assertGreater(info["wall_seconds"], 0 if frames == 1 else 3600)
            (out / "run.json").write_text(json.dumps(dict(info, wall_seconds=3600)))
        broken = out / "checkpoints" / "checkpoint_000017.h5"
        broken.write_bytes(broken.read_bytes()[:-500])
        self.expect(run("run", self.scene, "--out", out, "--resume"), 0, "going on from frame 16")
        self.same_run(whole, out)

    def test_nobody_at_all(self):
        out = self.dir / "empty"
        self.expect(run("run", self.scene, "--out", out, "--set", "emitter.1.start=5"), 0)
        self.expect(run("info", out, "--verify"), 0, "0 at first, 0 at last")
        self.expect(run("render", out, "--size", "64x36"), 0)
        for form in ("ply", "csv", "xdmf", "obj", "vdb", "usda"):
            self.expect(run("export", out, "--to", form), 0)
        nobody = usda_reader.Reader((out / "usda" / "empty.usda").read_text()).prims["/run/particles"]
        self.assertTrue(len(nobody["points"]) > 0 and not any(nobody["points"].values()))
        self.expect(run("bench", self.scene, "--steps", 3, "--warmup", 0), 0)

    def test_too_much_for_the_mouth_is_foretold(self):
        self.expect(run("check", self.scene, "--set", "emitter.1.rate=500"), 0, "warning:",
                    "emitter 1 is to deliver 500 kg/s", "raise its velocity above")
        self.expect(run("run", self.scene, "--out", self.dir / "much", "--set", "emitter.1.rate=500"),
                    0, "emitter 1 is blocked")

    def test_pressure_of_a_solver_without(self):
        out = self.dir / "none"
        self.expect(run("run", self.scene, "--out", out, "--set", "probe.level.kind=pressure"), 2,
                    "probe 'level' measures pressure")
        self.assertFalse(out.exists())


def png_size(path):
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n", path
    return struct.unpack(">II", head[16:24])


class Plots(Case):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "run"
        self.expect(run("run", self.scene, "--out", self.out, "--frames", 4), 0)

    def test_pages_and_columns(self):
        self.expect(run("plot", self.out), 0, "ledger.png", "bodies.png")
        self.assertEqual(png_size(self.out / "plots" / "ledger.png")[0], 1360)
        first = (self.out / "plots" / "ledger.png").read_bytes()
        self.expect(run("plot", self.out), 0)
        self.assertEqual((self.out / "plots" / "ledger.png").read_bytes(), first)
        one = self.dir / "one.png"
        self.expect(run("plot", self.out, "--columns", "max_speed", "--out", one), 0)
        self.assertEqual(png_size(one), (960, 540))
        self.expect(run("plot", self.out, "--columns",
                        "max(particles.y.max, 1),body.paddle.force_y", "--format", "svg"), 0)
        text = (self.out / "plots" / "columns.svg").read_text()
        self.assertIn("body.paddle.force_y", text)
        self.assertEqual([p.name for p in (self.out / "plots").iterdir()
                          if p.suffix not in (".png", ".svg")], [])  # nothing left lying about
        self.expect(run("run", self.scene, "--out", self.out, "--frames", 1, "--overwrite"), 0)
        self.assertFalse((self.out / "plots").exists())

    def test_faults(self):
        self.expect(run("plot", self.out, "--columns", "max_sped"), 2, "character 1", "max_sped")
        self.expect(run("plot", self.out, "--columns", "max(ledger.max_speed)"), 2, "one number")
        self.expect(run("plot", self.out, "--columns", "ledger.max_speed +"), 2, "character 19")
        self.expect(run("plot", self.out, "--columns", "max_speed", "--out", "a.pdf"), 2, ".svg")
        self.expect(run("plot", self.dir / "nothing"), 2, "no folder")
        self.expect(run("plot", self.dir), 2, "holds no run")

    def test_without_gnuplot(self):
        result = run("plot", self.out, env={"PATH": str(self.dir)})
        self.expect(result, 1, "gnuplot is not installed (apt install gnuplot-nox)")


CASE = """
title = "A block falls"
[constants]
g = 9.81
[scene]
duration = 0.2
fps = 20
[[scene.fill]]
shape = { box = [[0, 0, 0], [0.1, 0.1, 0.1]] }
[[check]]
name = "speed"
value = "ledger.max_speed"
expected = "g*t"
tolerance = "1 %"
[[control]]
name = "gravity x 0.8"
set = ["gravity=[0, -7.848, 0]"]
"""


class Validation(Case):
    def validate(self, text, *arguments):
        case = self.dir / "fall.toml"
        case.write_text(text)
        return run("validate", case, "--out", self.dir / "out", *arguments)

    def results(self):
        return json.loads((self.dir / "out" / "fall" / "results.json").read_text())

    def test_a_case_that_passes(self):
        self.expect(self.validate(CASE), 0, "speed", "pass", "fails as it must (speed)",
                    "1 of 1 case passed")
        self.assertTrue(self.results()["passed"])
        self.assertEqual(png_size(self.dir / "out" / "fall" / "checks.png"), (960, 540))
        self.assertTrue((self.dir / "out" / "fall" / "run" / "ledger.csv").exists())
        self.assertTrue((self.dir / "out" / "fall" / "control-1" / "ledger.csv").exists())

    def test_a_case_that_fails(self):
        self.expect(self.validate(CASE.replace("g = 9.81", "g = 9.6")), 1, "FAIL", "failed: fall")
        self.assertFalse(self.results()["passed"])
        self.assertFalse(self.results()["checks"][0]["passed"])

    def test_a_control_that_passes(self):
        loose = CASE.replace('"1 %"', '"30 %"')
        self.expect(self.validate(loose), 1, "CONTROL PASSES: the gate is worthless")
        self.assertTrue(self.results()["checks"][0]["passed"])
        self.assertFalse(self.results()["passed"])

    def test_quick(self):
        quick = 'quick = ["duration=0.1"]\n' + CASE
        self.expect(self.validate(quick, "--quick"), 0)
        ledger = self.dir / "out" / "fall" / "run" / "ledger.csv"
        self.assertEqual(len(ledger.read_text().splitlines()), 4)

    def test_faults(self):
        self.expect(self.validate(CASE.replace("g*t", "g*t +")), 2, "fall.toml:13:12: character 6")
        self.expect(self.validate(CASE.replace("ledger.max_speed", "ledger.max_sped")), 2,
                    "fall.toml:12:9", "did you mean 'max_speed'?")
        self.expect(self.validate(CASE.replace("gravity=", "gravty=")), 2, "fall.toml", "gravty")
        self.expect(self.validate(CASE.replace("fps = 20", "fps = 0")), 2, "fall.toml:7:7")
        self.assertFalse((self.dir / "out").exists())  # found before anything was simulated
        self.expect(run("validate", "no/such"), 2, "--list")
        self.expect(run("validate", "--list"), 0, "ballistic/free-fall")

    def test_a_case_without_a_verdict(self):
        self.expect(self.validate(CASE.replace("ledger.max_speed", "ledger.density_error_mean")), 2, "is empty")
        self.assertIn("is empty", self.results()["fault"])
        self.assertFalse(self.results()["passed"])

    def test_shipped_cases(self):
        self.expect(run("validate", "ballistic", "--quick", "--report", "--out", self.dir / "out"), 0,
                    "5 of 5 cases passed", "5 cases in")
        page = whole_page(self, self.dir / "out" / "report.html")
        self.assertIn("restitution x 0.9", page)
        self.assertGreater(page.count("as it must"), 4)
        self.assertIn("pbf/hydrostatics", page)


def whole_page(test, file):
    """The text of an HTML page that fetches nothing."""
    text = file.read_text()
    test.assertIn("data:image/", text)
    test.assertNotRegex(text, r'(src|href)="(?!data:)')
    return text


class Compare(Case):
    SAND = """
title = "Sand <falls> & spreads"
duration = 0.1
fps = 20
resolution = 0.04
solver = "flip"
[material.sand]
density = 1600
friction_angle = 30
young = 1e5
[[fill]]
shape = { box = [[0, 0, 0], [0.2, 0.2, 0.2]] }
[[solid]]
name = "floor"
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"""

    def test_side_by_side(self):
        scene, out = self.dir / "sand.toml", self.dir / "out"
        scene.write_text(self.SAND)
        self.expect(run("compare", scene, "--solvers", "flip,pbf,granular-sph,dem", "--out", out,
                        "--pictures", "1", "--threads", "2"), 0, "index.html")
        page = whole_page(self, out / "index.html")
        self.assertIn("Sand &lt;falls&gt; &amp; spreads", page)
        self.assertIn("tan 30 degrees", page)
        self.assertIn("its friction and cohesion are left out", page)
        masses = [float(tables(out / solver)[0][-1]["mass"]) for solver in ("flip", "granular-sph", "dem")]
        for mass in masses:  # radii of grains are single precision: 3 x 2^-24 in their cubes
            self.assertAlmostEqual(mass / (1600 * 0.2**3), 1, delta=2e-7)

    def test_water_has_no_dem(self):
        scene = self.dir / "water.toml"
        scene.write_text(self.SAND.replace("friction_angle = 30", ""))
        self.expect(run("compare", scene, "--solvers", "pbf,dem", "--out", self.dir / "out",
                        "--pictures", "1"), 0, "dem is left out: 'sand' is a fluid")
        self.assertIn("dem is missing", whole_page(self, self.dir / "out" / "index.html"))
        self.expect(run("compare", scene, "--solvers", "dem", "--out", self.dir / "none"), 2,
                    "nothing to compare")
        self.expect(run("compare", scene, "--solvers", "sph"), 2, "sph")


class Papers(Case):
    def test_list(self):
        self.expect(run("paper"), 0, "zb05/column-sand", "bym05/rings", "available")
        self.expect(run("paper", "zb05/column-sant"), 2, "did you mean 'zb05/column-sand'?")

    def test_one(self):
        folder = self.dir / "scenes" / "papers" / "ao11"
        folder.mkdir(parents=True)
        (folder / "piles.toml").write_text(SCENE + """
[paper]
figure = "AO 3"
quick = ["resolution=0.1", "duration=0.2"]
[[paper.number]]
name = "particles"
theirs = 50000
ours = "run.particles"
""")
        out = self.dir / "out"
        env = dict(os.environ, BARCHAN_SCENES=str(self.dir / "scenes"))
        result = run("paper", "ao11/piles", "--quick", "--out", out, env=env)
        self.expect(result, 0, "particles", "216", "50000")
        self.assertEqual(json.loads((out / "results.json").read_text())["numbers"][0]["ours"], 216)
        self.assertTrue((out / "contact_sheet.png").exists())
        self.assertTrue((out / "plots" / "ledger.png").exists())
        self.expect(run("paper", "ao11/splash", env=env), 2, "not available yet")
        # The page of all: what has results is not run again, the rest is named
        base = self.dir / "all"
        self.expect(run("paper", "--quick", "--report", "--out", base, env=env), 0, "1 of 26 figures")
        before = (base / "ao11/piles/results.json").stat().st_mtime_ns
        self.expect(run("paper", "--quick", "--report", "--out", base, env=env), 0, "1 of 26 figures")
        self.assertEqual((base / "ao11/piles/results.json").stat().st_mtime_ns, before)
        (base / "report.html").unlink()
        self.expect(run("paper", "--report", "--page-only", "--out", base, env=env), 0, "1 of 26 figures")
        page = whole_page(self, base / "report.html")
        self.assertIn("50,000", page)
        self.assertEqual(page.count("not run"), 25)

    def test_implicit_surface_beats_blobbies(self):
        out = self.dir / "out"
        self.expect(run("paper", "zb05/implicit-vs-blobby", "--quick", "--pictures", "0", "--out", out), 0)
        numbers = {n["name"]: n["ours"] for n in json.loads((out / "results.json").read_text())["numbers"]}
        self.assertLess(numbers["implicit / blobbies (at most 1/3)"], 1 / 3)
        self.assertLess(numbers["implicit / best blobbies (at most 2/3)"], 2 / 3)

    def test_transfers_are_of_second_order(self):
        out = self.dir / "out"
        self.expect(run("paper", "zb05/transfer-error", "--quick", "--pictures", "0", "--out", out), 0)
        numbers = {n["name"]: n["ours"] for n in json.loads((out / "results.json").read_text())["numbers"]}
        self.assertAlmostEqual(numbers["order of the error in dx"], 2, delta=0.05)
        # E[s] / 2 over particles s cells from a face, s from 1/8 to 3/8 and 5/8 to 7/8, weighted by 1 - s.
        self.assertAlmostEqual(numbers["coefficient c"], 35 / 192, delta=0.003)
        self.assertAlmostEqual(numbers["of a lattice (3/16)"], 3 / 16, places=4)

    def test_variants_and_plots(self):
        folder = self.dir / "scenes" / "papers" / "ao11"
        folder.mkdir(parents=True)
        scene = SCENE + """
[paper]
quick = ["resolution=0.1", "duration=0.1", "solid.paddle.keyframes.2.rotation.angle=0"]
[[paper.variant]]
name = "light"
set = ["gravity=[0, 0, 0]"]
[[paper.number]]
name = "falls by"
ours = "first(particles.y.mean) - last(particles.y.mean)"
[[paper.number]]
name = "does not"
theirs = 0
ours = "first(light.particles.y.mean) - last(light.particles.y.mean)"
[[paper.plot]]
name = "fall"
value = "particles.y.mean"
[[paper.plot]]
name = "spread"
kind = "histogram"
value = "y"
at = 0.07
"""
        (folder / "piles.toml").write_text(scene)
        out = self.dir / "out"
        env = dict(os.environ, BARCHAN_SCENES=str(self.dir / "scenes"))
        self.expect(run("paper", "ao11/piles", "--quick", "--out", out, env=env), 0, "fall.png")
        falls, floats = json.loads((out / "results.json").read_text())["numbers"]
        self.assertAlmostEqual(falls["ours"] - floats["ours"], 9.81 * 0.1**2 / 2, places=4)
        self.assertIsNone(falls["theirs"])
        for file in ("plots/fall.png", "plots/spread.png", "variant-light/contact_sheet.png"):
            self.assertTrue((out / file).exists(), file)
        # A run that is ended early: what it came to is measured, what it did not is left out
        self.expect(run("paper", "ao11/piles", "--quick", "--limit", "1e-9", "--pictures", "1", "--out", out, env=env), 0,
                    "ended by --limit", "1 picture in")
        results = json.loads((out / "results.json").read_text())
        self.assertLess(results["run"]["frames"], results["run"]["frames_planned"])
        self.assertFalse((out / "video.mp4").exists())
        # --resume goes on with it, and leaves a run alone that is done, made by --only, too
        light = ("paper", "ao11/piles", "--quick", "--out", out, "--only")
        self.expect(run(*light, "lihgt", env=env), 2, "no run 'lihgt'", "run, light")
        self.expect(run(*light, "light", env=env), 0)
        done = (out / "variant-light/frames/frame_000001.h5").stat().st_mtime_ns
        self.expect(run("paper", "ao11/piles", "--quick", "--resume", "--out", out, env=env), 0)
        self.assertEqual((out / "variant-light/frames/frame_000001.h5").stat().st_mtime_ns, done)
        self.assertEqual(json.loads((out / "results.json").read_text())["numbers"], [falls, floats])
        # Faults are found before anything is simulated
        for wrong, message in (('value = "particles.y.mean"', "max_speed"),
                               ('name = "light"', "two runs"), ('at = 0.07', "runs")):
            right = {"max_speed": 'value = "ledger.max_sped"', "two runs": 'name = "run"',
                     "runs": 'runs = ["lihgt"]'}[message]
            (folder / "piles.toml").write_text(scene.replace(wrong, right))
            result = run("paper", "ao11/piles", "--out", self.dir / "none", env=env)
            self.expect(result, 2, "light" if message == "runs" else message)
        self.assertFalse((self.dir / "none").exists())

    def test_clumps_without_artificial_pressure(self):
        """Macklin & Mueller 2013, figure 2, reduced."""
        out = self.dir / "out"
        self.expect(run("paper", "pbf13/armadillo-splash", "--quick", "--pictures", "0", "--out", out), 0, "128000")
        ours = [n["ours"] for n in json.loads((out / "results.json").read_text())["numbers"]]
        with_s_corr, without = ours[4], ours[5]  # first percentiles [spacings]
        self.assertGreater(with_s_corr, 0.5)
        self.assertLess(without, 0.2)
        self.assertTrue((out / "plots" / "figure-2.png").exists())
        rows = (out / "iterations.csv").read_text().splitlines()
        self.assertEqual(rows[0], "frame,time,iteration,density_error")
        self.assertEqual(len(rows) - 1, 3 * 24)  # three iterations, frames 1 to 24


class NobodyLosesWork(Case):
    def whole(self, *settings):
        out = self.dir / "whole"
        self.expect(run("run", self.scene, "--out", out, *settings), 0)
        return out

    def test_iterations_go_on(self):
        scene = self.dir / "pool.toml"
        scene.write_text("""
solver = "pbf"
duration = 0.3
fps = 20
resolution = 0.1
[[fill]]
shape = { box = [[0, 0, 0], [0.5, 0.5, 0.5]] }
[[solid]]
inside_out = true
shape = { box = [[0, 0, 0], [1, 1, 0.5]] }
[cache]
checkpoint_every = 2
""")
        whole, again = self.dir / "whole", self.dir / "again"
        self.expect(run("run", scene, "--out", whole), 0)
        self.expect(run("run", scene, "--out", again, "--frames", "3"), 0)
        self.expect(run("run", scene, "--out", again, "--resume"), 0)
        rows = (whole / "iterations.csv").read_text()
        self.assertEqual(rows.count("\n"), 1 + 6 * 3)
        self.assertEqual((again / "iterations.csv").read_text(), rows)

    def test_killed_at_random_moments(self):
        whole = self.whole()
        seconds = json.loads((whole / "run.json").read_text())["wall_seconds"]
        moments = random.Random(7)
        killed_midway = 0
        for k in range(10 if FULL else 4):
            out = self.dir / f"killed{k}"
            child = subprocess.Popen([PROGRAM, "run", self.scene, "--out", out, "--quiet"])
            time.sleep(moments.uniform(0.05, max(0.3, 0.95 * seconds)))
            child.send_signal(signal.SIGKILL)
            if child.wait() == -signal.SIGKILL:
                killed_midway += 1
            for frame in (out / "frames").glob("*.h5"):  # what is there is whole
                self.assertEqual(frame.read_bytes(), (whole / "frames" / frame.name).read_bytes())
            if (out / "run.json").exists() and killed_midway:
                self.assertIn(json.loads(run("info", out, "--json").stdout)["state"], ("killed", "done"))
            self.expect(run("run", self.scene, "--out", out, "--resume", "--threads", 1 + k % 4), 0)
            self.same_run(whole, out)
        self.assertGreater(killed_midway, 0)

    def test_interrupted(self):
        finer = ("--set", "resolution=0.015")  # long enough to be caught on a busy machine
        whole = self.whole(*finer)
        out = self.dir / "stopped"
        child = subprocess.Popen([PROGRAM, "run", self.scene, "--out", out, *finer],
                                 stderr=subprocess.PIPE, text=True)
        while child.poll() is None and not (out / "frames" / "frame_000005.h5").exists():
            time.sleep(0.005)
        child.send_signal(signal.SIGINT)
        _, message = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 1)
        self.assertIn("--resume", message)
        self.assertEqual(json.loads((out / "run.json").read_text())["state"], "interrupted")
        self.expect(run("run", self.scene, "--out", out, "--resume", *finer), 0, "going on from frame")
        self.same_run(whole, out)

    def test_longer_duration_but_no_other_change(self):
        whole = self.whole()
        out = self.dir / "longer"
        self.expect(run("run", self.scene, "--out", out, "--frames", 13), 0)
        self.expect(run("run", self.scene, "--out", out, "--resume", "--set", "seed=2"), 2,
                    "the scene has changed", "seed")
        self.expect(run("run", self.scene, "--out", out, "--resume"), 0)
        self.same_run(whole, out)

    def test_shorter_duration_is_refused(self):
        out = self.dir / "shorter"
        self.expect(run("run", self.scene, "--out", out, "--frames", 8), 0)
        self.expect(run("run", self.scene, "--out", out, "--frames", 3, "--resume"), 2,
                    "8 frames already")

    def test_broken_checkpoint_falls_back(self):
        whole = self.whole()
        out = self.dir / "fallback"
        self.expect(run("run", self.scene, "--out", out, "--frames", 12), 0)
        newest = out / "checkpoints" / "checkpoint_000012.h5"
        newest.write_bytes(newest.read_bytes()[:-1000])
        self.expect(run("run", self.scene, "--out", out, "--resume"), 0, "checkpoint_000012.h5",
                    "going on from frame 8")
        self.same_run(whole, out)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root for a small disk")
    def test_disk_full(self):
        whole = self.whole()
        disk = self.dir / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk],
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("a tmpfs cannot be mounted here")
        try:
            out = disk / "run"
            result = run("run", self.scene, "--out", out)
            self.expect(result, 1, "no space left on the disk", "are whole", "--resume")
            frames = sorted((out / "frames").glob("*.h5"))
            self.assertGreater(len(frames), 3)
            for frame in frames:
                self.assertEqual(frame.read_bytes(), (whole / "frames" / frame.name).read_bytes())
            self.assertEqual(list(out.rglob("*.part")), [])
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
            self.expect(run("run", self.scene, "--out", out, "--resume"), 0)
            self.same_run(whole, out)
        finally:
            subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    unittest.main(verbosity=1)
