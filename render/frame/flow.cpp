// The flow over the structure, as the ray caster has to know it.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "render/camera.h"
#include "render/frame/parts.h"

namespace echolux {
namespace {

constexpr double density = 240;          // extinction of flow that is seen in full, per depth of the volume
constexpr double soft_share = 0.1;       // of the range: speeds from the threshold on until flow is seen in full
constexpr double left_open_share = 0.1;  // of the range: a threshold that was left open

// Of a phase of pi; 0: nobody knows.
double v_max(const FlowOverlay& view, const VolumeTexture& flow) {
    return view.flow_v_max > 0 ? view.flow_v_max : flow.grid().v_max;
}

double flow_range(const FlowOverlay& view, const VolumeTexture& flow) {
    if (view.flow_range > 0) return view.flow_range;
    if (!is_phasor(flow.grid())) return flow.range(RangeSource::fixed).high;
    return v_max(view, flow) > 0 ? v_max(view, flow) : std::numbers::pi;
}

}  // namespace

std::optional<FlowScale> flow_scale(const Shot& shot) {
    if (shot.scene.flow == nullptr) return {};
    const VolumeTexture& flow = *shot.scene.flow;
    const bool is_angle = is_phasor(flow.grid()) && v_max(shot.view, flow) == 0;
    const std::string speed = is_phasor(flow.grid()) ? "mm/s" : flow.grid().unit;
    return FlowScale{flow_range(shot.view, flow), is_angle ? "rad" : speed};
}

shared::FlowFrame flow_frame(const Shot& shot) {
    if (shot.scene.flow == nullptr) return {};
    const VolumeTexture& flow = *shot.scene.flow;
    const double range = flow_range(shot.view, flow);
    const double threshold = shot.view.flow_threshold < 0 ? left_open_share * range : shot.view.flow_threshold;
    const double per_radian = v_max(shot.view, flow) > 0 ? v_max(shot.view, flow) / std::numbers::pi : 1;
    const VolumeGrid& grid = flow.grid();
    const double depth = volume_extent(shot.scene.grid()).x;
    const glm::dvec3 bricks = glm::dvec3(grid.depth, grid.a_scans, grid.b_scans) / double(flow.bricks().edge());
    return {.values = glm::vec4(glm::dvec4(flow.scale(), flow.offset(), per_radian, 0)),
            .look = glm::vec4(glm::dvec4(threshold, 1 / (soft_share * range), 1 / range, shot.view.flow_opacity)),
            .density = glm::vec4(glm::dvec4(density * std::numbers::log2e / depth, 0, 0, 0)),
            .bricks = glm::vec4(glm::dvec4(bricks, 0))};
}

}  // namespace echolux
