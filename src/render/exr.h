// Linear light in OpenEXR files, for other programs to grade and compose.
#pragma once

#include <filesystem>

#include "render/film.h"

namespace barchan {

// Half precision, red, green and blue. Written aside and renamed: the file is whole or not there.
void write_exr(const std::filesystem::path& path, const LightImage& image);

}  // namespace barchan
