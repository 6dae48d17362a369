// Pictures of a run's frames: reads what the scene says about them, chooses the look, builds the
// world of each moment that the shutter is open, and has it traced.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cache/frame_file.h"
#include "compute/cpu.h"
#include "render/film.h"
#include "render/image.h"
#include "scene/scene.h"

namespace barchan {

class Pictures {
 public:
  // Of the run in the folder. scene.render and scene.camera say how; sections of `scene` may differ
  // from the run's.
  Pictures(const std::filesystem::path& folder, const Scene& scene, int threads);
  ~Pictures();

  const std::string& look() const;  // the chosen one, never "auto"

  LightImage light(const LoadedFrame& frame);
  // As a screen shows it; particles with a caption, a scale bar and a colour bar.
  Image picture(const LightImage& light, const LoadedFrame& frame) const;

 private:
  struct Studio;
  std::unique_ptr<Studio> studio_;
};

}  // namespace barchan
