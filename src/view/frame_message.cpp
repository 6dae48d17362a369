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

// 0 for what is not a number.
std::uint8_t to_byte(float share) {
  return static_cast<std::uint8_t>(share > 0.0f ? std::min(share, 1.0f) * 255.0f + 0.5f : 0.0f);
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

void put_axis(std::span<const float> x, const Span& span, int axis, char* to) {
  const float scale = span.hi > span.lo ? 65535.0f / (span.hi - span.lo) : 0.0f;
  auto* out = reinterpret_cast<std::uint16_t*>(to) + axis;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float share = (x[i] - span.lo) * scale;
    out[4 * i] = static_cast<std::uint16_t>(share > 0.0f ? std::min(share, 65535.0f) + 0.5f : 0.0f);
  }
}

void put_speeds(const ViewParticles& p, float top, char* to) {
  const float scale = 255.0f / top;
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  for (std::size_t i = 0; i < p.speed_x.size(); ++i) {
    const float speed = std::sqrt(p.speed_x[i] * p.speed_x[i] + p.speed_y[i] * p.speed_y[i] +
                                  p.speed_z[i] * p.speed_z[i]);
    const float share = speed * scale;
    out[4 * i] = static_cast<std::uint8_t>(share > 0.0f ? std::min(share, 255.0f) : 0.0f);
  }
}

constexpr Span kDensities{0.8f, 1.2f};  // over the density at rest

void put_rest(const ViewParticles& p, const ViewMoment& moment, float top_pressure, char* to) {
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  const std::size_t n = p.x.size();
  std::vector<float> scale(256, 0.0f);
  for (std::size_t m = 0; m < std::min<std::size_t>(256, moment.rest_density.size()); ++m) {
    scale[m] = static_cast<float>(1.0 / moment.rest_density[m]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t m = p.material.empty() ? 0 : p.material[i];
    const float density = p.density.empty() ? 0.0f : p.density[i] * scale[m];
    const float pressure = p.pressure.empty() ? 0.0f : p.pressure[i];
    out[4 * i + 1] = to_byte((density - kDensities.lo) / (kDensities.hi - kDensities.lo));
    out[4 * i + 2] = to_byte(pressure / top_pressure);
    out[4 * i + 3] = m;
  }
}

}  // namespace

std::string encode_frame(const ViewParticles& p, const ViewMoment& moment) {
  check_lengths(p);
  const std::size_t n = p.x.size();
  std::string message(
      kViewHeaderBytes + n * kViewSphereBytes + moment.bodies.size() * kViewBodyBytes, '\0');
  const Span x = bounds_of(p.x), y = bounds_of(p.y), z = bounds_of(p.z);
  const Span radii = p.radius.empty() ? Span{0.0f, static_cast<float>(moment.radius)}
                                      : Span{0.0f, bounds_of(p.radius).hi};
  const float top_speed = top_of(p.speed_x.size(), [&](std::size_t i) {
    return std::hypot(p.speed_x[i], p.speed_y[i], p.speed_z[i]);
  });
  const float top_pressure =
      top_of(p.pressure.size(), [&](std::size_t i) { return p.pressure[i]; });

  // The head
  Writer out(message);
  out.put(std::array<char, 4>{'B', 'V', 'F', '1'});
  out.put(static_cast<std::uint32_t>(n));
  out.put(moment.time);
  out.put(static_cast<std::int32_t>(moment.frame));
  out.put(static_cast<std::uint32_t>(moment.bodies.size()));
  for (const Span& axis : {x, y, z}) out.put(axis.lo);
  for (const Span& axis : {x, y, z}) out.put(axis.hi - axis.lo);
  out.put(radii.hi);
  for (const Span& range : {Span{0.0f, top_speed}, kDensities, Span{0.0f, top_pressure}}) {
    out.put(range.lo);
    out.put(range.hi);
  }
  out.put<std::uint32_t>((p.speed_x.empty() ? 0 : 1) | (p.density.empty() ? 0 : 2) |
                         (p.pressure.empty() ? 0 : 4));

  // The spheres
  char* places = out.skip(8 * n);
  put_axis(p.x, x, 0, places);
  put_axis(p.y, y, 1, places);
  put_axis(p.z, z, 2, places);
  if (p.radius.empty()) {
    for (std::size_t i = 0; i < n; ++i) reinterpret_cast<std::uint16_t*>(places)[4 * i + 3] = 65535;
  } else {
    put_axis(p.radius, radii, 3, places);
  }
  char* values = out.skip(4 * n);
  put_speeds(p, top_speed, values);
  put_rest(p, moment, top_pressure, values);
  auto* ids = reinterpret_cast<std::uint32_t*>(out.skip(4 * n));
  for (std::size_t i = 0; i < p.id.size(); ++i) ids[i] = static_cast<std::uint32_t>(p.id[i]);

  // The bodies
  for (const Pose& pose : moment.bodies) {
    for (int axis = 0; axis < 3; ++axis) out.put(static_cast<float>(pose.position[axis]));
    const Quatd& q = pose.orientation;
    for (const double part : {q.x, q.y, q.z, q.w}) out.put(static_cast<float>(part));
  }
  return message;
}

}  // namespace barchan
