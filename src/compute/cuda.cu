#include "compute/cuda.cuh"

#include <algorithm>
#include <cstring>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <limits>

namespace barchan {

Cuda::Cuda() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  description_ = fmt::format("{} ({:.0f} GiB)", properties.name,
                             static_cast<double>(properties.totalGlobalMem) / (1 << 30));
  multiprocessors_ = properties.multiProcessorCount;
  for (cudaStream_t& stream : streams_) {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  for (cudaEvent_t* event : {&forked_, &joined_, &downloaded_}) {
    check_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event");
  }
  // Keep freed memory in the pool: a resized buffer costs no call into the driver.
  cudaMemPool_t pool{};
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for the memory pool");
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
             "setting up the memory pool");
  check_cuda(cudaMallocHost(&mailbox_, kMailboxBytes + sizeof(unsigned)),
             "allocation of host memory");
  *letter() = letters_;
  constexpr std::size_t kLine = 32, kBytes = kLanes * 4 * kLine * sizeof(unsigned);
  check_cuda(cudaMallocAsync(&count_memory_, kBytes, stream()), "allocation");
  clear(count_memory_, kBytes);
  unsigned* line = count_memory_;  // each count has one of its own
  for (Counts& counts : counts_) {
    counts = {line, line + kLine, {line + 2 * kLine, line + 3 * kLine}};
    line += 4 * kLine;
  }
  wait();  // the other stream begins with them, too
}

Cuda::~Cuda() {
  for (cudaStream_t stream : streams_) cudaStreamSynchronize(stream);
  for (const Scratch& scratch : scratch_) {
    if (scratch.memory) cudaFreeAsync(scratch.memory, stream());
  }
  cudaFreeAsync(count_memory_, stream());
  cudaStreamSynchronize(stream());
  cudaFreeHost(mailbox_);
  for (cudaEvent_t event : {forked_, joined_, downloaded_}) cudaEventDestroy(event);
  for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

void Cuda::fork_aside() {
  check_cuda(cudaEventRecord(forked_, streams_[0]), "going aside");
  check_cuda(cudaStreamWaitEvent(streams_[1], forked_), "going aside");
  has_forked_ = true;
}
void Cuda::begin_aside() {
  if (!has_forked_) fork_aside();
  has_forked_ = false;
  lane_ = 1;
}
void Cuda::end_aside() {
  check_cuda(cudaEventRecord(joined_, streams_[1]), "coming back");
  lane_ = 0;
}
void Cuda::join_aside() {
  check_cuda(cudaStreamWaitEvent(streams_[0], joined_), "joining");
}

void* Cuda::allocate(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMallocAsync(&memory, bytes == 0 ? 1 : bytes, stream()), "allocation");
  sizes_[memory] = bytes;
  count_allocation(bytes);
  return memory;
}

void Cuda::release(void* memory) {
  const auto known = sizes_.find(memory);
  count_release(known->second);
  sizes_.erase(known);
  cudaFreeAsync(memory, stream());
}

std::shared_ptr<void> Cuda::host_memory(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMallocHost(&memory, bytes), "allocation of host memory");
  return {memory, [](void* done) { cudaFreeHost(done); }};
}

void* Cuda::scratch(std::size_t bytes) {
  Scratch& mine = scratch_[lane_];
  if (bytes > mine.bytes) {
    if (mine.memory) check_cuda(cudaFreeAsync(mine.memory, stream()), "scratch");
    mine.bytes = bytes + bytes / 4;
    check_cuda(cudaMallocAsync(&mine.memory, mine.bytes, stream()), "scratch");
  }
  return mine.memory;
}

void Cuda::upload(void* to, const void* from_host, std::size_t bytes) {
  // From memory that the driver does not know: it has taken what is there when the call returns.
  check_cuda(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, stream()), "upload");
}
namespace {

constexpr int kLetterThreads = 256;

// By one block, which then writes the letter's number.
__global__ void __launch_bounds__(kLetterThreads)
    send_letter(const std::uint32_t* from, std::uint32_t* to, unsigned words, unsigned number,
                volatile unsigned* letter) {
  for (unsigned k = threadIdx.x; k < words; k += kLetterThreads) to[k] = from[k];
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *letter = number;
}

// Until the letter is there. Now and then it is asked whether the GPU is still at it.
void wait_for_letter(cudaStream_t stream, const unsigned* letter, unsigned number) {
  constexpr unsigned kLooks = 1 << 14;
  for (unsigned look = 1; __atomic_load_n(letter, __ATOMIC_ACQUIRE) != number; ++look) {
    if (look % kLooks != 0) continue;
    const cudaError_t code = cudaStreamQuery(stream);
    if (code != cudaErrorNotReady) check_cuda(code, "waiting for the GPU");
  }
}

}  // namespace

