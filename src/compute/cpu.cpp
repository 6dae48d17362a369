#include "compute/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <thread>

#include "base/error.h"
#include "base/units.h"

namespace barchan {

namespace {

constexpr std::size_t kCacheLine = 64;
// In front of each allocation: its size, so that release() can count it. Keeps the alignment.
constexpr std::size_t kHeader = kCacheLine;
// Behind each allocation: vector loops may read (never use) a few numbers past the end.
constexpr std::size_t kTail = kCacheLine;

std::size_t blocks_of(std::size_t n, std::size_t block) {
  return (n + block - 1) / block;
}

}  // namespace

Cpu::Cpu(int threads) : pool_(threads) {}

std::string Cpu::description() const {
  return fmt::format("CPU, {} threads", threads());
}

void* Cpu::allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + kHeader + kTail + kCacheLine - 1) / kCacheLine * kCacheLine;
  void* block = std::aligned_alloc(kCacheLine, whole);
  if (!block) fail("out of memory: cannot allocate {}", human_bytes(static_cast<double>(bytes)));
#ifndef NDEBUG
  std::memset(block, 0xff, whole);  // floats that are no numbers: who reads what nobody wrote fails
#endif
  std::memcpy(block, &whole, sizeof(whole));
  count_allocation(whole);
  return static_cast<char*>(block) + kHeader;
}

void Cpu::release(void* memory) {
  void* block = static_cast<char*>(memory) - kHeader;
  std::size_t whole = 0;
  std::memcpy(&whole, block, sizeof(whole));
  count_release(whole);
  std::free(block);
}

void Cpu::copy(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  pool_.parallel_blocks(blocks_of(bytes, kBlock), [&](std::size_t b) {
    const std::size_t begin = b * kBlock;
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                std::min(kBlock, bytes - begin));
  });
}

void Cpu::upload(void* to, const void* from_host, std::size_t bytes) {
  copy(to, from_host, bytes);
}
void Cpu::download(void* to_host, const void* from, std::size_t bytes) {
  copy(to_host, from, bytes);
}
std::shared_ptr<void> Cpu::host_memory(std::size_t bytes) {
  return std::make_shared<std::byte[]>(bytes);
}
void Cpu::clear(void* memory, std::size_t bytes) {
  std::memset(memory, 0, bytes);
}

std::uint32_t Cpu::exclusive_scan(const char* label, View<const std::uint32_t> in,
                                  View<std::uint32_t> out) {
  const HostTimer timer(profiler(), label);
  constexpr std::size_t kBlock = 16384;
  const std::size_t n = in.size;
  const std::size_t blocks = blocks_of(n, kBlock);

  // Sum of each block, then where each block starts, then the inside of each block.
  std::vector<std::uint64_t> start(blocks + 1, 0);
  pool_.parallel_blocks(blocks, [&](std::size_t b) {
    std::uint64_t sum = 0;
    for (std::size_t i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i) sum += in.data[i];
    start[b + 1] = sum;
  });
  for (std::size_t b = 0; b < blocks; ++b) start[b + 1] += start[b];
  if (start[blocks] > std::numeric_limits<std::uint32_t>::max()) {
    fail("{}: the sum of {} counts passes 2^32; use fewer particles or a smaller support", label,
         n);
  }
  pool_.parallel_blocks(blocks, [&](std::size_t b) {
    auto sum = static_cast<std::uint32_t>(start[b]);
    for (std::size_t i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i) {
      const std::uint32_t here = in.data[i];  // in and out may be the same array
      out.data[i] = sum;
      sum += here;
    }
  });
  return static_cast<std::uint32_t>(start[blocks]);
}

