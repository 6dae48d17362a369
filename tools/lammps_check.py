#!/usr/bin/env python3
"""Grains beside LAMMPS, as a second opinion and as a pace-maker. Needs Debian's package lammps; says so and ends where it is not there.

    tools/lammps_check.py [--barchan build/release/barchan]           the same 1000 spheres by both
    tools/lammps_check.py --bench [--scene dem-tetra-27k] [--rounds 3] [--keep DIR] [--barchan ...]       ms a step, 2 threads against 2 ranks

The check: a block of spheres is thrown into a box; Hertz with damping, and friction with history (Mindlin), with the same constants. After 1000
steps positions must agree within 1e-3 radii, where both take the velocities of a contact alike (convention = "lammps": of the full radii, in the middle
of the step), and within 2e-2 with ours (where spheres touch, at the end of the step); and the kinetic energy within 2 % of the first until 10,000 steps,
when chaos has set in. Controls: with 5 % more stiffness, or without friction, in LAMMPS alone, positions must not agree.

The bench: 110,000 spheres, flowing and settled, and 27,436 tetrahedra. Both are warmed up once (some ten minutes in all), and then go on from there for 500 steps, in turns.
"""
import argparse
import csv
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

RADIUS, DENSITY = 0.0045, 2500.0  # [m], [kg/m^3]
K_R, K_D = 3.5e6, 50.0  # of x^1.5 [N/m^1.5] and of x^0.5 xdot [kg/(s m^0.5)]
SHEAR, DT = 0.8, 1e-5  # shear over normal stiffness; [s]

SCENE = """
solver = "dem"
duration = {duration}
fps = 100
resolution = 0.01
seed = {seed}
[material.glass]
density = {density}
young = 1e6
friction = {friction}
radius = {radius}
[[fill]]
sampling = "jittered"
jitter = 0.05
velocity = [0.6, -0.5, 0.3]
shape = {{ box = [[0.001, 0.001, 0.001], [0.101, 0.101, 0.101]] }}
[[solid]]
name = "box"
inside_out = true
friction = {friction}
shape = {{ box = [[0, 0, 0], [0.12, 0.12, 0.12]] }}
[dem]
dt = {dt}
tail = "paper"
convention = "{convention}"
normal_stiffness = {k_r}
normal_damping = {k_d}
shear_stiffness = {shear}
"""


def law(effective_mass, effective_radius, friction, stiffer=1.0):
    """F = K sqrt(R x) x + eta m sqrt(R x) xdot, and k_t sqrt(R x) xi: ours has the roots of R in its constants."""
    root = math.sqrt(effective_radius)
    k, eta = stiffer * K_R / root, K_D / (effective_mass * root)
    return f"hertz {k!r} {eta!r} tangential mindlin {SHEAR * 1.5 * K_R / root!r} 0.5 {friction} damping viscoelastic"


def run(command, folder):
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def ours(barchan, folder, friction, duration, convention="lammps", seed=1):
    scene = folder / "scene.toml"
    scene.write_text(SCENE.format(seed=seed, convention=convention, duration=duration, density=DENSITY, friction=friction, radius=RADIUS, dt=DT, k_r=K_R, k_d=K_D, shear=SHEAR))
    run([barchan, "run", scene, "--out", folder / "run", "--overwrite", "--quiet"], folder)
    run([barchan, "export", folder / "run", "--to", "csv", "--out", folder / "csv", "--quiet"], folder)
    frames = []
    for path in sorted((folder / "csv").glob("frame_*.csv")):
        with open(path) as file:
            rows = sorted(csv.DictReader(file), key=lambda row: int(row["id"]))
        frames.append(rows)
    with open(folder / "run" / "ledger.csv") as file:
        energy = [float(row["kinetic_energy"]) for row in csv.DictReader(file)]
    return frames, energy


