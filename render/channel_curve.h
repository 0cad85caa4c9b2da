// Transfer functions of channels.
#pragma once

#include "render/slots/volume_texture.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

// Returns the channel's curve settings. Settings that channels do not have are those of the view.
Curve curve_of(const Channel& channel, const Curve& view);

// Returns the transfer function of a channel without labels. Throws Error{bad_setting} like transfer_function().
TransferFunction channel_function(const View& view, const Channel& channel, const VolumeTexture& texture);

}  // namespace echolux
