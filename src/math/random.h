// Random numbers as a function of what they are for, not of who drew before: the same draw for the
// same (seed, id, stream, counter) on any thread and device, so that runs repeat.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "base/units.h"
#include "math/scalar.h"
#include "math/vec3.h"

namespace barchan {

// Four 32-bit words: a Philox counter, and the block of random bits that it turns into.
struct Block4 {
  std::uint32_t a, b, c, d;
  friend HD constexpr bool operator==(const Block4& p, const Block4& q) {
    return p.a == q.a && p.b == q.b && p.c == q.c && p.d == q.d;
  }
};

// Philox4x32-10: for each key a bijection of the 2^128 counters that passes BigCrush
// (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", table 2).
HD constexpr Block4 philox4x32(Block4 n, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53u} * n.a;
    const std::uint64_t q = std::uint64_t{0xCD9E8D57u} * n.c;
    n = {static_cast<std::uint32_t>(q >> 32) ^ n.b ^ key0, static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ n.d ^ key1, static_cast<std::uint32_t>(p)};
    key0 += 0x9E3779B9u;  // the golden ratio
    key1 += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return n;
}

// id says whose number it is (a particle, an emitter's n-th birth), stream what it is for, and
// counter which one of several (a step, a try). One (id, stream, counter) yields one block of 128
// bits, and every function below reads that block: give each use its own stream or counter.
// The integers and the uniform numbers are the same to the bit on host and device; the normal ones
// agree to rounding, as log, cos and sin do.
struct Random {
  std::uint64_t seed = 0;

  HD constexpr Block4 bits(std::uint64_t id, std::uint32_t stream,
                           std::uint32_t counter = 0) const {
    return philox4x32(
        {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32), stream, counter},
        static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  }
  // In [0, 1): 2^24 equally spaced values.
  HD constexpr float uniform(std::uint64_t id, std::uint32_t stream,
                             std::uint32_t counter = 0) const {
    return unit(bits(id, stream, counter).a);
  }
  // In [0, 1)^3.
  HD constexpr Vec3 uniform3(std::uint64_t id, std::uint32_t stream,
                             std::uint32_t counter = 0) const {
    const Block4 n = bits(id, stream, counter);
    return {unit(n.a), unit(n.b), unit(n.c)};
  }
  // Mean 0, variance 1; |.| < 6.8.
  HD float normal(std::uint64_t id, std::uint32_t stream, std::uint32_t counter = 0) const {
    return normal3(id, stream, counter).x;
  }
  // Three independent normals. Box & Muller 1958: a pair is sqrt(-2 ln u) (cos, sin)(2 pi v).
  HD Vec3 normal3(std::uint64_t id, std::uint32_t stream, std::uint32_t counter = 0) const {
    const Block4 n = bits(id, stream, counter);
    const float two_pi = static_cast<float>(2.0 * kPi);
    const float r = std::sqrt(-2.0f * std::log(above_zero(n.a))), angle = two_pi * unit(n.b);
    const float r2 = std::sqrt(-2.0f * std::log(above_zero(n.c))), angle2 = two_pi * unit(n.d);
    return {r * std::cos(angle), r * std::sin(angle), r2 * std::cos(angle2)};
  }
  // A unit vector, each direction as likely: z and the azimuth are uniform (Archimedes).
  HD Vec3 direction(std::uint64_t id, std::uint32_t stream, std::uint32_t counter = 0) const {
    const Vec3 u = uniform3(id, stream, counter);
    const float z = 2.0f * u.x - 1.0f, r = std::sqrt(max(1.0f - z * z, 0.0f));
    const float angle = static_cast<float>(2.0 * kPi) * u.y;
    return {r * std::cos(angle), r * std::sin(angle), z};
  }

 private:
  // The upper 24 bits, as many as a float holds, so that no value rounds up to 1.
  HD static constexpr float unit(std::uint32_t n) {
    return static_cast<float>(n >> 8) * (1.0f / 16777216.0f);
  }
  // In (0, 1], finer towards 0 so that the tails of the normal are there.
  HD static constexpr float above_zero(std::uint32_t n) {
    return static_cast<float>(n) * (1.0f / 4294967296.0f) + (1.0f / 8589934592.0f);
  }
};

}  // namespace barchan
