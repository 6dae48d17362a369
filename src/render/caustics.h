// Sunlight that comes to a ground through water: bright where the waves gather it.
//
// Photons leave a rectangle across the sun's direction that covers all of the water, one from each
// cell of a lattice. They are refracted or mirrored at the water's borders, lose by Beer's law,
// and those that have met water and end on the ground add their share to a map of its irradiance.
// What comes to the ground without meeting water is left to shadow rays. (Arvo 1986)
#pragma once

#include <vector>

#include "compute/parallel.h"
#include "math/vec3.h"

namespace barchan {

struct TraceScene;
struct Ground;

class CausticMap {
 public:
  // About `photons` of them. Same bytes on any number of threads.
  CausticMap(const TraceScene& scene, const Ground& ground, int photons, const ThreadPool& pool);

  // Irradiance at a point of the ground.
  Vec3 at(const Vec3& point) const;

 private:
  struct Landing {
    Vec3 point;  // [m]
    Vec3 power;  // irradiance x m^2
  };
  void gather(const std::vector<std::vector<Landing>>& landings);

  Vec3 axis_[2];                   // of the map
  float start_[2] = {0.0f, 0.0f};  // of its first cell along the axes [m]
  float cell_ = 1.0f;              // edge [m]
  int size_[2] = {0, 0};           // [cells]
  std::vector<Vec3> irradiance_;
};

}  // namespace barchan
