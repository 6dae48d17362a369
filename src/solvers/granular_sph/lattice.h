// Numbers that the lattice at rest fixes, and what they say of a scene.
#pragma once

#include "params/solver_params.h"
#include "solvers/granular_sph/kernels.h"

namespace barchan::gsph {

// Of a particle with all its neighbours on a cubic lattice of the spacing [m].
//
// Boundary samples were weighted for another kernel (geometry/boundary.h): an even sheet of them
// has S / (pi d^2), S = 28/9, of a particle's volume an area of d^2. For a particle at the distance
// d, the sheet of density n gives n int W dA; the lattice's layer there has one site below, four
// beside it, four across. wall_count is the quotient of the two, wall_grad that of their gradients,
// of which the sheet's is n 2 pi d W(d).
Kernels lattice_kernels(double spacing);

// delta over rho: a pressure of delta undoes an excess density of 1 in a step [m^2/s^2]      (7)
double pressure_step(const Kernels& kernels, double dt);

// D^-1 over rho: the stress that undoes a rate of strain of 1/s in a step [m^2/s]           (12)
double stress_step(const Kernels& kernels, double dt);

// Largest excess density to expect at the bottom of a heap or pool of the depth [m]: about
// 2 (H/d) (g dt^2/d) / n. Gravity predicts g dt^2 / d of a spacing in each step, and n iterations
// of which each reaches one layer must carry the answer up H/d of them.
double softness(double gravity, double depth, double dt, double spacing, int iterations);

}  // namespace barchan::gsph
