// Where the light comes from: a sun, a sky, and bright rectangles. Radiance and irradiance are in
// units of the picture: a white surface of radiance 1 comes out nearly white.
#pragma once

#include <vector>

#include "math/vec3.h"

namespace barchan {

// Emits to the side that cross(along, across) points to.
struct AreaLight {
  Vec3 center;         // [m]
  Vec3 along, across;  // half edges [m]
  Vec3 radiance;
};

struct Lighting {
  Vec3 up{0, 1, 0};  // unit
  // The sky is `horizon` at the rim, `zenith` overhead, `below` under the rim.
  Vec3 zenith{1, 1, 1}, horizon{1, 1, 1}, below{1, 1, 1};
  Vec3 to_sun{0, 1, 0};     // unit
  Vec3 sun;                 // irradiance on a surface across it
  float sun_cosine = 1.0f;  // of its half angle
  std::vector<AreaLight> areas;

  Vec3 sky(const Vec3& way) const;
  // Radiance of the sun's disc where `way` points to it, else black.
  Vec3 sun_disc(const Vec3& way) const;
};

// A clear late morning: a warm sun, high on the left and a little ahead; a blue sky that is pale at
// the rim. `forward` is where the camera looks.
Lighting daylight(const Vec3& up, const Vec3& forward);

}  // namespace barchan
