// The preview shows what is there, where it is.
#include "render/preview.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "barchan/error.h"
#include "compute/cpu.h"
#include "geometry/solid.h"
#include "render/color_map.h"
#include "render/overlay.h"
#include "render/text.h"

namespace barchan {
namespace {

constexpr double kFov = 0.6;
constexpr int kSize = 240;

// From 5 m in front (+z) of the origin, without writing.
PreviewSettings plain() {
  PreviewSettings settings;
  settings.width = settings.height = kSize;
  settings.camera = {{0, 0, 5}, {0, 0, 0}, {0, 1, 0}, kFov};
  settings.scale_bar = false;
  return settings;
}

struct Particles {
  std::vector<Vec3> position, velocity;
  double radius = 0.1;  // [m]

  void add(const Vec3& x, float speed) {
    position.push_back(x);
    velocity.push_back({0.0f, speed, 0.0f});
  }
  PreviewInput input(const SolidSet* solids = nullptr) const {
    return {position, velocity, radius, 1.0, solids, 0.0};
  }
};

Image render(const PreviewInput& input, const PreviewSettings& settings = plain(),
             int threads = 2) {
  const ThreadPool pool(threads);
  return render_preview(input, settings, pool);
}

struct Difference {
  int pixels = 0;
  double x = 0.0, y = 0.0;  // their middle
};

Difference difference(const Image& a, const Image& b) {
  Difference d;
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      int most = 0;
      for (int c = 0; c < 3; ++c) most = std::max(most, std::abs(a.at(x, y)[c] - b.at(x, y)[c]));
      if (most < 8) continue;
      ++d.pixels;
      d.x += x + 0.5;
      d.y += y + 0.5;
    }
  }
  d.x /= std::max(1, d.pixels);
  d.y /= std::max(1, d.pixels);
  return d;
}

Solid solid(const Shape& shape, bool inside_out = false) {
  Solid made;
  made.name = "solid";
  made.shape = shape;
  made.inside_out = inside_out;
  return made;
}

bool is_blue(const std::uint8_t* rgb) {
  return rgb[2] > rgb[0] + 40;
}
bool is_yellow(const std::uint8_t* rgb) {
  return rgb[0] > rgb[2] + 40;
}

TEST(Preview, AParticleIsADiscOfItsSizeAtItsPlace) {
  const Image empty = render(Particles().input());
  const double focal = 0.5 * kSize / std::tan(0.5 * kFov);
  for (const Vec3& at : {Vec3(0, 0, 0), Vec3(0.5f, -0.3f, 0), Vec3(-0.2f, 0.6f, 1.5f)}) {
    Particles one;
    one.add(at, 0.5f);
    const Difference seen = difference(render(one.input()), empty);
    const double scale = focal / (5.0 - at.z), radius = scale * one.radius;
    EXPECT_NEAR(seen.x, 0.5 * kSize + scale * at.x, 0.6);
    EXPECT_NEAR(seen.y, 0.5 * kSize - scale * at.y, 0.6);
    EXPECT_NEAR(std::sqrt(seen.pixels / std::acos(-1.0)), radius, 0.5);
  }
}

TEST(Preview, TheSmallestParticleStillShows) {
  Particles one;
  one.radius = 1e-7;
  one.add({0.123f, 0.077f, 0}, 0.0f);
  const int pixels = difference(render(one.input()), render(Particles().input())).pixels;
  EXPECT_GE(pixels, 1);
  EXPECT_LE(pixels, 4);
}

TEST(Preview, ColourFollowsSpeed) {
  const auto middle = [](float speed) {
    Particles one;
    one.add({}, speed);
    const Image image = render(one.input());
    const std::uint8_t* rgb = image.at(kSize / 2, kSize / 2);
    return std::vector<int>(rgb, rgb + 3);
  };
  int red = 0, green = 0;
  for (const float speed : {0.0f, 0.5f, 0.75f, 1.0f}) {
    const std::vector<int> rgb = middle(speed);
    EXPECT_GT(rgb[1], green);
    EXPECT_TRUE(speed < 0.75f || rgb[0] > red);
    red = rgb[0];
    green = rgb[1];
  }
  EXPECT_EQ(middle(1.0f), middle(30.0f));
  EXPECT_EQ(middle(0.0f), middle(std::numeric_limits<float>::quiet_NaN()));
}

