#include "surface/level_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace barchan {

namespace {

using Around = std::array<std::uint32_t, 27>;

// Calls f(n, offset) for the 27 blocks around a block, x fastest.
template <class F>
void for_27(const F& f) {
  std::size_t n = 0;
  for (std::int32_t z = -1; z <= 1; ++z) {
    for (std::int32_t y = -1; y <= 1; ++y) {
      for (std::int32_t x = -1; x <= 1; ++x) f(n++, Index3{x, y, z});
    }
  }
}

// What is known of the eight bricks of a block, a bit each.
struct BrickBits {
  std::uint8_t reached = 0;  // by some particle
  std::uint8_t inner = 0;    // taken as inside without a look
  std::uint8_t todo = 0;     // to be sampled
  std::uint8_t shallow = 0;  // sampled, and not everywhere deep inside
};

bool has(std::uint8_t bits, int n) {
  return ((bits >> n) & 1) != 0;
}
void set(std::uint8_t& bits, int n) {
  bits = static_cast<std::uint8_t>(bits | 1u << n);
}

// A cube of numbers, one a brick, around the two bricks along each edge of a block.
class BrickCube {
 public:
  explicit BrickCube(int border) : border_(border), wide_(2 + 2 * border) {
    count_.resize(static_cast<std::size_t>(wide_ * wide_ * wide_));
  }
  int border() const { return border_; }
  std::uint32_t& at(int x, int y, int z) {
    return count_[static_cast<std::size_t>(((z + border_) * wide_ + y + border_) * wide_ + x +
                                           border_)];
  }
  // The numbers of particles.
  void fill(const SortedParticles& particles, Index3 block) {
    std::fill(count_.begin(), count_.end(), 0u);
    const int blocks = (border_ + 1) / 2;
    for (int z = -blocks; z <= blocks; ++z) {
      for (int y = -blocks; y <= blocks; ++y) {
        for (int x = -blocks; x <= blocks; ++x) {
          const std::uint32_t b = particles.blocks().find(block + Index3{x, y, z});
          if (b == BlockMap::kNone) continue;
          for (int n = 0; n < 8; ++n) {
            const Index3 i = 2 * Index3{x, y, z} + brick_in_block(n);
            if (!holds(i.x) || !holds(i.y) || !holds(i.z)) continue;
            at(i.x, i.y, i.z) = particles.start(b, n + 1) - particles.start(b, n);
          }
        }
      }
    }
  }
  // Whether every (any) number from lo to hi along each axis is at least `least`.
  template <bool kEvery>
  bool at_least(std::uint32_t least, Index3 lo, Index3 hi) {
    for (int z = lo.z; z <= hi.z; ++z) {
      for (int y = lo.y; y <= hi.y; ++y) {
        for (int x = lo.x; x <= hi.x; ++x) {
          if ((at(x, y, z) >= least) != kEvery) return !kEvery;
        }
      }
    }
    return kEvery;
  }
  // Replaces each number by the sum over the bricks up to `by` around it, which shrinks the border.
  BrickCube summed(int by) {
    BrickCube sums(border_ - by);
    const int lo = -sums.border_, hi = 1 + sums.border_;
    for (int z = lo; z <= hi; ++z) {
      for (int y = lo; y <= hi; ++y) {
        for (int x = lo; x <= hi; ++x) sums.at(x, y, z) = sum(x, y, z, by);
      }
    }
    return sums;
  }

 private:
  bool holds(int i) const { return i >= -border_ && i < 2 + border_; }
  std::uint32_t sum(int x, int y, int z, int by) {
    std::uint32_t total = 0;
    for (int k = z - by; k <= z + by; ++k) {
      for (int j = y - by; j <= y + by; ++j) {
        for (int i = x - by; i <= x + by; ++i) total += at(i, j, k);
      }
    }
    return total;
  }

  int border_, wide_;
  std::vector<std::uint32_t> count_;
};

class Sampling {
 public:
  Sampling(const ParticleField& field, const SortedParticles& particles, double spacing,
           Cpu& device)
      : field_(field),
        particles_(particles),
        spacing_(spacing),
        device_(device),
        reach_(static_cast<int>(std::ceil(field.reach() / kBrick))) {
    set_.voxel = particles.voxel();
    set_.outside = field.outside();
    set_.inside = field.inside();
  }

  LevelSet run() {
    find_blocks();
    find_bricks();
    do {
      store_blocks();
      sample_bricks();
    } while (widen());
    return std::move(set_);
  }

 private:
  // Blocks that a particle reaches.
  void find_blocks() {
    const HostTimer timer(device_.profiler(), "surface: blocks");
    const int blocks = (reach_ + 1) / 2;
    for (const Index3& b : particles_.blocks().blocks()) {
      for (int z = -blocks; z <= blocks; ++z) {
        for (int y = -blocks; y <= blocks; ++y) {
          for (int x = -blocks; x <= blocks; ++x) set_.blocks.add(b + Index3{x, y, z});
        }
      }
    }
    bits_.resize(set_.blocks.size());
    set_.slot.assign(set_.blocks.size(), LevelSet::kOutside);
  }

