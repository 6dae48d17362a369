#include "solvers/dem/covered.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "geometry/covering.h"

namespace barchan::dem {

namespace {

void add_part(const SolverSetup& setup, std::size_t s, double radius, double depth,
              CoveredSolids& all) {
  const Solid& solid = setup.solids[s];
  const double offset = solid.inside_out ? depth : -depth;
  Covering covering;
  try {
    covering = cover(solid.shape, radius, setup.seed + all.parts.size(), offset);
  } catch (const Error& error) {
    reject(
        "solid '{}' cannot be covered with spheres of radius {} m: {}; set a smaller cover_radius "
        "in [dem]",
        solid.name, radius, error.what());
  }
  CoveredPart part;
  part.solid = s;
  part.first = all.spheres.size();
  part.count = covering.points.size();
  part.radius = radius;
  part.mass = solid.drive == SolidDrive::dynamic ? solid.mass.mass
                                                 : std::numeric_limits<double>::infinity();
  for (const Vec3d& p : covering.points) {
    all.spheres.push_back({static_cast<float>(p.x), static_cast<float>(p.y),
                           static_cast<float>(p.z), static_cast<float>(radius)});
    all.part_of.push_back(static_cast<std::uint32_t>(all.parts.size()));
  }
  all.parts.push_back(part);
  all.largest = std::max(all.largest, radius);
}

void check_names(const SolverSetup& setup, const DemParams& params) {
  for (const std::string& name : params.cover) {
    const auto same = [&](const Solid& solid) { return solid.name == name; };
    const auto found = std::find_if(setup.solids.begin(), setup.solids.end(), same);
    if (found == setup.solids.end()) reject("cover in [dem] names '{}', which no solid is", name);
    if (!bounds(found->shape).is_bounded()) {
      reject(
          "solid '{}' has no end and cannot be covered with spheres; leave it out of cover in "
          "[dem], or make it a box",
          name);
    }
  }
}

}  // namespace

CoveredSolids cover_solids(const SolverSetup& setup, const DemParams& params, double sphere) {
  check_names(setup, params);
  const double radius = is_set(params.cover_radius) ? params.cover_radius : sphere;
  CoveredSolids all;
  std::size_t solids = 0;
  bool moves = false;
  for (std::size_t s = 0; s < setup.solids.size(); ++s) {
    const Solid& solid = setup.solids[s];
    const bool named =
        std::find(params.cover.begin(), params.cover.end(), solid.name) != params.cover.end();
    const bool dynamic = solid.drive == SolidDrive::dynamic;
    all.is_covered.push_back(named || dynamic ? 1 : 0);
    if (!named && !dynamic) continue;
    ++solids;
    moves = moves || dynamic;
    add_part(setup, s, radius, radius, all);
    if (params.cover_rough > 0.0 && solid.drive == SolidDrive::fixed) {
      add_part(setup, s, params.cover_rough * radius, 0.0, all);
    }
  }
  all.meet = moves && solids > 1;
  return all;
}

}  // namespace barchan::dem
