// Where the picture is taken from.
#pragma once

#include <vector>

#include "geometry/aabb.h"
#include "math/vec3.h"
#include "params/output_params.h"

namespace barchan {

struct Camera {
  Vec3d eye{0, 0, 5};   // [m]
  Vec3d target;         // what is in the middle of the picture, and where the scale bar holds [m]
  Vec3d up{0, 1, 0};    // the scene's up axis, any length
  double fov = 0.6109;  // vertical angle of view [rad]
};

// A camera that sees the whole box with a margin, in a three-quarter view slightly from above:
// from the front (+z if y is up, -y if z is up) turned towards +x. aspect = width / height. An
// empty or endless box is taken for a cube of one metre about the origin.
Camera fit_camera(const Aabb& subject, const Vec3d& up, double fov, double aspect);

// Where a camera with these keys is at a time [s]: at the keys, and on a smooth way between them;
// still before the first and after the last. At least one key, their times growing.
CameraKey interpolated(const std::vector<CameraKey>& keys, double time);

// The camera as a set of axes and a mapping to pixels. A point p with arm = p - eye is seen at
//     x = center_x + focal dot(arm, right) / z,   y = center_y - focal dot(arm, up) / z,
// with its depth z = dot(arm, forward); pixel (i, j) covers [i, i + 1) x [j, j + 1).
struct Projection {
  Vec3d eye;                              // [m]
  Vec3d right, up, forward;               // unit
  double focal = 1.0;                     // [pixels]
  double center_x = 0.0, center_y = 0.0;  // [pixels]
  int width = 0, height = 0;              // [pixels]

  // x, y [pixels] and depth z [m]; of use only where z > 0.
  Vec3d project(const Vec3d& point) const;
};

Projection make_projection(const Camera& camera, int width, int height);

}  // namespace barchan
