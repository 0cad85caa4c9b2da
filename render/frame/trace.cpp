// Uniforms of the path tracer.
#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <numbers>

#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/raycast_constants.h"

namespace echolux {

shared::TraceFrame trace_frame(const Shot& shot) {
    if (!is_traced(shot)) return {};
    const View& view = shot.view;
    const auto packed = [](double x, double y, double z, double w) { return glm::vec4(glm::dvec4(x, y, z, w)); };
    const auto bounces = static_cast<double>(view.bounces > 0 ? view.bounces : shared::max_scatterings);
    // The lamp's brightness is that of a facing surface and independent of the lamp's size.
    const double cosine = std::cos(glm::radians(view.lamp_size_deg));
    const double lamp = std::numbers::pi * view.lamp_brightness / (0.5 * (1 + cosine));
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const double half_diagonal = 0.5 * glm::length(extent);
    const Camera camera(view, extent);
    const double sharp = camera.depth_of({view.target_um[0], view.target_um[1], view.target_um[2]}) + view.focus_um;
    const double smallest = std::ranges::min(voxel_edges(shot.scene.grid()));
    shared::TraceFrame frame{
        .medium = packed(std::numbers::ln2, view.scattering, view.anisotropy, bounces),
        .light = packed(view.sky, lamp, cosine, view.lighting_strength),
        .lens = packed(0.5 * view.aperture_um, std::max(sharp, 1e-3 * half_diagonal), 1 / half_diagonal,
                       !view.spreads_paths   ? 0
                       : view.spreads_pixels ? 2
                                             : 1),
        .bricks = packed(shot.scene.volume.bricks().edge(), view.roughness * view.roughness, 0, 64 / smallest),
        .known = {},
        .lights = {},
        .albedo = {},
        .random = {static_cast<std::uint32_t>(view.seed), static_cast<std::uint32_t>(shot.pass.number),
                   static_cast<std::uint32_t>(view.width), view.frame}};
    set_lights(frame, view, extent);
    return frame;
}

// Stores the table of surface albedos by the cosine of the angle.
void set_surface(shared::TraceFrame& frame, const SurfaceAlbedo& albedo) {
    frame.bricks.z = albedo.mean;
    for (int i = 0; i < shared::albedo_steps; ++i)
        frame.albedo[i / 4][i % 4] = albedo.of_cosine[static_cast<std::size_t>(i)];
}

static_assert(static_cast<int>(MajorantFault::half) == shared::fault_half &&
              static_cast<int>(MajorantFault::no_halo) == shared::fault_no_halo &&
              static_cast<int>(MajorantFault::ends_only) == shared::fault_ends_only &&
              static_cast<int>(MajorantFault::stale) == shared::fault_stale);

// Reports whether extinction depends on the value alone: nothing else contributes to it, and only convex solids clip
// the volume. Majorants of bricks are then exact.
shared::vec4 known_of(const Shot& shot, const RaycastConstants& constants) {
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const double nearest = Camera(shot.view, extent).depth_of({0, 0, 0}) - 0.5 * glm::length(extent);
    const bool by_value = constants[shared::constant_flow] == shared::flow_off &&
                          constants[shared::constant_channels] == 0 &&
                          constants[shared::constant_second] == shared::second_off &&
                          constants[shared::constant_heights] == shared::heights_off && nearest >= shot.view.near_um;
    return {by_value ? 1 : 0, static_cast<int>(shot.fault), 0, 0};
}

// Exposure is in stops: +1 EV doubles the light.
shared::vec4 tone_of(const View& view) {
    return glm::vec4(glm::dvec4(std::exp2(view.exposure_ev), static_cast<double>(view.tone), view.white_point, 0));
}

}  // namespace echolux
