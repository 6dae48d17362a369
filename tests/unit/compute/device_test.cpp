// Primitives of both devices against the plainest serial code.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "compute/buffer.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using Primitives = OnDevice;

std::vector<std::uint32_t> random_numbers(std::size_t n, std::uint32_t below, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> values(n);
  for (auto& v : values) v = random() % below;
  return values;
}

TEST_P(Primitives, ExclusiveScanEqualsSerial) {
  for (const std::size_t n : {0, 1, 2, 1000, 16384, 16385, 200003}) {
    const auto in = random_numbers(n, 100, static_cast<unsigned>(n));
    Buffer<std::uint32_t> from(*device), to(*device, n);
    from.upload(in);
    const std::uint32_t total = device->exclusive_scan("scan", from.view(), to.view());
    std::vector<std::uint32_t> expected(n);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0u);
    EXPECT_EQ(to.download(), expected) << n;
    EXPECT_EQ(total, std::accumulate(in.begin(), in.end(), 0u));
  }
}

TEST_P(Primitives, ScanInPlace) {
  const auto in = random_numbers(50000, 7, 3);
  Buffer<std::uint32_t> data(*device);
  data.upload(in);
  device->exclusive_scan("scan", data.view(), data.view());
  std::vector<std::uint32_t> expected(in.size());
  std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0u);
  EXPECT_EQ(data.download(), expected);
}

TEST_P(Primitives, ScanRefusesToOverflow) {
  Buffer<std::uint32_t> data(*device);
  data.upload({0x80000000u, 0x7fffffffu, 2u});
  EXPECT_THROW(device->exclusive_scan("scan", data.view(), data.view()), Error);
}

template <class Key>
void check_sort(Device& device, std::size_t n, int bits, unsigned seed) {
  std::mt19937_64 random(seed);
  const Key mask = bits == static_cast<int>(8 * sizeof(Key)) ? ~Key{0} : (Key{1} << bits) - 1;
  std::vector<Key> keys(n);
  for (auto& key : keys) key = static_cast<Key>(random()) & mask;
  std::vector<std::uint32_t> expected(n);
  std::iota(expected.begin(), expected.end(), 0u);
  Buffer<Key> device_keys(device);
  Buffer<std::uint32_t> values(device);
  device_keys.upload(keys);
  values.upload(expected);
  device.sort_pairs("sort", device_keys.view(), values.view(), bits);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](auto a, auto b) { return keys[a] < keys[b]; });
  EXPECT_EQ(values.download(), expected) << n << " keys of " << bits << " bits";
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(device_keys.download(), keys);
}

TEST_P(Primitives, SortIsStable) {
  for (const std::size_t n : {0, 1, 2, 3, 1000, 32768, 32769, 150000}) {
    check_sort<std::uint32_t>(*device, n, 5, 1);  // many equal keys: order must be kept
    check_sort<std::uint32_t>(*device, n, 17, 2);
    check_sort<std::uint32_t>(*device, n, 32, 3);
    check_sort<std::uint64_t>(*device, n, 45, 4);
    check_sort<std::uint64_t>(*device, n, 63, 5);
  }
}

template <class T>
void check_gather(Device& device) {
  constexpr std::size_t kCount = 30000;
  std::vector<T> in(kCount);
  for (std::size_t i = 0; i < kCount; ++i) in[i] = static_cast<T>(i * 2654435761u);
  const auto order = random_numbers(20000, kCount, 9);
  Buffer<T> from(device), to(device, order.size());
  Buffer<std::uint32_t> device_order(device);
  from.upload(in);
  device_order.upload(order);
  device.gather("gather", device_order.view(), {{sizeof(T), from.data(), to.data()}});
  const std::vector<T> out = to.download();
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(out[i], in[order[i]]);
}

