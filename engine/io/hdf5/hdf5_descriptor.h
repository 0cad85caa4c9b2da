// HDF5 over a file that is open already: a reader process can open none, neither this one nor those that it refers to.
#pragma once

#include "engine/io/hdf5/hdf5_handles.h"

namespace echolux::hdf5 {

// For H5Fopen(), which opens the file at `descriptor` whatever name it is given, and no other. Of one file a process.
Handle access_to(int descriptor);

}  // namespace echolux::hdf5
