// What the curve of a channel means for its values: as that of the volume, in its place.
#pragma once

#include "render/slots/volume_texture.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

// The view's own where it says nothing of the channel's.
Curve curve_of(const Channel& channel, const Curve& view);

// Not of labels. Throws Error{bad_setting} as transfer_function().
TransferFunction channel_function(const View& view, const Channel& channel, const VolumeTexture& texture);

}  // namespace echolux
