#include "harness/html.h"

#include <gtest/gtest.h>

namespace barchan {
namespace {

TEST(Html, Base64OfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64(std::string("\xff\x00\xfe", 3)), "/wD+");
}

}  // namespace
}  // namespace barchan
