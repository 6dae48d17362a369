// Many little spheres into a depth buffer: the particles as the camera sees them, and as the light
// does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/parallel.h"

namespace barchan {

// A sphere on the picture: a disc whose value is `value` at the rim and value + bulge in the
// middle, as a half circle in between. The greater value is in front.
struct Disc {
  float x = 0.0f, y = 0.0f;  // centre [pixels]
  float radius = 0.0f;       // [pixels]; 0: not in the picture
  float value = 0.0f, bulge = 0.0f;
};

struct DiscBuffer {
  int width = 0, height = 0;     // [pixels]
  std::vector<float> value;      // of what is in front; `nothing` where there is no disc
  std::vector<std::int32_t> id;  // its disc's number, or -1
};

// The front of all discs, pixel by pixel; among equals that of the lowest number.
DiscBuffer draw_discs(std::span<const Disc> discs, int width, int height, float nothing,
                      const ThreadPool& pool);

// Calls work(y) for each of `rows` rows, in any order.
template <class Work>
void for_rows(const ThreadPool& pool, int rows, const Work& work) {
  constexpr int kRows = 8;
  pool.parallel_blocks(static_cast<std::size_t>((rows + kRows - 1) / kRows), [&](std::size_t b) {
    const int begin = static_cast<int>(b) * kRows;
    const int end = begin + kRows < rows ? begin + kRows : rows;
    for (int y = begin; y < end; ++y) work(y);
  });
}

// Calls work(i) for each of `count` items, in any order.
template <class Work>
void for_items(const ThreadPool& pool, std::size_t count, const Work& work) {
  constexpr std::size_t kItems = 8192;
  pool.parallel_blocks((count + kItems - 1) / kItems, [&](std::size_t b) {
    const std::size_t end = (b + 1) * kItems < count ? (b + 1) * kItems : count;
    for (std::size_t i = b * kItems; i < end; ++i) work(i);
  });
}

}  // namespace barchan
