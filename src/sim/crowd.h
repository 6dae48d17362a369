// Points that keep their distance: is a new one far enough from all the others?
#pragma once

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "math/vec3.h"

namespace barchan {

// Points lie in cells of one distance, each a chain from its newest point on. Distant cells may
// share a number; that costs a look at points too far away to matter.
class Crowd {
 public:
  explicit Crowd(double apart) : apart_(apart) {}  // [m]

  void clear() {
    newest_.clear();
    points_.clear();
    next_.clear();
  }

  void add(const Vec3d& point) {
    const auto [cell, is_new] = newest_.try_emplace(number(point, 0, 0, 0), kEnd);
    next_.push_back(cell->second);
    cell->second = static_cast<std::uint32_t>(points_.size());
    points_.push_back(point);
  }

  // No point is nearer than the distance.
  bool has_room_at(const Vec3d& point) const {
    for (int cell = 0; cell < 27; ++cell) {
      const auto found = newest_.find(number(point, cell % 3 - 1, cell / 3 % 3 - 1, cell / 9 - 1));
      if (found == newest_.end()) continue;
      for (std::uint32_t i = found->second; i != kEnd; i = next_[i]) {
        if (length_squared(points_[i] - point) < apart_ * apart_) return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kEnd = ~0u;

  std::uint64_t number(const Vec3d& point, int dx, int dy, int dz) const {
    const auto wrapped = [this](double coordinate, int step) {
      const auto cell = static_cast<std::int64_t>(std::floor(coordinate / apart_)) + step;
      return static_cast<std::uint64_t>(cell) & 0x1fffff;
    };
    return wrapped(point.x, dx) << 42 | wrapped(point.y, dy) << 21 | wrapped(point.z, dz);
  }

  double apart_;
  std::unordered_map<std::uint64_t, std::uint32_t> newest_;
  std::vector<Vec3d> points_;        // [m]
  std::vector<std::uint32_t> next_;  // of the same cell
};

}  // namespace barchan
