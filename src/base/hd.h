// Marks functions that run on the host and on a GPU, and the bounds check both use in debug builds.
#pragma once

#include <cassert>

#if defined(__CUDACC__)
#define HD __host__ __device__
#else
#define HD
#endif

// Checked in debug builds (NDEBUG undefined), on both devices; free otherwise.
#define BARCHAN_ASSERT(condition) assert(condition)
