#include "surface/sorted_particles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "compute/lanes.h"
#include "compute/simd.h"

namespace barchan {

namespace {

constexpr std::size_t kChunk = 8192;  // particles a task

std::size_t chunks_of(std::size_t n) {
  return (n + kChunk - 1) / kChunk;
}
template <class F>
void for_each_particle(const Cpu& device, std::size_t n, const F& f) {
  device.pool().parallel_blocks(chunks_of(n), [&](std::size_t c) {
    for (std::size_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) f(i);
  });
}

Index3 brick_of(const Vec3& p, double inverse_voxel) {
  const auto number = [&](float x) {
    return static_cast<std::int32_t>(std::floor(x * inverse_voxel)) >> 2;
  };
  return {number(p.x), number(p.y), number(p.z)};
}

// Which blocks hold particles, as a box.
struct BlockBox {
  Index3 lo{kMostBlock, kMostBlock, kMostBlock}, hi{-kMostBlock, -kMostBlock, -kMostBlock};
  std::size_t bad = std::numeric_limits<std::size_t>::max();  // first particle without a block
};

BlockBox box_of(std::span<const Vec3> position, double inverse_voxel, const Cpu& device) {
  std::vector<BlockBox> part(chunks_of(position.size()));
  const double most = (kMostBlock - 2.0) * kBlock;
  device.pool().parallel_blocks(part.size(), [&](std::size_t c) {
    BlockBox box;
    for (std::size_t i = c * kChunk; i < std::min(position.size(), (c + 1) * kChunk); ++i) {
      const Vec3d p = inverse_voxel * Vec3d(position[i]);
      if (!(std::abs(p.x) < most && std::abs(p.y) < most && std::abs(p.z) < most)) {
        box.bad = std::min(box.bad, i);
        continue;
      }
      const Index3 b = block_of_brick(brick_of(position[i], inverse_voxel));
      box.lo = {std::min(box.lo.x, b.x), std::min(box.lo.y, b.y), std::min(box.lo.z, b.z)};
      box.hi = {std::max(box.hi.x, b.x), std::max(box.hi.y, b.y), std::max(box.hi.z, b.z)};
    }
    part[c] = box;
  });
  BlockBox all;
  for (const BlockBox& box : part) {
    all.lo = {std::min(all.lo.x, box.lo.x), std::min(all.lo.y, box.lo.y),
              std::min(all.lo.z, box.lo.z)};
    all.hi = {std::max(all.hi.x, box.hi.x), std::max(all.hi.y, box.hi.y),
              std::max(all.hi.z, box.hi.z)};
    all.bad = std::min(all.bad, box.bad);
  }
  return all;
}

}  // namespace

// Blocks row by row, bricks within them: the particles of a block, and of two bricks side by side
// in it, lie together.
std::vector<std::uint64_t> SortedParticles::keys_of(std::span<const Vec3> position, Cpu& device,
                                                    int& bits) const {
  const double inverse = 1.0 / voxel_;
  const BlockBox box = box_of(position, inverse, device);
  if (box.bad < position.size()) {
    const Vec3 p = position[box.bad];
    fail(
        "particle {} is at ({}, {}, {}) m: too far for voxels of {} m; use a larger voxel or put a "
        "sink in its way",
        box.bad, p.x, p.y, p.z, voxel_);
  }
  const auto wide = [](std::int32_t lo, std::int32_t hi) {
    return static_cast<std::uint64_t>(hi - lo) + 1;
  };
  const std::uint64_t nx = wide(box.lo.x, box.hi.x), ny = wide(box.lo.y, box.hi.y);
  bits = static_cast<int>(std::bit_width(8 * nx * ny * wide(box.lo.z, box.hi.z)));
  std::vector<std::uint64_t> keys(position.size());
  for_each_particle(device, position.size(), [&](std::size_t i) {
    const Index3 brick = brick_of(position[i], inverse), b = block_of_brick(brick) - box.lo;
    const std::uint64_t block =
        (static_cast<std::uint64_t>(b.z) * ny + static_cast<std::uint64_t>(b.y)) * nx +
        static_cast<std::uint64_t>(b.x);
    keys[i] = 8 * block + static_cast<std::uint64_t>(number_in_block(brick));
  });
  return keys;
}

SortedParticles::SortedParticles(std::span<const Vec3> position, double voxel, Cpu& device)
    : voxel_(voxel) {
  const std::size_t n = position.size();
  start_.assign(1, 0);
  if (n == 0) return;
  order_.resize(n);
  for (std::size_t i = 0; i < n; ++i) order_[i] = static_cast<std::uint32_t>(i);
  int bits = 0;
  std::vector<std::uint64_t> keys = keys_of(position, device, bits);
  device.sort_pairs("surface: sort", View<std::uint64_t>{keys.data(), n},
                    View<std::uint32_t>{order_.data(), n}, bits);

  // Where bricks begin
  const double inverse = 1.0 / voxel_;
  start_.clear();
  for (std::uint32_t i = 0; i < n; ++i) {
    if (i > 0 && keys[i] == keys[i - 1]) continue;
    const std::uint32_t block = blocks_.add(block_of_brick(brick_of(position[order_[i]], inverse)));
    start_.resize(8 * std::size_t{block} + (keys[i] & 7) + 1, i);
  }
  start_.resize(8 * blocks_.size() + 1, static_cast<std::uint32_t>(n));

  // Places within blocks: small numbers, whose rounding does not depend on the world's origin
  for (auto* v : {&x_, &y_, &z_}) v->resize(n + kLanes);  // readers take whole vectors
  for_each_particle(device, n, [&](std::size_t i) {
    const Vec3 p = position[order_[i]];
    const Index3 first = kBlock * block_of_brick(brick_of(p, inverse));
    x_[i] = static_cast<float>(p.x * inverse - first.x);
    y_[i] = static_cast<float>(p.y * inverse - first.y);
    z_[i] = static_cast<float>(p.z * inverse - first.z);
  });
}

void SortedParticles::append(std::uint32_t begin, std::uint32_t end, const Vec3& shift, float edge,
                             float reach, NearParticles& near) const {
  const std::size_t room = near.count + (end - begin) + kLanes;
  if (near.x.size() < room) {
    for (auto* v : {&near.x, &near.y, &near.z}) v->resize(2 * room);
    near.index.resize(2 * room);
  }
  const std::size_t n = near.count;
  near.count += static_cast<std::size_t>(append_near_cube(
      &x_[begin], &y_[begin], &z_[begin], begin, static_cast<int>(end - begin), shift, edge,
      reach * reach, {&near.x[n], &near.y[n], &near.z[n], &near.index[n]}));
}

void SortedParticles::gather(Index3 brick, float reach, NearParticles& near, float grown) const {
  near.count = 0;
  const int bricks = static_cast<int>(std::ceil((reach + grown) / kBrick));
  const Index3 around{bricks, bricks, bricks};
  const Index3 lo = brick - around, hi = brick + around;
  const Index3 first = block_of_brick(lo), last = block_of_brick(hi);
  for (Index3 b = first; b.z <= last.z; ++b.z) {
    for (b.y = first.y; b.y <= last.y; ++b.y) {
      for (b.x = first.x; b.x <= last.x; ++b.x) {
        const std::uint32_t block = blocks_.find(b);
        if (block == BlockMap::kNone) continue;
        const Index3 from = kBlock * b - kBrick * brick;
        const Vec3 shift(static_cast<float>(from.x), static_cast<float>(from.y),
                         static_cast<float>(from.z));
        // Rows of its bricks that are within reach, each a run of the sorted particles
        const int x0 = std::max(lo.x - 2 * b.x, 0), x1 = std::min(hi.x - 2 * b.x, 1);
        for (int z = std::max(lo.z - 2 * b.z, 0); z <= std::min(hi.z - 2 * b.z, 1); ++z) {
          for (int y = std::max(lo.y - 2 * b.y, 0); y <= std::min(hi.y - 2 * b.y, 1); ++y) {
            const int row = 2 * y + 4 * z;
            const std::uint32_t begin = start(block, row + x0), end = start(block, row + x1 + 1);
            if (begin < end) append(begin, end, shift, kBrick - 1 + grown, reach, near);
          }
        }
      }
    }
  }
}

}  // namespace barchan
