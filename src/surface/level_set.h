// The sampled field: values by blocks where the surface may be, one number for everything else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/buffer.h"
#include "compute/cpu.h"
#include "surface/field.h"
#include "surface/lattice.h"
#include "surface/sorted_particles.h"

namespace barchan {

struct LevelSet {
  double voxel = 0.0;    // [m]
  float outside = 0.0f;  // beyond the reach of all particles [voxels]
  float inside = 0.0f;   // deep inside [voxels]

  // Blocks within reach of a particle, and where their values are: a slot, or one of these.
  static constexpr std::uint32_t kOutside = 0xffffffffu, kInside = 0xfffffffeu;
  BlockMap blocks;
  std::vector<std::uint32_t> slot;
  std::vector<Index3> stored;  // the block of each slot
  Buffer<float> values;        // of each slot, x fastest [voxels]
  // Slots of the 27 blocks around that of each slot, x fastest.
  std::vector<std::array<std::uint32_t, 27>> around;

  const float* of(std::size_t s) const { return values.data() + kBlockSamples * s; }
  float* of(std::size_t s) { return values.data() + kBlockSamples * s; }

  // Copies a block with kLow samples before and kHigh behind it, x fastest.
  template <int kLow, int kHigh>
  void load(std::size_t s, float* to) const;
};

// Samples the field wherever it could pass zero. Bricks amid full bricks count as inside without a
// look, unless a brick beside them turns out not to be. `spacing` in voxels.
LevelSet sample_field(const ParticleField& field, const SortedParticles& particles, double spacing,
                      Cpu& device);

// Fills `around`.
void link_blocks(LevelSet& level_set, Cpu& device);

// Each pass takes every value halfway to the mean of its six neighbours, but only down: dents fill
// up, nothing is cut off (Zhu & Bridson 2005, section 5).
void smooth(LevelSet& level_set, int passes, Cpu& device);

// Sees to it that every edge of the lattice on which the sign changes begins in a stored block, and
// every cube with such an edge, too: what meshing relies on.
void close_blocks(LevelSet& level_set, Cpu& device);

template <int kLow, int kHigh>
void LevelSet::load(std::size_t s, float* to) const {
  const std::array<std::uint32_t, 27>& near = around[s];
  for (int z = -kLow; z < kBlock + kHigh; ++z) {
    for (int y = -kLow; y < kBlock + kHigh; ++y) {
      const int row = 9 * ((z >> 3) + 1) + 3 * ((y >> 3) + 1);
      const int offset = sample_in_block(0, y & 7, z & 7);
      const auto copy = [&](int block, int from, int count) {
        const std::uint32_t other = near[static_cast<std::size_t>(row + block)];
        if (other >= kInside) {
          for (int x = 0; x < count; ++x) to[x] = other == kInside ? inside : outside;
        } else {
          const float* in = of(other) + offset + from;
          for (int x = 0; x < count; ++x) to[x] = in[x];
        }
        to += count;
      };
      copy(0, kBlock - kLow, kLow);
      copy(1, 0, kBlock);
      copy(2, 0, kHigh);
    }
  }
}

}  // namespace barchan
