// Where samples are. A sample stands at each corner of cubic voxels that fill all space, sample
// (0, 0, 0) at the world's origin, so that a surface at rest keeps its triangles from frame to
// frame. Samples are taken and skipped by bricks of 4^3, and stored by blocks of 8^3; only blocks
// near particles exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace barchan {

inline constexpr int kBrick = 4, kBlock = 8;  // samples along an edge
inline constexpr int kBrickSamples = kBrick * kBrick * kBrick;
inline constexpr int kBlockSamples = kBlock * kBlock * kBlock;

// The number of a sample, a brick or a block along each axis.
struct Index3 {
  std::int32_t x = 0, y = 0, z = 0;

  friend Index3 operator+(Index3 a, Index3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Index3 operator-(Index3 a, Index3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Index3 operator*(std::int32_t s, Index3 a) { return {s * a.x, s * a.y, s * a.z}; }
  friend bool operator==(const Index3&, const Index3&) = default;
};

// Of the eight bricks in a block: x fastest, as samples in a block.
inline Index3 brick_in_block(int n) {
  return {n & 1, (n >> 1) & 1, n >> 2};
}
inline int number_in_block(Index3 brick) {
  return (brick.x & 1) | (brick.y & 1) << 1 | (brick.z & 1) << 2;
}
inline Index3 block_of_brick(Index3 brick) {  // shifts round down, below zero, too
  return {brick.x >> 1, brick.y >> 1, brick.z >> 1};
}
inline int sample_in_block(int x, int y, int z) {
  return (z * kBlock + y) * kBlock + x;
}

// Blocks this far from the origin and no further have a key: 2^22 voxels.
inline constexpr std::int32_t kMostBlock = 1 << 19;

// From blocks to numbers: an open hash table, as blocks are looked up millions of times a frame.
class BlockMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::size_t size() const { return blocks_.size(); }
  // In the order in which they were added.
  const std::vector<Index3>& blocks() const { return blocks_; }

  // The block's number, a new one where it has none yet.
  std::uint32_t add(Index3 block);
  // Its number, or kNone.
  std::uint32_t find(Index3 block) const {
    if (places_.empty()) return kNone;
    return places_[place_of(key(block))].number;
  }

 private:
  struct Place {
    std::uint64_t key = 0;
    std::uint32_t number = kNone;
  };
  static std::uint64_t key(Index3 b) {
    const auto part = [](std::int32_t i) { return static_cast<std::uint64_t>(i + 2 * kMostBlock); };
    return (part(b.z) << 42) | (part(b.y) << 21) | part(b.x);
  }
  // Where the key is, or where it would go.
  std::size_t place_of(std::uint64_t key) const {
    std::size_t at = (key * 0x9e3779b97f4a7c15ull) >> shift_;
    while (places_[at].number != kNone && places_[at].key != key) at = (at + 1) & (size_ - 1);
    return at;
  }
  void grow();

  std::vector<Index3> blocks_;
  std::vector<Place> places_;  // a power of two of them, less than half taken
  std::size_t size_ = 0;
  int shift_ = 64;
};

}  // namespace barchan
