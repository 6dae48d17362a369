// The mouth of an emitter: where its particles enter.
//
// Think of lines along the velocity, one spacing apart, through the shape. A particle is born where
// its line enters the shape and moves on at the emitter's speed, so particles on one line are apart
// by speed x time between births, and those of different lines by a spacing at least, whatever
// their births' times. The lines thus carry up to one particle a spacing each: density x (lines x
// spacing^2) x speed [kg/s], which is how the area across the velocity is counted here.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "geometry/aabb.h"
#include "geometry/sdf.h"
#include "geometry/shape.h"
#include "math/random.h"
#include "math/vec3.h"

namespace barchan {

// A line along the velocity, from where it enters the shape.
struct InletLine {
  Vec3d entry;         // inside the shape, next to its surface [m]
  double depth = 0.0;  // how far it goes on inside, as far as anybody asks [m]
};

class Inlet {
 public:
  static constexpr double kDeepest = 4.0;  // how far InletLine::depth is followed [spacings]

  // `direction` is a unit vector; the shape must be bounded. The lines come in an order shuffled by
  // `random`. None where the shape is too thin to hold one.
  Inlet(const Shape& shape, const Vec3d& direction, double spacing, const Random& random);

  const std::vector<InletLine>& lines() const { return lines_; }
  // Of lines that a shape's bounding box asks for, before any is made.
  static double most_lines(const Shape& shape, const Vec3d& direction, double spacing);

  // The line that runs `along`, `across` [m] beside one of lines(); nothing where it misses the
  // shape.
  std::optional<InletLine> beside(std::size_t line, double along, double across) const;
  // The same shift of a point.
  Vec3d shifted(const Vec3d& point, double along, double across) const {
    return point + along * along_ + across * across_;
  }
  bool contains(const Vec3d& point) const { return depth_at(point) > 0.0; }

  // A box around the entries of all lines, beside() included.
  const Aabb& bounds() const { return bounds_; }

 private:
  double depth_at(const Vec3d& point) const;  // in the shape [m], negative outside
  std::optional<InletLine> enter(const Vec3d& start) const;
  std::vector<InletLine> lattice(double shift_along, double shift_across) const;

  Vec3d direction_, along_, across_;  // unit, at right angles
  double spacing_;                    // [m]
  Vec3d middle_;                      // of the program [m]
  SdfProgram program_;
  Vec3d back_;                                // of the shape's box, upstream of its middle [m]
  double length_, half_along_, half_across_;  // of that box, along the three directions [m]
  std::vector<InletLine> lines_;
  Aabb bounds_;
};

}  // namespace barchan
