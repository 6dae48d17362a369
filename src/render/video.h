// Pictures into a film that every player plays.
#pragma once

#include <filesystem>
#include <vector>

namespace barchan {

// Runs ffmpeg (H.264 in MP4) over the pictures in the given order, `fps` of them a second, any
// positive number. They should be of one size; odd sizes get a line more. `out` is written aside
// and renamed. Errors: no pictures, a missing one, ffmpeg missing, or what it said last.
void encode_video(const std::vector<std::filesystem::path>& images, double fps,
                  const std::filesystem::path& out);

}  // namespace barchan
