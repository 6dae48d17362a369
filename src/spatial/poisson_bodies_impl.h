// Bodies of BodyTerm, instantiated with PoissonSolver.
#pragma once

#include <utility>

#include "base/error.h"
#include "spatial/poisson.h"
#include "spatial/poisson_bodies.h"
#include "spatial/poisson_body_kernels.h"

namespace barchan {

template <class Device>
BodyTerm<Device>::BodyTerm(Device& device)
    : device_(device),
      cell_(device),
      body_(device),
      g_{Buffer<float>(device), Buffer<float>(device), Buffer<float>(device),
         Buffer<float>(device), Buffer<float>(device), Buffer<float>(device)},
      start_(device),
      sorted_(device),
      order_(device),
      factors_(device),
      parts_(device),
      moved_(device) {}

inline Six<float> six(Buffer<float> (&of)[6]) {
  return {{of[0].view(), of[1].view(), of[2].view(), of[3].view(), of[4].view(), of[5].view()}};
}
inline Six<const float> six(const Buffer<float> (&of)[6]) {
  return {{of[0].view(), of[1].view(), of[2].view(), of[3].view(), of[4].view(), of[5].view()}};
}

template <class Device>
void BodyTerm<Device>::take(const PoissonBodies& bodies, const TileTable& table,
                            View<const float> inverse) {
  bodies_ = bodies.start.size > 0 ? bodies.start.size - 1 : 0;
  const std::size_t count = bodies_ > 0 ? bodies.cell.size : 0;
  for (const View<const float>& j : bodies.j) {
    if (j.size < count) fail("bodies in a pressure matrix need six numbers for each entry");
  }
  if (bodies.k.size < bodies_ * 36) fail("bodies in a pressure matrix need 36 numbers each");
  for (Buffer<std::uint32_t>* list : {&cell_, &body_, &sorted_, &order_}) list->resize(count);
  for (Buffer<float>& g : g_) g.resize(count);
  if (none()) return;

  start_.resize(bodies_ + 1);
  device_.copy(start_.data(), bodies.start.data, start_.size() * sizeof(std::uint32_t));
  factors_.resize(bodies_ * 36);
  parts_.resize(bodies_ * 6 * kBodyParts);
  moved_.resize(bodies_ * 6);
  nowhere_ = static_cast<std::uint32_t>(table.list.size * kTileCells);
  for_each(device_, "poisson: bodies", static_cast<std::int64_t>(bodies_),
           FactorBodies{bodies.k, factors_.view()});
  Six<const float> j;
  for (int c = 0; c < 6; ++c) j.of[c] = bodies.j[c];
  for_each(device_, "poisson: bodies", static_cast<std::int64_t>(count),
           TakeEntries{table, inverse, nowhere_, bodies.cell, std::as_const(start_).view(), j,
                       std::as_const(factors_).view(), cell_.view(), body_.view(), six(g_)});

  device_.copy(sorted_.data(), cell_.data(), count * sizeof(std::uint32_t));
  for_each(device_, "poisson: bodies", static_cast<std::int64_t>(count), Enumerate{order_.view()});
  int bits = 1;
  while ((std::uint64_t{nowhere_} >> bits) != 0) ++bits;
  device_.sort_pairs("poisson: bodies", sorted_.view(), order_.view(), bits);
}

template <class Device>
BodyProduct BodyTerm<Device>::product() {
  return {static_cast<std::int64_t>(bodies_),
          static_cast<std::int64_t>(entries()),
          nowhere_,
          std::as_const(cell_).view(),
          std::as_const(body_).view(),
          std::as_const(start_).view(),
          std::as_const(sorted_).view(),
          std::as_const(order_).view(),
          six(std::as_const(g_)),
          parts_.view(),
          moved_.view()};
}

template <class Device>
BodyEntries BodyTerm<Device>::download() const {
  BodyEntries entries{cell_.download(), body_.download(), {}};
  for (int c = 0; c < 6; ++c) entries.g[c] = g_[c].download();
  return entries;
}

}  // namespace barchan
