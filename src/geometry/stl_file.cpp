// STL, text and binary. Binary: 80 bytes of anything, a count, and 50 bytes a triangle. The word
// "solid" tells nothing, because many binary files begin with it; the size does: read as a binary
// file's count, four letters of a text are half a billion triangles or more.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "geometry/mesh_parse.h"

namespace barchan::mesh_parse {

namespace {

constexpr std::size_t kHead = 84;      // bytes before the first triangle
constexpr std::size_t kTriangle = 50;  // bytes: normal, three corners, two spare bytes

// Little-endian, whatever the machine.
std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

float float_at(std::string_view bytes, std::size_t at) {
  const std::uint32_t bits = number_at(bytes, at);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void add_triangle(Mesh& mesh, const std::array<Vec3d, 3>& corners) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
  mesh.triangles.push_back({first, first + 1, first + 2});
}

// ---- binary

Mesh parse_binary(std::string_view bytes, const std::string& name) {
  if (bytes.size() < kHead) {
    reject(
        "{}: {} bytes are neither a text that begins with 'solid' nor the {} bytes a binary STL "
        "file begins with; the file may be cut off",
        name, bytes.size(), kHead);
  }
  const std::uint64_t count = number_at(bytes, 80);
  const std::uint64_t needed = kHead + kTriangle * count;
  if (needed != bytes.size()) {
    reject(
        "{}: byte 80: {} triangles take {} bytes, but the file has {}; it may be cut off, or no "
        "STL file: export the mesh again",
        name, count, needed, bytes.size());
  }
  if (3 * count > kMostVertices) {
    reject("{}: {} triangles; at most {} are read: use a coarser mesh", name, count,
           kMostVertices / 3);
  }
  Mesh mesh;
  mesh.vertices.reserve(3 * count);
  mesh.triangles.reserve(count);
  for (std::uint64_t k = 0; k < count; ++k) {
    std::array<Vec3d, 3> corners;
    for (std::size_t i = 0; i < 9; ++i) {
      const std::size_t at = kHead + kTriangle * k + 12 + 4 * i;
      const double value = float_at(bytes, at);
      const std::string fault = coordinate_fault(value);
      if (!fault.empty()) reject("{}: byte {}: triangle {}: {}", name, at, k + 1, fault);
      corners[i / 3][static_cast<int>(i % 3)] = value;
    }
    add_triangle(mesh, corners);
  }
  return mesh;
}

// ---- text

std::string lower_case(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

class StlTextReader {
 public:
  StlTextReader(std::string_view bytes, const std::string& name) : text_(bytes, name) {}

  Mesh read() {
    while (text_.next_filled_line()) {
      expect("solid");
      text_.skip_line();  // the rest of the line is its name
      while (next() == "facet") read_facet();
      if (key_ != "endsolid") bad("facet or endsolid");
      text_.skip_line();
    }
    return std::move(mesh_);
  }

 private:
  const std::string& next() {
    if (!text_.next_filled_line()) {
      text_.bad("the file ends without 'endsolid'; it may be cut off: export the mesh again");
    }
    return key_ = lower_case(text_.word());
  }
  void expect(const char* word) {
    if (next() != word) bad(word);
  }
  [[noreturn]] void bad(const char* expected) const {
    text_.bad("{} was found where {} was expected", quoted(key_), expected);
  }

  void read_facet() {
    text_.skip_line();  // the normal follows from the corners, and may be nan
    expect("outer");
    expect("loop");
    std::array<Vec3d, 3> corners;
    for (Vec3d& corner : corners) {
      expect("vertex");
      corner = text_.point();
    }
    if (next() == "vertex") text_.bad("a facet of more than three corners; export triangles");
    if (key_ != "endloop") bad("endloop");
    expect("endfacet");
    if (mesh_.vertices.size() + 3 > kMostVertices) {
      text_.bad("more than {} triangles; use a coarser mesh", kMostVertices / 3);
    }
    add_triangle(mesh_, corners);
  }

  TextCursor text_;
  std::string key_;
  Mesh mesh_;
};

bool is_text(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 512);
  const bool printable = std::all_of(head.begin(), head.end(), [](char c) {
    return (static_cast<unsigned char>(c) >= ' ') || (c >= '\t' && c <= '\r');
  });
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return printable && first != std::string_view::npos &&
         lower_case(head.substr(first, 5)) == "solid";
}

}  // namespace

Mesh parse_stl(std::string_view bytes, const std::string& name) {
  const bool binary_size = bytes.size() >= kHead &&
                           kHead + kTriangle * std::uint64_t{number_at(bytes, 80)} == bytes.size();
  return !binary_size && is_text(bytes) ? StlTextReader(bytes, name).read()
                                        : parse_binary(bytes, name);
}

}  // namespace barchan::mesh_parse