void Cuda::download(void* to_host, const void* from, std::size_t bytes) {
  // Copies to memory that the driver does not know take longer: small ones go by the mailbox. What
  // is only a few words is there sooner if a kernel writes it and the host looks at it.
  constexpr std::size_t kFewBytes = 1 << 14, kWord = sizeof(std::uint32_t);
  const bool words = bytes % kWord == 0 && reinterpret_cast<std::uintptr_t>(from) % kWord == 0;
  void* to = bytes <= kMailboxBytes ? mailbox_ : to_host;
  if (words && bytes > 0 && bytes <= kFewBytes) {
    send_letter<<<1, kLetterThreads, 0, stream()>>>(
        static_cast<const std::uint32_t*>(from), static_cast<std::uint32_t*>(mailbox_),
        static_cast<unsigned>(bytes / kWord), ++letters_, letter());
    check_cuda(cudaGetLastError(), "download");
    wait_for_letter(stream(), letter(), letters_);
  } else {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()), "download");
    wait();
  }
  if (to != to_host) std::memcpy(to_host, to, bytes);
}
void Cuda::download_later(void* to_host, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, stream()), "download");
  check_cuda(cudaEventRecord(downloaded_, stream()), "download");
}
void Cuda::wait_for_download() {
  check_cuda(cudaEventSynchronize(downloaded_), "waiting for the GPU");
}
void Cuda::copy(void* to, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()), "copy");
}
void Cuda::clear(void* memory, std::size_t bytes) {
  check_cuda(cudaMemsetAsync(memory, 0, bytes, stream()), "clear");
}
void Cuda::wait() {
  check_cuda(cudaStreamSynchronize(stream()), "waiting for the GPU");
}

CudaTimer::CudaTimer(Cuda& device, const char* label) : device_(device), label_(label) {
  if (!device_.profiler().enabled()) return;
  check_cuda(cudaEventCreate(&start_), label);
  check_cuda(cudaEventCreate(&stop_), label);
  check_cuda(cudaEventRecord(start_, device_.stream()), label);
}

CudaTimer::~CudaTimer() {
  if (!start_) return;
  float milliseconds = 0.0f;
  cudaEventRecord(stop_, device_.stream());
  cudaEventSynchronize(stop_);
  cudaEventElapsedTime(&milliseconds, start_, stop_);
  cudaEventDestroy(start_);
  cudaEventDestroy(stop_);
  device_.profiler().add(label_, milliseconds);
}

namespace {

// Columns of one size. Four are on their way at a time.
template <class T>
struct Gather {
  static constexpr int kMost = 16, kAtOnce = 4;
  const T* in[kMost];
  T* out[kMost];
  int count = 0;

  void add(const Device::Gathered& column) {
    in[count] = static_cast<const T*>(column.in);
    out[count++] = static_cast<T*>(column.out);
  }
  __device__ void operator()(std::uint32_t from, int to) const {
    for (int k = 0; k < count; k += kAtOnce) {
      T some[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (k + j < count) some[j] = in[k + j][from];
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (k + j < count) out[k + j][to] = some[j];
      }
    }
  }
};
struct GatherAll {
  View<const std::uint32_t> order;
  Gather<std::uint8_t> ones{};
  Gather<std::uint32_t> fours{};
  Gather<std::uint64_t> eights{};
  Gather<Float4> sixteens{};
  __device__ void operator()(int i) const {
    const std::uint32_t from = order[i];
    eights(from, i);
    fours(from, i);
    sixteens(from, i);
    ones(from, i);
  }
};

struct ReadCount {
  View<const std::uint32_t> counts;
  __device__ std::uint64_t operator()(int i) const { return counts[i]; }
};
struct SumCounts {
  static HD std::uint64_t identity() { return 0; }
  static HD std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return a + b; }
};

}  // namespace

