// Points sorted into cubes, to find those near to a place. Host only, for what is made once; for
// the particles of a step there is spatial/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/aabb.h"
#include "math/vec3.h"

namespace barchan {

class PointCells {
 public:
  // Cubes of an `edge` [m] or more around the points at(0) ... at(count - 1) [m].
  template <class At>
  PointCells(std::size_t count, double edge, const At& at) : edge_(edge) {
    Aabb box;
    for (std::size_t i = 0; i < count; ++i) box = join(box, {at(i), at(i)});
    lo_ = box.lo;
    const Vec3d size = box.extent();
    // Cubes cost memory, points do not need more of them than there are of either.
    while (size.x * size.y * size.z > 16.0 * 1024 * 1024 * edge_ * edge_ * edge_) edge_ *= 1.26;
    for (int a = 0; a < 3; ++a) n_[a] = static_cast<int>(size[a] / edge_) + 1;
    first_.assign(static_cast<std::size_t>(n_[0]) * static_cast<std::size_t>(n_[1]) *
                          static_cast<std::size_t>(n_[2]) +
                      1,
                  0);
    for (std::size_t i = 0; i < count; ++i) ++first_[cell_of(at(i)) + 1];
    for (std::size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
    order_.resize(count);
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t i = 0; i < count; ++i) order_[next[cell_of(at(i))]++] = i;
  }

  // Calls visit(i) for all points within `edge` of p, and for others near to them; by cube, then by
  // number.
  template <class Visit>
  void for_near(const Vec3d& p, const Visit& visit) const {
    int lo[3], hi[3];
    for (int a = 0; a < 3; ++a) {
      const int at = static_cast<int>(std::clamp((p[a] - lo_[a]) / edge_, -2.0, 1.0 * n_[a] + 1));
      const int cell = p[a] < lo_[a] ? -1 : at;
      lo[a] = std::max(cell - 1, 0);
      hi[a] = std::min(cell + 1, n_[a] - 1);
    }
    for (int k = lo[2]; k <= hi[2]; ++k) {
      for (int j = lo[1]; j <= hi[1]; ++j) {
        if (lo[0] > hi[0]) continue;
        const std::uint32_t begin = first_[number(lo[0], j, k)],
                            end = first_[number(hi[0], j, k) + 1];
        for (std::uint32_t n = begin; n < end; ++n) visit(order_[n]);
      }
    }
  }

 private:
  std::size_t number(int i, int j, int k) const {
    return (static_cast<std::size_t>(k) * static_cast<std::size_t>(n_[1]) +
            static_cast<std::size_t>(j)) *
               static_cast<std::size_t>(n_[0]) +
           static_cast<std::size_t>(i);
  }
  std::size_t cell_of(const Vec3d& p) const {
    int c[3];
    for (int a = 0; a < 3; ++a) {
      c[a] = std::clamp(static_cast<int>((p[a] - lo_[a]) / edge_), 0, n_[a] - 1);
    }
    return number(c[0], c[1], c[2]);
  }

  Vec3d lo_;     // [m]
  double edge_;  // [m]
  int n_[3];
  std::vector<std::uint32_t> first_, order_;
};

}  // namespace barchan
