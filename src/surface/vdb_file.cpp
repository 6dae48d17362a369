#include <openvdb/io/Stream.h>
#include <openvdb/openvdb.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "surface/surface_file.h"

namespace barchan {

namespace {

using FloatLeaf = openvdb::FloatTree::LeafNodeType;
using VectorLeaf = openvdb::Vec3STree::LeafNodeType;

static_assert(FloatLeaf::DIM == kBlock, "our blocks are OpenVDB's leaves");

openvdb::Coord origin_of(Index3 block) {
  const Index3 first = kBlock * block;
  return {first.x, first.y, first.z};
}

class VdbMaker {
 public:
  explicit VdbMaker(const ParticleSurface& surface)
      : surface_(surface),
        set_(surface.level_set()),
        width_(static_cast<float>(set_.voxel) * std::clamp(set_.outside, 1.0f, 3.0f)),
        distance_(openvdb::FloatGrid::create(width_)),
        velocity_(openvdb::Vec3SGrid::create(openvdb::Vec3s(0.0f))) {}

  openvdb::GridPtrVec run() {
    fill_leaves();
    for (std::size_t b = 0; b < set_.blocks.size(); ++b) {
      if (set_.slot[b] != LevelSet::kInside) continue;
      distance_->tree().addTile(1, origin_of(set_.blocks.blocks()[b]), -width_, false);
    }
    distance_->setName("surface");
    distance_->setGridClass(openvdb::GRID_LEVEL_SET);
    velocity_->setName("vel");
    velocity_->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    const auto transform = openvdb::math::Transform::createLinearTransform(set_.voxel);
    distance_->setTransform(transform);
    velocity_->setTransform(transform->copy());
    return {distance_, velocity_};
  }

 private:
  // Leaves are made apart, by all threads, and put into the trees in order.
  void fill_leaves() {
    std::vector<FloatLeaf*> distances(set_.stored.size());
    std::vector<VectorLeaf*> velocities(set_.stored.size());
    surface_.device().pool().parallel_blocks(set_.stored.size(), [&](std::size_t s) {
      const openvdb::Coord origin = origin_of(set_.stored[s]);
      distances[s] = new FloatLeaf(origin, width_);
      velocities[s] = new VectorLeaf(origin, openvdb::Vec3s(0.0f));
      fill_distances(s, *distances[s]);
      fill_velocities(set_.stored[s], *distances[s], *velocities[s]);
    });
    for (std::size_t s = 0; s < set_.stored.size(); ++s) {
      distance_->tree().addLeaf(distances[s]);
      if (velocities[s]->isEmpty()) {
        delete velocities[s];
      } else {
        velocity_->tree().addLeaf(velocities[s]);
      }
    }
  }

  // The field over its slope: near the surface that is the distance, whatever the field's own
  // scale, and deep inside, where the field is flat, it ends at the width.
  void fill_distances(std::size_t s, FloatLeaf& leaf) const {
    constexpr int kWide = kBlock + 2, kPlane = kWide * kWide;
    float padded[kWide * kPlane];
    set_.load<1, 1>(s, padded);
    const auto voxel = static_cast<float>(set_.voxel);
    for (int z = 0; z < kBlock; ++z) {
      for (int y = 0; y < kBlock; ++y) {
        for (int x = 0; x < kBlock; ++x) {
          const float* c = padded + (z + 1) * kPlane + (y + 1) * kWide + x + 1;
          const Vec3 slope =
              0.5f * Vec3(c[1] - c[-1], c[kWide] - c[-kWide], c[kPlane] - c[-kPlane]);
          const float d = voxel * c[0] / std::max(length(slope), 1e-6f);
          const openvdb::Coord at(x, y, z);
          if (std::abs(d) < width_) {
            leaf.setValueOn(at, d);
          } else {
            leaf.setValueOff(at, c[0] < 0.0f ? -width_ : width_);
          }
        }
      }
    }
  }

  void fill_velocities(Index3 block, const FloatLeaf& distances, VectorLeaf& leaf) const {
    MaterialVelocity::Scratch scratch;
    const MaterialVelocity velocity = surface_.velocity();
    for (int n = 0; n < 8; ++n) {
      const Index3 first = kBrick * brick_in_block(n);
      std::vector<Vec3> points;
      std::vector<openvdb::Coord> places;
      for (int k = 0; k < kBrickSamples; ++k) {
        const openvdb::Coord in_brick(k & 3, (k >> 2) & 3, k >> 4);
        const openvdb::Coord at = in_brick.offsetBy(first.x, first.y, first.z);
        if (!distances.isValueOn(at)) continue;
        places.push_back(at);
        points.emplace_back(static_cast<float>(in_brick.x()), static_cast<float>(in_brick.y()),
                            static_cast<float>(in_brick.z()));
      }
      if (points.empty()) continue;
      std::vector<Vec3> v(points.size());
      velocity(2 * block + brick_in_block(n), points, v, scratch);
      for (std::size_t k = 0; k < v.size(); ++k) {
        leaf.setValueOn(places[k], openvdb::Vec3s(v[k].x, v[k].y, v[k].z));
      }
    }
  }

  const ParticleSurface& surface_;
  const LevelSet& set_;
  float width_;  // of the level set on each side [m]
  openvdb::FloatGrid::Ptr distance_;
  openvdb::Vec3SGrid::Ptr velocity_;
};

// OpenVDB gives every file a random name of 36 letters, behind five numbers and a flag. One made
// from what the file holds does as well, and the same surface is then the same file.
void name_by_content(std::string& file) {
  constexpr std::size_t kAt = 8 + 3 * 4 + 1, kLength = 36;
  if (file.size() < kAt + kLength || file[kAt + 8] != '-' || file[kAt + 23] != '-') {
    fail("this version of OpenVDB writes another file format than 10; use that one");
  }
  const char* rest = file.data() + kAt + kLength;
  const std::size_t count = file.size() - kAt - kLength;
  const std::uint64_t a = hash_bytes(rest, count), b = hash_bytes(rest, count, a);
  const std::string name =
      fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xffff,
                  b >> 48, b & 0xffffffffffffull);
  file.replace(kAt, kLength, name);
}

}  // namespace

void write_surface_vdb(const ParticleSurface& surface, const std::filesystem::path& file) {
  static const bool ready = (openvdb::initialize(), true);
  (void)ready;
  const openvdb::GridPtrVec grids = VdbMaker(surface).run();
  std::ostringstream bytes(std::ios::binary);
  openvdb::io::Stream(bytes).write(grids);
  std::string text = std::move(bytes).str();
  name_by_content(text);
  write_file_atomic(file, text);
}

}  // namespace barchan
