#include "view/frame_message.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace barchan {

static_assert(std::endian::native == std::endian::little);

namespace {

struct Span {
  float lo = 0.0f, hi = 1.0f;
};

// Bounds of the finite numbers.
Span bounds_of(std::span<const float> values) {
  float lo = 3e38f, hi = -3e38f;
#pragma omp simd reduction(min : lo) reduction(max : hi)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float v = values[i];
    const bool finite = std::fabs(v) < 3e38f;
    lo = finite && v < lo ? v : lo;
    hi = finite && v > hi ? v : hi;
  }
  return lo <= hi ? Span{lo, hi} : Span{0.0f, 0.0f};
}

// Up to a number people like, above 99.5 % of a sample: a few drops that are thrown much faster
// than the rest do not take the colours from all others.
template <class Value>
float top_of(std::size_t count, const Value& value) {
  std::vector<float> sample;
  const std::size_t every = std::max<std::size_t>(1, count / 4096);
  for (std::size_t i = 0; i < count; i += every) {
    const float v = value(i);
    if (std::isfinite(v)) sample.push_back(v);
  }
  if (sample.empty()) return 1.0f;
  const auto rank = static_cast<std::ptrdiff_t>(0.995 * static_cast<double>(sample.size() - 1));
  std::nth_element(sample.begin(), sample.begin() + rank, sample.end());
  const double top = sample[static_cast<std::size_t>(rank)];
  if (!(top > 1e-9)) return 1.0f;
  const double unit = std::pow(10.0, std::floor(std::log10(top)));
  return static_cast<float>(std::ceil(top / unit * 2.0) / 2.0 * unit);
}

class Writer {
 public:
  explicit Writer(std::string& to) : at_(to.data()) {}
  template <class T>
  void put(T value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  char* skip(std::size_t bytes) {
    char* from = at_;
    at_ += bytes;
    return from;
  }

 private:
  char* at_;
};

void check_lengths(const ViewParticles& p) {
  const std::size_t n = p.x.size();
  const auto fits = [n](std::size_t size) { return size == n || size == 0; };
  const bool whole = p.y.size() == n && p.z.size() == n && fits(p.speed_x.size()) &&
                     p.speed_y.size() == p.speed_x.size() && p.speed_z.size() == p.speed_x.size() &&
                     fits(p.density.size()) && fits(p.pressure.size()) && fits(p.radius.size()) &&
                     fits(p.material.size()) && fits(p.id.size());
  if (!whole) fail("a frame's arrays differ in length");
}

// Spheres are written a block at a time: what goes into a field, as whole numbers, is made for the
// whole block by one short loop, and then packed.
constexpr std::size_t kBlock = 512;
using Codes = std::array<std::int32_t, kBlock>;

constexpr float kMost16 = 65535.0f, kMost8 = 255.0f;
constexpr Span kDensities{0.8f, 1.2f};  // over the density at rest

// From `span` to 0 .. most; 0 for what is not a number, and where nothing is known.
void to_codes(std::span<const float> values, const Span& span, float most, Codes& codes) {
  if (values.empty()) return codes.fill(0);
  const float scale = span.hi > span.lo ? most / (span.hi - span.lo) : 0.0f;
#pragma omp simd
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float code = std::max(0.0f, (values[i] - span.lo) * scale);
    codes[i] = static_cast<std::int32_t>(std::min(code, most) + 0.5f);
  }
}

// The part of an array that belongs to a block; nothing of one that is not known.
template <class T>
std::span<const T> block_of(std::span<const T> all, std::size_t first, std::size_t count) {
  return all.empty() ? all : all.subspan(first, count);
}

ViewParticles block_of(const ViewParticles& p, std::size_t first, std::size_t count) {
  const auto part = [&](const auto& all) { return block_of(all, first, count); };
  return {part(p.x),       part(p.y),        part(p.z),       part(p.speed_x),
          part(p.speed_y), part(p.speed_z),  part(p.density), part(p.pressure),
          part(p.radius),  part(p.material), part(p.id)};
}

// What bytes stand for.
struct Ranges {
  Span x, y, z, radius, speed, pressure;
  std::array<float, 256> per_rest_density;  // by material [m^3/kg]
};

void put_places(const ViewParticles& p, const Ranges& ranges, std::uint64_t* out) {
  Codes x, y, z, radius;
  to_codes(p.x, ranges.x, kMost16, x);
  to_codes(p.y, ranges.y, kMost16, y);
  to_codes(p.z, ranges.z, kMost16, z);
  to_codes(p.radius, ranges.radius, kMost16, radius);
  if (p.radius.empty()) radius.fill(static_cast<std::int32_t>(kMost16));
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    const auto low = static_cast<std::uint32_t>(x[i] | y[i] << 16);
    const auto high = static_cast<std::uint32_t>(z[i] | radius[i] << 16);
    out[i] = low | static_cast<std::uint64_t>(high) << 32;
  }
}

