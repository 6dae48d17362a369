// Marks functions that run on the host and on a GPU, and the bounds check both use in debug builds.
#pragma once

#include <cassert>

#if defined(__CUDACC__)
#define HD __host__ __device__
#else
#define HD
#endif

#define BARCHAN_PRAGMA(text) _Pragma(#text)

// Built into its caller on the host, so that a loop's constants are loaded once for all particles;
// or kept out of it, for what few particles need.
#if defined(__CUDACC__)
#define HD_INLINE HD
#define HD_CALLED HD
#else
#define HD_INLINE [[gnu::always_inline]]
#define HD_CALLED [[gnu::noinline]]
#endif

// A function of its own on a GPU, too: long code that is needed in several places of a kernel is
// fetched once.
#if defined(__CUDACC__)
#define HD_SHARED HD __noinline__
#else
#define HD_SHARED inline
#endif

// Before a template that launches kernels from the host or, where the device is the threads of a
// launch (compute/grid.cuh), is a part of one: which of the two, its definition does not say.
#if defined(__CUDACC__)
#define HD_SCHEDULE BARCHAN_PRAGMA(nv_exec_check_disable)
#else
#define HD_SCHEDULE
#endif

// Before a loop that adds up `sum`: vectorised on the host, several loads in flight on a GPU.
// Before any loop: unrolled by four, or by eight, on both.
#if defined(__CUDACC__)
#define BARCHAN_SUM_LOOP(sum) BARCHAN_PRAGMA(unroll 4)
#define BARCHAN_UNROLLED BARCHAN_PRAGMA(unroll 4)
#define BARCHAN_UNROLLED_8 BARCHAN_PRAGMA(unroll 8)
#else
#define BARCHAN_SUM_LOOP(sum) BARCHAN_PRAGMA(omp simd reduction(+ : sum))
#define BARCHAN_UNROLLED BARCHAN_PRAGMA(GCC unroll 4)
#define BARCHAN_UNROLLED_8 BARCHAN_PRAGMA(GCC unroll 8)
#endif

// Checked in debug builds (NDEBUG undefined), on both devices; free otherwise.
#define BARCHAN_ASSERT(condition) assert(condition)
