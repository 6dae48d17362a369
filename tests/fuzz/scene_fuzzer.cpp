// Any bytes at all, read as a scene: either a Scene comes out, and then its filled-in text reads
// back to the same text, or a barchan::Error with one line. Anything else is a bug.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "barchan/error.h"
#include "scene/scene.h"

namespace barchan {
namespace {

bool is_one_line(const std::string& message) {
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return false;
  }
  return !message.empty();
}

void check(const std::string& text) {
  std::string filled_in;
  try {
    filled_in = to_toml(read_scene(text, "fuzz.toml"));
  } catch (const Error& error) {
    if (!is_one_line(error.what())) std::abort();
    return;
  }
  // Not in the try block: what we wrote ourselves must be accepted.
  if (to_toml(read_scene(filled_in, "fuzz.toml")) != filled_in) std::abort();
}

}  // namespace
}  // namespace barchan

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  barchan::check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
