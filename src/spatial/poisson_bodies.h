// The term J^T K J of poisson.h: how bodies that the pressure pushes yield to it.
//
// K = L L^T is folded into the entries once, g = L^T j, so that the term is G^T G: one list serves
// both ways, and what is applied is symmetric and not negative whatever the rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/buffer.h"

namespace barchan {

struct BodyProduct;
struct PoissonBodies;
struct TileTable;

// What the host has to know of the entries, to see which constants move no body.
struct BodyEntries {
  std::vector<std::uint32_t> cell, body;
  std::vector<float> g[6];
};

template <class Device>
class BodyTerm {
 public:
  explicit BodyTerm(Device& device);

  // Nothing of the arguments is kept. inverse: positive for unknowns, over the table's cells.
  void take(const PoissonBodies& bodies, const TileTable& table, View<const float> inverse);

  bool none() const { return entries() == 0; }

  BodyProduct product();

  BodyEntries download() const;

 private:
  std::size_t entries() const { return cell_.size(); }

  Device& device_;
  std::size_t bodies_ = 0;
  std::uint32_t nowhere_ = 0;          // the cell of entries that do not count: first tile of zeros
  Buffer<std::uint32_t> cell_, body_;  // of each entry
  Buffer<float> g_[6];
  Buffer<std::uint32_t> start_;             // of each body's entries; one more
  Buffer<std::uint32_t> sorted_, order_;    // cells in their order, and the entries of each
  Buffer<double> factors_, parts_, moved_;  // L of bodies, sums of parts of entries, G p
};

}  // namespace barchan
