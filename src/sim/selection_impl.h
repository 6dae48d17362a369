// Launches behind selection.h, instantiated for each device in selection_cpu.cpp and
// selection_cuda.cu.
#pragma once

#include <utility>

#include "sim/selection_kernels.h"

namespace barchan {

template <class Where>
struct FlagRows {
  Where where;
  View<std::uint32_t> flags;  // out
  HD void operator()(int at) const { flags[static_cast<std::size_t>(at)] = where(at) ? 1 : 0; }
};

template <class Where>
struct ListRows {
  Where where;
  View<const std::uint32_t> places;
  View<std::uint32_t> rows;  // out
  HD void operator()(int at) const {
    if (where(at)) rows[places[static_cast<std::size_t>(at)]] = static_cast<std::uint32_t>(at);
  }
};

// Flags become places by a scan; asking again is cheaper than keeping the flags.
template <class Device, class Where>
void select_on(Device& device, std::size_t count, const Where& where, Buffer<std::uint32_t>& places,
               Buffer<std::uint32_t>& rows) {
  const auto n = static_cast<std::int64_t>(count);
  places.resize(count);
  for_each(device, "select rows", n, FlagRows<Where>{where, places.view()});
  rows.resize(device.exclusive_scan("select rows", places.view(), places.view()));
  if (rows.size() == 0) return;
  for_each(device, "select rows", n,
           ListRows<Where>{where, std::as_const(places).view(), rows.view()});
}

}  // namespace barchan
