// What the three mesh readers share: words and numbers of a text with the line they are on, and
// polygons before they become triangles. For obj_file.cpp, ply_file.cpp, stl_file.cpp and
// mesh_file.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "geometry/mesh.h"

namespace barchan::mesh_parse {

// Corner numbers must fit 32 bits, with room for what mending adds.
inline constexpr std::uint64_t kMostVertices = (std::uint64_t{1} << 31) - 1;
inline constexpr double kLargestCoordinate = 1e12;  // [m], as for shapes

Mesh parse_obj(std::string_view bytes, const std::string& name);
Mesh parse_ply(std::string_view bytes, const std::string& name);
Mesh parse_stl(std::string_view bytes, const std::string& name);

// A word of the file, made fit for a message: in quotes, printable, not too long.
std::string quoted(std::string_view word);

// "" or what is wrong with a coordinate.
std::string coordinate_fault(double value);

// Walks through a text: line by line, and word by word within a line.
class TextCursor {
 public:
  TextCursor(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  // The next word of this line, or "" where there is none left. A backslash at the end of a line
  // joins the next one to it.
  std::string_view word();
  // The next word as a number of any kind, or of whole ones. `what` names it in the message.
  double number(std::string_view what);
  std::int64_t integer(std::string_view what);
  // Three coordinates [m].
  Vec3d point();

  bool at_end() const { return at_ == text_.size(); }
  void skip_line();  // to the beginning of the next line
  // To the next line that holds a word; false if there is none. The first call stays on line 1.
  bool next_filled_line();
  std::size_t offset() const { return at_; }  // bytes before the cursor

  template <class... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> text, Args&&... args) const {
    bad_at(line_, fmt::format(text, std::forward<Args>(args)...));
  }
  [[noreturn]] void bad_at(std::size_t line, const std::string& message) const {
    reject("{}:{}: {}", name_, line, message);
  }
  std::size_t line() const { return line_; }  // from 1

 private:
  void skip_blanks();

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

// Polygons as files have them: any number of corners from three on.
struct Polygons {
  std::vector<Vec3d> vertices;         // [m]
  std::vector<std::uint32_t> corners;  // of all polygons, one after the other
  std::vector<std::size_t> ends;       // polygon k ends before corners[ends[k]]
};

// Fans about the first corner; four corners are cut along the shorter diagonal, or the one that
// lies within the polygon. All corners must exist.
Mesh triangulate(Polygons polygons);

}  // namespace barchan::mesh_parse
