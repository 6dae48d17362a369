#include "sim/columns.h"

#include <utility>

namespace barchan {

std::byte* Column::overwrite(std::size_t size) {
  if (buffer_ && buffer_.use_count() > 1) buffer_.reset();
  if (!buffer_) buffer_ = std::move(spare_);
  if (!buffer_) buffer_ = std::make_shared<Buffer<std::byte>>(*device_);
  size_ = size;
  // Kernels leave the gaps between components alone, but downloads read them.
  if (buffer_->resize(bytes())) buffer_->clear_to_zero();
  return buffer_->data();
}

void Column::share(const Column& other) {
  if (buffer_ != other.buffer_) {
    if (buffer_ && buffer_.use_count() == 1) spare_ = std::move(buffer_);
    buffer_ = other.buffer_;
  }
  size_ = other.size_;
}

HostColumn make_host_column(ColumnSpec spec, std::size_t size) {
  HostColumn column{std::move(spec), size, nullptr};
  column.data = std::make_unique<std::byte[]>(column.bytes());
  return column;
}

HostColumn download(Device& device, const Column& column) {
  HostColumn host{column.spec(), column.size(), nullptr};
  host.data = std::make_unique_for_overwrite<std::byte[]>(column.bytes());
  if (column.bytes() > 0) device.download(host.data.get(), column.data(), column.bytes());
  return host;
}

}  // namespace barchan
