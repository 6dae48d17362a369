#include "render/overlay.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "render/text.h"

namespace barchan {

namespace {

constexpr Ink kInk{38, 45, 54, 1.0f};
constexpr Ink kFrame{38, 45, 54, 0.55f};

// All sizes follow the picture's height, so that a small picture looks like a large one.
struct Layout {
  float cell;    // of the font [pixels]
  float margin;  // [pixels]
  float bar;     // thickness of the colour bar [pixels]
};

Layout layout_of(const Image& image) {
  const float cell = std::max(1.0f, static_cast<float>(image.height) / 360.0f);
  return {cell, 12.0f * cell, 6.0f * cell};
}

std::string metres(double length) {
  if (length >= 1000.0) return fmt::format("{:g} km", length / 1000.0);
  if (length >= 1.0) return fmt::format("{:g} m", length);
  if (length >= 0.01) return fmt::format("{:g} cm", length * 100.0);
  return fmt::format("{:g} mm", length * 1000.0);
}

Ink ink_of(const Vec3& linear) {
  return {255.0f * linear_to_srgb(linear.x), 255.0f * linear_to_srgb(linear.y),
          255.0f * linear_to_srgb(linear.z), 1.0f};
}

}  // namespace

double nice_step(double value) {
  if (!(value > 1e-100) || !std::isfinite(value)) return 1.0;  // 10^-n must not end in 0
  // Powers of ten as a quotient below 1: 1 / 10^2 is the double nearest to 0.01, 0.1^2 is not.
  const int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  const double power = std::pow(10.0, std::abs(exponent));
  const auto scaled = [&](double digit) { return exponent < 0 ? digit / power : digit * power; };
  const double slack = value * (1.0 + 1e-9);
  for (const double digit : {5.0, 2.0}) {
    if (scaled(digit) <= slack) return scaled(digit);
  }
  return scaled(1.0);
}

void draw_caption(Image& image, const std::string& caption) {
  if (caption.empty()) return;
  const Layout at = layout_of(image);
  draw_text(image, caption, at.margin, at.margin, at.cell, kInk);
}

void draw_color_bar(Image& image, const ColorMap& colors, double speed_max) {
  if (!(speed_max > 0.0) || !std::isfinite(speed_max)) return;
  const Layout at = layout_of(image);
  const auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
  const float length = std::min(130.0f * at.cell, 0.4f * width);
  const float left = std::floor(width - at.margin - length);
  const float top = std::floor(height - at.margin - at.bar - 11.0f * at.cell);

  // The colours, framed
  fill_rectangle(image, left - 1, top - 1, left + length + 1, top + at.bar + 1, kFrame);
  for (float x = 0.0f; x < length; x += 1.0f) {
    const float end = std::min(x + 1.0f, length);
    fill_rectangle(image, left + x, top, left + end, top + at.bar,
                   ink_of(colors((x + 0.5f) / length)));
  }

  // Ticks with their numbers below, the quantity above
  const double step = nice_step(speed_max / 2.5);
  for (int k = 0; k * step <= speed_max * (1.0 + 1e-9); ++k) {
    const float x = left + length * static_cast<float>(k * step / speed_max);
    const std::string label = fmt::format("{:.4g}", k * step);
    fill_rectangle(image, x - 0.5f, top + at.bar, x + 0.5f, top + at.bar + 2.5f * at.cell, kInk);
    const float wide = text_width(label, at.cell);
    const float begin = std::min(x - 0.5f * wide, width - 0.5f * at.margin - wide);
    draw_text(image, label, begin, top + at.bar + 4.0f * at.cell, at.cell, kInk);
  }
  draw_text(image, "speed [m/s]", left, top - 10.0f * at.cell, at.cell, kInk);
}

void draw_scale_bar(Image& image, double pixels_per_metre) {
  if (!(pixels_per_metre > 0.0) || !std::isfinite(pixels_per_metre)) return;
  const Layout at = layout_of(image);
  const double length = nice_step(0.22 * image.width / pixels_per_metre);
  const auto pixels = static_cast<float>(length * pixels_per_metre);
  const float thick = std::max(1.0f, 1.5f * at.cell), left = std::floor(at.margin);
  const float y = std::floor(static_cast<float>(image.height) - at.margin - 11.0f * at.cell);
  const float tick = 3.0f * at.cell;
  fill_rectangle(image, left, y, left + pixels, y + thick, kInk);
  for (const float x : {left, left + pixels - thick}) {
    fill_rectangle(image, x, y - tick, x + thick, y, kInk);
  }
  const std::string label = metres(length);
  const float middle = left + 0.5f * (pixels - text_width(label, at.cell));
  draw_text(image, label, middle, y + thick + 3.0f * at.cell, at.cell, kInk);
}

}  // namespace barchan
