#include "render/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace barchan {

namespace {

struct Glyph {
  char letter;
  std::array<const char*, kGlyphHeight> rows;
  int drop = 0;  // rows below the others' [cells]
};

// clang-format off
constexpr Glyph kFont[] = {
    {'0', {" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "}},
    {'1', {"  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "}},
    {'2', {" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"}},
    {'3', {" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### "}},
    {'4', {"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "}},
    {'5', {"#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "}},
    {'6', {" ### ", "#    ", "#    ", "#### ", "#   #", "#   #", " ### "}},
    {'7', {"#####", "    #", "   # ", "   # ", "  #  ", "  #  ", "  #  "}},
    {'8', {" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "}},
    {'9', {" ### ", "#   #", "#   #", " ####", "    #", "    #", " ### "}},
    {'a', {"     ", "     ", " ### ", "    #", " ####", "#   #", " ####"}},
    {'b', {"#    ", "#    ", "#### ", "#   #", "#   #", "#   #", "#### "}},
    {'c', {"     ", "     ", " ### ", "#    ", "#    ", "#    ", " ### "}},
    {'d', {"    #", "    #", " ####", "#   #", "#   #", "#   #", " ####"}},
    {'e', {"     ", "     ", " ### ", "#   #", "#####", "#    ", " ### "}},
    {'f', {"  ## ", " #   ", "#### ", " #   ", " #   ", " #   ", " #   "}},
    {'g', {" ####", "#   #", "#   #", "#   #", " ####", "    #", " ### "}, 2},
    {'h', {"#    ", "#    ", "#### ", "#   #", "#   #", "#   #", "#   #"}},
    {'i', {"  #  ", "     ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  "}},
    {'j', {"   # ", "     ", "   # ", "   # ", "   # ", "#  # ", " ##  "}},
    {'k', {"#    ", "#    ", "#  # ", "# #  ", "##   ", "# #  ", "#  # "}},
    {'l', {" #   ", " #   ", " #   ", " #   ", " #   ", " #   ", "  ## "}},
    {'m', {"     ", "     ", "## # ", "# # #", "# # #", "# # #", "# # #"}},
    {'n', {"     ", "     ", "#### ", "#   #", "#   #", "#   #", "#   #"}},
    {'o', {"     ", "     ", " ### ", "#   #", "#   #", "#   #", " ### "}},
    {'p', {"#### ", "#   #", "#   #", "#   #", "#### ", "#    ", "#    "}, 2},
    {'q', {" ####", "#   #", "#   #", "#   #", " ####", "    #", "    #"}, 2},
    {'r', {"     ", "     ", "# ## ", "##   ", "#    ", "#    ", "#    "}},
    {'s', {"     ", "     ", " ####", "#    ", " ### ", "    #", "#### "}},
    {'t', {" #   ", " #   ", "#### ", " #   ", " #   ", " #   ", "  ## "}},
    {'u', {"     ", "     ", "#   #", "#   #", "#   #", "#   #", " ### "}},
    {'v', {"     ", "     ", "#   #", "#   #", "#   #", " # # ", "  #  "}},
    {'w', {"     ", "     ", "# # #", "# # #", "# # #", "# # #", " # # "}},
    {'x', {"     ", "     ", "#   #", " # # ", "  #  ", " # # ", "#   #"}},
    {'y', {"#   #", "#   #", "#   #", "#   #", " ####", "    #", " ### "}, 2},
    {'z', {"     ", "     ", "#####", "   # ", "  #  ", " #   ", "#####"}},
    {'A', {" ### ", "#   #", "#   #", "#####", "#   #", "#   #", "#   #"}},
    {'B', {"#### ", "#   #", "#   #", "#### ", "#   #", "#   #", "#### "}},
    {'C', {" ### ", "#   #", "#    ", "#    ", "#    ", "#   #", " ### "}},
    {'D', {"#### ", "#   #", "#   #", "#   #", "#   #", "#   #", "#### "}},
    {'E', {"#####", "#    ", "#    ", "#### ", "#    ", "#    ", "#####"}},
    {'F', {"#####", "#    ", "#    ", "#### ", "#    ", "#    ", "#    "}},
    {'G', {" ### ", "#   #", "#    ", "#  ##", "#   #", "#   #", " ### "}},
    {'H', {"#   #", "#   #", "#   #", "#####", "#   #", "#   #", "#   #"}},
    {'I', {" ### ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "}},
    {'J', {"    #", "    #", "    #", "    #", "    #", "#   #", " ### "}},
    {'K', {"#   #", "#  # ", "# #  ", "##   ", "# #  ", "#  # ", "#   #"}},
    {'L', {"#    ", "#    ", "#    ", "#    ", "#    ", "#    ", "#####"}},
    {'M', {"#   #", "## ##", "# # #", "#   #", "#   #", "#   #", "#   #"}},
    {'N', {"#   #", "##  #", "# # #", "#  ##", "#   #", "#   #", "#   #"}},
    {'O', {" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "}},
    {'P', {"#### ", "#   #", "#   #", "#### ", "#    ", "#    ", "#    "}},
    {'Q', {" ### ", "#   #", "#   #", "#   #", "# # #", "#  # ", " ## #"}},
    {'R', {"#### ", "#   #", "#   #", "#### ", "# #  ", "#  # ", "#   #"}},
    {'S', {" ####", "#    ", "#    ", " ### ", "    #", "    #", "#### "}},
    {'T', {"#####", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  "}},
    {'U', {"#   #", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "}},
    {'V', {"#   #", "#   #", "#   #", "#   #", "#   #", " # # ", "  #  "}},
    {'W', {"#   #", "#   #", "#   #", "#   #", "# # #", "## ##", "#   #"}},
    {'X', {"#   #", "#   #", " # # ", "  #  ", " # # ", "#   #", "#   #"}},
    {'Y', {"#   #", "#   #", " # # ", "  #  ", "  #  ", "  #  ", "  #  "}},
    {'Z', {"#####", "    #", "   # ", "  #  ", " #   ", "#    ", "#####"}},
    {'.', {"     ", "     ", "     ", "     ", "     ", "     ", "  #  "}},
    {',', {"     ", "     ", "     ", "     ", "     ", "  #  ", " #   "}},
    {':', {"     ", "     ", "  #  ", "     ", "     ", "  #  ", "     "}},
    {';', {"     ", "     ", "  #  ", "     ", "     ", "  #  ", " #   "}},
    {'-', {"     ", "     ", "     ", " ### ", "     ", "     ", "     "}},
    {'+', {"     ", "     ", "  #  ", "  #  ", "#####", "  #  ", "  #  "}},
    {'=', {"     ", "     ", "#####", "     ", "#####", "     ", "     "}},
    {'/', {"    #", "    #", "   # ", "  #  ", " #   ", "#    ", "#    "}},
    {'_', {"     ", "     ", "     ", "     ", "     ", "     ", "#####"}},
    {'(', {"   # ", "  #  ", " #   ", " #   ", " #   ", "  #  ", "   # "}},
    {')', {" #   ", "  #  ", "   # ", "   # ", "   # ", "  #  ", " #   "}},
    {'[', {" ### ", " #   ", " #   ", " #   ", " #   ", " #   ", " ### "}},
    {']', {" ### ", "   # ", "   # ", "   # ", "   # ", "   # ", " ### "}},
    {'%', {"##  #", "##  #", "   # ", "  #  ", " #   ", "#  ##", "#  ##"}},
    {'^', {"  #  ", " # # ", "#   #", "     ", "     ", "     ", "     "}},
    {'*', {"     ", "# # #", " ### ", "#####", " ### ", "# # #", "     "}},
    {'<', {"   # ", "  #  ", " #   ", "#    ", " #   ", "  #  ", "   # "}},
    {'>', {" #   ", "  #  ", "   # ", "    #", "   # ", "  #  ", " #   "}},
    {'\'', {"  #  ", "  #  ", "     ", "     ", "     ", "     ", "     "}},
    {'"', {" # # ", " # # ", "     ", "     ", "     ", "     ", "     "}},
    {'!', {"  #  ", "  #  ", "  #  ", "  #  ", "  #  ", "     ", "  #  "}},
    {'|', {"  #  ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  "}},
    {'?', {" ### ", "#   #", "    #", "   # ", "  #  ", "     ", "  #  "}},
    {' ', {"     ", "     ", "     ", "     ", "     ", "     ", "     "}},
};
// clang-format on

constexpr int kMostDrop = 2;     // [cells]
constexpr float kStroke = 0.5f;  // half width of a stroke [cells]
constexpr float kGlow = 1.7f;    // half width of the glow around it [cells]
constexpr Ink kGlowInk{245, 247, 249, 0.55f};

struct Stroke {
  float x0, y0, x1, y1;  // [cells]
};

// The set cells as strokes between neighbours, diagonals only where no corner joins the two: the
// bitmap becomes a rounded line drawing that stays smooth at any size.
void add_strokes(const Glyph& glyph, float left, std::vector<Stroke>& strokes) {
  const auto set = [&](int x, int y) {
    return x >= 0 && x < kGlyphWidth && y < kGlyphHeight &&
           glyph.rows[static_cast<std::size_t>(y)][x] == '#';
  };
  for (int y = 0; y < kGlyphHeight; ++y) {
    for (int x = 0; x < kGlyphWidth; ++x) {
      if (!set(x, y)) continue;
      const float cx = left + static_cast<float>(x) + 0.5f,
                  cy = static_cast<float>(y + glyph.drop) + 0.5f;
      strokes.push_back({cx, cy, cx, cy});
      if (set(x + 1, y)) strokes.push_back({cx, cy, cx + 1, cy});
      if (set(x, y + 1)) strokes.push_back({cx, cy, cx, cy + 1});
      const bool below = set(x, y + 1);
      if (set(x + 1, y + 1) && !below && !set(x + 1, y)) {
        strokes.push_back({cx, cy, cx + 1, cy + 1});
      }
      if (set(x - 1, y + 1) && !below && !set(x - 1, y)) {
        strokes.push_back({cx, cy, cx - 1, cy + 1});
      }
    }
  }
}

float distance_to(const Stroke& s, float x, float y) {
  const float ax = s.x1 - s.x0, ay = s.y1 - s.y0, length2 = ax * ax + ay * ay;
  const float along = length2 > 0.0f ? ((x - s.x0) * ax + (y - s.y0) * ay) / length2 : 0.0f;
  const float t = std::clamp(along, 0.0f, 1.0f);
  return std::hypot(x - s.x0 - t * ax, y - s.y0 - t * ay);
}

void blend(std::uint8_t* pixel, const Ink& ink, float cover) {
  const float share = std::clamp(ink.cover * cover, 0.0f, 1.0f);
  const float color[3] = {ink.r, ink.g, ink.b};
  for (int c = 0; c < 3; ++c) {
    const float mixed = static_cast<float>(pixel[c]) * (1.0f - share) + color[c] * share;
    pixel[c] = static_cast<std::uint8_t>(std::clamp(mixed + 0.5f, 0.0f, 255.0f));
  }
}

const Glyph& glyph_of(char letter) {
  const Glyph* found = std::find_if(std::begin(kFont), std::end(kFont),
                                    [letter](const Glyph& g) { return g.letter == letter; });
  return found != std::end(kFont) ? *found : glyph_of('?');
}

}  // namespace

float text_width(std::string_view text, float cell) {
  if (text.empty()) return 0.0f;
  return cell * (static_cast<float>(text.size()) * kGlyphAdvance - 1.0f);
}

void draw_text(Image& image, std::string_view text, float x, float y, float cell, const Ink& ink) {
  std::vector<Stroke> strokes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    add_strokes(glyph_of(text[i]), static_cast<float>(i) * kGlyphAdvance, strokes);
  }
  // Strokes come from left to right: each pixel looks only at those that can reach it.
  const float reach = kGlow + 1.0f;
  const int y0 = std::max(0, static_cast<int>(y - reach * cell));
  const int y1 =
      std::min(image.height, static_cast<int>(y + (kGlyphHeight + kMostDrop + reach) * cell) + 1);
  const int x0 = std::max(0, static_cast<int>(x - reach * cell));
  const float right = x + text_width(text, cell) + reach * cell;
  const int x1 = std::min(image.width, static_cast<int>(std::min(right, 1e8f)) + 1);
  std::size_t first = 0;
  for (int px = x0; px < x1; ++px) {
    const float cx = (static_cast<float>(px) + 0.5f - x) / cell;
    while (first < strokes.size() && strokes[first].x0 + kGlyphAdvance + reach < cx) ++first;
    for (int py = y0; py < y1; ++py) {
      const float cy = (static_cast<float>(py) + 0.5f - y) / cell;
      float nearest = 1e9f;
      for (std::size_t k = first; k < strokes.size(); ++k) {
        if (strokes[k].x0 > cx + kGlyphAdvance + reach) break;
        nearest = std::min(nearest, distance_to(strokes[k], cx, cy));
      }
      if (nearest < kGlow) blend(image.at(px, py), kGlowInk, 1.0f - nearest / kGlow);
      const float cover = std::clamp((kStroke - nearest) * cell + 0.5f, 0.0f, 1.0f);
      if (cover > 0.0f) blend(image.at(px, py), ink, cover);
    }
  }
}

void fill_rectangle(Image& image, float x0, float y0, float x1, float y1, const Ink& ink) {
  const int last_y = std::min(image.height, static_cast<int>(std::ceil(y1)));
  const int last_x = std::min(image.width, static_cast<int>(std::ceil(x1)));
  for (int y = std::max(0, static_cast<int>(y0)); y < last_y; ++y) {
    const float top = static_cast<float>(y);
    const float share_y = std::min(top + 1.0f, y1) - std::max(top, y0);
    for (int x = std::max(0, static_cast<int>(x0)); x < last_x; ++x) {
      const float left = static_cast<float>(x);
      const float share_x = std::min(left + 1.0f, x1) - std::max(left, x0);
      if (share_x > 0.0f && share_y > 0.0f) blend(image.at(x, y), ink, share_x * share_y);
    }
  }
}

}  // namespace barchan
