// Kernels behind poisson_bodies.h, for both devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "compute/reduce_ops.h"
#include "compute/view.h"
#include "spatial/level_tiles.h"

namespace barchan {

// The six components of each entry.
template <class T>
struct Six {
  View<T> of[6];
};

// K = L L^T, lower left, row by row. A direction in which K does nothing leaves a pivot of rounding
// size, and gets a column of zeros.
struct FactorBodies {
  static constexpr double kNothing = 1e-12;  // of the diagonal
  View<const double> k;
  View<double> factor;  // out

  // What the columns before c leave of K.
  HD double left(std::size_t body, std::size_t r, std::size_t c) const {
    double sum = k[body * 36 + r * 6 + c];
    for (std::size_t i = 0; i < c; ++i) {
      sum -= factor[body * 36 + r * 6 + i] * factor[body * 36 + c * 6 + i];
    }
    return sum;
  }
  HD void operator()(int at) const {
    const auto body = static_cast<std::size_t>(at);
    for (std::size_t c = 0; c < 6; ++c) {
      const double pivot = left(body, c, c);
      const bool nothing = pivot <= kNothing * k[body * 36 + c * 7];
      const double root = nothing ? 0.0 : std::sqrt(pivot);
      for (std::size_t r = 0; r < 6; ++r) {
        const double below = r > c && !nothing ? left(body, r, c) / root : 0.0;
        factor[body * 36 + r * 6 + c] = r == c ? root : below;
      }
    }
  }
};

// An entry's body and its cell in the table's numbers, and g = L^T j.
struct TakeEntries {
  TileTable table;
  View<const float> inverse;
  std::uint32_t nowhere;
  View<const std::uint32_t> from, start;
  Six<const float> j;
  View<const double> factor;
  View<std::uint32_t> cell, body;  // out
  Six<float> g;                    // out

  HD std::uint32_t body_of(std::uint32_t entry) const {
    std::size_t low = 0, high = start.size - 1;  // start[low] <= entry < start[high]
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (start[middle] <= entry ? low : high) = middle;
    }
    return static_cast<std::uint32_t>(low);
  }
  HD void operator()(int at) const {
    const auto e = static_cast<std::size_t>(at);
    const std::uint32_t c = table.cell(from[e]);
    cell[e] = inverse[c] > 0.0f ? c : nowhere;
    body[e] = body_of(static_cast<std::uint32_t>(at));
    for (std::size_t k = 0; k < 6; ++k) {
      double sum = 0.0;
      for (std::size_t l = k; l < 6; ++l) {
        sum += factor[std::size_t{body[e]} * 36 + l * 6 + k] * static_cast<double>(j.of[l][e]);
      }
      g.of[k][e] = static_cast<float>(sum);
    }
  }
};

struct Enumerate {
  View<std::uint32_t> order;  // out
  HD void operator()(int at) const {
    order[static_cast<std::size_t>(at)] = static_cast<std::uint32_t>(at);
  }
};

// G p, in parts: every kBodyParts-th entry of a body. So many threads share a body, and the order
// of the sum follows from the number of entries alone.
inline constexpr std::size_t kBodyParts = 128;
struct BodyParts {
  View<const std::uint32_t> cell, start;
  Six<const float> g;
  View<const float> p;
  View<double> parts;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t body = i / kBodyParts, part = i % kBodyParts;
    double sum[6] = {};
    for (std::size_t e = start[body] + part; e < start[body + 1]; e += kBodyParts) {
      const auto value = static_cast<double>(p[cell[e]]);
      for (std::size_t c = 0; c < 6; ++c) sum[c] += static_cast<double>(g.of[c][e]) * value;
    }
    for (std::size_t c = 0; c < 6; ++c) parts[(body * 6 + c) * kBodyParts + part] = sum[c];
  }
};
// A component of a body; returns its square.
struct BodySums {
  View<const double> parts;
  View<double> moved;  // out
  HD double operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    double sum = 0.0;
    for (std::size_t part = 0; part < kBodyParts; ++part) sum += parts[i * kBodyParts + part];
    moved[i] = sum;
    return sum * sum;
  }
};

// out += sign G^T moved. The first entry of a cell works for all of it.
struct GiveBack {
  View<const std::uint32_t> sorted, order, body;
  std::uint32_t nowhere;
  Six<const float> g;
  View<const double> moved;
  float sign;
  View<float> out;  // in and out
  HD void operator()(int at) const {
    const auto first = static_cast<std::size_t>(at);
    const std::uint32_t cell = sorted[first];
    if (cell == nowhere || (first > 0 && sorted[first - 1] == cell)) return;
    double sum = 0.0;
    for (std::size_t i = first; i < sorted.size && sorted[i] == cell; ++i) {
      const std::size_t e = order[i];
      const std::size_t of = std::size_t{body[e]} * 6;
      for (std::size_t c = 0; c < 6; ++c) sum += static_cast<double>(g.of[c][e]) * moved[of + c];
    }
    out[cell] += sign * static_cast<float>(sum);
  }
};

// ---- Schedule

struct BodyProduct {
  std::int64_t bodies = 0, entries = 0;
  std::uint32_t nowhere = 0;
  View<const std::uint32_t> cell, body, start, sorted, order;
  Six<const float> g;
  View<double> parts, moved;

  HD bool none() const { return entries == 0; }

  // out += sign G^T G p; |G p|^2 goes to `square` in the device's memory. There must be bodies.
  HD_SCHEDULE
  template <class Device>
  HD void add(Device& device, View<const float> p, float sign, View<float> out,
              double* square) const {
    const char* label = "poisson: bodies";
    for_each(device, label, bodies * static_cast<std::int64_t>(kBodyParts),
             BodyParts{cell, start, g, p, parts});
    reduce_to<Sum<double>>(device, label, static_cast<std::int64_t>(moved.size),
                           BodySums{parts, moved}, square);
    for_each(device, label, entries, GiveBack{sorted, order, body, nowhere, g, moved, sign, out});
  }
};

}  // namespace barchan
