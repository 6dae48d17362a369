#include "render/image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// libpng's simplified interface reports through the struct instead of longjmp, which would skip
// destructors. This frees what it allocated, on every way out.
struct PngImage {
  png_image png{};
  PngImage() { png.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&png); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

// Deflate packs at most about 1032 to 1 and a pixel has at least one bit: more pixels than this per
// byte of file cannot be there. The absolute limit is far above any picture that Barchan makes.
constexpr std::size_t kMostPixelsPerByte = 8 * 1040;
constexpr std::size_t kMostPixels = std::size_t{1} << 28;

constexpr int kSheetWidth = 1920;  // [pixels]
constexpr int kSheetGap = 4;       // [pixels]
constexpr std::uint8_t kSheetGrey = 32;

// The mean colour of the source's rectangle [x0, x1) x [y0, y1), edges weighted by their share.
void area_mean(const Image& image, double x0, double x1, double y0, double y1, std::uint8_t* out) {
  double sum[3] = {0, 0, 0}, weight = 0;
  const int last_y = std::min(image.height, static_cast<int>(std::ceil(y1)));
  const int last_x = std::min(image.width, static_cast<int>(std::ceil(x1)));
  for (int y = static_cast<int>(y0); y < last_y; ++y) {
    const double share_y = std::min<double>(y + 1, y1) - std::max<double>(y, y0);
    for (int x = static_cast<int>(x0); x < last_x; ++x) {
      const double share = share_y * (std::min<double>(x + 1, x1) - std::max<double>(x, x0));
      const std::uint8_t* pixel = image.at(x, y);
      for (int c = 0; c < 3; ++c) sum[c] += share * pixel[c];
      weight += share;
    }
  }
  for (int c = 0; c < 3; ++c) {
    out[c] = weight > 0 ? static_cast<std::uint8_t>(std::lround(sum[c] / weight)) : std::uint8_t{0};
  }
}

// Fits the picture into the cell of the sheet whose upper left corner is (left, top), centred.
void paste_scaled(const Image& image, int left, int top, int width, int height, Image& sheet) {
  if (image.width < 1 || image.height < 1) return;
  const double scale = std::max(static_cast<double>(image.width) / width,
                                static_cast<double>(image.height) / height);
  const int w = std::clamp(static_cast<int>(std::lround(image.width / scale)), 1, width);
  const int h = std::clamp(static_cast<int>(std::lround(image.height / scale)), 1, height);
  const double step_x = static_cast<double>(image.width) / w;
  const double step_y = static_cast<double>(image.height) / h;
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      area_mean(image, x * step_x, (x + 1) * step_x, y * step_y, (y + 1) * step_y,
                sheet.at(left + (width - w) / 2 + x, top + (height - h) / 2 + y));
    }
  }
}

}  // namespace

void write_png(const fs::path& path, const Image& image) {
  const auto pixels =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  if (image.width < 1 || image.height < 1 || pixels > kMostPixels ||
      image.rgb.size() != 3 * pixels) {
    fail("cannot write {}: a picture of {} x {} pixels with {} bytes", path.string(), image.width,
         image.height, image.rgb.size());
  }
  PngImage encoder;
  encoder.png.width = static_cast<png_uint_32>(image.width);
  encoder.png.height = static_cast<png_uint_32>(image.height);
  encoder.png.format = PNG_FORMAT_RGB;
  encoder.png.flags = PNG_IMAGE_FLAG_FAST;  // a third of the time for a tenth more bytes
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(encoder.png);
  std::vector<std::uint8_t> bytes(size);
  if (!png_image_write_to_memory(&encoder.png, bytes.data(), &size, 0, image.rgb.data(), 0,
                                 nullptr)) {
    fail("cannot write {}: {}", path.string(), encoder.png.message);
  }
  write_file_atomic(path, bytes.data(), size);
}

Image read_png(const fs::path& path) {
  const std::string bytes = read_text_file(path);
  PngImage decoder;
  if (!png_image_begin_read_from_memory(&decoder.png, bytes.data(), bytes.size())) {
    fail("cannot read {}: {}", path.string(), decoder.png.message);
  }
  const std::size_t width = decoder.png.width, height = decoder.png.height;
  if (width * height > std::min(kMostPixels, kMostPixelsPerByte * bytes.size())) {
    fail("cannot read {}: {} x {} pixels are more than its {} bytes can hold", path.string(), width,
         height, bytes.size());
  }
  decoder.png.format = PNG_FORMAT_RGB;
  Image image(static_cast<int>(width), static_cast<int>(height));
  const png_color white{255, 255, 255};
  if (!png_image_finish_read(&decoder.png, &white, image.rgb.data(), 0, nullptr)) {
    fail("cannot read {}: {}", path.string(), decoder.png.message);
  }
  return image;
}

Image contact_sheet(const std::vector<Image>& images, int columns) {
  if (images.empty() || images[0].width < 1 || images[0].height < 1) return {};
  const int count = static_cast<int>(images.size());
  columns = std::clamp(columns, 1, count);
  const int rows = (count + columns - 1) / columns;
  const int room = std::max(1, (kSheetWidth - kSheetGap * (columns + 1)) / columns);
  const int width = std::min(images[0].width, room);
  const double scale = static_cast<double>(width) / images[0].width;
  const int height = std::max(1, static_cast<int>(std::lround(images[0].height * scale)));

  Image sheet(kSheetGap + columns * (width + kSheetGap), kSheetGap + rows * (height + kSheetGap));
  std::fill(sheet.rgb.begin(), sheet.rgb.end(), kSheetGrey);
  for (int i = 0; i < count; ++i) {
    paste_scaled(images[static_cast<std::size_t>(i)],
                 kSheetGap + (i % columns) * (width + kSheetGap),
                 kSheetGap + (i / columns) * (height + kSheetGap), width, height, sheet);
  }
  return sheet;
}

}  // namespace barchan
