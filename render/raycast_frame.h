// Uniform block of the ray caster's shader for one picture, computed in double precision on the host.
#pragma once

#include "render/raycaster.h"
#include "render/transfer_function.h"
#include "render/view/view.h"
#include "shaders/shared/raycast.h"

namespace echolux {

shared::RaycastFrame raycast_frame(const Shot& shot, const TransferFunction& function);

}  // namespace echolux
