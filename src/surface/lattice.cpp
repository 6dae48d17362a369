#include "surface/lattice.h"

#include <bit>

namespace barchan {

std::uint32_t BlockMap::add(Index3 block) {
  if (2 * (blocks_.size() + 1) > size_) grow();
  Place& place = places_[place_of(key(block))];
  if (place.number == kNone) {
    place = {key(block), static_cast<std::uint32_t>(blocks_.size())};
    blocks_.push_back(block);
  }
  return place.number;
}

void BlockMap::grow() {
  size_ = size_ == 0 ? 64 : 4 * size_;
  shift_ = 64 - std::countr_zero(size_);
  places_.assign(size_, {});
  for (std::uint32_t n = 0; n < blocks_.size(); ++n) {
    const std::uint64_t k = key(blocks_[n]);
    places_[place_of(k)] = {k, n};
  }
}

}  // namespace barchan