void put_values(const ViewParticles& p, const Ranges& ranges, std::uint32_t* out) {
  std::array<float, kBlock> speed, density;
  Codes speeds, densities, pressures, material{};
  for (std::size_t i = 0; i < p.material.size(); ++i) material[i] = p.material[i];
  for (std::size_t i = 0; i < p.speed_x.size(); ++i) {
    speed[i] = std::sqrt(p.speed_x[i] * p.speed_x[i] + p.speed_y[i] * p.speed_y[i] +
                         p.speed_z[i] * p.speed_z[i]);
  }
  for (std::size_t i = 0; i < p.density.size(); ++i) {
    density[i] = p.density[i] * ranges.per_rest_density[static_cast<std::size_t>(material[i])];
  }
  to_codes({speed.data(), p.speed_x.size()}, ranges.speed, kMost8, speeds);
  to_codes({density.data(), p.density.size()}, kDensities, kMost8, densities);
  to_codes(p.pressure, ranges.pressure, kMost8, pressures);
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    out[i] = static_cast<std::uint32_t>(speeds[i] | densities[i] << 8 | pressures[i] << 16 |
                                        material[i] << 24);
  }
}

Ranges ranges_of(const ViewParticles& p, const ViewMoment& moment) {
  Ranges ranges{bounds_of(p.x), bounds_of(p.y), bounds_of(p.z), {}, {}, {}, {}};
  ranges.radius.hi = p.radius.empty() ? static_cast<float>(moment.radius) : bounds_of(p.radius).hi;
  ranges.speed.hi = top_of(p.speed_x.size(), [&](std::size_t i) {
    return std::hypot(p.speed_x[i], p.speed_y[i], p.speed_z[i]);
  });
  ranges.pressure.hi = top_of(p.pressure.size(), [&](std::size_t i) { return p.pressure[i]; });
  for (std::size_t m = 0; m < std::min<std::size_t>(256, moment.rest_density.size()); ++m) {
    ranges.per_rest_density[m] = static_cast<float>(1.0 / moment.rest_density[m]);
  }
  return ranges;
}

void put_head(const ViewParticles& p, const ViewMoment& moment, const Ranges& ranges, Writer& out) {
  out.put(std::array<char, 4>{'B', 'V', 'F', '1'});
  out.put(static_cast<std::uint32_t>(p.x.size()));
  out.put(moment.time);
  out.put(static_cast<std::int32_t>(moment.frame));
  out.put(static_cast<std::uint32_t>(moment.bodies.size()));
  for (const Span& axis : {ranges.x, ranges.y, ranges.z}) out.put(axis.lo);
  for (const Span& axis : {ranges.x, ranges.y, ranges.z}) out.put(axis.hi - axis.lo);
  out.put(ranges.radius.hi);
  for (const Span& range : {ranges.speed, kDensities, ranges.pressure}) {
    out.put(range.lo);
    out.put(range.hi);
  }
  out.put<std::uint32_t>((p.speed_x.empty() ? 0 : 1) | (p.density.empty() ? 0 : 2) |
                         (p.pressure.empty() ? 0 : 4));
}

void put_body(const Pose& pose, Writer& out) {
  for (int axis = 0; axis < 3; ++axis) out.put(static_cast<float>(pose.position[axis]));
  const Quatd& q = pose.orientation;
  for (const double part : {q.x, q.y, q.z, q.w}) out.put(static_cast<float>(part));
}

}  // namespace

void encode_frame(const ViewParticles& p, const ViewMoment& moment, std::string& message) {
  check_lengths(p);
  const std::size_t n = p.x.size();
  message.resize(kViewHeaderBytes + n * kViewSphereBytes + moment.bodies.size() * kViewBodyBytes);
  const Ranges ranges = ranges_of(p, moment);
  Writer out(message);
  put_head(p, moment, ranges, out);
  auto* places = reinterpret_cast<std::uint64_t*>(out.skip(8 * n));
  auto* values = reinterpret_cast<std::uint32_t*>(out.skip(4 * n));
  auto* ids = reinterpret_cast<std::uint32_t*>(out.skip(4 * n));
  for (std::size_t first = 0; first < n; first += kBlock) {
    const ViewParticles block = block_of(p, first, std::min(kBlock, n - first));
    put_places(block, ranges, places + first);
    put_values(block, ranges, values + first);
  }
  for (std::size_t i = 0; i < n; ++i) {
    ids[i] = p.id.empty() ? 0 : static_cast<std::uint32_t>(p.id[i]);
  }
  for (const Pose& pose : moment.bodies) put_body(pose, out);
}

}  // namespace barchan
