// Takes the noise out of a traced picture.
//
// The light is divided by `plain`, the picture under an even light: that leaves the lighting, which
// is smooth but for shadows' edges, and keeps colours, patterns and what is seen in and through
// water out of the filter. The lighting goes through an a-trous filter (Dammertz et al. 2010): 3 x
// 3 weights, five times, each time twice as far apart. A neighbour counts less the more its normal,
// its depth, its plain colour and its light differ, the last in units of the noise that was
// measured there (Schied et al. 2017). What is multiplied back is the exact plain picture.
#pragma once

#include "compute/parallel.h"
#include "render/film.h"

namespace barchan {

LightImage denoised(const Exposed& exposed, const ThreadPool& pool);

}  // namespace barchan
