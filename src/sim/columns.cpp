#include "sim/columns.h"

#include <cstring>
#include <utility>

namespace barchan {

std::byte* Column::overwrite(std::size_t size) {
  if (buffer_ && buffer_.use_count() > 1) buffer_.reset();
  if (!buffer_ && !spares_.empty()) {
    buffer_ = std::move(spares_.back());
    spares_.pop_back();
  }
  if (!buffer_) buffer_ = std::make_shared<Buffer<std::byte>>(*device_);
  size_ = size;
  // Kernels leave the gaps between components alone, but vector loads may read them.
  if (buffer_->resize(bytes())) buffer_->clear_to_zero();
  stride_ = buffer_->capacity() / row_bytes() / 16 * 16;
  return buffer_->data();
}

void Column::share(const Column& other) {
  if (buffer_ != other.buffer_) {
    keep(std::move(buffer_));
    buffer_ = other.buffer_;
  }
  size_ = other.size_;
  stride_ = other.stride_;
}

std::byte* Column::grow(std::size_t size) {
  if (buffer_ && buffer_.use_count() == 1 && size <= stride_) {
    size_ = size;
    return buffer_->data();
  }
  Column old(*device_, spec_);
  old.share(*this);
  overwrite(size + size / 4);
  size_ = size;
  const std::size_t element = size_of(spec_.type);
  for (int c = 0; c < spec_.components && old.size_ > 0; ++c) {
    const std::size_t at = static_cast<std::size_t>(c) * element;
    device_->copy(buffer_->data() + at * stride_, old.data() + at * old.stride_,
                  old.size_ * element);
  }
  recycle(std::move(old));
  return buffer_->data();
}

void Column::recycle(Column&& done) {
  keep(std::move(done.buffer_));
}

void Column::keep(std::shared_ptr<Buffer<std::byte>> buffer) {
  // The driver's two states each need one to write a step to and one to reorder into.
  constexpr std::size_t kMost = 2;
  if (!buffer || buffer.use_count() > 1) return;
  if (spares_.size() == kMost) spares_.erase(spares_.begin());
  spares_.push_back(std::move(buffer));
}

HostColumn make_host_column(ColumnSpec spec, std::size_t size) {
  HostColumn column{std::move(spec), size, nullptr};
  column.data = std::make_unique<std::byte[]>(column.bytes());
  return column;
}

HostColumn download(Device& device, const Column& column) {
  HostColumn host{column.spec(), column.size(), nullptr};
  host.data = std::make_unique_for_overwrite<std::byte[]>(host.bytes());
  const std::size_t element = size_of(host.spec.type), used = host.size * element;
  const std::size_t stride = component_stride(host.size) * element;
  for (int c = 0; c < host.spec.components && used > 0; ++c) {
    const auto at = static_cast<std::size_t>(c);
    device.download(host.data.get() + at * stride, column.data() + at * column.stride() * element,
                    used);
    std::memset(host.data.get() + at * stride + used, 0, stride - used);
  }
  return host;
}

}  // namespace barchan
