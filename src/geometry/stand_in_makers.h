// How the meshes of stand_ins.h are made, in any size and place: stand_ins.cpp puts them on y = 0
// and makes them 1 m tall. For stand_*.cpp only.
#pragma once

#include "geometry/mesh.h"

namespace barchan::stand_ins {

// stand_in_animals.cpp: blended ellipsoids and limbs
Mesh make_bunny();
Mesh make_armadillo();
Mesh make_camel();

// stand_in_objects.cpp: extruded and revolved outlines, and the castle
Mesh make_house();
Mesh make_castle();
Mesh make_bulldozer();
Mesh make_ring();
Mesh make_hourglass();
Mesh make_cube();
Mesh make_sphere();
Mesh make_torus();

}  // namespace barchan::stand_ins