// More columns than a launch takes, of several sizes, all by one order.
TEST_P(Primitives, GatherManyColumns) {
  constexpr std::size_t kColumns = 37, kCount = 3000;
  const auto order = random_numbers(kCount, kCount, 11);
  Buffer<std::uint32_t> device_order(*device);
  device_order.upload(order);
  Buffer<std::uint64_t> from(*device), to(*device, kColumns * kCount);
  std::vector<std::uint64_t> in(kColumns * kCount);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i * 0x9e3779b97f4a7c15u;
  from.upload(in);
  to.clear_to_zero();
  std::vector<Device::Gathered> columns;
  const auto bytes_of = [](std::size_t c) { return c % 5 == 0 ? 1u : (c % 3 == 0 ? 8u : 4u); };
  for (std::size_t c = 0; c < kColumns; ++c) {
    columns.push_back({bytes_of(c), from.data() + c * kCount, to.data() + c * kCount});
  }
  device->gather("gather", device_order.view(), columns);
  const std::vector<std::uint64_t> out = to.download();
  for (std::size_t c = 0; c < kColumns; ++c) {
    const std::size_t bytes = bytes_of(c);
    const auto* had = reinterpret_cast<const std::uint8_t*>(in.data() + c * kCount);
    const auto* has = reinterpret_cast<const std::uint8_t*>(out.data() + c * kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(std::memcmp(has + i * bytes, had + order[i] * bytes, bytes), 0) << c << " " << i;
    }
  }
}

TEST_P(Primitives, GatherPackedPoints) {
  std::vector<Float4> in(5000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = {float(i), 2.0f * float(i), -1.0f, 0.5f};
  const auto order = random_numbers(7000, 5000, 10);
  Buffer<Float4> from(*device), to(*device, order.size());
  Buffer<std::uint32_t> device_order(*device);
  from.upload(in);
  device_order.upload(order);
  device->gather("gather", device_order.view(), {{sizeof(Float4), from.data(), to.data()}});
  const std::vector<Float4> out = to.download();
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_EQ(out[i].x, float(order[i]));
    ASSERT_EQ(out[i].y, 2.0f * float(order[i]));
    ASSERT_EQ(out[i].w, 0.5f);
  }
}

TEST_P(Primitives, GatherBySize) {
  check_gather<std::uint8_t>(*device);
  check_gather<std::uint32_t>(*device);
  check_gather<std::uint64_t>(*device);
  Buffer<std::uint32_t> order(*device, 1);
  EXPECT_THROW(device->gather("gather", order.view(), {{3, nullptr, nullptr}}), Error);
}

TEST_P(Primitives, BuffersKeepWhatIsPutIn) {
  Buffer3 vectors(*device);
  std::vector<Vec3> host;
  for (int i = 0; i < 37; ++i) host.emplace_back(float(i), float(2 * i), float(-i));
  vectors.upload(host);
  EXPECT_EQ(vectors.download(), host);
  Buffer<float> zeros(*device, 100);
  zeros.clear_to_zero();
  EXPECT_EQ(zeros.download(), std::vector<float>(100, 0.0f));
}

TEST_P(Primitives, CountsMemory) {
  const std::size_t before = device->allocated();
  {
    Buffer<float> big(*device, 1 << 20);
    EXPECT_GE(device->allocated(), before + (4u << 20));
  }
  EXPECT_EQ(device->allocated(), before);
  EXPECT_GE(device->peak_allocated(), before + (4u << 20));
}

BARCHAN_ON_EACH_DEVICE(Primitives);

TEST(Devices, UnknownNameIsRejected) {
  try {
    make_device("tpu");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(std::string(error.what()).find("cpu or cuda"), std::string::npos);
  }
}

TEST(Devices, CudaWorksOrSaysWhyNotInOneSentence) {
  try {
    EXPECT_EQ(make_device("cuda")->name(), "cuda");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(std::string(error.what()).find("--device cpu"), std::string::npos);
  }
}

}  // namespace
}  // namespace barchan
