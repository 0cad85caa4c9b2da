// The parts of the ray caster's uniform block that belong to a part of the view, each computed in a file of its own.
#pragma once

#include "render/raycaster.h"
#include "render/transfer_function.h"
#include "shaders/shared/raycast.h"

namespace echolux {

shared::ModesFrame modes_frame(const Shot& shot);
shared::LightFrame light_frame(const Shot& shot, const TransferFunction& function);
shared::CutFrame cut_frame(const Shot& shot);
shared::SlicesFrame slices_frame(const Shot& shot);
shared::FlowFrame flow_frame(const Shot& shot);
shared::PassFrame pass_frame(const Pass& pass);

// The speed at the ends of the colours of flow.
double flow_range(const FlowOverlay& view, const VolumeTexture& flow);
shared::PagesFrame pages_frame(const Shot& shot);

}  // namespace echolux
