#pragma once
#include <cstdint>
#include <vector>
#include "geometry/shape.h"
namespace barchan {
struct Covering { std::vector<Vec3d> points; double radius; };
inline Covering cover(const Shape&, double radius, std::uint64_t, double) { return {{}, radius}; }
}
