// What a parabola becomes on its way from the grid to the particles and back (Zhu's thesis, 3.2.1).
#pragma once

#include <string>
#include <vector>

#include "cache/run_folder.h"

namespace barchan {

// transfer.KEY of the expression language, by the particles of frame 0 and cells of two spacings:
// f = x^2 stands on the grid's faces, particles take it (PIC) and give it back. KEY is error, the
// mean of what comes back less f over all faces amid the particles [m^2], or coefficient, that
// over f'' dx^2. Particles anywhere with equal chance give 1/6 on the mean, half of it on either
// way; with a lattice of eight a cell it is 3/16.
double transfer_measure(const RunFolder& run, const std::string& key);

// The keys there are.
const std::vector<std::string>& transfer_keys();

}  // namespace barchan
