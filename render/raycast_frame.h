// Input of the shaders of ray caster and path tracer for one picture: the specialization constants, which select the
// variant, and the uniform block, computed in double precision on the host. The layout of the block is documented in
// shaders/shared/. Parts that a picture does not use are zero.
#pragma once

#include <cstddef>
#include <vector>

#include "render/annotations/annotations.h"
#include "render/raycaster.h"
#include "render/shader_tables.h"
#include "render/transfer_function.h"
#include "render/view/view.h"
#include "shaders/shared/raycast.h"

namespace echolux {

shared::RaycastFrame raycast_frame(const Shot& shot, const TransferFunction& function);

// ---- Specialization constants

RaycastConstants raycast_constants(const Shot& shot, bool is_software);

// Returns true if a picture needs the cells of the light volume.
bool has_cells(const RaycastConstants& constants);

// Returns true if light paths are traced: accumulated passes of complete volumes. Single passes are ray cast.
bool is_traced(const Shot& shot);

// Returns lighting_off to lighting_together. With widely spaced rays, as in motion, lighting is coarser too.
int lighting_of(const Shot& shot);

// ---- Parts of the uniform block that are known only during or after other steps

// Lookup tables of the channels in the layout of shaders/shared/channels.h. Empty without channels.
inline constexpr std::size_t channel_tables_bytes =
    16 * std::size_t{shared::max_channels} * (shared::channel_entries_of_one + shared::channel_peaks_of_one);
std::vector<std::byte> channel_tables(const Shot& shot);

// Maps values of the second axis, as computed by shaders, to 0 ... `steps` between the ends of the axis.
struct SecondScale {
    double factor, offset;
};
SecondScale second_scale(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid, double steps);
shared::SecondFrame second_frame(const Shot& shot, const TransferFunction& function, std::uint64_t number);

void set_surface(shared::TraceFrame& frame, const SurfaceAlbedo& albedo);
shared::MajorantFrame known_of(const Shot& shot, const RaycastConstants& constants);
shared::ToneFrame tone_of(const View& view);

// Returns the background colour at the picture's lower edge.
const std::vector<double>& lower_background(const View& view);

// ---- Flow

// Returns range, threshold and unit of the flow colours, with automatic values resolved.
FlowScale flow_scale(const FlowOverlay& view, const VolumeTexture& flow);

// Returns the scale of the picture's flow. Empty without a flow overlay.
std::optional<FlowScale> flow_scale(const Shot& shot);

}  // namespace echolux
