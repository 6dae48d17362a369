#include "sim/selection.h"

#include <utility>

#include "compute/dispatch.h"
#include "sim/selection_kernels.h"

namespace barchan {

// Defined in selection_impl.h, compiled in selection_cpu.cpp and selection_cuda.cu.
template <class Device, class Where>
void select_on(Device& device, std::size_t count, const Where& where, Buffer<std::uint32_t>& places,
               Buffer<std::uint32_t>& rows);

View<const std::uint32_t> RowSelector::in_boxes(const State& state,
                                                const std::vector<Aabb>& boxes) {
  std::vector<Box> rounded;
  for (const Aabb& box : boxes) rounded.push_back({Vec3(box.lo), Vec3(box.hi)});
  boxes_.upload(rounded);
  on_device(state.device(), [&](auto& device) {
    select_on(device, state.size(), InAny{state.position(), std::as_const(boxes_).view()}, places_,
              rows_);
  });
  return std::as_const(rows_).view();
}

View<const std::uint32_t> RowSelector::outside(const State& state, const SolidsView& solids) {
  on_device(state.device(), [&](auto& device) {
    select_on(device, state.size(), OutsideAll{state.position(), solids}, places_, rows_);
  });
  return std::as_const(rows_).view();
}

HostColumn download_rows(const State& state, const std::string& name,
                         View<const std::uint32_t> rows) {
  const Column& from = state.column(name);
  Column chosen(state.device(), from.spec());
  const std::size_t bytes = size_of(from.spec().type);
  std::byte* to = chosen.overwrite(rows.size);
  std::vector<Device::Gathered> components;
  for (int c = 0; c < from.spec().components; ++c) {
    const auto at = static_cast<std::size_t>(c);
    components.push_back(
        {bytes, from.data() + at * from.stride() * bytes, to + at * chosen.stride() * bytes});
  }
  state.device().gather("select rows", rows, components);
  return download(state.device(), chosen);
}

}  // namespace barchan
