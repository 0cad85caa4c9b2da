// The parts of the ray caster's uniform block that belong to a part of the view, each computed in a file of its own.
#pragma once

#include "render/annotations/annotations.h"
#include "render/raycaster.h"
#include "render/surface_albedo.h"
#include "render/transfer_function.h"
#include "shaders/shared/raycast.h"

namespace echolux {

// In place of a plane in texture coordinates: so far away that no ray meets it, and nothing lies beyond.
inline constexpr shared::vec4 nowhere{0, 0, 0, 1e12F};

shared::ModesFrame modes_frame(const Shot& shot);
shared::LightFrame light_frame(const Shot& shot, const TransferFunction& function);
shared::CutFrame cut_frame(const Shot& shot);
shared::SlicesFrame slices_frame(const Shot& shot);
shared::FlowFrame flow_frame(const Shot& shot);
shared::PlanesFrame planes_frame(const Shot& shot);
shared::TraceFrame trace_frame(const Shot& shot);

// From what shaders find on the second axis to `steps` between its ends.
struct SecondScale {
    double factor, offset;
};
SecondScale second_scale(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid, double steps);
shared::SecondFrame second_frame(const Shot& shot, const TransferFunction& function, std::uint64_t number);
void set_lights(shared::TraceFrame& frame, const View& view, const glm::dvec3& extent);
void set_surface(shared::TraceFrame& frame, const SurfaceAlbedo& albedo);
shared::vec4 tone_of(const View& view);
shared::PassFrame pass_frame(const Pass& pass);

shared::PagesFrame pages_frame(const Shot& shot);

FlowScale flow_scale(const FlowOverlay& view, const VolumeTexture& flow);

// None where no flow lies over the volume.
std::optional<FlowScale> flow_scale(const Shot& shot);

}  // namespace echolux
