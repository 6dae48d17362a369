// What is written on pictures, and their colours.
#include "render/overlay.h"

#include <gtest/gtest.h>

#include "render/color_map.h"
#include "render/text.h"

namespace barchan {
namespace {

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
