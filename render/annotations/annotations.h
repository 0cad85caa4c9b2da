// The annotations of a picture, from its view and the volume's grid. Pure: no device, no font.
#pragma once

#include "compute/types.h"
#include "render/annotations/sheet.h"
#include "render/transfer_function.h"
#include "render/view.h"

namespace echolux {

// Of the whole picture, whichever part of it is cast. `view` has been checked; `function` is what colours the volume.
Sheet annotations_of(const View& view, const VolumeGrid& grid, const TransferFunction& function);

}  // namespace echolux
