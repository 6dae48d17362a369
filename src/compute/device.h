// Where numbers live and where kernels run. Two devices exist: Cpu (compute/cpu.h) and Cuda
// (compute/cuda.cuh). Code that only moves data uses this base class and serves both; code that
// launches kernels is a template over the device, because for_each and reduce are (see cpu.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/profiler.h"
#include "compute/view.h"

namespace barchan {

class Cpu;
class Cuda;

class Device {
 public:
  virtual ~Device() = default;

  virtual bool on_host() const = 0;
  virtual Cpu* as_cpu() { return nullptr; }
  virtual Cuda* as_cuda() { return nullptr; }
  virtual std::string name() const = 0;  // "cpu" or "cuda"
  virtual std::string description() const = 0;
  virtual int threads() const = 0;  // host threads; 0 on a GPU

  // Memory of this device, aligned to a cache line. Contents undefined.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual void upload(void* to, const void* from_host, std::size_t bytes) = 0;
  virtual void download(void* to_host, const void* from, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void clear(void* memory, std::size_t bytes) = 0;  // sets bytes to 0
  virtual void wait() = 0;                                  // until all launched work is done

  // Memory of the host that kernels can write to.
  virtual std::shared_ptr<void> host_memory(std::size_t bytes) = 0;
  // To such memory, once all that was launched before is done; wait_for_download() waits for the
  // last of these, and for nothing that was launched after it.
  virtual void download_later(void* to_host, const void* from, std::size_t bytes) = 0;
  virtual void wait_for_download() = 0;

  // out[i] = in[0] + ... + in[i-1]; returns the sum of all. Integers only: a float scan would
  // depend on how the work was split. Fails where the sum passes 2^32 - 1.
  virtual std::uint32_t exclusive_scan(const char* label, View<const std::uint32_t> in,
                                       View<std::uint32_t> out) = 0;

  // Stable sort of (key, value) pairs by the keys' lowest `bits` bits (the rest must be 0).
  virtual void sort_pairs(const char* label, View<std::uint32_t> keys, View<std::uint32_t> values,
                          int bits) = 0;
  virtual void sort_pairs(const char* label, View<std::uint64_t> keys, View<std::uint32_t> values,
                          int bits) = 0;

  // out[i] = in[order[i]] of each column.
  struct Gathered {
    std::size_t element_bytes;  // 1, 4, 8 or 16
    const void* in;
    void* out;
  };
  virtual void gather(const char* label, View<const std::uint32_t> order,
                      const std::vector<Gathered>& columns) = 0;

  // Bytes allocated now, and the most there ever were.
  std::size_t allocated() const { return allocated_; }
  std::size_t peak_allocated() const { return peak_allocated_; }

  Profiler& profiler() { return profiler_; }

 protected:
  void count_allocation(std::size_t bytes) {
    allocated_ += bytes;
    if (allocated_ > peak_allocated_) peak_allocated_ = allocated_;
  }
  void count_release(std::size_t bytes) { allocated_ -= bytes; }

 private:
  Profiler profiler_;
  std::size_t allocated_ = 0;
  std::size_t peak_allocated_ = 0;
};

// threads = 0: as many as the machine has cores.
std::unique_ptr<Device> make_cpu_device(int threads = 0);

// The first CUDA GPU. An Error says in one sentence why there is none: built without CUDA, or no
// GPU here.
std::unique_ptr<Device> make_cuda_device();

// "cpu" or "cuda".
std::unique_ptr<Device> make_device(const std::string& name, int threads = 0);

}  // namespace barchan
