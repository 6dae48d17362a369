#include "sim/state.h"

#include <algorithm>
#include <utility>
#include <vector>

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

bool State::has(const std::string& name) const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [&](const Column& c) { return c.spec().name == name; });
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
  std::erase_if(kept_, [&](const Column& c) { return now.kept(c.spec().name) == nullptr; });
  for (const Column& column : now.kept_) kept_column(column.spec()).share(column);
}

const Column* State::kept(const std::string& name) const {
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Column& c) { return c.spec().name == name; });
  return found == kept_.end() ? nullptr : &*found;
}

Column& State::kept_column(const ColumnSpec& spec) {
  if (kept(spec.name) == nullptr) kept_.emplace_back(*device_, spec);
  return const_cast<Column&>(*kept(spec.name));
}

Column& State::keep(const ColumnSpec& spec, std::size_t size) {
  Column& column = kept_column(spec);
  column.overwrite(size);
  return column;
}

View3<float> State::rewrite_vectors(const std::string& name) {
  Column& c = writable(name);
  auto* data = reinterpret_cast<float*>(c.grow(c.size()));
  return {data, data + c.stride(), data + 2 * c.stride(), c.size()};
}

View4<const float> State::orientations(const std::string& name) const {
  const Column& c = column(name);
  const float* data = c.component<float>(0);
  const std::size_t stride = c.stride();
  return {data, data + stride, data + 2 * stride, data + 3 * stride, c.size()};
}

View4<float> State::rewrite_orientations(const std::string& name) {
  Column& c = writable(name);
  auto* data = reinterpret_cast<float*>(c.grow(c.size()));
  const std::size_t stride = c.stride();
  return {data, data + stride, data + 2 * stride, data + 3 * stride, c.size()};
}

View4<float> State::write_orientations(const std::string& name) {
  Column& c = writable(name);
  auto* data = reinterpret_cast<float*>(c.overwrite(c.size()));
  const std::size_t stride = c.stride();
  return {data, data + stride, data + 2 * stride, data + 3 * stride, c.size()};
}

void State::reorder(View<const std::uint32_t> order,
                    std::initializer_list<std::string_view> except) {
  std::vector<Device::Gathered> gathered;
  std::vector<std::pair<Column*, Column>> before;
  for (Column& column : columns_) {
    if (std::find(except.begin(), except.end(), column.spec().name) != except.end()) continue;
    Column& old = before.emplace_back(&column, Column(*device_, column.spec())).second;
    old.share(column);
    const std::size_t bytes = size_of(column.spec().type);
    std::byte* to = column.overwrite(order.size);
    for (int c = 0; c < column.spec().components; ++c) {
      const auto at = static_cast<std::size_t>(c);
      gathered.push_back(
          {bytes, old.data() + at * old.stride() * bytes, to + at * column.stride() * bytes});
    }
  }
  device_->gather("reorder", order, gathered);
  for (auto& [column, old] : before) column->recycle(std::move(old));
}

void State::put_rows(std::size_t first, std::size_t count, const std::vector<HostColumn>& given,
                     const Column& column, std::byte* to) const {
  const ColumnSpec& spec = column.spec();
  const auto found = std::find_if(given.begin(), given.end(),
                                  [&](const HostColumn& h) { return h.spec.name == spec.name; });
  const bool there = found != given.end();
  if (there && (found->size != count || found->spec.type != spec.type ||
                found->spec.components != spec.components)) {
    fail("column '{}' does not fit {} particles", spec.name, count);
  }
  const std::size_t element = size_of(spec.type), from_stride = component_stride(count) * element;
  for (int c = 0; c < spec.components && count > 0; ++c) {
    const auto at = static_cast<std::size_t>(c);
    std::byte* rows = to + (at * column.stride() + first) * element;
    if (there) {
      device_->upload(rows, found->data.get() + at * from_stride, count * element);
    } else {
      device_->clear(rows, count * element);
    }
  }
}

void State::assign(std::size_t count, const std::vector<HostColumn>& given) {
  for (Column& column : columns_) put_rows(0, count, given, column, column.overwrite(count));
}

void State::assign_kept(const std::vector<HostColumn>& given) {
  kept_.clear();
  for (const HostColumn& host : given) {
    Column& column = keep(host.spec, host.size);
    put_rows(0, host.size, given, column, column.overwrite(host.size));
  }
}

void State::append(std::size_t count, const std::vector<HostColumn>& given) {
  const std::size_t before = size();
  if (before + count > (std::size_t{1} << 31) - 1) {
    fail("{} particles are more than 2^31; lower the rate of the emitters, or add a [[sink]]",
         before + count);
  }
  for (Column& column : columns_) {
    put_rows(before, count, given, column, column.grow(before + count));
  }
}

void State::copy_column(const std::string& from, const std::string& to) {
  const Column& source = column(from);
  Column& target = writable(to);
  if (source.spec().type != target.spec().type ||
      source.spec().components != target.spec().components) {
    fail("column '{}' cannot hold what '{}' does", to, from);
  }
  target.share(source);
}

std::uint64_t hash_of(const State& state) {
  std::uint64_t hash = hash_bytes(&state.time, sizeof(state.time));
  const auto add = [&](const Column& column) {
    const HostColumn host = download(state.device(), column);
    const std::size_t bytes = size_of(host.spec.type);
    for (int c = 0; c < host.spec.components; ++c) {
      const auto start = static_cast<std::size_t>(c) * component_stride(host.size) * bytes;
      hash = hash_bytes(host.data.get() + start, host.size * bytes, hash);
    }
  };
  for (const Column& column : state.columns()) add(column);
  for (const Column& column : state.kept()) add(column);
  return hash;
}

}  // namespace barchan
