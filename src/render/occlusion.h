// Ambient occlusion from the depth buffer alone: corners, gaps and hollows are darker.
#pragma once

#include <vector>

#include "compute/parallel.h"

namespace barchan {

struct OcclusionInput {
  const std::vector<float>* nearness = nullptr;  // 1 / depth, row by row; 0: nothing [1/m]
  int width = 0, height = 0;                     // [pixels]
  float focal = 1.0f;                            // [pixels]
  float wide = 0.0f, narrow = 0.0f;  // how far hollows reach: of the scene, of a particle [m]
};

// For each pixel the share of the surrounding light that reaches it.
std::vector<float> ambient_light(const OcclusionInput& in, const ThreadPool& pool);

}  // namespace barchan
