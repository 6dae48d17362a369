// Numbers that the lattice at rest fixes: users say the spacing, and parameters without units.
#pragma once

#include <vector>

#include "params/solver_params.h"
#include "solvers/pbf/kernels.h"

namespace barchan::pbf {

inline constexpr double kReferenceStep = 1.0 / 240.0;  // that xsph is given for [s]

// Of a particle with all its neighbours on a cubic lattice of the spacing [m].
Kernels lattice_kernels(double spacing);

ArtificialPressure artificial_pressure(const Kernels& kernels, double spacing,
                                       const PbfParams& params);

// omega of each of n iterations.
std::vector<float> relaxation(int iterations);

}  // namespace barchan::pbf
