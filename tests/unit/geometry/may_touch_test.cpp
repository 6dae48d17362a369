// may_touch() and way_is_free() are promises: where they say so, sweep() finds nothing.
#include <gtest/gtest.h>

#include <random>

#include "compute/cpu.h"
#include "geometry/sweep.h"

namespace barchan {
namespace {

std::vector<Solid> tumbling_solids() {
  Solid tank;
  tank.name = "tank";
  tank.shape = make_box({-1, -1, -1}, {1, 1, 1});
  tank.inside_out = true;
  Solid blade;
  blade.name = "blade";
  blade.shape = make_difference(make_box({-0.5, -0.02, -0.4}, {0.5, 0.02, 0.4}),
                                make_sphere({0, 0, 0}, 0.15));
  blade.drive = SolidDrive::keyframes;
  blade.motion = Motion({{0.0, {0, 0, 0}, {0, 0, 1}, 0.0}, {1.0, {0.3, 0.1, 0}, {0, 0, 1}, 9.0}});
  Solid ring;
  ring.name = "ring";
  ring.shape = make_torus({0.2, 0.4, 0.1}, {1, 2, 0}, 0.3, 0.05);
  return {tank, blade, ring};
}

TEST(MayTouch, NoMeansThatNothingIsHit) {
  Cpu device(1);
  SolidSet set(tumbling_solids(), device);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> at(-1.0f, 1.0f), step(-0.15f, 0.15f);
  int clear = 0, hits = 0;
  for (int k = 0; k < 40; ++k) {
    const double t = 0.02 * k;
    const SolidsView solids = set.moving(t, t + 0.02);
    for (int n = 0; n < 500; ++n) {
      const Vec3 from{at(random), at(random), at(random)};
      const Vec3 to = from + Vec3{step(random), step(random), step(random)};
      const bool hit = sweep(solids, from, to, 0.0f, 0.01f).hit;
      const bool may = may_touch(solids, from, to, 0.01f);
      EXPECT_FALSE(hit && !may);
      hits += hit;
      clear += !may;
    }
  }
  EXPECT_GT(hits, 1000);   // the promise was put to the test
  EXPECT_GT(clear, 5000);  // and is worth something
}

TEST(WayIsFree, YesMeansThatNothingIsHitAndTheEndIsFar) {
  Cpu device(1);
  std::vector<Solid> in_a_moving_bowl = tumbling_solids();
  in_a_moving_bowl[0].shape = make_sphere({0, 0, 0}, 1.0);
  in_a_moving_bowl[0].drive = SolidDrive::keyframes;
  in_a_moving_bowl[0].motion =
      Motion({{0.0, {0, 0, 0}, {0, 0, 1}, 0.0}, {1.0, {0.9, -0.7, 0}, {0, 0, 1}, 0.0}});
  const float radius = 0.01f, at_end = 0.03f;
  for (const auto& scene : {tumbling_solids(), in_a_moving_bowl}) {
    SolidSet set(scene, device);
    std::mt19937 random(5);
    std::uniform_real_distribution<float> at(-1.0f, 1.0f), step(-0.15f, 0.15f);
    int free = 0, free_only_here = 0, hits = 0;
    for (int k = 0; k < 40; ++k) {
      const double t = 0.02 * k;
      const SolidsView solids = set.moving(t, t + 0.02);
      for (int n = 0; n < 500; ++n) {
        const Vec3 from{at(random), at(random), at(random)};
        const Vec3 to = from + Vec3{step(random), step(random), step(random)};
        const bool hit = sweep(solids, from, to, 0.0f, radius).hit;
        const bool says_free = way_is_free(solids, from, to, 1.01f * radius, at_end);
        EXPECT_FALSE(hit && says_free);
        for (int s = 0; s < solids.count && says_free; ++s) {
          EXPECT_GT(solid_distance_at_end(solids.data[s], to).d, 0.99f * at_end);
        }
        hits += hit;
        free += says_free;
        free_only_here += says_free && may_touch(solids, from, to, radius);
      }
    }
    EXPECT_GT(hits, 1000);
    EXPECT_GT(free, 5000);
    EXPECT_GT(free_only_here, 1000);  // it sees more than may_touch() does
  }
}

}  // namespace
}  // namespace barchan
