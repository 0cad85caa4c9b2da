// Steps have a single source: functors that run in CPU loops and in CUDA kernels.
#pragma once

#ifdef __CUDACC__
#define ECHOLUX_HD __host__ __device__
// Put before templates that call their arguments: suppresses nvcc's warning about calls that exist on one side only.
#define ECHOLUX_HD_CALLER _Pragma("nv_exec_check_disable")
#else
#define ECHOLUX_HD
#define ECHOLUX_HD_CALLER
#endif

// Put before loops that kernels must unroll. Empty for the host compiler, which does not know the pragma.
#ifdef __CUDA_ARCH__
#define ECHOLUX_UNROLL _Pragma("unroll")
#else
#define ECHOLUX_UNROLL
#endif