def lammps(folder, start, friction, steps, stiffer=1.0):
    mass = DENSITY * 4.0 / 3.0 * math.pi * RADIUS**3
    lines = ["start", "", f"{len(start)} atoms", "1 atom types", "", "-0.01 0.13 xlo xhi", "-0.01 0.13 ylo yhi", "-0.01 0.13 zlo zhi", "", "Atoms # sphere", ""]
    lines += [f"{i + 1} 1 {2 * RADIUS!r} {DENSITY} {row['x']} {row['y']} {row['z']}" for i, row in enumerate(start)]
    (folder / "start.data").write_text("\n".join(lines) + "\n")
    wall = law(mass, RADIUS, friction, stiffer)
    (folder / "in.lammps").write_text(
        f"""units si
atom_style sphere
boundary f f f
newton off
comm_modify vel yes
read_data start.data
velocity all set 0.6 -0.5 0.3
neighbor 0.002 bin
neigh_modify every 1 delay 0
pair_style granular
pair_coeff * * {law(0.5 * mass, 0.5 * RADIUS, friction, stiffer)}
fix move all nve/sphere
fix fall all gravity 9.81 vector 0 -1 0
fix wx all wall/gran granular {wall} xplane 0 0.12
fix wy all wall/gran granular {wall} yplane 0 0.12
fix wz all wall/gran granular {wall} zplane 0 0.12
timestep {DT}
compute spin all erotate/sphere
thermo_style custom step ke c_spin
thermo 1000
thermo_modify format float %.9g norm no
dump all all custom 1000 all.dump id x y z
dump_modify all sort id format float %.10g
run {steps}
"""
    )
    text = run(["lmp", "-in", "in.lammps"], folder)
    rows = re.findall(r"^\s*(\d+)\s+([-\d.e+]+)\s+([-\d.e+]+)\s*$", text, re.M)
    energy = [float(ke) + float(spin) for _, ke, spin in rows]
    frames = []
    for part in (folder / "all.dump").read_text().split("ITEM: TIMESTEP")[1:]:
        body = part.split("ITEM: ATOMS id x y z", 1)[1].strip().splitlines()
        frames.append([[float(value) for value in line.split()[1:]] for line in body])
    return frames, energy


def apart(rows, places):
    """Distances between the two, in radii, the largest first."""
    pairs = zip(rows, places)
    return sorted((math.dist([float(row[k]) for k in "xyz"], place) / RADIUS for row, place in pairs), reverse=True)


class Judge:
    good = True

    def __call__(self, name, value, limit, below=True):
        fine = (value <= limit) == below
        self.good = self.good and fine
        print(f"  {name:68} {value:<12.4g} {'at most' if below else 'at least'} {limit:<8g} {'pass' if fine else 'FAIL'}", flush=True)


def check_curve(judge, barchan, folder, friction, limit):
    """With our own convention: positions, then the energy once chaos has set in."""
    frames, energy = ours(barchan, folder, friction, 0.2, convention="contact")
    places, theirs = lammps(folder, frames[0], friction, 10000)
    tag = f"friction {friction}: "
    judge(tag + "positions after 1000 steps [radii]", apart(frames[1], places[1])[0], limit)
    moved = max(math.dist([float(a[k]) for k in "xyz"], [float(b[k]) for k in "xyz"]) for a, b in zip(frames[0], frames[1]))
    judge(tag + "way of the fastest [radii]", moved / RADIUS, 1.0, below=False)
    worst = max(abs(a - b) for a, b in zip(energy[1:], theirs[1:])) / energy[0]
    judge(tag + "kinetic energy to 10,000 steps, over the first", worst, 0.02)


def check_positions(judge, barchan, folder):
    """With LAMMPS's convention. A contact that begins at a step's end begins a step sooner in one of the codes: in some seeds a few spheres are off."""
    for seed in (1, 2, 3, 4):
        frames, _ = ours(barchan, folder, 0.5, 0.01, seed=seed)
        places, _ = lammps(folder, frames[0], 0.5, 1000)
        off = apart(frames[1], places[1])
        judge(f"friction 0.5, as LAMMPS, seed {seed}: all but 10 spheres [radii]", off[10], 1e-3)
        if seed == 3:
            judge("friction 0.5, as LAMMPS, seed 3: all spheres [radii]", off[0], 1e-3)
            for name, friction, stiffer in (("5 % stiffer", 0.5, 1.05), ("without friction", 0.0, 1.0)):
                places, _ = lammps(folder, frames[0], friction, 1000, stiffer)
                judge(f"control, LAMMPS {name}: all but 10 spheres [radii]", apart(frames[1], places[1])[10], 2e-3, below=False)


