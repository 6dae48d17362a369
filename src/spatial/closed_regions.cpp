#include "spatial/closed_regions.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace barchan {

namespace {

constexpr std::size_t kPlanes = 8, kCells = 512;

// Walks from cell to cell over open faces and ticks off the cells that it finds.
class Walk {
 public:
  Walk(const TileBoards& boards, const std::vector<std::uint32_t>& around)
      : boards_(boards), around_(around), left_(boards.wanted) {}

  // The cells connected with one of plane `first`; none if all of it are ticked off.
  bool from(std::size_t first, std::vector<std::uint32_t>& cells) {
    if (left_[first] == 0) return false;
    std::size_t done = cells.size();
    take(first * 64 + static_cast<std::size_t>(std::countr_zero(left_[first])), cells);
    for (; done < cells.size(); ++done) {
      const std::size_t cell = cells[done];
      step(cell, cell % 8, 1, kMiddle - 1, boards_.x, cells);
      step(cell, cell / 8 % 8, 8, kMiddle - 3, boards_.y, cells);
      step(cell, cell / 64 % 8, 64, kMiddle - 9, boards_.z, cells);
    }
    return true;
  }

 private:
  static bool has(const std::vector<std::uint64_t>& board, std::size_t cell) {
    return (board[cell / 64] >> (cell % 64) & 1u) != 0;
  }
  void take(std::size_t cell, std::vector<std::uint32_t>& cells) {
    if (!has(left_, cell)) return;
    left_[cell / 64] &= ~(std::uint64_t{1} << (cell % 64));
    cells.push_back(static_cast<std::uint32_t>(cell));
  }
  // Both neighbours along an axis, whose low one is in tile `before` of the 27 at the border.
  void step(std::size_t cell, std::size_t coordinate, std::size_t stride, std::size_t before,
            const std::vector<std::uint64_t>& open, std::vector<std::uint32_t>& cells) {
    const std::size_t tile = cell / kCells, place = cell % kCells;
    const auto in = [&](std::size_t of) { return std::size_t{around_[tile * 27 + of]} * kCells; };
    const std::size_t low = coordinate > 0 ? cell - stride : in(before) + place + 7 * stride;
    const std::size_t high =
        coordinate < 7 ? cell + stride : in(2 * kMiddle - before) + place - 7 * stride;
    if (has(open, cell)) take(low, cells);
    if (has(open, high)) take(high, cells);
  }

  const TileBoards& boards_;
  const std::vector<std::uint32_t>& around_;
  std::vector<std::uint64_t> left_;
};

}  // namespace

RegionLists connected_regions(const TileBoards& boards, const std::vector<std::uint32_t>& around) {
  RegionLists lists;
  lists.start.push_back(0);
  Walk walk(boards, around);
  for (std::size_t plane = 0; plane < around.size() / 27 * kPlanes; ++plane) {
    while (walk.from(plane, lists.cells)) {
      lists.start.push_back(static_cast<std::uint32_t>(lists.cells.size()));
    }
  }
  return lists;
}

namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
void add(Vector& to, double factor, const Vector& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

// What a constant of 1 in a region does to the bodies, and what it would if nothing cancelled.
struct Push {
  Vector sum, most;
};
std::vector<Push> pushes_of(const RegionLists& regions, const BodyEntries& bodies) {
  constexpr std::uint32_t kNone = ~0u;
  const std::size_t count = regions.start.size() - 1;
  std::vector<Push> pushes(count);
  if (bodies.cell.empty()) return pushes;
  const auto cells = 1 + std::max(*std::max_element(bodies.cell.begin(), bodies.cell.end()),
                                  *std::max_element(regions.cells.begin(), regions.cells.end()));
  std::vector<std::uint32_t> region_of(cells, kNone);
  for (std::uint32_t r = 0; r < count; ++r) {
    for (std::uint32_t i = regions.start[r]; i < regions.start[r + 1]; ++i) {
      region_of[regions.cells[i]] = r;
    }
  }
  const std::size_t size = 6 * (std::size_t{bodies.body.back()} + 1);
  for (std::size_t e = 0; e < bodies.cell.size(); ++e) {
    const std::uint32_t region = region_of[bodies.cell[e]];
    if (region == kNone) continue;
    Push& push = pushes[region];
    push.sum.resize(size), push.most.resize(size);
    for (std::size_t k = 0; k < 6; ++k) {
      const auto g = static_cast<double>(bodies.g[k][e]);
      push.sum[bodies.body[e] * 6 + k] += g;
      push.most[bodies.body[e] * 6 + k] += std::abs(g);
    }
  }
  return pushes;
}

// Combinations of regions (one number each) whose pushes cancel. Each region in turn: what the
// regions before it cannot cancel of its push makes a new direction; where nothing is left, the
// combination that did it is one.
std::vector<Vector> that_cancel(const std::vector<Push>& pushes,
                                const std::vector<std::uint32_t>& touched) {
  constexpr double kNothing = 1e-5;  // of the sum without signs; floats leave 1e-7 of it
  std::vector<Vector> directions, made_of, found;
  for (std::size_t t = 0; t < touched.size(); ++t) {
    const Push& push = pushes[touched[t]];
    Vector left = push.sum, combination(touched.size());
    combination[t] = 1.0;
    for (int twice = 0; twice < 2; ++twice) {
      for (std::size_t d = 0; d < directions.size(); ++d) {
        const double along = dot(left, directions[d]);
        add(left, -along, directions[d]);
        add(combination, -along, made_of[d]);
      }
    }
    const double size = std::sqrt(dot(left, left));
    if (size <= kNothing * std::sqrt(dot(push.most, push.most))) {
      found.push_back(combination);
    } else {
      for (double& x : left) x /= size;
      for (double& x : combination) x /= size;
      directions.push_back(left);
      made_of.push_back(combination);
    }
  }
  return found;
}

// Makes them orthonormal as fields over the cells.
void orthonormalise(std::vector<Vector>& vectors, const Vector& cells) {
  const auto weighted = [&](const Vector& a, const Vector& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += cells[i] * a[i] * b[i];
    return sum;
  };
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    for (int twice = 0; twice < 2; ++twice) {
      for (std::size_t u = 0; u < v; ++u) {
        add(vectors[v], -weighted(vectors[v], vectors[u]), vectors[u]);
      }
    }
    const double size = std::sqrt(weighted(vectors[v], vectors[v]));
    for (double& x : vectors[v]) x /= size;
  }
}

}  // namespace

RegionWeights free_constants(const RegionLists& regions, const BodyEntries& bodies) {
  const std::vector<Push> pushes = pushes_of(regions, bodies);
  std::vector<std::uint32_t> touched;
  Vector cells;
  for (std::uint32_t r = 0; r < pushes.size(); ++r) {
    if (pushes[r].sum.empty()) continue;
    touched.push_back(r);
    cells.push_back(static_cast<double>(regions.start[r + 1] - regions.start[r]));
  }
  std::vector<Vector> modes = that_cancel(pushes, touched);
  orthonormalise(modes, cells);

  // The projection: sum of mode x mode^T. A region without bodies is a mode of its own.
  RegionWeights weights;
  weights.start.push_back(0);
  const auto entry = [&](std::uint32_t region, double weight) {
    weights.region.push_back(region);
    weights.weight.push_back(weight);
  };
  for (std::uint32_t r = 0, t = 0; r < pushes.size(); ++r) {
    if (pushes[r].sum.empty()) {
      entry(r, 1.0 / static_cast<double>(regions.start[r + 1] - regions.start[r]));
    } else {
      for (std::size_t other = 0; other < touched.size(); ++other) {
        double weight = 0.0;
        for (const Vector& mode : modes) weight += mode[t] * mode[other];
        if (weight != 0.0) entry(touched[other], weight);
      }
      ++t;
    }
    weights.start.push_back(static_cast<std::uint32_t>(weights.region.size()));
  }
  return weights;
}

}  // namespace barchan
