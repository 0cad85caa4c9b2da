// Uniforms of the flow overlay for the ray caster.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/slots/flow_texture.h"

namespace echolux {
namespace {

constexpr double density = 240;          // extinction of opaque flow, per depth of the volume
constexpr double soft_share = 0.1;       // of the range: width of the fade-in above the threshold
constexpr double left_open_share = 0.1;  // of the range: automatic threshold

// Returns the velocity at a phase of pi; 0 if unknown.
double v_max(const FlowOverlay& view, const VolumeTexture& flow) {
    return view.flow_v_max > 0 ? view.flow_v_max : flow.grid().v_max;
}

// Returns the automatic range of the colours.
double usual_range(const FlowOverlay& view, const VolumeTexture& flow) {
    const double usual = flow.range(RangeSource::fixed).high;
    if (!is_phasor(flow.grid())) return round_speed(usual);
    const double of_pi = v_max(view, flow) > 0 ? v_max(view, flow) : std::numbers::pi;
    return std::min(of_pi, round_speed(usual * of_pi / std::numbers::pi));
}

}  // namespace

FlowScale flow_scale(const FlowOverlay& view, const VolumeTexture& flow) {
    const bool is_angle = is_phasor(flow.grid()) && v_max(view, flow) == 0;
    const std::string speed = is_phasor(flow.grid()) ? "mm/s" : flow.grid().unit;
    const double usual = usual_range(view, flow);
    FlowScale scale{.range = view.flow_range > 0 ? view.flow_range : usual,
                    .unit = is_angle ? "rad" : speed,
                    .has_sign = flow.range(RangeSource::fixed).low < 0,
                    .usual = usual};
    // The smaller of both ranges: a wide range must not hide flow that a narrow one shows.
    scale.threshold = view.flow_threshold < 0 ? left_open_share * std::min(usual, scale.range) : view.flow_threshold;
    return scale;
}

void leave_nothing_open(FlowOverlay& view, const FlowScale& scale) {
    if (view.flow_threshold < 0) view.flow_threshold = scale.threshold;
    if (view.flow_range == 0) view.flow_range = std::max(scale.range, 2 * view.flow_threshold);
}

std::optional<FlowScale> flow_scale(const Shot& shot) {
    if (shot.scene.flow == nullptr) return {};
    return flow_scale(shot.view, *shot.scene.flow);
}

shared::FlowFrame flow_frame(const Shot& shot) {
    if (shot.scene.flow == nullptr) return {};
    const VolumeTexture& flow = *shot.scene.flow;
    const FlowScale scale = flow_scale(shot.view, flow);
    // Phasors are converted to velocities by this factor, or stay in radians if v_max is unknown.
    const bool is_open = shot.view.flow_threshold < 0;
    const double soft = soft_share * (is_open ? std::min(scale.usual, scale.range) : scale.range);
    const double per_radian = v_max(shot.view, flow) > 0 ? v_max(shot.view, flow) / std::numbers::pi : 1;
    const VolumeGrid& grid = flow.grid();
    const double depth = volume_extent(shot.scene.grid()).x;
    const double is_under = shot.view.flow_shown == FlowShown::under ? 1 : 0;
    const glm::dvec3 bricks = glm::dvec3(grid.depth, grid.a_scans, grid.b_scans) / double(flow.bricks().edge());
    return {.values = glm::vec4(glm::dvec4(flow.scale(), flow.offset(), per_radian, 0)),
            .look = glm::vec4(glm::dvec4(scale.threshold, 1 / soft, 1 / scale.range, shot.view.flow_opacity)),
            .density = glm::vec4(glm::dvec4(density * std::numbers::log2e / depth, is_under, 0, 0)),
            .bricks = glm::vec4(glm::dvec4(bricks, 0))};
}

}  // namespace echolux