// Least-significant-digit radix sort. Each pass counts digits per fixed block, turns the counts
// into places, and scatters block by block: stable, whatever the number of threads.
template <class Key>
void Cpu::radix_sort(View<Key> keys, View<std::uint32_t> values, int bits) {
  const std::size_t n = keys.size;
  if (n < 2 || bits <= 0) return;
  constexpr int kMostDigitBits = 11;
  constexpr std::size_t kBlock = 32768;
  const int passes = (bits + kMostDigitBits - 1) / kMostDigitBits;
  const int digit_bits = (bits + passes - 1) / passes;
  const std::size_t bins = std::size_t{1} << digit_bits;
  const std::size_t blocks = blocks_of(n, kBlock);
  const Key mask = static_cast<Key>(bins - 1);

  const std::size_t key_words = blocks_of(n * sizeof(Key), sizeof(std::uint64_t));
  const std::size_t value_words = blocks_of(n * sizeof(std::uint32_t), sizeof(std::uint64_t));
  if (sort_scratch_.size() < key_words + value_words) {
    sort_scratch_.resize(key_words + value_words);
  }
  Key* from_key = keys.data;
  std::uint32_t* from_value = values.data;
  Key* to_key = reinterpret_cast<Key*>(sort_scratch_.data());
  auto* to_value = reinterpret_cast<std::uint32_t*>(sort_scratch_.data() + key_words);

  std::vector<std::uint32_t> place(blocks * bins);
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * digit_bits;
    std::fill(place.begin(), place.end(), 0u);
    pool_.parallel_blocks(blocks, [&](std::size_t b) {
      std::uint32_t* count = place.data() + b * bins;
      for (std::size_t i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i) {
        ++count[(from_key[i] >> shift) & mask];
      }
    });
    std::uint32_t next = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      for (std::size_t b = 0; b < blocks; ++b) {
        const std::uint32_t count = place[b * bins + bin];
        place[b * bins + bin] = next;
        next += count;
      }
    }
    pool_.parallel_blocks(blocks, [&](std::size_t b) {
      std::uint32_t* at = place.data() + b * bins;
      for (std::size_t i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i) {
        const std::uint32_t to = at[(from_key[i] >> shift) & mask]++;
        to_key[to] = from_key[i];
        to_value[to] = from_value[i];
      }
    });
    std::swap(from_key, to_key);
    std::swap(from_value, to_value);
  }
  if (from_key != keys.data) {
    copy(keys.data, from_key, n * sizeof(Key));
    copy(values.data, from_value, n * sizeof(std::uint32_t));
  }
}

void Cpu::sort_pairs(const char* label, View<std::uint32_t> keys, View<std::uint32_t> values,
                     int bits) {
  const HostTimer timer(profiler(), label);
  radix_sort(keys, values, bits);
}

void Cpu::sort_pairs(const char* label, View<std::uint64_t> keys, View<std::uint32_t> values,
                     int bits) {
  const HostTimer timer(profiler(), label);
  radix_sort(keys, values, bits);
}

namespace {

template <class T>
struct Gather {
  const T* in;
  View<const std::uint32_t> order;
  T* out;
  void operator()(int i) const { out[i] = in[order[static_cast<std::size_t>(i)]]; }
};

}  // namespace

void Cpu::gather(const char* label, View<const std::uint32_t> order,
                 const std::vector<Gathered>& columns) {
  for (const Gathered& of : columns) {
    const auto run = [&]<class T>(T) {
      for_each(*this, label, static_cast<std::int64_t>(order.size),
               Gather<T>{static_cast<const T*>(of.in), order, static_cast<T*>(of.out)});
    };
    switch (of.element_bytes) {
      case 1:
        run(std::uint8_t{});
        break;
      case 4:
        run(std::uint32_t{});
        break;
      case 8:
        run(std::uint64_t{});
        break;
      case 16:
        run(Float4{});
        break;
      default:
        fail("{}: gather knows elements of 1, 4, 8 and 16 bytes, not {}", label, of.element_bytes);
    }
  }
}

std::unique_ptr<Device> make_cpu_device(int threads) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::make_unique<Cpu>(threads);
}

std::unique_ptr<Device> make_device(const std::string& name, int threads) {
  if (name == "cpu") return make_cpu_device(threads);
  if (name == "cuda") return make_cuda_device();
  reject("unknown device '{}': choose cpu or cuda", name);
}

}  // namespace barchan
