#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "view/command.h"
#include "view/frame_message.h"

namespace barchan {
namespace {

template <class T>
T at(const std::string& message, std::size_t offset) {
  T value;
  std::memcpy(&value, message.data() + offset, sizeof value);
  return value;
}

std::string encoded(const ViewParticles& particles, const ViewMoment& moment) {
  std::string message = "what was there before";
  encode_frame(particles, moment, message);
  return message;
}

TEST(FrameMessage, PositionsAreWithinHalfAStepOfTheBox) {
  std::vector<float> x, y, z;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(-3.0f + 0.0123f * static_cast<float>(i));
    y.push_back(std::sin(static_cast<float>(i)));
    z.push_back(5.0f);  // no extent
  }
  ViewParticles particles;
  particles.x = x, particles.y = y, particles.z = z;
  ViewMoment moment;
  moment.time = 1.5;
  moment.frame = 36;
  moment.radius = 0.01;
  moment.bodies = {Pose{{1, 2, 3}, {0.5, 0.5, -0.5, 0.5}}};
  const std::string message = encoded(particles, moment);
  ASSERT_EQ(message.size(), kViewHeaderBytes + 1000 * kViewSphereBytes + kViewBodyBytes);
  EXPECT_EQ(message.substr(0, 4), "BVF1");
  EXPECT_EQ(at<std::uint32_t>(message, 4), 1000u);
  EXPECT_EQ(at<double>(message, 8), 1.5);
  EXPECT_EQ(at<std::int32_t>(message, 16), 36);
  for (std::size_t i = 0; i < 1000; ++i) {
    const float given[3] = {x[i], y[i], z[i]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double lo = at<float>(message, 24 + 4 * axis);
      const double extent = at<float>(message, 36 + 4 * axis);
      const double q = at<std::uint16_t>(message, kViewHeaderBytes + 8 * i + 2 * axis);
      EXPECT_NEAR(lo + q / 65535.0 * extent, given[axis], extent / 131070.0 + 1e-5 * extent);
    }
  }
  const std::size_t body = kViewHeaderBytes + 1000 * kViewSphereBytes;
  EXPECT_EQ(at<float>(message, body + 8), 3.0f);
  EXPECT_EQ(at<float>(message, body + 12), 0.5f);   // x
  EXPECT_EQ(at<float>(message, body + 16), -0.5f);  // y
  EXPECT_EQ(at<float>(message, body + 24), 0.5f);   // w
}

TEST(FrameMessage, ValuesAndIds) {
  const std::vector<float> x{0, 1}, speed{0, 3}, none{0, 0}, density{1000, 1100}, pressure{0, 2000};
  const std::vector<std::uint8_t> material{0, 1};
  const std::vector<std::uint64_t> id{7, (std::uint64_t{1} << 32) + 9};
  ViewMoment moment;
  moment.rest_density = {1000, 1000};
  const std::string message =
      encoded({x, none, none, speed, none, none, density, pressure, {}, material, id}, moment);
  EXPECT_EQ(at<std::uint32_t>(message, 76), 7u);
  const std::size_t values = kViewHeaderBytes + 16;
  EXPECT_EQ(at<std::uint8_t>(message, values), 0);
  EXPECT_EQ(at<std::uint8_t>(message, values + 4), 255);       // at or above the top
  EXPECT_NEAR(at<std::uint8_t>(message, values + 1), 128, 1);  // as dense as at rest
  EXPECT_NEAR(at<std::uint8_t>(message, values + 5), 191, 1);  // a tenth above
  EXPECT_EQ(at<std::uint8_t>(message, values + 7), 1);
  EXPECT_EQ(at<std::uint32_t>(message, values + 8), 7u);
  EXPECT_EQ(at<std::uint32_t>(message, values + 12), 9u);
}

TEST(FrameMessage, SurvivesNothingAndWhatIsNotFinite) {
  EXPECT_EQ(encoded({}, {}).size(), kViewHeaderBytes);
  const std::vector<float> bad{NAN, INFINITY, -INFINITY, 1e30f}, good{0, 1, 2, 3};
  const std::string message = encoded({bad, good, good, bad, bad, bad, bad, bad, {}, {}, {}}, {});
  EXPECT_TRUE(std::isfinite(at<float>(message, 24)));
  EXPECT_TRUE(std::isfinite(at<float>(message, 36)));
  EXPECT_THROW(encoded({good, good, {}, {}, {}, {}, {}, {}, {}, {}, {}}, {}), Error);
}

TEST(ViewCommand, TakesWhatIsWhole) {
  ViewCommand command;
  EXPECT_EQ(parse_view_command(R"({"do":"set","key":"pbf.iterations","value":4})", command), "");
  EXPECT_EQ(command.what, ViewCommand::What::set);
  EXPECT_EQ(command.value, "4");
  EXPECT_EQ(parse_view_command(R"({"do":"set","key":"gravity","value":[0,-1.5,2]})", command), "");
  EXPECT_TRUE(command.is_vector);
  EXPECT_EQ(command.vector.y, -1.5);
  EXPECT_EQ(parse_view_command(R"({"do":"pour","at":[1,2,3],"velocity":[0,-1,0]})", command), "");
  EXPECT_EQ(command.at.z, 3.0);
}

TEST(ViewCommand, RefusesTheRest) {
  ViewCommand command;
  for (const char* text : {"",
                           "{",
                           "null",
                           "[]",
                           "{}",
                           R"({"do":7})",
                           R"({"do":"erase"})",
                           R"({"do":"seek"})",
                           R"({"do":"seek","frame":1.5})",
                           R"({"do":"seek","frame":"1"})",
                           R"({"do":"set"})",
                           R"({"do":"set","key":"a"})",
                           R"({"do":"set","key":"a","value":[]})",
                           R"({"do":"set","key":"a","value":[1,2]})",
                           R"({"do":"set","key":"a","value":[1,2,"3"]})",
                           R"({"do":"set","key":"a","value":[1,2,1e99]})",
                           R"({"do":"set","key":"","value":1})",
                           R"({"do":"open","scene":3})",
                           R"({"do":"pour","at":[1,2],"velocity":[0,0,0]})",
                           R"({"do":"push","at":[1,2,1e9],"velocity":[0,0,0]})",
                           R"({"do":"push","at":[1,2,"3"],"velocity":[0,0,0]})",
                           "\xff\xfe"}) {
    EXPECT_NE(parse_view_command(text, command), "") << text;
  }
  EXPECT_NE(parse_view_command(std::string(60000, '['), command), "");
  EXPECT_NE(
      parse_view_command(R"({"do":"open","scene":")" + std::string(5000, 'a') + "\"}", command),
      "");
}

}  // namespace
}  // namespace barchan
