// What the page of the live view may change.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/view_feed.h"
#include "base/error.h"

namespace barchan {
namespace {

ViewCommand set(const std::string& json) {
  ViewCommand command;
  EXPECT_EQ(parse_view_command(json, command), "") << json;
  return command;
}

class ViewParams : public ::testing::Test {
 protected:
  const Scene scene = read_scene(
      "solver = \"pbf\"\n[material.water]\npreset = \"water\"\n"
      "[[fill]]\nshape = { box = [[0, 0, 0], [1, 1, 1]] }\n",
      "test.toml", {});
  const std::vector<ViewParam> params = view_params(scene);

  std::string setting(const std::string& json) { return setting_of(set(json), params); }
};

TEST_F(ViewParams, GravityIsThreeNumbersAndAppliesAtOnce) {
  const auto gravity = std::find_if(params.begin(), params.end(),
                                    [](const ViewParam& p) { return p.key == "gravity"; });
  ASSERT_NE(gravity, params.end());
  EXPECT_TRUE(gravity->live);
  EXPECT_EQ(std::get<std::vector<double>>(gravity->value), (std::vector<double>{0, -9.81, 0}));
  const std::string text = setting(R"({"do":"set","key":"gravity","value":[0,3.5,-1]})");
  const Scene turned =
      read_scene("[[fill]]\nshape = { box = [[0, 0, 0], [1, 1, 1]] }\n", "test.toml", {text});
  EXPECT_EQ(turned.general.gravity.y, 3.5);
  EXPECT_EQ(turned.general.gravity.z, -1.0);
}

TEST_F(ViewParams, WhatDoesNotFitTheTableIsRefused) {
  EXPECT_EQ(setting(R"({"do":"set","key":"pbf.iterations","value":7})"), "pbf.iterations=7");
  EXPECT_THROW(setting(R"({"do":"set","key":"pbf.iterations","value":[1,2,3]})"), Error);
  EXPECT_THROW(setting(R"({"do":"set","key":"pbf.iterations","value":-1})"), Error);
  EXPECT_THROW(setting(R"({"do":"set","key":"pbf.iterations","value":"many"})"), Error);
  EXPECT_THROW(setting(R"({"do":"set","key":"gravity","value":9.81})"), Error);
  EXPECT_THROW(setting(R"({"do":"set","key":"gravity","value":"down"})"), Error);
  EXPECT_THROW(setting(R"({"do":"set","key":"solver","value":"none"})"), Error);
  EXPECT_THROW(setting(R"({"do":"set","key":"render.samples","value":1})"), Error);
  EXPECT_THROW(setting(R"({"do":"set","key":"flip.transfer","value":"pic"})"), Error);
}

}  // namespace
}  // namespace barchan
