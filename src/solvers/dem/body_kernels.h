// The spheres of covered solids: where they are, whom they are near, and what all their contacts do
// to their body. For both devices. In the array of spheres they stand behind those of the grains;
// as the row of their grain they have the number of grains plus that of their part.
#pragma once

#include <cstdint>

#include "solvers/dem/motion_kernels.h"
#include "spatial/neighbours.h"

namespace barchan::dem {

// A part of the covering where a step ends.
struct PartPose {
  Vec3 x, low;  // origin of the solid's own frame, as two floats [m]
  Vec3 v, w;    // mean over the step, as of grains: [m/s], [rad/s]
  Quat q;
  float mass;           // that one contact moves [kg]
  std::uint32_t solid;  // in the scene
  bool dynamic, moves;  // free to move; or by keyframes, at least
};

struct PlaceCovering {
  View<const Float4> offsets;  // centre in the solid's own frame, radius
  View<const std::uint32_t> part_of;
  View<const PartPose> poses;
  std::uint32_t grains, materials, first;  // how many there are; the first sphere behind theirs
  bool moving_only;                        // the others are where they were
  View<Sphere> spheres;                    // out, behind `first`

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::uint32_t part = part_of[i];
    const PartPose& pose = poses[part];
    if (moving_only && !pose.moves) return;
    const Float4 o = offsets[i];
    const Vec3 arm = rotate(pose.q, Vec3(o.x, o.y, o.z));
    Sphere sphere;
    sphere.x = two_sum(pose.x, pose.low + arm, sphere.low);
    sphere.radius = o.w;
    sphere.mass = pose.mass;
    sphere.v = pose.v + cross(pose.w, arm);
    sphere.material = static_cast<float>(materials + part);
    sphere.w = pose.w;
    sphere.grain = grains + part;
    spheres[first + i] = sphere;
  }
};

// Where they are, for the search.
struct CoveringCentres {
  View<const Float4> offsets;
  View<const std::uint32_t> part_of;
  View<const PartPose> poses;
  View3<float> x;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const PartPose& pose = poses[part_of[i]];
    const Float4 o = offsets[i];
    x[i] = pose.x + (pose.low + rotate(pose.q, Vec3(o.x, o.y, o.z)));
  }
};

struct Invert {
  View<const std::uint32_t> order;
  View<std::uint32_t> place;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    place[order[i]] = static_cast<std::uint32_t>(at);
  }
};

// Who is near the spheres of coverings. They are sorted by cells for the search: order[place] is a
// sphere of the covering, and place[sphere] the way back. All empty where nothing is covered.
struct NearCovering {
  Neighbours of_grains;   // for each grain the places
  Neighbours grains;      // for each place the grains
  Neighbours each_other;  // for each place the places
  View<const std::uint32_t> order, place;
  View<const PartPose> poses;
  std::uint32_t grain_count = 0, first = 0;  // grains, and their spheres
  bool meet = false;                         // each_other is there

  HD bool some() const { return order.size > 0; }
  HD bool is_covering(const Sphere& sphere) const { return sphere.grain >= grain_count; }
  HD const PartPose& pose_of(const Sphere& sphere) const {
    return poses[sphere.grain - grain_count];
  }
  // Spheres of two solids of which one is free to move.
  HD bool may_meet(const Sphere& a, const Sphere& b) const {
    const PartPose &p = pose_of(a), &q = pose_of(b);
    return p.solid != q.solid && (p.dynamic || q.dynamic);
  }
};

// What the contacts of a covering do to it, over pieces of parts, and these over pieces of pieces:
// short sums, in order.
struct Piece {
  std::uint32_t part, begin, end;  // spheres of the covering, or pieces
};
inline constexpr std::uint32_t kPieceSpheres = 8, kGroupPieces = 32;

struct PieceSums {
  Vec3d force;    // [N]
  Vec3d moment;   // about the world's origin [N m]
  float deepest;  // overlap over the sphere's radius
  std::uint32_t contacts;
};
struct PushCovering {
  SphereForces forces;
  View<const Piece> pieces;
  std::uint32_t first;   // sphere of the covering
  View<PieceSums> sums;  // out

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Piece piece = pieces[i];
    PieceSums sum{{}, {}, 0.0f, 0};
    sums[i] = sum;
    if (forces.have_none(first + piece.begin, first + piece.end)) return;
    for (std::uint32_t k = piece.begin; k < piece.end; ++k) {
      const std::uint32_t s = first + k;
      Vec3 f, t;
      float deepest = 0.0f;
      const std::uint32_t contacts = forces.on(s, f, t, deepest);
      if (contacts == 0 && f == Vec3()) continue;
      const Sphere& sphere = forces.spheres[s];
      sum.force += Vec3d(f);
      sum.moment += cross(Vec3d(sphere.x) + Vec3d(sphere.low), Vec3d(f)) + Vec3d(t);
      sum.deepest = max(sum.deepest, deepest);
      sum.contacts += contacts;
    }
    sums[i] = sum;
  }
};

struct SumPieces {
  View<const PieceSums> pieces;
  View<const Piece> groups;
  View<PieceSums> sums;  // out

  HD void operator()(int at) const {
    const Piece group = groups[static_cast<std::size_t>(at)];
    PieceSums sum{{}, {}, 0.0f, 0};
    for (std::uint32_t k = group.begin; k < group.end; ++k) {
      const PieceSums& piece = pieces[k];
      sum.force += piece.force;
      sum.moment += piece.moment;
      sum.deepest = max(sum.deepest, piece.deepest);
      sum.contacts += piece.contacts;
    }
    sums[static_cast<std::size_t>(at)] = sum;
  }
};

}  // namespace barchan::dem
