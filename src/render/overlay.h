// What is written on a picture: caption, colour bar and scale bar.
#pragma once

#include <string>

#include "render/color_map.h"
#include "render/image.h"

namespace barchan {

// The steps people read: the largest of 1, 2 or 5 times a power of ten that is at most `value`.
double nice_step(double value);

void draw_caption(Image& image, const std::string& caption);

// Lower right: the colours from 0 to speed_max [m/s]. Nothing where speed_max is not positive.
void draw_color_bar(Image& image, const ColorMap& colors, double speed_max);

// Lower left: a nice length, where a metre is `pixels_per_metre` pixels.
void draw_scale_bar(Image& image, double pixels_per_metre);

}  // namespace barchan
