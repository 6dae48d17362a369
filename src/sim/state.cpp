#include "sim/state.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"

namespace barchan {

State::State(Device& device, std::vector<ColumnSpec> extra) : device_(&device) {
  columns_.emplace_back(device, ColumnSpec{"position", Type::f32, 3, true});
  columns_.emplace_back(device, ColumnSpec{"velocity", Type::f32, 3, true});
  columns_.emplace_back(device, ColumnSpec{"id", Type::u64, 1, true});
  columns_.emplace_back(device, ColumnSpec{"material", Type::u8, 1, true});
  for (ColumnSpec& spec : extra) columns_.emplace_back(device, std::move(spec));
}

const Column& State::column(const std::string& name) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(),
                                  [&](const Column& c) { return c.spec().name == name; });
  if (found == columns_.end()) fail("no column '{}' was declared by the solver", name);
  return *found;
}

Column& State::writable(const std::string& name) {
  return const_cast<Column&>(column(name));
}

View3<const float> State::vectors(const std::string& name) const {
  const Column& c = column(name);
  return {c.component<float>(0), c.component<float>(1), c.component<float>(2), c.size()};
}

View3<float> State::write_vectors(const std::string& name) {
  Column& c = writable(name);
  auto* data = reinterpret_cast<float*>(c.overwrite(c.size()));
  return {data, data + c.stride(), data + 2 * c.stride(), c.size()};
}

void State::follow(const State& now) {
  time = now.time;
  step = now.step;
  frame = now.frame;
  last_dt = now.last_dt;
  next_id = now.next_id;
  max_speed = now.max_speed;
  bodies = now.bodies;
  scalars = now.scalars;
  for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].share(now.columns_[c]);
}

void State::reorder(View<const std::uint32_t> order) {
  for (Column& column : columns_) {
    Column old(*device_, column.spec());
    old.share(column);
    const std::size_t bytes = size_of(column.spec().type);
    std::byte* to = column.overwrite(order.size);
    for (int c = 0; c < column.spec().components; ++c) {
      const auto at = static_cast<std::size_t>(c);
      device_->gather("reorder", bytes, old.data() + at * old.stride() * bytes, order,
                      to + at * column.stride() * bytes);
    }
  }
}

void State::assign(std::size_t count, const std::vector<HostColumn>& given) {
  for (Column& column : columns_) {
    std::byte* to = column.overwrite(count);
    const auto found = std::find_if(given.begin(), given.end(), [&](const HostColumn& h) {
      return h.spec.name == column.spec().name;
    });
    if (column.bytes() == 0) continue;
    if (found == given.end()) {
      device_->clear(to, column.bytes());
    } else if (found->size != count || found->spec.type != column.spec().type ||
               found->spec.components != column.spec().components) {
      fail("column '{}' does not fit {} particles", column.spec().name, count);
    } else {
      device_->upload(to, found->data.get(), column.bytes());
    }
  }
}

std::uint64_t hash_of(const State& state) {
  std::uint64_t hash = hash_bytes(&state.time, sizeof(state.time));
  for (const Column& column : state.columns()) {
    const HostColumn host = download(state.device(), column);
    const std::size_t bytes = size_of(host.spec.type);
    for (int c = 0; c < host.spec.components; ++c) {
      const auto start = static_cast<std::size_t>(c) * component_stride(host.size) * bytes;
      hash = hash_bytes(host.data.get() + start, host.size * bytes, hash);
    }
  }
  return hash;
}

}  // namespace barchan
