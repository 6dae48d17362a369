// An owned array on a device. Grows when asked, never shrinks; growing loses what it held.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "compute/device.h"

namespace barchan {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Device& device, std::size_t size = 0) : device_(&device) { resize(size); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Buffer() {
    if (data_) device_->release(data_);
  }
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }  // elements there is room for
  View<T> view() { return {data_, size_}; }
  View<const T> view() const { return {data_, size_}; }
  T* data() { return data_; }
  const T* data() const { return data_; }

  // Afterwards size() == size. Returns whether the memory is new: then its contents are undefined,
  // otherwise they are kept.
  bool resize(std::size_t size) {
    const bool grows = size > capacity_;
    if (grows) {
      if (data_) device_->release(data_);
      data_ = nullptr;
      // Room for an eighth more, so that a slowly growing count does not allocate at every step.
      capacity_ = capacity_ == 0 ? size : size + size / 8;
      data_ = static_cast<T*>(device_->allocate(capacity_ * sizeof(T)));
    }
    size_ = size;
    return grows;
  }
  void clear_to_zero() {
    if (size_ > 0) device_->clear(data_, size_ * sizeof(T));
  }

  void upload(const std::vector<T>& host) {
    resize(host.size());
    if (size_ > 0) device_->upload(data_, host.data(), size_ * sizeof(T));
  }
  std::vector<T> download() const {
    std::vector<T> host(size_);
    if (size_ > 0) device_->download(host.data(), data_, size_ * sizeof(T));
    return host;
  }

 private:
  Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Three coordinate arrays in one allocation.
class Buffer3 {
 public:
  Buffer3() = default;
  explicit Buffer3(Device& device, std::size_t size = 0) : all_(device) { resize(size); }

  std::size_t size() const { return size_; }
  void resize(std::size_t size) {
    size_ = size;
    stride_ = (size + 15) / 16 * 16;
    all_.resize(3 * stride_);
  }
  View3<float> view() {
    return {all_.data(), all_.data() + stride_, all_.data() + 2 * stride_, size_};
  }
  View3<const float> view() const {
    return {all_.data(), all_.data() + stride_, all_.data() + 2 * stride_, size_};
  }

  void upload(const std::vector<Vec3>& host) {
    resize(host.size());
    std::vector<float> split(3 * stride_);
    for (std::size_t i = 0; i < size_; ++i) {
      split[i] = host[i].x;
      split[stride_ + i] = host[i].y;
      split[2 * stride_ + i] = host[i].z;
    }
    all_.upload(split);
  }
  std::vector<Vec3> download() const {
    const std::vector<float> split = all_.download();
    std::vector<Vec3> host(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      host[i] = {split[i], split[stride_ + i], split[2 * stride_ + i]};
    }
    return host;
  }

 private:
  Buffer<float> all_;
  std::size_t size_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace barchan
