// Numbers that the lattice at rest fixes: users say the spacing, and parameters without units.
#pragma once

#include "params/solver_params.h"
#include "solvers/pbf/kernels.h"

namespace barchan::pbf {

inline constexpr double kReferenceStep = 1.0 / 240.0;  // that xsph is given for [s]

// Of a particle with all its neighbours on a cubic lattice of the spacing [m].
Kernels lattice_kernels(double spacing, const PbfParams& params);

ArtificialPressure artificial_pressure(const Kernels& kernels, double spacing,
                                       const PbfParams& params);

// The largest s_corr that splashes bore at any number of iterations and either tension: 0.2 where
// s_corr_distance is 0.2. With more, those of few iterations blew up (measured: 1 iteration from
// 0.25 on, 2 from 0.5, 3 from 0.6; sooner where weight or impacts squeeze the fluid by 10 %). What
// counts is the push at rest, s_corr (W(d) / W(dq))^4.
double safe_s_corr(double s_corr_distance);

// omega, by which Jacobi's iterations are under-relaxed.
//
// Iterations multiply an error of the wave vector k by 1 - omega a(k); on the lattice at rest (h =
// 2 d) a goes from 0 for long waves to 2.82. What n of them leave, gamma = (1 - omega a)^n, goes
// into the next step with its velocity, and for gamma < -1/3 the two make it grow. So omega = 1, as
// in the paper, drives short waves; 0.6 holds gamma above -1/3 for n = 2, 3 ...
float relaxation(int iterations);

// Excess density C at the bottom of a pool of the depth [m].
//
// Gravity predicts g dt^2 downwards in each step, which n iterations must take back. A multiplier
// that grows with the depth z as lambda = -omega c z / D_0 gives
//     |dp| = V sum_j lambda_j |dW/dz| = slope omega c / D_0
// in one iteration; n |dp| = g dt^2 gives c, and C = c H = D_0 g H dt^2 / (slope omega n). D_0 /
// slope is 0.316 / d^2 (h = 2 d; with the paper's poly6 densities 0.387).
double compression(double gravity, double depth, double dt, double spacing,
                   const PbfParams& params);

}  // namespace barchan::pbf
