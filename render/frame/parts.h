// The parts of the ray caster's uniform block that belong to a part of the view, each computed in a file of its own.
#pragma once

#include <cstddef>
#include <vector>

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
shared::ChannelsFrame channels_frame(const Shot& shot);
std::vector<ChannelLegend> channel_legends(const Shot& shot);
int channels_constant(const Shot& shot);

// Of the channels of a picture, for the shaders: see shaders/shared/channels.h.
inline constexpr std::size_t channel_tables_bytes =
    16 * std::size_t{shared::max_channels} * (shared::channel_entries_of_one + shared::channel_peaks_of_one);
std::vector<std::byte> channel_tables(const Shot& shot);

shared::PlanesFrame planes_frame(const Shot& shot);
shared::TraceFrame trace_frame(const Shot& shot);

// From what shaders find on the second axis to `steps` between its ends.
struct SecondScale {
    double factor, offset;
};
SecondScale second_scale(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid, double steps);
shared::SecondFrame second_frame(const Shot& shot, const TransferFunction& function, std::uint64_t number);
void set_lights(shared::TraceFrame& frame, const View& view, const glm::dvec3& extent);

// What is set up around the volume; the bits of constant_studio; whether the shadow on the ground wants cells of light.
shared::StudioFrame studio_frame(const Shot& shot);
int studio_constant(const Shot& shot);
bool wants_cells(const View& view);

// Whether a picture is the sky, and how often lamps are looked for beside it.
bool has_light_of_sky(const View& view);
double share_of_lamps(const View& view);

// At the picture's lower edge.
const std::vector<double>& lower_background(const View& view);

void set_surface(shared::TraceFrame& frame, const SurfaceAlbedo& albedo);
shared::vec4 known_of(const Shot& shot, const RaycastConstants& constants);  // see TraceFrame
shared::vec4 tone_of(const View& view);
shared::PassFrame pass_frame(const Pass& pass);

shared::PagesFrame pages_frame(const Shot& shot);

FlowScale flow_scale(const FlowOverlay& view, const VolumeTexture& flow);

// None where no flow lies over the volume.
std::optional<FlowScale> flow_scale(const Shot& shot);

}  // namespace echolux