TEST(Preview, TheNearerParticleHidesTheFarther) {
  Particles near_first, far_first;
  near_first.add({0, 0, 1}, 0.0f);
  near_first.add({0, 0, -1}, 1.0f);
  far_first.add({0, 0, -1}, 1.0f);
  far_first.add({0, 0, 1}, 0.0f);
  const Image a = render(near_first.input()), b = render(far_first.input());
  EXPECT_TRUE(is_blue(a.at(kSize / 2, kSize / 2)));
  EXPECT_EQ(a.rgb, b.rgb);
}

TEST(Preview, SolidsHideWhatIsBehindThemAndContainersHideNothing) {
  Cpu cpu(1);
  Particles one;
  one.add({}, 1.0f);
  const Shape box = make_box({-0.5, -0.5, 1}, {0.5, 0.5, 1.2});
  const SolidSet before({solid(box)}, cpu);
  EXPECT_EQ(render(one.input(&before)).rgb, render(Particles().input(&before)).rgb);

  const SolidSet behind({solid(make_box({-0.5, -0.5, -1.2}, {0.5, 0.5, -1}))}, cpu);
  EXPECT_TRUE(is_yellow(render(one.input(&behind)).at(kSize / 2, kSize / 2)));

  const SolidSet around({solid(make_box({-1, -1, -1}, {1, 1, 1}), true)}, cpu);
  const Image image = render(one.input(&around));
  EXPECT_TRUE(is_yellow(image.at(kSize / 2, kSize / 2)));
  EXPECT_GT(difference(image, render(one.input())).pixels, 1000);  // and it is to be seen itself
}

TEST(Preview, SolidsAreWhereTheirMotionHasThem) {
  Cpu cpu(1);
  Solid ball = solid(make_sphere({0, 0, 0}, 0.3));
  ball.drive = SolidDrive::keyframes;
  ball.motion = Motion({{0.0, {-0.5, 0, 0}, {0, 1, 0}, 0.0}, {1.0, {0.5, 0, 0}, {0, 1, 0}, 0.0}});
  const SolidSet solids({ball}, cpu);
  const Image empty = render(Particles().input());
  const double scale = 0.5 * kSize / std::tan(0.5 * kFov) / 5.0;
  for (const double time : {0.0, 0.5, 1.0}) {
    const Particles none;
    PreviewInput input = none.input(&solids);
    input.time = time;
    const Difference seen = difference(render(input), empty);
    EXPECT_NEAR(seen.x, 0.5 * kSize + scale * (time - 0.5), 1.0);
    EXPECT_NEAR(std::sqrt(seen.pixels / std::acos(-1.0)), scale * 0.3, 0.7);
  }
}

TEST(Preview, AParticleShadesTheGround) {
  Cpu cpu(1);
  const SolidSet ground({solid(make_plane({0, -0.5, 0}, {0, 1, 0}))}, cpu);
  PreviewSettings settings = plain();
  settings.camera.eye = {0, 3, 4};
  Particles one;
  one.add({}, 0.5f);
  const Image with = render(one.input(&ground), settings);
  const Image without = render(Particles().input(&ground), settings);
  int darker = 0;
  for (std::size_t i = 0; i < with.rgb.size(); i += 3) {
    const bool grey = std::abs(with.rgb[i] - with.rgb[i + 2]) < 30;
    darker += grey && with.rgb[i + 1] + 15 < without.rgb[i + 1];
  }
  EXPECT_GT(darker, 50);
}

