// Named arrays of one length, on a device or on the host: the storage under State and Frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "barchan/state.h"
#include "compute/buffer.h"

namespace barchan {

constexpr std::size_t size_of(Type type) {
  switch (type) {
    case Type::u8:
      return 1;
    case Type::f32:
    case Type::u32:
      return 4;
    case Type::f64:
    case Type::u64:
      return 8;
  }
  return 0;
}

template <class T>
constexpr Type type_of();
template <>
constexpr Type type_of<float>() {
  return Type::f32;
}
template <>
constexpr Type type_of<double>() {
  return Type::f64;
}
template <>
constexpr Type type_of<std::uint8_t>() {
  return Type::u8;
}
template <>
constexpr Type type_of<std::uint32_t>() {
  return Type::u32;
}
template <>
constexpr Type type_of<std::uint64_t>() {
  return Type::u64;
}

// What a column is: a vector field has 3 components, each its own array.
struct ColumnSpec {
  std::string name;
  Type type = Type::f32;
  int components = 1;
  bool in_frames = false;  // written to frames, not only to checkpoints
  friend bool operator==(const ColumnSpec&, const ColumnSpec&) = default;
};

// Elements from the start of one component to the start of the next, without room to grow.
constexpr std::size_t component_stride(std::size_t count) {
  return (count + 15) / 16 * 16;
}

// A column on a device. Two States may share one buffer until one of them writes to it, so that a
// step does not copy what it leaves alone. Components lie stride() elements apart, as far as the
// buffer's room allows, so that rows can be added behind the last one without moving the others.
class Column {
 public:
  Column(Device& device, ColumnSpec spec) : device_(&device), spec_(std::move(spec)) {}

  const ColumnSpec& spec() const { return spec_; }
  std::size_t size() const { return size_; }
  std::size_t stride() const { return stride_; }
  // What its elements take, without the room to grow.
  std::size_t bytes() const { return component_stride(size_) * row_bytes(); }

  const std::byte* data() const { return buffer_ ? buffer_->data() : nullptr; }
  // Whoever holds it may read on: this column then writes elsewhere.
  std::shared_ptr<const Buffer<std::byte>> buffer() const { return buffer_; }
  template <class T>
  const T* component(int c) const {
    return reinterpret_cast<const T*>(data()) + static_cast<std::size_t>(c) * stride();
  }

  // A buffer of its own for `size` elements, contents undefined: what it held or shared is let go.
  std::byte* overwrite(std::size_t size);
  // Shares other's buffer. Its own, if nobody shares it, is kept for the next overwrite.
  void share(const Column& other);
  // A buffer of its own that holds the elements there are and has room for `size`, those beyond
  // undefined. In place where nobody shares the buffer and the room is there; otherwise a copy with
  // room for a quarter more, so that a count that grows step by step costs no copy a step.
  std::byte* grow(std::size_t size);
  // Keeps the buffer of a column that is done with, if nobody shares it, for the next overwrite.
  void recycle(Column&& done);

 private:
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(spec_.components) * size_of(spec_.type);
  }
  void keep(std::shared_ptr<Buffer<std::byte>> buffer);

  Device* device_;
  ColumnSpec spec_;
  std::size_t size_ = 0;
  std::size_t stride_ = 0;  // elements
  std::shared_ptr<Buffer<std::byte>> buffer_;
  std::vector<std::shared_ptr<Buffer<std::byte>>> spares_;  // at most two
};

// The same on the host, component after component with component_stride(size) between them.
struct HostColumn {
  ColumnSpec spec;
  std::size_t size = 0;
  std::unique_ptr<std::byte[]> data;

  std::size_t bytes() const {
    return component_stride(size) * static_cast<std::size_t>(spec.components) * size_of(spec.type);
  }
  template <class T>
  const T* component(int c) const {
    return reinterpret_cast<const T*>(data.get()) +
           static_cast<std::size_t>(c) * component_stride(size);
  }
  template <class T>
  T* component(int c) {
    return reinterpret_cast<T*>(data.get()) + static_cast<std::size_t>(c) * component_stride(size);
  }
};

// Room for `size` elements, set to 0.
HostColumn make_host_column(ColumnSpec spec, std::size_t size);
HostColumn download(Device& device, const Column& column);

}  // namespace barchan
