// HDF5 on an open file descriptor. A reader process cannot open files, including files that an HDF5 file refers to.
#pragma once

#include "engine/io/hdf5/hdf5_handles.h"

namespace echolux::hdf5 {

// Returns access properties with which H5Fopen() opens the file at `descriptor`, whatever its name argument. Supports
// one file per process.
Handle access_to(int descriptor);

}  // namespace echolux::hdf5