TEST(Preview, SameBytesOnAnyNumberOfThreads) {
  Cpu cpu(4);  // of one thread it would keep TBB from having more
  const SolidSet solids(
      {solid(make_box({-1, -1, -1}, {1, 1, 1}), true),
       solid(make_torus({0, 0, 0}, {1, 2, 0}, 0.4, 0.1)), solid(make_plane({0, -1, 0}, {0, 1, 0}))},
      cpu);
  Particles many;
  many.radius = 0.012;
  // Coarse coordinates: many particles share a place, and the order of drawing would show.
  for (unsigned i = 0; i < 30000; ++i) {
    const auto at = [&](unsigned k) {
      return static_cast<float>((i * 2654435761u + k * 40503u * i) >> 16 & 63u) / 32.0f - 1.0f;
    };
    many.add({at(1), at(2), at(3)}, static_cast<float>(i % 97) / 97.0f);
  }
  PreviewSettings settings = plain();
  settings.camera.eye = {2, 2, 5};
  settings.scale_bar = true;
  settings.caption = "frame 1";
  const Image one = render(many.input(&solids), settings, 1);
  EXPECT_EQ(one.rgb, render(many.input(&solids), settings, 4).rgb);
  EXPECT_EQ(one.rgb, render(many.input(&solids), settings, 3).rgb);
}

TEST(Preview, TakesNothingAndNonsense) {
  PreviewSettings settings = plain();
  settings.scale_bar = true;
  settings.caption = "nothing \x01\xff";
  EXPECT_EQ(render(PreviewInput(), settings).width, kSize);
  settings.width = settings.height = 1;
  EXPECT_EQ(render(PreviewInput(), settings).rgb.size(), 3u);

  // Particles that are not a number, behind the eye, at the eye or far away
  Particles wild;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const Vec3& x : {Vec3(nan, 0, 0), Vec3(inf, 0, 0), Vec3(0, 0, 9), Vec3(0, 0, 5),
                        Vec3(0, 0, 4.99f), Vec3(1e30f, 0, -1e30f), Vec3(3e38f, 3e38f, 0)}) {
    wild.add(x, 1.0f);
  }
  EXPECT_LE(difference(render(wild.input()), render(Particles().input())).pixels, 4);
}

TEST(Preview, RefusesWhatCannotBeDrawn) {
  PreviewSettings settings = plain();
  settings.width = 0;
  EXPECT_THROW(render(PreviewInput(), settings), Error);
  settings = plain();
  settings.camera.target = settings.camera.eye;
  EXPECT_THROW(render(PreviewInput(), settings), Error);
  Particles one;
  one.add({}, 1.0f);
  one.velocity.push_back({});
  EXPECT_THROW(render(one.input()), Error);
}

TEST(Overlay, StepsAreNice) {
  EXPECT_EQ(nice_step(0.9), 0.5);
  EXPECT_EQ(nice_step(1.0), 1.0);
  EXPECT_EQ(nice_step(4.9), 2.0);
  EXPECT_EQ(nice_step(0.01), 0.01);
  EXPECT_EQ(nice_step(720.0), 500.0);
  EXPECT_EQ(nice_step(0.0), 1.0);
}

TEST(Overlay, TextIsDrawnWhereItSaysAndNowhereElse) {
  Image image(60, 20);
  draw_text(image, "1", 20.0f, 5.0f, 1.0f, {255, 0, 0, 1});
  EXPECT_GT(image.at(22, 8)[0], 200);  // the stem of the 1
  EXPECT_LT(image.at(22, 8)[2], 60);
  EXPECT_EQ(image.at(50, 8)[0], 0);
  draw_text(image, "outside", -500.0f, -90.0f, 2.0f, {});
  draw_text(image, "outside", 55.0f, 15.0f, 2.0f, {});
  EXPECT_EQ(text_width("ab", 2.0f), 22.0f);
}

TEST(ColorMap, LightnessRises) {
  const ColorMap colors;
  float before = 0.0f;
  for (int i = 0; i <= 100; ++i) {
    const Vec3 c = colors(static_cast<float>(i) / 100.0f);
    const float light = 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
    EXPECT_GT(light, before) << i;
    before = light;
  }
  for (const float c : {0.0f, 0.01f, 0.2f, 0.7f, 1.0f}) {
    EXPECT_NEAR(srgb_to_linear(linear_to_srgb(c)), c, 1e-5f);
  }
}

}  // namespace
}  // namespace barchan
