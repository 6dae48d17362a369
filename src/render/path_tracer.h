// Light along a line of sight, by following paths backwards from the eye (Kajiya 1986).
//
// At a rough surface the sun and the area lights are asked directly, by a shadow ray, and the path
// goes on in a random direction. At a border of water or glass a path parts in two as long as it
// came from the eye by such borders alone; later it takes one of the two at random. Sunlight
// through water comes to grounds by maps (caustics.h), and goes straight through its surface to
// everything else, less what is reflected and absorbed. A path that meets the sun itself counts
// only if it comes from the eye by mirrors and panes, because rough surfaces have asked for the sun
// already.
#pragma once

#include "render/sampler.h"
#include "render/trace_scene.h"

namespace barchan {

struct TraceSettings {
  int bounces = 4;         // at rough surfaces, at most
  float least = 0.0f;      // a path that counts less than this bounces no more
  Vec3 ambient;            // radiance that comes to a rough surface where paths bounce no more
  int splits = 3;          // borders of water and glass at which a path parts in two
  float brightest = 0.0f;  // no sample is brighter than this: no lone bright pixels; 0: no limit
};

// What one sample sees.
struct Sight {
  Vec3 light;         // radiance
  Vec3 plain;         // the same if all rough surfaces were lit by an even white light
  Vec3 normal;        // of the first surface; zero: the sky
  float depth = 0.f;  // distance to it [m]; 0: the sky
};

// `spread`: width of a pixel at a distance of 1 [m/m].
Sight trace(const TraceScene& scene, const TraceSettings& settings, const Ray& ray, float spread,
            Sampler& sampler);

}  // namespace barchan
