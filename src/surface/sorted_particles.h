// Particles sorted by brick, and those near to a brick as one dense list: what all fields are
// summed from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/cpu.h"
#include "math/vec3.h"
#include "surface/lattice.h"

namespace barchan {

// Particles near a brick. Places are in voxels from the brick's first sample.
struct NearParticles {
  std::vector<float> x, y, z;
  std::vector<std::uint32_t> index;  // among the sorted particles
  std::size_t count = 0;             // the vectors have room for as many and whole Lanes
};

class SortedParticles {
 public:
  // Throws where a position is not finite or beyond the last block.
  SortedParticles(std::span<const Vec3> position, double voxel, Cpu& device);

  double voxel() const { return voxel_; }  // [m]
  std::size_t size() const { return order_.size(); }
  const std::vector<std::uint32_t>& order() const { return order_; }  // sorted place -> particle
  const BlockMap& blocks() const { return blocks_; }                  // that hold particles
  // Sorted places of the particles of brick n of a block: from this to that of n + 1.
  std::uint32_t start(std::uint32_t block, int n) const { return start_[8 * block + at(n)]; }
  // In voxels from its block's first sample.
  Vec3 place(std::uint32_t i) const { return {x_[i], y_[i], z_[i]}; }

  // Fills `near` with the particles whose distance to the box around the brick's samples, grown by
  // `grown` [voxels] upwards, is less than `reach` [voxels]. In sorted order.
  void gather(Index3 brick, float reach, NearParticles& near, float grown = 0.0f) const;

  // The same particles with their places moved by up to a brick: they stay in their bricks' lists.
  void move(std::uint32_t i, const Vec3& place) {
    x_[i] = place.x, y_[i] = place.y, z_[i] = place.z;
  }

 private:
  static std::size_t at(int n) { return static_cast<std::size_t>(n); }
  void append(std::uint32_t begin, std::uint32_t end, const Vec3& shift, float edge, float reach,
              NearParticles& near) const;
  std::vector<std::uint64_t> keys_of(std::span<const Vec3> position, Cpu& device, int& bits) const;

  double voxel_;  // [m]
  std::vector<float> x_, y_, z_;
  std::vector<std::uint32_t> order_, start_;
  BlockMap blocks_;
};

}  // namespace barchan
