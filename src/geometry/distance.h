// What a signed distance answers.
#pragma once

#include "math/vec3.h"

namespace barchan {

struct Distance {
  float d;        // [m], negative inside
  Vec3 gradient;  // unit length; some unit vector where the distance has a kink
};

}  // namespace barchan
