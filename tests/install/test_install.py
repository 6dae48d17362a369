#!/usr/bin/env python3
"""The installed package in a clean prefix: the program, the C++ example, the Python module.

Usage: test_install.py BUILD_FOLDER [unittest arguments]. Needs the targets barchan, barchan_library
and barchan_python."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
WORK = tempfile.TemporaryDirectory()
PREFIX = pathlib.Path(WORK.name) / "prefix"

# In the prefix only: whoever finds it does not look into the source.
ONLY_HERE = """
solver = "ballistic"
resolution = 0.1
[[fill]]
shape = { box = [[0, 2, 0], [1, 3, 1]] }
"""


def setUpModule():
    for name in [name for name in os.environ if name.startswith("BARCHAN_")]:
        del os.environ[name]  # they would lead elsewhere than to the prefix
    run("cmake", "--install", BUILD, "--prefix", PREFIX)
    (PREFIX / "share/barchan/scenes/shipped/only-here.toml").write_text(ONLY_HERE)
    site = next(PREFIX.glob("lib/python3*/dist-packages"))
    os.environ["PYTHONPATH"] = str(site)
    sys.path.insert(0, str(site))


def tearDownModule():
    WORK.cleanup()


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=WORK.name)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Program(unittest.TestCase):
    def test_finds_its_scenes(self):
        self.assertIn("1,000", run(PREFIX / "bin/barchan", "check", "only-here"))
        self.assertIn("hydrostatics", run(PREFIX / "bin/barchan", "validate", "--list"))


class Library(unittest.TestCase):
    def test_example(self):
        build = pathlib.Path(WORK.name) / "example"
        run("cmake", "-S", ROOT / "examples/cpp", "-B", build, f"-DCMAKE_PREFIX_PATH={PREFIX}")
        run("cmake", "--build", build)
        rows = run(build / "splash", "only-here").splitlines()
        self.assertEqual(len(rows), 12)
        # The highest of a lattice that began half a spacing below 3 m, in free fall.
        time, height = float(rows[-1].split()[0]), float(rows[-1].split()[2])
        self.assertAlmostEqual(height, 2.95 - 0.5 * 9.81 * time**2, delta=0.06)

    def test_shows_the_public_headers_only(self):
        library = next(PREFIX.glob("lib/libbarchan.so"))
        names = run("nm", "-DC", "--defined-only", library).splitlines()
        self.assertTrue(any("barchan::Simulation::step()" in name for name in names))
        strangers = [n for n in names if "barchan::Simulation" not in n and "version" not in n]
        self.assertEqual(strangers, [])


class Python(unittest.TestCase):
    def setUp(self):
        import barchan
        import numpy

        self.barchan, self.numpy = barchan, numpy

    def drop(self, **settings):
        return self.barchan.Simulation("only-here", **settings)

    def test_examples(self):
        for example in sorted((ROOT / "examples/python").glob("*.py")):
            arguments = ["0.1"] if example.stem == "dam_break" else []
            self.assertNotEqual(run(sys.executable, example, *arguments), "", example)

    def test_views_are_not_copies(self):
        sim = self.drop()
        x = sim.positions
        self.assertEqual(x.shape, (1000, 3))
        self.assertEqual(x.dtype, self.numpy.float32)
        self.assertTrue(self.numpy.shares_memory(x, sim.positions))
        self.assertFalse(x.flags.writeable)
        self.assertFalse(x.flags.owndata)
        self.assertEqual(sim.ids.dtype, self.numpy.uint64)
        self.assertEqual(sorted(sim.ids), list(range(1000)))

    def test_views_keep_their_moment_and_outlive_all(self):
        sim = self.drop()
        views = [sim.positions]
        copies = [views[0].copy()]
        for _ in range(3):
            sim.advance_frame()
            views.append(sim.positions)
            copies.append(views[-1].copy())
        self.assertFalse(self.numpy.array_equal(copies[0], copies[3]))
        del sim
        for view, copy in zip(views, copies):
            self.assertTrue(self.numpy.array_equal(view, copy))

    def test_falls_as_it_must_and_calls_back(self):
        sim = self.drop()
        start, times = sim.positions, []
        sim.run(until=0.3, each_step=lambda s: times.append(s.time))
        self.assertEqual(times[-1], sim.time)
        self.assertEqual(times, sorted(set(times)))
        fallen = (start - sim.positions)[:, 1]
        self.assertLess(abs(fallen - 0.5 * 9.81 * sim.time**2).max(), 1e-3)
        sim.run(until=9, each_step=lambda s: False)
        self.assertLess(sim.time, 0.5)

    def test_an_exception_in_a_callback_comes_out(self):
        def stumble(sim):
            raise KeyError("mine")

        sim = self.drop()
        with self.assertRaisesRegex(KeyError, "mine"):
            sim.run(each_step=stumble)
        sim.step()  # and nothing is broken

    def test_scenes_from_dicts_and_text(self):
        scene = {
            "solver": "pbf",
            "resolution": 0.1,
            "material": {"water": {"preset": "water", "color": self.numpy.array([0, 0.5, 1])}},
            "fill": [{"shape": {"box": [[0, 0, 0], (1, 1, 1)]}, "velocity": [0, 1, 0]}],
            "solid": [{"name": "tank", "shape": {"box": [[0, 0, 0], [2, 2, 1]]}, "inside_out": True}],
        }
        sim = self.barchan.Simulation(scene, threads=1, pbf={"iterations": 7})
        self.assertIn("iterations = 7", sim.scene)
        self.assertEqual(sim.velocities[5].tolist(), [0, 1, 0])
        self.assertEqual(list(sim.bodies), ["tank"])
        sim.step()
        self.assertIn("density", sim.field_names)
        self.assertEqual(sim.field("density").shape, (len(sim),))
        again = self.barchan.Simulation.from_toml(sim.scene)
        self.assertEqual(again.scene, sim.scene)
        odd = self.barchan.to_toml({"title": 'a "quote"\n\\ and a tab\t', "seed": 3})
        self.assertIn(r'title = "a \"quote\"\u000a\\ and a tab\u0009"', odd)

    def test_velocities_can_be_set(self):
        sim = self.drop()
        sim.velocities = self.numpy.full((len(sim), 3), 2.0)
        self.assertEqual(sim.velocities[3].tolist(), [2, 2, 2])
        with self.assertRaises(ValueError):
            sim.velocities = [[1, 2], [3, 4]]
        with self.assertRaises(self.barchan.InputError):
            sim.velocities = [[1, 2, 3]]

    def test_errors(self):
        barchan = self.barchan
        with self.assertRaisesRegex(barchan.InputError, "did you mean 'dam-break'"):
            barchan.Simulation("dam-braek")
        with self.assertRaisesRegex(ValueError, "unknown key 'solvr'.*did you mean 'solver'"):
            barchan.Simulation({"solvr": "pbf"})
        with self.assertRaisesRegex(barchan.Error, "'velocty'.*did you mean 'velocity'"):
            self.drop().field("velocty")
        with self.assertRaisesRegex(barchan.InputError, "a scene cannot hold"):
            barchan.Simulation({"title": {1, 2}})


if __name__ == "__main__":
    unittest.main()