std::uint32_t Cuda::exclusive_scan(const char* label, View<const std::uint32_t> in,
                                   View<std::uint32_t> out) {
  const auto n = static_cast<int>(in.size);
  if (n == 0) return 0;
  const std::uint64_t sum = reduce<SumCounts>(*this, label, n, ReadCount{in});
  if (sum > std::numeric_limits<std::uint32_t>::max()) {
    fail("{}: the sum of {} counts passes 2^32; use fewer particles or a smaller support", label,
         n);
  }
  const CudaTimer timer(*this, label);
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in.data, out.data, n, stream()), label);
  void* memory = scratch(bytes);
  check_cuda(cub::DeviceScan::ExclusiveSum(memory, bytes, in.data, out.data, n, stream()), label);
  return static_cast<std::uint32_t>(sum);
}

void Cuda::scan_in_place(const char* label, View<std::uint32_t> counts) {
  const CudaTimer timer(*this, label);
  const auto n = static_cast<int>(counts.size);
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts.data, n, stream()), label);
  void* memory = scratch(bytes);
  check_cuda(cub::DeviceScan::ExclusiveSum(memory, bytes, counts.data, n, stream()), label);
}

template <class Key>
void Cuda::radix_sort(View<Key> keys, View<std::uint32_t> values, int bits) {
  const auto n = static_cast<int>(keys.size);
  if (n < 2 || bits <= 0) return;
  // CUB ping-pongs between two pairs of arrays; ours are the first pair, scratch holds the second.
  const std::size_t key_bytes = (n * sizeof(Key) + 255) / 256 * 256;
  const std::size_t value_bytes = (n * sizeof(std::uint32_t) + 255) / 256 * 256;
  cub::DoubleBuffer<Key> key_pair(keys.data, keys.data);
  cub::DoubleBuffer<std::uint32_t> value_pair(values.data, values.data);
  std::size_t bytes = 0;
  check_cuda(
      cub::DeviceRadixSort::SortPairs(nullptr, bytes, key_pair, value_pair, n, 0, bits, stream()),
      "sort");
  char* memory = static_cast<char*>(scratch(key_bytes + value_bytes + bytes));
  key_pair.d_buffers[1] = reinterpret_cast<Key*>(memory);
  value_pair.d_buffers[1] = reinterpret_cast<std::uint32_t*>(memory + key_bytes);
  check_cuda(cub::DeviceRadixSort::SortPairs(memory + key_bytes + value_bytes, bytes, key_pair,
                                             value_pair, n, 0, bits, stream()),
             "sort");
  if (key_pair.Current() != keys.data) {
    copy(keys.data, key_pair.Current(), n * sizeof(Key));
    copy(values.data, value_pair.Current(), n * sizeof(std::uint32_t));
  }
}

void Cuda::sort_pairs(const char* label, View<std::uint32_t> keys, View<std::uint32_t> values,
                      int bits) {
  const CudaTimer timer(*this, label);
  radix_sort(keys, values, bits);
}

void Cuda::sort_pairs(const char* label, View<std::uint64_t> keys, View<std::uint32_t> values,
                      int bits) {
  const CudaTimer timer(*this, label);
  radix_sort(keys, values, bits);
}

// In one launch, for each particle's place in the order is read once then.
void Cuda::gather(const char* label, View<const std::uint32_t> order,
                  const std::vector<Gathered>& columns) {
  constexpr std::size_t kMost = Gather<std::uint8_t>::kMost;
  for (std::size_t first = 0; first < columns.size(); first += kMost) {
    GatherAll all{order};
    for (std::size_t k = first; k < std::min(first + kMost, columns.size()); ++k) {
      switch (columns[k].element_bytes) {
        case 1:
          all.ones.add(columns[k]);
          break;
        case 4:
          all.fours.add(columns[k]);
          break;
        case 8:
          all.eights.add(columns[k]);
          break;
        case 16:
          all.sixteens.add(columns[k]);
          break;
        default:
          fail("{}: gather knows elements of 1, 4, 8 and 16 bytes, not {}", label,
               columns[k].element_bytes);
      }
    }
    for_each(*this, label, static_cast<std::int64_t>(order.size), all);
  }
}

std::unique_ptr<Device> make_cuda_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    reject("--device cuda: no NVIDIA GPU was found here ({}); use --device cpu",
           code != cudaSuccess ? cudaGetErrorString(code) : "the driver lists none");
  }
  return std::make_unique<Cuda>();
}

}  // namespace barchan
