// Letters and lines on a finished picture, with soft edges.
#pragma once

#include <string_view>

#include "render/image.h"

namespace barchan {

// A colour in sRGB, 0 to 255, and how much it covers, 0 to 1.
struct Ink {
  float r = 0.0f, g = 0.0f, b = 0.0f;
  float cover = 1.0f;
};

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 7;  // [cells]
inline constexpr int kGlyphAdvance = 6;                  // from letter to letter [cells]

// Width of the text [pixels] where a cell of the font is `cell` pixels wide.
float text_width(std::string_view text, float cell);

// Draws with the upper left corner of the first letter at (x, y) [pixels], on a light glow that
// keeps it legible on anything. Characters that the font lacks come out as '?'.
void draw_text(Image& image, std::string_view text, float x, float y, float cell, const Ink& ink);

// A rectangle [x0, x1) x [y0, y1) [pixels]; parts of pixels are covered in part.
void fill_rectangle(Image& image, float x0, float y0, float x1, float y1, const Ink& ink);

}  // namespace barchan
