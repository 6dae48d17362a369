// The random numbers of a pixel's samples: evenly spread over the pixel's samples, and a
// function of pixel and sample alone, so that no thread sees another's.
//
// Each request takes the next pair of dimensions. Over the samples of a pixel a pair walks through
// the first two dimensions of Sobol's sequence, in an order and with a nested scrambling of its own
// (Owen 1995, by a hash: Burley 2020, "Practical hash-based Owen scrambling"). So every pair is
// stratified, and pairs know nothing of each other.
#pragma once

#include <cstdint>

#include "math/random.h"

namespace barchan {

struct Pair {
  float a = 0.0f, b = 0.0f;  // in [0, 1)
};

class Sampler {
 public:
  explicit Sampler(std::uint64_t pixel) : key_(Random{}.bits(pixel, kStream).a) {}

  void begin(std::uint32_t sample) {
    sample_ = sample;
    used_ = 0;
  }

  Pair pair() {
    const std::uint32_t seed = mix(key_ + 0x9E3779B9u * ++used_);
    const std::uint32_t place = scramble(sample_, seed);
    return {unit(scramble(reversed(place), mix(seed ^ 0x68E31DA4u))),
            unit(scramble(sobol(place), mix(seed ^ 0xB5297A4Du)))};
  }
  float number() { return pair().a; }

 private:
  static constexpr std::uint32_t kStream = 0x52454E44u;  // "REND"

  static std::uint32_t mix(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
  }
  static std::uint32_t reversed(std::uint32_t x) {
    x = (x >> 16) | (x << 16);
    x = ((x & 0xFF00FF00u) >> 8) | ((x & 0x00FF00FFu) << 8);
    x = ((x & 0xF0F0F0F0u) >> 4) | ((x & 0x0F0F0F0Fu) << 4);
    x = ((x & 0xCCCCCCCCu) >> 2) | ((x & 0x33333333u) << 2);
    return ((x & 0xAAAAAAAAu) >> 1) | ((x & 0x55555555u) << 1);
  }
  // Each bit is flipped or not by a hash of the bits above it: multiplying by even numbers carries
  // upwards only, so it is done on the reversed word.
  static std::uint32_t scramble(std::uint32_t x, std::uint32_t seed) {
    x = reversed(x) + seed;
    x ^= x * 0x6C50B47Cu;
    x ^= x * 0xB82F1E52u;
    x ^= x * 0xC7AFE638u;
    x ^= x * 0x8D22F6E6u;
    return reversed(x);
  }
  // The second dimension of Sobol's sequence. Its matrix is Pascal's triangle modulo 2, and that is
  // the product of five: for each power of two, lower halves of blocks are added to upper ones.
  static std::uint32_t sobol(std::uint32_t n) {
    std::uint32_t x = reversed(n);
    x ^= x << 16;
    x ^= (x & 0x00FF00FFu) << 8;
    x ^= (x & 0x0F0F0F0Fu) << 4;
    x ^= (x & 0x33333333u) << 2;
    return x ^ ((x & 0x55555555u) << 1);
  }
  static float unit(std::uint32_t n) { return static_cast<float>(n >> 8) * (1.0f / 16777216.0f); }

  std::uint32_t key_, sample_ = 0, used_ = 0;
};

}  // namespace barchan
