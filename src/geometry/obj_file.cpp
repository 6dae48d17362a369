// Wavefront OBJ: "v x y z" and "f corner corner corner ..."; a corner is v, v/vt, v//vn or v/vt/vn,
// counted from 1, or from the last vertex backwards if negative.
#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "geometry/mesh_parse.h"

namespace barchan::mesh_parse {

namespace {

constexpr std::array<std::string_view, 22> kIgnored = {
    "vt",     "vn",     "vp",     "g",          "o",         "s",     "mg",       "usemtl",
    "mtllib", "usemap", "maplib", "l",          "p",         "bevel", "c_interp", "d_interp",
    "lod",    "call",   "csh",    "shadow_obj", "trace_obj", "ctech"};
constexpr std::array<std::string_view, 7> kFreeForm = {"cstype", "deg",  "bmat", "curv",
                                                       "curv2",  "surf", "parm"};

bool is_in(const auto& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class ObjReader {
 public:
  ObjReader(std::string_view bytes, const std::string& name) : text_(bytes, name) {}

  Mesh read() {
    while (text_.next_filled_line()) {
      read_line();
      text_.skip_line();
    }
    check_forward();
    return triangulate(std::move(polygons_));
  }

 private:
  // A corner that names a vertex which has not come yet: it may still come.
  struct Forward {
    std::size_t line;
    std::int64_t vertex;
  };

  void read_line() {
    const std::string_view key = text_.word();
    if (key == "v") {
      read_vertex();
    } else if (key == "f" || key == "fo") {
      read_face();
    } else if (is_in(kFreeForm, key)) {
      text_.bad("free-form curves and surfaces ({}) are not read; export the mesh as triangles",
                quoted(key));
    } else if (key[0] != '#' && !is_in(kIgnored, key)) {
      text_.bad("{} begins no line of an OBJ file; expected v, vt, vn, f, g, o, s, usemtl, mtllib",
                quoted(key));
    }
  }

  void read_vertex() {
    if (polygons_.vertices.size() == kMostVertices) {
      text_.bad("more than {} vertices; use a coarser mesh", kMostVertices);
    }
    polygons_.vertices.push_back(text_.point());
  }

  void read_face() {
    const std::size_t from = polygons_.corners.size();
    for (std::string_view word = text_.word(); !word.empty(); word = text_.word()) {
      if (word[0] == '#') break;
      polygons_.corners.push_back(read_corner(word));
    }
    const std::size_t corners = polygons_.corners.size() - from;
    if (corners < 3) text_.bad("a face of {} corners; it needs three or more", corners);
    polygons_.ends.push_back(polygons_.corners.size());
  }

  std::uint32_t read_corner(std::string_view word) {
    std::int64_t number = 0;
    const char* end = word.data() + word.size();
    const auto [stop, fault] = std::from_chars(word.data(), end, number);
    if (fault != std::errc() || (stop != end && *stop != '/')) {
      text_.bad("face corner {} is not a vertex number, nor v/vt/vn", quoted(word));
    }
    if (number == 0) text_.bad("vertex number 0; vertices are counted from 1");
    const auto known = static_cast<std::int64_t>(polygons_.vertices.size());
    if (number < -known) {
      text_.bad("vertex number {} does not exist: {} vertices come before this line", number,
                known);
    }
    if (number > known) forward_.push_back({text_.line(), number});
    return static_cast<std::uint32_t>(number < 0 ? known + number : number - 1);
  }

  void check_forward() const {
    const auto known = static_cast<std::int64_t>(polygons_.vertices.size());
    for (const Forward& corner : forward_) {
      if (corner.vertex <= known) continue;
      text_.bad_at(
          corner.line,
          fmt::format("vertex number {} does not exist: the file has {} vertices; the file "
                      "may be cut off: export the mesh again",
                      corner.vertex, known));
    }
  }

  TextCursor text_;
  Polygons polygons_;
  std::vector<Forward> forward_;
};

}  // namespace

Mesh parse_obj(std::string_view bytes, const std::string& name) {
  return ObjReader(bytes, name).read();
}

}  // namespace barchan::mesh_parse
