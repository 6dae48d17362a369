#include "render/exr.h"

#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfRgbaFile.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"

namespace barchan {

namespace {

// The file is made in memory, so that it reaches the disk whole.
class Bytes final : public Imf::OStream {
 public:
  Bytes() : Imf::OStream("picture") {}
  void write(const char data[], int count) override {
    const std::size_t end = at_ + static_cast<std::size_t>(count);
    if (bytes.size() < end) bytes.resize(end);
    std::copy(data, data + count, bytes.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = end;
  }
  std::uint64_t tellp() override { return at_; }
  void seekp(std::uint64_t place) override { at_ = place; }

  std::vector<char> bytes;

 private:
  std::size_t at_ = 0;
};

}  // namespace

void write_exr(const std::filesystem::path& path, const LightImage& image) {
  std::vector<Imf::Rgba> pixels;
  for (const Vec3& c : image.light) pixels.emplace_back(c.x, c.y, c.z, 1.0f);
  Bytes out;
  try {
    Imf::RgbaOutputFile file(out, Imf::Header(image.width, image.height), Imf::WRITE_RGB, 1);
    file.setFrameBuffer(pixels.data(), 1, static_cast<std::size_t>(image.width));
    file.writePixels(image.height);
  } catch (const std::exception& error) {
    fail("cannot make {}: {}", path.string(), error.what());
  }
  write_file_atomic(path, out.bytes.data(), out.bytes.size());
}

}  // namespace barchan
