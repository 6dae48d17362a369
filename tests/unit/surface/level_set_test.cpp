#include "surface/level_set.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "math/eigen3.h"
#include "surface/cube_cases.h"
#include "surface/level_set_mesh.h"
#include "unit/surface/clouds.h"
#include "unit/surface/mesh_facts.h"

namespace barchan {

namespace {

// Zhu & Bridson's field in double precision, straight from its definition [spacings].
double zhu_bridson_at(const Vec3d& x, const std::vector<Vec3>& points, double radius, bool fix) {
  double k = 0.0;
  Vec3d mean;
  for (const Vec3& point : points) {
    const Vec3d d = Vec3d(point) / kSpacing - x;
    const double q = std::max(0.0, 1.0 - dot(d, d) / (radius * radius));
    k += q * q * q;
    mean += q * q * q * d;
  }
  if (k == 0.0) return radius - 0.5;
  mean /= k;
  double kept = 1.0;
  if (fix) {
    // The mean's derivative by differences, not by the formula
    const double h = 1e-5;
    Mat3d slope;
    for (int a = 0; a < 3; ++a) {
      Vec3d ends[2];
      for (int side = 0; side < 2; ++side) {
        Vec3d y = x, sum;
        y[a] += side == 0 ? -h : h;
        double total = 0.0;
        for (const Vec3& point : points) {
          const Vec3d p = Vec3d(point) / kSpacing;
          const double q = std::max(0.0, 1.0 - dot(p - y, p - y) / (radius * radius));
          total += q * q * q;
          sum += q * q * q * p;
        }
        ends[side] = sum / total;
      }
      for (int r = 0; r < 3; ++r) slope(r, a) = (ends[1][r] - ends[0][r]) / (2.0 * h);
    }
    const double gamma = (3.5 - eigen_symmetric(symmetric_part(slope)).values.x) / 3.1;
    const double g = std::clamp(gamma, 0.0, 1.0);
    kept = g * g * g - 3.0 * g * g + 3.0 * g;
  }
  return length(mean) - 0.5 * kept;
}

// Every sample near the surface is what the definition says; none that is skipped is outside.
void expect_definition(double voxel, bool fix) {
  const auto points = jittered(7, 0.3, [](const Vec3d& p) {
    return length(p) < 6.5 && length(p - Vec3d(3.0, 5.0, 0.0)) > 4.0;
  });
  SurfaceParams params;
  params.voxel = voxel;
  params.smoothing = 0;
  params.concavity_fix = fix;
  Cpu device(2);
  const ParticleSurface surface(input_of(points), params, device);
  const LevelSet& set = surface.level_set();
  std::mt19937 random(3);
  std::size_t compared = 0;
  for (std::size_t b = 0; b < set.blocks.size(); ++b) {
    for (int n = 0; n < 12; ++n) {
      const int x = static_cast<int>(random() % 8), y = static_cast<int>(random() % 8),
                z = static_cast<int>(random() % 8);
      const Index3 first = kBlock * set.blocks.blocks()[b];
      const Vec3d p = voxel * Vec3d(first.x + x, first.y + y, first.z + z);
      const double want = zhu_bridson_at(p, points, 2.0, fix);
      const std::uint32_t slot = set.slot[b];
      const double got =
          voxel * (slot == LevelSet::kOutside  ? set.outside
                   : slot == LevelSet::kInside ? set.inside
                                               : set.of(slot)[sample_in_block(x, y, z)]);
      if (slot < LevelSet::kInside && got > voxel * set.inside + 1e-6) {
        EXPECT_NEAR(got, want, 2e-3);
        ++compared;
      } else {
        EXPECT_EQ(got < 0.0, want < 0.0);
      }
    }
  }
  EXPECT_GT(compared, 500u);
}

TEST(LevelSet, IsTheDefinition) {
  expect_definition(0.5, false);
  expect_definition(0.3, true);
  expect_definition(1.0, true);
}

TEST(LevelSet, SkipsTheInside) {
  const auto points = jittered(25, 0.25, [](const Vec3d&) { return true; });
  Cpu device(2);
  const ParticleSurface surface(input_of(points), SurfaceParams(), device);
  const LevelSet& set = surface.level_set();
  std::size_t inner = 0;
  for (const std::uint32_t slot : set.slot) inner += slot == LevelSet::kInside ? 1 : 0;
  EXPECT_GT(inner, 10u * 10u * 10u / 2);
}

// Signs at random make all 256 cases, beside each other in every way.
TEST(LevelSet, AnySignsGiveAClosedManifold) {
  Cpu device(2);
  std::mt19937 random(11);
  for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    LevelSet set;
    set.voxel = 0.1;
    set.outside = 1.0f;
    set.inside = -1.0f;
    constexpr int kEdge = 3;
    for (int n = 0; n < kEdge * kEdge * kEdge; ++n) {
      set.blocks.add({n % kEdge - 1, n / kEdge % kEdge - 1, n / (kEdge * kEdge) - 1});
    }
    std::uniform_real_distribution<float> value(0.0f, 1.0f);
    set.values = Buffer<float>(device, kBlockSamples * set.blocks.size());
    for (std::uint32_t b = 0; b < set.blocks.size(); ++b) {
      set.slot.push_back(b);
      set.stored.push_back(set.blocks.blocks()[b]);
      for (int k = 0; k < kBlockSamples; ++k) {
        set.of(b)[k] = (value(random) < share ? -1.0f : 1.0f) * value(random);
      }
    }
    link_blocks(set, device);
    close_blocks(set, device);
    SurfaceMesh mesh;
    mesh_level_set(set, device, mesh);
    const MeshFacts facts = facts_of(mesh);
    EXPECT_TRUE(facts.closed) << share;
    EXPECT_TRUE(facts.manifold) << share;
    EXPECT_GT(facts.volume, 0.0);
    // A control: the check sees a missing triangle, and two pieces that touch in a point
    SurfaceMesh torn = mesh;
    torn.triangles.pop_back();
    EXPECT_FALSE(facts_of(torn).closed);
  }
}

TEST(CubeCases, LoopsUseEveryCutEdgeOnce) {
  for (unsigned inside = 0; inside < 256; ++inside) {
    std::vector<int> used(12);
    int triangles = 0;
    for (const CubeLoop& loop : cube_cases()[inside].loops) {
      EXPECT_GE(loop.edges.size(), 3u);
      for (const std::uint8_t e : loop.edges) ++used[e];
      triangles += static_cast<int>(loop.edges.size()) - (loop.has_middle ? 0 : 2);
    }
    EXPECT_EQ(triangles, cube_cases()[inside].triangles);
    for (int e = 0; e < 12; ++e) {
      const CubeEdge edge = cube_edge(e);
      const int low = edge.from[0] + 2 * edge.from[1] + 4 * edge.from[2];
      const bool cut = ((inside >> low) & 1) != ((inside >> (low + (1 << edge.axis))) & 1);
      EXPECT_EQ(used[static_cast<std::size_t>(e)], cut ? 1 : 0);
    }
  }
}

}  // namespace

}  // namespace barchan
