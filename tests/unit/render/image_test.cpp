// PNG files and contact sheets.
#include "render/image.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "barchan/error.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

class ImageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("barchan_image_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

Image pattern(int width, int height) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.rgb.size(); ++i) {
    image.rgb[i] = static_cast<std::uint8_t>((i * i + 7 * i) % 251);
  }
  return image;
}

std::string message_of_reading(const fs::path& path) {
  try {
    read_png(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(ImageTest, ComesBackFromAPngAsItWas) {
  const Image image = pattern(37, 23);
  write_png(folder_ / "a.png", image);
  const Image back = read_png(folder_ / "a.png");
  EXPECT_EQ(back.width, 37);
  EXPECT_EQ(back.height, 23);
  EXPECT_EQ(back.rgb, image.rgb);
}

TEST_F(ImageTest, BrokenFilesAreNamed) {
  const fs::path path = folder_ / "broken.png";
  EXPECT_NE(message_of_reading(path).find("broken.png"), std::string::npos);  // not there
  std::ofstream(path) << "this is no picture";
  EXPECT_NE(message_of_reading(path).find("broken.png"), std::string::npos);

  // Cut off anywhere, or with a damaged byte in its data
  write_png(path, pattern(64, 64));
  std::ifstream whole_file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(whole_file)), {});
  for (const std::size_t length : {std::size_t{0}, std::size_t{20}, whole.size() / 2}) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, length);
    EXPECT_NE(message_of_reading(path).find("broken.png"), std::string::npos) << length;
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x5a;
  std::ofstream(path, std::ios::binary) << damaged;
  EXPECT_NE(message_of_reading(path).find("broken.png"), std::string::npos);
}

TEST_F(ImageTest, AFileCannotClaimMorePixelsThanItHolds) {
  const fs::path path = folder_ / "huge.png";
  write_png(path, pattern(8, 8));
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  // Width and height are big-endian at 16 and 20. The header's checksum is then wrong, too: either
  // way it must be an Error that allocates nothing.
  bytes[17] = bytes[21] = 0x0e;
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_NE(message_of_reading(path).find("huge.png"), std::string::npos);
}

TEST_F(ImageTest, RefusesToWriteWhatIsNoPicture) {
  Image image = pattern(4, 4);
  image.rgb.pop_back();
  EXPECT_THROW(write_png(folder_ / "a.png", image), Error);
  EXPECT_THROW(write_png(folder_ / "a.png", Image()), Error);
  EXPECT_FALSE(fs::exists(folder_ / "a.png"));
}

TEST(ContactSheet, IsAGridWithThinGaps) {
  const std::vector<Image> images(5, pattern(960, 540));
  const Image sheet = contact_sheet(images, 3);  // two rows
  EXPECT_LE(sheet.width, 1920);
  EXPECT_GT(sheet.width, 1850);
  const int cell_height = (sheet.width - 4 * 4) / 3 * 540 / 960;
  EXPECT_NEAR(sheet.height, 3 * 4 + 2 * cell_height, 3);
}

TEST(ContactSheet, NeverEnlargesAndKeepsColours) {
  Image red(20, 10), blue(10, 20);
  for (int i = 0; i < 200; ++i) red.rgb[3 * i] = blue.rgb[3 * i + 2] = 200;
  const Image sheet = contact_sheet({red, blue}, 8);
  EXPECT_EQ(sheet.width, 4 + 2 * 24);
  EXPECT_EQ(sheet.height, 4 + 14);
  EXPECT_EQ(sheet.at(14, 9)[0], 200);
  EXPECT_EQ(sheet.at(38, 9)[2], 200);
  EXPECT_EQ(sheet.at(38, 9)[0], 0);
  EXPECT_EQ(sheet.at(29, 9)[2], sheet.at(1, 1)[2]);  // beside the narrow one: the sheet itself
  EXPECT_TRUE(contact_sheet({}, 3).rgb.empty());
}

}  // namespace
}  // namespace barchan