  // Which bricks have to be sampled: those that a particle reaches, unless all bricks whose
  // particles reach them are full, that is, hold at least half the particles they have room for.
  // Small bricks hold few or none by chance, and count together with those around them.
  void find_bricks() {
    const HostTimer timer(device_.profiler(), "surface: bricks");
    constexpr double kLeastEdge = 1.5;  // of what may be called full [spacings]
    const double edge = kBrick / spacing_;
    const bool skips = 3.0 * edge >= kLeastEdge;
    const int by = edge >= kLeastEdge ? 0 : 1;
    const double room = std::pow((2 * by + 1) * edge, 3);
    const auto full = static_cast<std::uint32_t>(std::ceil(0.5 * room));
    parallel([&](std::size_t b) {
      BrickCube counts(reach_ + (skips ? by : 0));
      counts.fill(particles_, set_.blocks.blocks()[b]);
      BrickCube sums = skips && by > 0 ? counts.summed(by) : BrickCube(0);
      BrickCube& amid = by > 0 ? sums : counts;
      const Index3 r{reach_, reach_, reach_};
      for (int n = 0; n < 8; ++n) {
        const Index3 i = brick_in_block(n);
        if (!counts.at_least<false>(1, i - r, i + r)) continue;
        set(bits_[b].reached, n);
        if (skips && amid.at_least<true>(full, i - r, i + r)) set(bits_[b].inner, n);
      }
      bits_[b].todo = static_cast<std::uint8_t>(bits_[b].reached & ~bits_[b].inner);
    });
  }

  // Makes room for the values of blocks that have bricks to be sampled.
  void store_blocks() {
    for (std::uint32_t b = 0; b < bits_.size(); ++b) {
      std::uint32_t& slot = set_.slot[b];
      if (bits_[b].todo != 0 && slot >= LevelSet::kInside) {
        slot = static_cast<std::uint32_t>(set_.stored.size());
        set_.stored.push_back(set_.blocks.blocks()[b]);
      } else if (slot >= LevelSet::kInside && bits_[b].inner == 0xff) {
        slot = LevelSet::kInside;
      }
    }
    Buffer<float> values(device_, kBlockSamples * set_.stored.size());
    if (set_.values.size() > 0) {
      device_.copy(values.data(), set_.values.data(), set_.values.size() * sizeof(float));
    }
    first_new_ = set_.values.size() / kBlockSamples;
    set_.values = std::move(values);
  }

  void sample_bricks() {
    const HostTimer timer(device_.profiler(), "surface: sample");
    parallel([&](std::size_t b) {
      BrickBits& bits = bits_[b];
      if (bits.todo == 0) return;
      float* block = set_.of(set_.slot[b]);
      const bool is_new = set_.slot[b] >= first_new_;
      NearParticles near;
      float phi[kBrickSamples];
      for (int n = 0; n < 8; ++n) {
        if (has(bits.todo, n)) {
          particles_.gather(2 * set_.blocks.blocks()[b] + brick_in_block(n), field_.reach(), near);
          field_.sample(near, phi);
          // Deep inside: with a margin for the smoothing's and the meshing's look at neighbours
          const float deep = 0.2f * set_.inside;
          if (*std::max_element(phi, phi + kBrickSamples) > deep) set(bits.shallow, n);
        } else if (is_new) {
          std::fill_n(phi, kBrickSamples, has(bits.inner, n) ? set_.inside : set_.outside);
        } else {
          continue;
        }
        put_brick(phi, n, block);
      }
      bits.todo = 0;
    });
  }
  static void put_brick(const float* phi, int n, float* block) {
    const Index3 first = kBrick * brick_in_block(n);
    for (int z = 0; z < kBrick; ++z) {
      for (int y = 0; y < kBrick; ++y, phi += kBrick) {
        std::memcpy(block + sample_in_block(first.x, first.y + y, first.z + z), phi,
                    kBrick * sizeof(float));
      }
    }
  }

  // Inner bricks beside a brick that is not deep inside have to be sampled after all.
  bool widen() {
    const HostTimer timer(device_.profiler(), "surface: widen");
    std::vector<std::uint8_t> more(bits_.size());
    parallel([&](std::size_t b) {
      if (bits_[b].inner == 0) return;
      BrickCube shallow(1);
      for_27([&](std::size_t, Index3 offset) {
        const std::uint32_t other = set_.blocks.find(set_.blocks.blocks()[b] + offset);
        if (other == BlockMap::kNone || bits_[other].shallow == 0) return;
        for (int n = 0; n < 8; ++n) {
          const Index3 i = 2 * offset + brick_in_block(n);
          if (std::min({i.x, i.y, i.z}) < -1 || std::max({i.x, i.y, i.z}) > 2) continue;
          shallow.at(i.x, i.y, i.z) = has(bits_[other].shallow, n) ? 1 : 0;
        }
      });
      for (int n = 0; n < 8; ++n) {
        const Index3 i = brick_in_block(n), one{1, 1, 1};
        if (has(bits_[b].inner, n) && shallow.at_least<false>(1, i - one, i + one)) set(more[b], n);
      }
    });
    bool any = false;
    for (std::size_t b = 0; b < bits_.size(); ++b) {
      any |= more[b] != 0;
      bits_[b].todo = more[b];
      bits_[b].inner = static_cast<std::uint8_t>(bits_[b].inner & ~more[b]);
    }
    return any;
  }

