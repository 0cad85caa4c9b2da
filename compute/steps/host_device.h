// Steps are single source: one functor, run by the CPU loops and by the CUDA kernels alike.
#pragma once

#ifdef __CUDACC__
#define ECHOLUX_HD __host__ __device__
#else
#define ECHOLUX_HD
#endif
