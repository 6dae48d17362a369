// Solids as rigid sets of spheres (Bell, Yu & Mucha 2005, section 3.3): which solids of a scene are
// covered, and with what. Their spheres stand behind those of the grains and meet them by the same
// contacts.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/view.h"
#include "params/solver_params.h"
#include "sim/solver.h"

namespace barchan::dem {

// Spheres of one size on one solid.
struct CoveredPart {
  std::size_t solid = 0;  // in the scene
  std::size_t first = 0;  // of its spheres, among those of all parts
  std::size_t count = 0;  //
  double radius = 0.0;    // [m]
  double mass = 0.0;      // of the whole body [kg]; infinite where it is not dynamic
  bool dynamic() const { return mass < 1e30; }
};

struct CoveredSolids {
  std::vector<CoveredPart> parts;
  std::vector<Float4> spheres;           // centre in the solid's own frame, radius [m]
  std::vector<std::uint32_t> part_of;    // of each sphere
  std::vector<std::uint8_t> is_covered;  // of each solid of the scene
  double largest = 0.0;                  // radius [m]
  bool meet = false;                     // two solids of which one is dynamic
};

// Dynamic solids, and those that `params.cover` names. Centres are a radius below the surface, so
// that spheres just reach it; those of the second layer are on it. `sphere` [m]: radius where
// `params` has none. Rejects names that no solid has and shapes without an end.
CoveredSolids cover_solids(const SolverSetup& setup, const DemParams& params, double sphere);

}  // namespace barchan::dem
