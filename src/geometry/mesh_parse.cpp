#include "geometry/mesh_parse.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace barchan::mesh_parse {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}
bool ends_line(char c) {
  return c == '\n' || c == '\r';
}

// from_chars knows no plus sign.
std::string_view without_plus(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  return word;
}

}  // namespace

std::string quoted(std::string_view word) {
  constexpr std::size_t kMost = 40;
  std::string text = "'";
  for (const char c : word.substr(0, kMost)) text += c > ' ' && c <= '~' ? c : '?';
  return text + (word.size() > kMost ? "...'" : "'");
}

std::string coordinate_fault(double value) {
  if (std::abs(value) < kLargestCoordinate) return "";
  if (!std::isfinite(value)) {
    return fmt::format(
        "a coordinate is {}; all must be finite: repair the mesh and export it again", value);
  }
  return fmt::format("a coordinate is {:g} m; all must be below {:g} m: scale the mesh down", value,
                     kLargestCoordinate);
}

// ---- TextCursor

void TextCursor::skip_blanks() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '\\' && at_ + 1 < text_.size() && ends_line(text_[at_ + 1])) {
      skip_line();
    } else {
      break;
    }
  }
}

std::string_view TextCursor::word() {
  skip_blanks();
  const std::size_t from = at_;
  while (at_ < text_.size() && !is_blank(text_[at_]) && !ends_line(text_[at_])) ++at_;
  return text_.substr(from, at_ - from);
}

void TextCursor::skip_line() {
  while (at_ < text_.size() && !ends_line(text_[at_])) ++at_;
  if (at_ == text_.size()) return;
  const bool two = text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
  at_ += two ? 2 : 1;
  ++line_;
}

bool TextCursor::next_filled_line() {
  for (skip_blanks(); at_ < text_.size() && ends_line(text_[at_]); skip_blanks()) skip_line();
  return !at_end();
}

double TextCursor::number(std::string_view what) {
  const std::string_view whole = word();
  if (whole.empty()) bad("{} is missing; a number was expected", what);
  const std::string_view digits = without_plus(whole);
  double value = 0.0;
  const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault == std::errc::result_out_of_range) {
    bad("{} {} is beyond what a number can be", what, quoted(whole));
  }
  if (fault != std::errc() || stop != digits.data() + digits.size()) {
    bad("{} {} is not a number", what, quoted(whole));
  }
  return value;
}

std::int64_t TextCursor::integer(std::string_view what) {
  const std::string_view whole = word();
  if (whole.empty()) bad("{} is missing; a whole number was expected", what);
  const std::string_view digits = without_plus(whole);
  std::int64_t value = 0;
  const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc() || stop != digits.data() + digits.size()) {
    bad("{} {} is not a whole number that fits", what, quoted(whole));
  }
  return value;
}

Vec3d TextCursor::point() {
  Vec3d p;
  p.x = number("x");
  p.y = number("y");
  p.z = number("z");
  for (int i = 0; i < 3; ++i) {
    const std::string fault = coordinate_fault(p[i]);
    if (!fault.empty()) bad("{}", fault);
  }
  return p;
}

// ---- Polygons

namespace {

// Whether the diagonal from a to c cuts the quadrangle a b c d into two triangles that face the
// same way. Of an arrowhead only one diagonal does.
bool lies_within(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return dot(cross(b - a, c - a), cross(c - a, d - a)) > 0.0;
}

void cut_quadrangle(const std::vector<Vec3d>& x, const std::uint32_t* q,
                    std::vector<Triangle>& out) {
  const Vec3d &a = x[q[0]], &b = x[q[1]], &c = x[q[2]], &d = x[q[3]];
  const bool ac_within = lies_within(a, b, c, d), bd_within = lies_within(b, c, d, a);
  const bool ac_shorter = length_squared(c - a) <= length_squared(d - b);
  if (ac_within == bd_within ? ac_shorter : ac_within) {
    out.push_back({q[0], q[1], q[2]});
    out.push_back({q[0], q[2], q[3]});
  } else {
    out.push_back({q[0], q[1], q[3]});
    out.push_back({q[1], q[2], q[3]});
  }
}

}  // namespace

Mesh triangulate(Polygons polygons) {
  Mesh mesh;
  mesh.vertices = std::move(polygons.vertices);
  // A polygon of n corners gives n - 2 triangles.
  mesh.triangles.reserve(polygons.corners.size() - 2 * polygons.ends.size());
  std::size_t from = 0;
  for (const std::size_t end : polygons.ends) {
    const std::uint32_t* corner = polygons.corners.data() + from;
    const std::size_t count = end - from;
    if (count == 4) {
      cut_quadrangle(mesh.vertices, corner, mesh.triangles);
    } else {
      for (std::size_t k = 2; k < count; ++k) {
        mesh.triangles.push_back({corner[0], corner[k - 1], corner[k]});
      }
    }
    from = end;
  }
  return mesh;
}

}  // namespace barchan::mesh_parse
