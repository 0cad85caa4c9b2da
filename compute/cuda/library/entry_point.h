// The only function of libecholux_cuda.so. Its types are those of this build: library and programs are distributed
// together.
#pragma once

#include "compute/gpu_backend.h"

extern "C" [[gnu::visibility("default")]] const echolux::GpuBackend* echolux_cuda_backend();
