// Parts of the ray caster's uniform block, one per part of the view, each computed in its own file. The layout of each
// part is documented in shaders/shared/.
#pragma once

#include <cstddef>
#include <vector>

#include "render/annotations/annotations.h"
#include "render/raycaster.h"
#include "render/surface_albedo.h"
#include "render/transfer_function.h"
#include "shaders/shared/raycast.h"

namespace echolux {

// Placeholder for unused planes, in texture coordinates: too far away for any ray to hit or for anything to be beyond
// it.
inline constexpr shared::vec4 nowhere{0, 0, 0, 1e12F};

// Specialization constants and uniforms of the picture's parts. Parts that a picture does not use are zero.
shared::ModesFrame modes_frame(const Shot& shot);
shared::LightFrame light_frame(const Shot& shot, const TransferFunction& function);
shared::CutFrame cut_frame(const Shot& shot);
shared::SlicesFrame slices_frame(const Shot& shot);
shared::FlowFrame flow_frame(const Shot& shot);
shared::ChannelsFrame channels_frame(const Shot& shot);
std::vector<ChannelLegend> channel_legends(const Shot& shot);
int channels_constant(const Shot& shot);

// Lookup tables of the channels in the layout of shaders/shared/channels.h. Empty without channels.
inline constexpr std::size_t channel_tables_bytes =
    16 * std::size_t{shared::max_channels} * (shared::channel_entries_of_one + shared::channel_peaks_of_one);
std::vector<std::byte> channel_tables(const Shot& shot);

shared::PlanesFrame planes_frame(const Shot& shot);
shared::TraceFrame trace_frame(const Shot& shot);

// Maps values of the second axis, as computed by shaders, to 0 ... `steps` between the ends of the axis.
struct SecondScale {
    double factor, offset;
};
SecondScale second_scale(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid, double steps);
shared::SecondFrame second_frame(const Shot& shot, const TransferFunction& function, std::uint64_t number);
void set_lights(shared::TraceFrame& frame, const View& view, const glm::dvec3& extent);

// Uniforms of the surroundings, and the bits of constant_studio.
shared::StudioFrame studio_frame(const Shot& shot);
int studio_constant(const Shot& shot);
bool wants_cells(const View& view);  // the ground's shadow needs the light volume

// has_light_of_sky() returns true if a sky picture emits light. share_of_lamps() is the probability of sampling lamps
// instead of the sky picture.
bool has_light_of_sky(const View& view);
double share_of_lamps(const View& view);

// Returns the background colour at the picture's lower edge.
const std::vector<double>& lower_background(const View& view);

void set_surface(shared::TraceFrame& frame, const SurfaceAlbedo& albedo);
shared::vec4 known_of(const Shot& shot, const RaycastConstants& constants);  // see TraceFrame
shared::vec4 tone_of(const View& view);
shared::PassFrame pass_frame(const Pass& pass);

// Zero unless the volume is paged.
shared::PagesFrame pages_frame(const Shot& shot);

// Returns range, threshold and unit of the flow colours, with automatic values resolved.
FlowScale flow_scale(const FlowOverlay& view, const VolumeTexture& flow);

// Returns the scale of the picture's flow. Empty without a flow overlay.
std::optional<FlowScale> flow_scale(const Shot& shot);

}  // namespace echolux
