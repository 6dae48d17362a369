// Ju, Losasso, Schaefer and Warren, "Dual contouring of Hermite data", SIGGRAPH 2002; the vertex by
// steepest descent instead of a factorisation.
#include "geometry/polygonise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace barchan {

namespace {

using Index = std::array<std::int64_t, 3>;

constexpr std::uint32_t kNone = 0xffffffffu;

class Polygoniser {
 public:
  Polygoniser(const std::function<double(const Vec3d&)>& field, const Aabb& box, double cell)
      : field_(field), cell_(cell), origin_(box.lo - Vec3d(cell, cell, cell)) {
    // One more layer of lattice points on each side, where the function counts as positive.
    for (int i = 0; i < 3; ++i) {
      points_[at(i)] = static_cast<std::int64_t>(std::ceil(box.extent()[i] / cell)) + 3;
    }
  }

  Mesh run() {
    sample();
    find_crossings();
    place_vertices();
    for (int axis = 0; axis < 3; ++axis) join_around_edges(axis);
    return std::move(mesh_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::size_t flat(const Index& i) const {
    return static_cast<std::size_t>(i[0] + points_[0] * (i[1] + points_[1] * i[2]));
  }
  Vec3d position(const Index& i) const {
    return origin_ + cell_ * Vec3d(static_cast<double>(i[0]), static_cast<double>(i[1]),
                                   static_cast<double>(i[2]));
  }
  static Index stepped(Index i, int axis, std::int64_t by) {
    i[at(axis)] += by;
    return i;
  }
  bool is_inside(const Index& i) const { return value_[flat(i)] < 0.0; }

  template <class F>
  void for_each_point(F f) const {
    for (Index i = {0, 0, 0}; i[2] < points_[2]; ++i[2]) {
      for (i[1] = 0; i[1] < points_[1]; ++i[1]) {
        for (i[0] = 0; i[0] < points_[0]; ++i[0]) f(i);
      }
    }
  }

  void sample() {
    value_.resize(static_cast<std::size_t>(points_[0] * points_[1] * points_[2]));
    for_each_point([&](const Index& i) {
      bool border = false;
      for (int a = 0; a < 3; ++a) border |= i[at(a)] == 0 || i[at(a)] == points_[at(a)] - 1;
      const double value = field_(position(i));
      value_[flat(i)] = border ? std::max(value, 1e-3 * cell_) : value;
    });
  }

  Vec3d normal(const Vec3d& p) const {
    const double h = 1e-2 * cell_;
    Vec3d n;
    for (int a = 0; a < 3; ++a) {
      Vec3d up = p, down = p;
      up[a] += h, down[a] -= h;
      n[a] = field_(up) - field_(down);
    }
    return normalized(n);
  }

  // Between two lattice points, one of them inside: the secant and bisection by turns.
  Vec3d crossing(const Index& from, const Index& to) const {
    const Vec3d start = position(from), way = position(to) - start;
    double low = 0.0, high = 1.0, at_low = value_[flat(from)], at_high = value_[flat(to)];
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
      const double t =
          round % 2 == 0 ? low + (high - low) * at_low / (at_low - at_high) : 0.5 * (low + high);
      const double value = field_(start + t * way);
      if ((value < 0.0) == (at_low < 0.0)) {
        low = t, at_low = value;
      } else {
        high = t, at_high = value;
      }
    }
    return start + (low + (high - low) * at_low / (at_low - at_high)) * way;
  }

  // Where the surface crosses an edge of the lattice.
  struct Crossing {
    Vec3d at;      // [m]
    Vec3d normal;  // unit length
  };

  void find_crossings() {
    for (int axis = 0; axis < 3; ++axis) {
      crossing_at_[at(axis)].assign(value_.size(), kNone);
      for_each_point([&](const Index& from) {
        if (from[at(axis)] == points_[at(axis)] - 1) return;
        const Index to = stepped(from, axis, 1);
        if (is_inside(from) == is_inside(to)) return;
        const Vec3d p = crossing(from, to);
        crossing_at_[at(axis)][flat(from)] = static_cast<std::uint32_t>(crossings_.size());
        crossings_.push_back({p, normal(p)});
      });
    }
  }

  // Those on the twelve edges of a cube.
  struct CubeCrossings {
    std::array<Crossing, 12> data;
    std::size_t count = 0;
    std::span<const Crossing> all() const { return {data.data(), count}; }
  };
  CubeCrossings crossings_of(const Index& cube) const {
    CubeCrossings found;
    for (int axis = 0; axis < 3; ++axis) {
      for (int corner = 0; corner < 4; ++corner) {
        const Index side = stepped(cube, (axis + 1) % 3, corner & 1);
        const Index from = stepped(side, (axis + 2) % 3, corner >> 1);
        const std::uint32_t index = crossing_at_[at(axis)][flat(from)];
        if (index != kNone) found.data[found.count++] = crossings_[index];
      }
    }
    return found;
  }

  // From the middle of the crossings down the sum of squared distances from their tangent planes;
  // within the cube, a little off its faces, so that no two vertices meet.
  Vec3d meeting_point(std::span<const Crossing> crossed, const Index& cube) const {
    Vec3d x;
    const auto count = static_cast<double>(crossed.size());
    for (const Crossing& c : crossed) x += c.at / count;
    constexpr int kDescents = 40;
    for (int step = 0; step < kDescents; ++step) {
      Vec3d down;
      for (const Crossing& c : crossed) down += dot(c.at - x, c.normal) / count * c.normal;
      x += down;
    }
    const double rim = 0.05 * cell_;
    const Vec3d lo = position(cube);
    const Vec3d inner = lo + Vec3d(rim, rim, rim);
    const Vec3d outer = lo + Vec3d(cell_ - rim, cell_ - rim, cell_ - rim);
    return min(max(x, inner), outer);
  }

  void place_vertices() {
    vertex_.assign(value_.size(), 0);
    for_each_point([&](const Index& cube) {
      for (int a = 0; a < 3; ++a) {
        if (cube[at(a)] == points_[at(a)] - 1) return;
      }
      const CubeCrossings crossed = crossings_of(cube);
      if (crossed.count == 0) return;
      vertex_[flat(cube)] = static_cast<std::uint32_t>(mesh_.vertices.size());
      mesh_.vertices.push_back(meeting_point(crossed.all(), cube));
    });
  }

  // Lattice edges along `axis` that the surface crosses: the four cubes around one, counter-
  // clockwise seen from its far end, are a quadrangle that faces there if the near end is inside.
  void join_around_edges(int axis) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for_each_point([&](const Index& from) {
      if (from[at(axis)] == points_[at(axis)] - 1) return;
      const bool inside = is_inside(from);
      if (inside == is_inside(stepped(from, axis, 1))) return;
      // No crossing lies on the lattice's border, so all four cubes exist.
      const Index back = stepped(from, b, -1);
      std::array<std::uint32_t, 4> q = {vertex_[flat(stepped(back, c, -1))],
                                        vertex_[flat(stepped(from, c, -1))], vertex_[flat(from)],
                                        vertex_[flat(back)]};
      if (!inside) std::swap(q[1], q[3]);
      add_quadrangle(q);
    });
  }

  void add_quadrangle(const std::array<std::uint32_t, 4>& q) {
    const auto& x = mesh_.vertices;
    if (length_squared(x[q[2]] - x[q[0]]) <= length_squared(x[q[3]] - x[q[1]])) {
      mesh_.triangles.push_back({q[0], q[1], q[2]});
      mesh_.triangles.push_back({q[0], q[2], q[3]});
    } else {
      mesh_.triangles.push_back({q[0], q[1], q[3]});
      mesh_.triangles.push_back({q[1], q[2], q[3]});
    }
  }

  const std::function<double(const Vec3d&)>& field_;
  double cell_;   // [m]
  Vec3d origin_;  // lattice point (0, 0, 0) [m]
  Index points_;  // lattice points along each axis
  std::vector<double> value_;
  std::vector<Crossing> crossings_;
  // Of the edge from that lattice point along each axis, or kNone.
  std::array<std::vector<std::uint32_t>, 3> crossing_at_;
  std::vector<std::uint32_t> vertex_;  // of the cube whose lower corner is that point
  Mesh mesh_;
};

}  // namespace

Mesh polygonise(const std::function<double(const Vec3d&)>& field, const Aabb& box, double cell) {
  return Polygoniser(field, box, cell).run();
}

}  // namespace barchan
