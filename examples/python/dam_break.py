#!/usr/bin/env python3
"""Steps a shipped scene and watches the water run: dam_break.py [SECONDS]"""

import sys

import barchan

sim = barchan.Simulation("dam-break", resolution=0.05)
print(f"{len(sim)} particles, {sim.spacing} m apart")

until = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
while sim.time < until:
    sim.advance_frame()
    x, v = sim.positions, sim.velocities
    print(f"{sim.time:.3f} s  front {x[:, 0].max():.2f} m  fastest {(v**2).sum(1).max()**0.5:.2f} m/s")
for name, body in sim.bodies.items():
    print(f"{name:10} at", ", ".join(f"{p:.2f}" for p in body.position))
