// Pictures: eight bits a channel, sRGB, and the PNG files that hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace barchan {

struct Image {
  int width = 0, height = 0;      // [pixels]
  std::vector<std::uint8_t> rgb;  // rows from the top, three bytes a pixel

  Image() = default;
  Image(int width_, int height_)
      : width(width_),
        height(height_),
        rgb(3 * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

  const std::uint8_t* at(int x, int y) const { return rgb.data() + offset(x, y); }
  std::uint8_t* at(int x, int y) { return rgb.data() + offset(x, y); }

 private:
  std::size_t offset(int x, int y) const {
    return 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                static_cast<std::size_t>(x));
  }
};

// Written aside and renamed: the file is whole or not there.
void write_png(const std::filesystem::path& path, const Image& image);

// Any PNG, turned into eight-bit RGB (transparent parts over white). An Error names the file where
// it is missing, broken or claims to be larger than its bytes could hold.
Image read_png(const std::filesystem::path& path);

// All pictures on one sheet, row by row, scaled down so that the sheet is at most about 1920 pixels
// wide. Cells have the first picture's shape; others are fitted into them. Empty without pictures.
Image contact_sheet(const std::vector<Image>& images, int columns);

}  // namespace barchan
