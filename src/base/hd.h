// Marks functions that run on the host and on a GPU, and the bounds check both use in debug builds.
#pragma once

#include <cassert>

#if defined(__CUDACC__)
#define HD __host__ __device__
#else
#define HD
#endif

// Built into its caller on the host, so that a loop's constants are loaded once for all particles;
// or kept out of it, for what few particles need.
#if defined(__CUDACC__)
#define HD_INLINE HD
#define HD_CALLED HD
#else
#define HD_INLINE [[gnu::always_inline]]
#define HD_CALLED [[gnu::noinline]]
#endif

// Before a loop that adds up `sum`: vectorised on the host, several loads in flight on a GPU.
// Before any loop: unrolled by four on both.
#define BARCHAN_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__)
#define BARCHAN_SUM_LOOP(sum) BARCHAN_PRAGMA(unroll 4)
#define BARCHAN_UNROLLED BARCHAN_PRAGMA(unroll 4)
#else
#define BARCHAN_SUM_LOOP(sum) BARCHAN_PRAGMA(omp simd reduction(+ : sum))
#define BARCHAN_UNROLLED BARCHAN_PRAGMA(GCC unroll 4)
#endif

// Checked in debug builds (NDEBUG undefined), on both devices; free otherwise.
#define BARCHAN_ASSERT(condition) assert(condition)
