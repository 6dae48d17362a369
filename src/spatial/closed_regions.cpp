#include "spatial/closed_regions.h"

#include <bit>

namespace barchan {

namespace {

constexpr std::size_t kPlanes = 8, kCells = 512;

// Walks from cell to cell over open faces and ticks off the cells that it finds.
class Walk {
 public:
  Walk(const TileBoards& boards, const std::vector<std::uint32_t>& around)
      : boards_(boards), around_(around), left_(boards.wanted) {}

  // The cells connected with one of plane `first`; none if all of it are ticked off.
  bool from(std::size_t first, std::vector<std::uint32_t>& cells) {
    if (left_[first] == 0) return false;
    std::size_t done = cells.size();
    take(first * 64 + static_cast<std::size_t>(std::countr_zero(left_[first])), cells);
    for (; done < cells.size(); ++done) {
      const std::size_t cell = cells[done];
      step(cell, cell % 8, 1, kMiddle - 1, boards_.x, cells);
      step(cell, cell / 8 % 8, 8, kMiddle - 3, boards_.y, cells);
      step(cell, cell / 64 % 8, 64, kMiddle - 9, boards_.z, cells);
    }
    return true;
  }

 private:
  static bool has(const std::vector<std::uint64_t>& board, std::size_t cell) {
    return (board[cell / 64] >> (cell % 64) & 1u) != 0;
  }
  void take(std::size_t cell, std::vector<std::uint32_t>& cells) {
    if (!has(left_, cell)) return;
    left_[cell / 64] &= ~(std::uint64_t{1} << (cell % 64));
    cells.push_back(static_cast<std::uint32_t>(cell));
  }
  // Both neighbours along an axis, whose low one is in tile `before` of the 27 at the border.
  void step(std::size_t cell, std::size_t coordinate, std::size_t stride, std::size_t before,
            const std::vector<std::uint64_t>& open, std::vector<std::uint32_t>& cells) {
    const std::size_t tile = cell / kCells, place = cell % kCells;
    const auto in = [&](std::size_t of) { return std::size_t{around_[tile * 27 + of]} * kCells; };
    const std::size_t low = coordinate > 0 ? cell - stride : in(before) + place + 7 * stride;
    const std::size_t high =
        coordinate < 7 ? cell + stride : in(2 * kMiddle - before) + place - 7 * stride;
    if (has(open, cell)) take(low, cells);
    if (has(open, high)) take(high, cells);
  }

  const TileBoards& boards_;
  const std::vector<std::uint32_t>& around_;
  std::vector<std::uint64_t> left_;
};

}  // namespace

RegionLists connected_regions(const TileBoards& boards, const std::vector<std::uint32_t>& around) {
  RegionLists lists;
  lists.start.push_back(0);
  Walk walk(boards, around);
  for (std::size_t plane = 0; plane < around.size() / 27 * kPlanes; ++plane) {
    while (walk.from(plane, lists.cells)) {
      lists.start.push_back(static_cast<std::uint32_t>(lists.cells.size()));
    }
  }
  return lists;
}

}  // namespace barchan