  template <class F>
  void parallel(const F& f) {
    device_.pool().parallel_blocks(set_.blocks.size(), f);
  }

  const ParticleField& field_;
  const SortedParticles& particles_;
  double spacing_;  // [voxels]
  Cpu& device_;
  int reach_;  // of a particle [bricks]
  LevelSet set_;
  std::vector<BrickBits> bits_;  // of each block
  std::size_t first_new_ = 0;    // slot whose values are not there yet
};

}  // namespace

void link_blocks(LevelSet& set, Cpu& device) {
  set.around.resize(set.stored.size());
  device.pool().parallel_blocks(set.stored.size(), [&](std::size_t s) {
    for_27([&](std::size_t n, Index3 offset) {
      const std::uint32_t b = set.blocks.find(set.stored[s] + offset);
      set.around[s][n] = b == BlockMap::kNone ? LevelSet::kOutside : set.slot[b];
    });
  });
}

LevelSet sample_field(const ParticleField& field, const SortedParticles& particles, double spacing,
                      Cpu& device) {
  LevelSet set = Sampling(field, particles, spacing, device).run();
  link_blocks(set, device);
  return set;
}

void smooth(LevelSet& set, int passes, Cpu& device) {
  const HostTimer timer(device.profiler(), "surface: smooth");
  if (passes == 0) return;
  Buffer<float> next(device, set.values.size());
  for (int pass = 0; pass < passes; ++pass) {
    device.pool().parallel_blocks(set.stored.size(), [&](std::size_t s) {
      constexpr int kWide = kBlock + 2, kPlane = kWide * kWide;
      float padded[kWide * kPlane];
      set.load<1, 1>(s, padded);
      float* out = next.data() + kBlockSamples * s;
      for (int z = 0; z < kBlock; ++z) {
        for (int y = 0; y < kBlock; ++y) {
          const float* c = padded + (z + 1) * kPlane + (y + 1) * kWide + 1;
          for (int x = 0; x < kBlock; ++x, ++c) {
            const float mean =
                (c[-1] + c[1] + c[-kWide] + c[kWide] + c[-kPlane] + c[kPlane]) * (1.0f / 6.0f);
            *out++ = std::min(c[0], 0.5f * (c[0] + mean));
          }
        }
      }
    });
    set.values.swap(next);
  }
}

void close_blocks(LevelSet& set, Cpu& device) {
  const HostTimer timer(device.profiler(), "surface: close");
  // Which of the seven blocks below are needed and missing: bits 1 to 7, x first
  std::vector<std::uint8_t> missing(set.stored.size());
  device.pool().parallel_blocks(set.stored.size(), [&](std::size_t s) {
    const float* v = set.of(s);
    std::uint8_t touched = 0;
    for (int z = 0; z < kBlock; ++z) {
      for (int y = 0; y < kBlock; ++y) {
        for (int x = 0; x < (y == 0 || z == 0 ? kBlock : 1); ++x) {
          if (v[sample_in_block(x, y, z)] >= 0.0f) continue;
          const int faces = (x == 0 ? 1 : 0) | (y == 0 ? 2 : 0) | (z == 0 ? 4 : 0);
          for (int n = 1; n < 8; ++n) {
            if ((n & faces) == n) barchan::set(touched, n);
          }
        }
      }
    }
    for (int n = 1; n < 8; ++n) {
      const int at = 13 - (n & 1) - 3 * ((n >> 1) & 1) - 9 * (n >> 2);
      if (set.around[s][static_cast<std::size_t>(at)] != LevelSet::kOutside) {
        touched = static_cast<std::uint8_t>(touched & ~(1u << n));
      }
    }
    missing[s] = touched;
  });

  const std::size_t before = set.stored.size();
  for (std::size_t s = 0; s < before; ++s) {
    for (int n = 1; n < 8; ++n) {
      if (!has(missing[s], n)) continue;
      const std::uint32_t b = set.blocks.add(set.stored[s] - brick_in_block(n));
      set.slot.resize(set.blocks.size(), LevelSet::kOutside);
      if (set.slot[b] != LevelSet::kOutside) continue;
      set.slot[b] = static_cast<std::uint32_t>(set.stored.size());
      set.stored.push_back(set.blocks.blocks()[b]);
    }
  }
  if (set.stored.size() == before) return;
  Buffer<float> values(device, kBlockSamples * set.stored.size());
  device.copy(values.data(), set.values.data(), set.values.size() * sizeof(float));
  std::fill(values.data() + set.values.size(), values.data() + values.size(), set.outside);
  set.values = std::move(values);
  link_blocks(set, device);
}

}  // namespace barchan
