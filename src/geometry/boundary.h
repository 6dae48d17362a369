// Boundary samples: points in a solid's material that stand for it in the density of a fluid of
// particles (Akinci et al. 2012).
//
//   symbol  meaning                                             unit
//   d       spacing of the fluid's particles                    m
//   h       support of their kernel, 2 d                        m
//   a       weight of a sample: its volume over d^3             -
//   W       poly6 kernel of support h, over its value at 0      -
//
// Where. Fluid keeps d/2 from a surface, so a regular lattice of fluid goes on within the solid
// with a layer at the depth d/2. The next one is h away from the fluid: that layer is all it sees.
// Samples lie on the surface sunk by d/2, about 0.63 d apart. Where the solid is thinner than d and
// has no such surface (plates, shells, edges of wedges), they are sunk half its thickness.
//
// Weights. a_i = S / sum_k W(x_i - x_k) over all samples, i itself too: Akinci's eq. 4, which gives
// crowded samples less each. S is such that a flat wall counts as much as the lattice's layer, for
// a particle over one of its sites. Let n samples be on d^2 of a wall. A plane at the distance z,
// integrated, gives
//
//   I(z) = 1/d^2 int W dA = pi (1 - z^2/h^2)^4,
//
// so that a = S / (n I(0)), and the wall's share at the distance d is a n I(d) = S (3/4)^4. The
// lattice's own is one site below, four beside it and four across:
//
//   L = (3/4)^3 + 4 (1/2)^3 + 4 (1/4)^3 = 63/64,   S = L (4/3)^4 = 28/9.
//
// The sum over a square lattice of spacing d in its own plane is 51/16 instead. With that for S
// walls would be 2.5 % too dense, as lattice and integral differ; here such a wall gets a = 0.976.
// A sample all alone would get a = S; no weight is above 1, as it stands for a particle at most.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/aabb.h"
#include "geometry/shape.h"
#include "math/vec3.h"

namespace barchan {

struct BoundarySamples {
  std::vector<Vec3d> points;  // in the solid's own frame (that of Solid::shape) [m]
  std::vector<float> weight;  // volume that the sample stands for, over spacing^3
};

// Samples of the solid's material: the shape's inside, or all around it if it is inside_out. Boxes
// and planes get a regular grid, other shapes a covering (covering.h) that `seed` starts.
//
// Endless shapes are sampled within the box `stage`, given in the solid's own frame, and three
// supports beyond it. Rejects degenerate shapes, a spacing that is not above 0, more than 50
// million samples, and endless shapes on an endless stage. The same for any number of threads.
BoundarySamples sample_boundary(const Shape& shape, bool inside_out, double spacing,
                                std::uint64_t seed, const Aabb& stage);

}  // namespace barchan
