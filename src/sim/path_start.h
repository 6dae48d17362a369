// The column that flow probes add to the state: where a particle was when its path was looked at
// last. It belongs to the particle, so it stays right when solvers sort their rows.
#pragma once

namespace barchan {

inline constexpr const char* kPathStart = "path_start";  // [m]

}  // namespace barchan
