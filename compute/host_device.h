// Steps are single source: one functor, run by the CPU loops and by the CUDA kernels alike.
#pragma once

#ifdef __CUDACC__
#define ECHOLUX_HD __host__ __device__
// Before a template that calls what it is given: nvcc need not warn that this runs on one side only.
#define ECHOLUX_HD_CALLER _Pragma("nv_exec_check_disable")
#else
#define ECHOLUX_HD
#define ECHOLUX_HD_CALLER
#endif

// Before a loop that kernels need unrolled; the host's compiler does not know the word.
#ifdef __CUDA_ARCH__
#define ECHOLUX_UNROLL _Pragma("unroll")
#else
#define ECHOLUX_UNROLL
#endif