def check(barchan):
    judge = Judge()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_curve(judge, barchan, folder, 0.0, 1e-3)
        check_curve(judge, barchan, folder, 0.5, 2e-2)
        check_positions(judge, barchan, folder)
    return judge.good


# A scene of each kind for LAMMPS: where it begins, and what acts. {start} makes it, or reads what was kept after the warm-up.
LAW = "hertz/material 5e6 2e4 0.3 tangential mindlin NULL 0.5 0.5 damping viscoelastic"
PLAIN_LAW = "hertz/material 5e6 2e4 0.3 tangential linear_nohistory 0.5 0.5 damping viscoelastic"
BLOCK = """region all block 0 {length} 0 0.3 0 0.0798 units box
create_box 1 all
lattice sc 0.0021 origin 0.5 0.5 0.5
region block block 0 0.0798 0 0.1596 0 0.0798 units box
create_atoms 1 region block
set type 1 diameter 0.002 density 2500
displace_atoms all random 0.00004 0.00004 0.00004 1 units box"""
CLUMPS = """atom_modify map array
fix clump all property/atom mol ghost yes
read_data tetra.data fix clump NULL Molecules
velocity all set 0 -1 0"""
KEPT = "read_restart warm.restart"
KEPT_CLUMPS = "atom_modify map array\nread_restart warm.restart\nfix clump all property/atom mol ghost yes"
BENCH = """units si
atom_style sphere
boundary f f f
newton off
comm_modify vel yes
{start}
neighbor 0.0006 bin
neigh_modify every 1 delay 0{exclude}
pair_style granular
pair_coeff * * {law}
fix move all {motion}
fix fall all gravity 9.81 vector 0 -1 0
fix wx all wall/gran granular {law} xplane 0 {length}
fix wy all wall/gran granular {law} yplane 0 NULL
fix wz all wall/gran granular {law} zplane 0 {breadth}
timestep 2e-5
thermo_style custom step
thermo 100000
run {steps}
{keep}
"""
TETRA_EDGE, TETRA_RADIUS, TETRA_CELL = 0.0015, 0.001, 0.00384  # [m]
TETRA_MASS = 2500 * 1.478e-8  # of a grain: where spheres overlap, their volume counts once [kg]


