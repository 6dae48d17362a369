#!/usr/bin/env python3
"""A scene made in Python, and a wind that blows in a callback after each step."""

import numpy as np

import barchan

scene = {
    "title": "Sand in the wind",
    "solver": "ballistic",
    "duration": 1.0,
    "resolution": 0.05,
    "material": {"sand": {"preset": "dry-sand"}},
    "fill": [{"shape": {"sphere": {"center": [0, 1.5, 0], "radius": 0.3}}}],
    "solid": [{"name": "ground", "shape": {"plane": {"point": [0, 0, 0], "normal": [0, 1, 0]}}}],
}
WIND = np.array([4.0, 0.0, 0.0])  # [m/s]
DRAG = 2.0  # [1/s]

sim = barchan.Simulation(scene)
last = sim.time


def blow(sim):
    """Air takes the grains along, more of them the higher they are."""
    global last
    dt, last = sim.time - last, sim.time
    share = DRAG * dt * np.clip(sim.positions[:, 1:2], 0, 1)
    sim.velocities = sim.velocities + share * (WIND - sim.velocities)


start = sim.positions  # stays what it is: a view of that moment
sim.run(each_step=blow)
print(f"after {sim.time:.2f} s the sand is {np.mean(sim.positions - start, 0)[0]:.2f} m downwind")
