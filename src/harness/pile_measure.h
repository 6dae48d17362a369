// The shape of a pile in each frame of a run: how far it reaches, how high it stands, how steep it
// is. Single grains that ran away do not count.
#pragma once

#include <string>
#include <vector>

#include "cache/run_folder.h"
#include "harness/series.h"
#include "math/vec3.h"

namespace barchan {

// Heights of upright columns in a row: the volume of the particles in each, over its footprint.
struct PileProfile {
  double width = 0.0;           // of a column [m]
  double first = 0.0;           // middle of the first column, along the direction [m]
  std::vector<double> heights;  // [m]
};

// Along `direction`, a coordinate axis across `up`, columns go over the whole breadth of the pile.
// Without a direction (a zero vector) they are rings around the upright line through the median of
// the particles. They are two spacings wide, a cell of flip's grid; four where the pile is to be
// seen as a run with twice the spacing would show it.
PileProfile pile_profile(const std::vector<Vec3>& particles, double spacing, const Vec3d& up,
                         const Vec3d& direction, double spacings_wide = 2.0);

// The same columns by their tops, for grains that fill less than their spacing cubed, or more: the
// mean over patches of a column's width of how far the highest particle is above the lowest one of
// all. Patches without particles count as 0.
PileProfile pile_tops(const std::vector<Vec3>& particles, double spacing, const Vec3d& up,
                      const Vec3d& direction);

// Of the highest column [m].
double pile_height(const PileProfile& profile);
// Where, from the highest column on, heights fall below half a column's width, on the straight line
// between the middles of columns [m]. A single column that is lower does not end the pile where the
// mean of it and the next is not: a carpet of single grains is just that high, and has gaps.
double pile_front(const PileProfile& profile);
// Steepness from the highest column to the front: of the least-squares line through the heights
// from a fifth to four fifths of the greatest [degrees]. NaN with less than three columns.
double pile_angle(const PileProfile& profile);

// pile.DIRECTION.KEY of the expression language, a row a frame. DIRECTION is x, y, z, -x, -y, -z
// or r (rings); KEY is front [m], front2 (the front in columns four spacings wide) [m], height [m],
// angle [degrees] or slope, the angle of the tops [degrees].
Series pile_series(const RunFolder& run, const std::string& direction, const std::string& key);

const std::vector<std::string>& pile_directions();
const std::vector<std::string>& pile_keys();

}  // namespace barchan