def write_tetrahedra(folder):
    """The 19 x 76 x 19 grains of bench/dem-tetra-27k, turned at random."""
    draw = random.Random(1)
    corners = [[k * TETRA_EDGE / math.sqrt(8) for k in corner] for corner in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))]
    density = TETRA_MASS / (4 * 4 / 3 * math.pi * TETRA_RADIUS**3)
    atoms, molecules = [], []
    for grain in range(19 * 76 * 19):
        middle = [(k + 0.5) * TETRA_CELL for k in (grain % 19, grain // 361, grain // 19 % 19)]
        middle[1] += 0.02
        q = [draw.gauss(0, 1) for _ in range(4)]
        w, x, y, z = [part / math.hypot(*q) for part in q]
        for c in corners:
            t = [2 * (y * c[2] - z * c[1]), 2 * (z * c[0] - x * c[2]), 2 * (x * c[1] - y * c[0])]
            turned = [c[0] + w * t[0] + y * t[2] - z * t[1], c[1] + w * t[1] + z * t[0] - x * t[2], c[2] + w * t[2] + x * t[1] - y * t[0]]
            place = " ".join(repr(a + b) for a, b in zip(middle, turned))
            atoms.append(f"{len(atoms) + 1} 1 {2 * TETRA_RADIUS} {density!r} {place}")
            molecules.append(f"{len(molecules) + 1} {grain + 1}")
    head = f"tetrahedra\n\n{len(atoms)} atoms\n1 atom types\n0 0.07296 xlo xhi\n0 0.4 ylo yhi\n0 0.07296 zlo zhi\n"
    (folder / "tetra.data").write_text("\n".join([head, "Atoms # sphere\n", *atoms, "\nMolecules\n", *molecules, ""]))


FRAME = 500  # steps a frame of the bench scenes
# Scene, kind, frames before those that count, length and breadth of the box [m].
BENCHES = {
    "dem-spheres-110k": ("spheres", 12, 0.4, 0.0798),
    "dem-spheres-110k-settled": ("spheres", 16, 0.0798, 0.0798),
    "dem-tetra-27k": ("tetra", 5, 0.07296, 0.07296),
}


def lammps_steps(folder, scene, steps, warm):
    """Milliseconds a step by LAMMPS on two ranks: from the start, and the end is kept; or from what was kept."""
    kind, _, length, breadth = BENCHES[scene]
    values = {"length": length, "breadth": breadth, "steps": steps, "keep": "" if warm else "write_restart warm.restart"}
    if kind == "tetra":
        write_tetrahedra(folder)
        values |= {"start": KEPT_CLUMPS if warm else CLUMPS, "exclude": " exclude molecule/intra all", "law": PLAIN_LAW, "motion": "rigid/small molecule"}
    else:
        values |= {"start": KEPT if warm else BLOCK.format(length=length), "exclude": "", "law": LAW, "motion": "nve/sphere"}
    (folder / "in.bench").write_text(BENCH.format(**values))
    text = run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", 2, "lmp", "-in", "in.bench"], folder)
    return 1e3 * float(re.findall(r"Loop time of ([\d.e+-]+)", text)[-1]) / steps


def our_frames(barchan, folder, scene, frames, warm):
    """Milliseconds a step of the last frame, by two threads; `warm`: go on from what was kept."""
    out = folder / "warm"
    if warm:
        out = folder / "round"
        shutil.copytree(folder / "warm", out)
    command = [barchan, "run", f"bench/{scene}", "--device", "cpu", "--threads", 2, "--frames", frames, "--out", out, "--quiet"]
    run(command + (["--resume"] if warm else []), folder)
    with open(out / "ledger.csv") as file:
        rows = list(csv.DictReader(file))
    if warm:
        shutil.rmtree(out)
    assert int(rows[-1]["frame"]) == frames and int(rows[-1]["steps"]) == FRAME
    return float(rows[-1]["ms_per_step"])


def warm_up(barchan, folder, scene, frames):
    """Both, up to what counts, where that is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "warm.restart").exists():
        our_frames(barchan, folder, scene, frames, warm=False)
        lammps_steps(folder, scene, frames * FRAME, warm=False)


def bench(barchan, keep, rounds, scenes):
    """Both from where they were after the warm-up, in turns: machines are noisy, ratios less so."""
    for scene in scenes or BENCHES:
        folder, frames = keep / scene, BENCHES[scene][1]
        warm_up(barchan, folder, scene, frames)
        mine, theirs = [], []
        for _ in range(rounds):
            mine.append(our_frames(barchan, folder, scene, frames + 1, warm=True))
            theirs.append(lammps_steps(folder, scene, FRAME, warm=True))
            print(f"{scene:28} ours {mine[-1]:8.2f} ms a step, LAMMPS {theirs[-1]:8.2f}: {theirs[-1] / mine[-1]:.2f} times as fast", flush=True)
        if rounds > 0:
            a, b = statistics.median(mine), statistics.median(theirs)
            print(f"{scene:28} medians {a:.2f} and {b:.2f}: {b / a:.2f} times as fast", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--barchan", default="build/release/barchan")
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--rounds", type=int, default=3, help="of 500 steps by each")
    parser.add_argument("--scene", action="append", choices=list(BENCHES), help="all where not given")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for what the warm-up leaves; another bench goes on from there")
    args = parser.parse_args()
    if shutil.which("lmp") is None:
        print("lammps is not installed (apt-get install lammps): skipped")
        return 0
    barchan = pathlib.Path(args.barchan).resolve()
    if args.bench:
        with tempfile.TemporaryDirectory() as name:
            bench(barchan, (args.keep or pathlib.Path(name)).resolve(), args.rounds, args.scene)
        return 0
    return 0 if check(barchan) else 1


if __name__ == "__main__":
    sys.exit(main())
