#include "render/raycast_constants.h"

#include "render/frame/parts.h"
#include "render/heights.h"
#include "render/plane_table.h"

namespace echolux {
namespace {

constexpr bool is_mode(ViewMode mode, int shaders) {
    return static_cast<int>(mode) == shaders;
}

static_assert(is_mode(ViewMode::composite, shared::mode_composite) && is_mode(ViewMode::mip, shared::mode_mip) &&
              is_mode(ViewMode::minip, shared::mode_minip) && is_mode(ViewMode::average, shared::mode_average) &&
              is_mode(ViewMode::attenuated_mip, shared::mode_attenuated_mip) &&
              is_mode(ViewMode::depth_mip, shared::mode_depth_mip) &&
              is_mode(ViewMode::isosurface, shared::mode_isosurface) && is_mode(ViewMode::mida, shared::mode_mida) &&
              is_mode(ViewMode::points, shared::mode_points) && is_mode(ViewMode::traced, shared::mode_traced));

int rolling_constant(const Scene& scene) {
    if (!scene.is_partial()) return shared::rolling_off;
    return scene.previous != nullptr ? shared::rolling_over : shared::rolling_first;
}

int flow_constant(const Shot& shot) {
    if (shot.scene.flow == nullptr || shot.view.flow_opacity == 0) return shared::flow_off;
    return is_phasor(shot.scene.flow->grid()) ? shared::flow_phasor : shared::flow_scalar;
}

int heights_constant(const View& view) {
    if (!has_height_maps(view)) return shared::heights_off;
    return view.show == Shown::en_face ? shared::heights_along_rays : shared::heights_anywhere;
}

int slices_constant(const View& view) {
    if (view.show != Shown::volume) return shared::slices_section;
    return view.slices.empty() ? shared::slices_off : shared::slices_inside;
}

// Without lamps, only the sky lights the scene.
int lights_constant(const Shot& shot) {
    if (!is_traced(shot) || shot.view.lamp_brightness == 0) return shared::lights_none;
    const View& view = shot.view;
    if (view.lights == Lights::own && view.area_lights.empty()) return shared::lights_none;
    return view.lights == Lights::lamp ? shared::lights_lamp : shared::lights_area;
}

static_assert(static_cast<int>(SecondAxis::gradient) + 1 == shared::second_gradient &&
              static_cast<int>(SecondAxis::curvature) + 1 == shared::second_curvature &&
              static_cast<int>(SecondAxis::distance) + 1 == shared::second_distance);

int second_constant(const Shot& shot, const TransferCurve& curve) {
    if (shot.scene.field != nullptr || !uses_plane(curve, mode_of(shot))) return shared::second_off;
    return static_cast<int>(curve.plane->second) + 1;
}

int output_constant(const Shot& shot) {
    if (shot.output == RayOutput::measures) return shared::output_measures;
    if (shot.output == RayOutput::counts) return shared::output_counts;
    return shot.pass.accumulation != nullptr ? shared::output_mean : shared::output_colour;
}

}  // namespace

bool is_traced(const Shot& shot) {
    const bool is_summed = shot.pass.accumulation != nullptr && shot.pass.pitch == 1;
    return shot.view.mode == ViewMode::traced && is_summed && !shot.scene.is_partial();
}

ViewMode mode_of(const Shot& shot) {
    return is_traced(shot) ? ViewMode::traced : mode_while_cast(shot.view);
}

int lighting_of(const Shot& shot) {
    if (!shot.view.lighting) return shared::lighting_off;
    const bool is_coarse = shot.pass.pitch > 1 && mode_of(shot) == ViewMode::composite;
    return is_coarse ? shared::lighting_together : shared::lighting_each;
}

bool has_cells(const RaycastConstants& constants) {
    const bool has_ground = (constants[shared::constant_studio] & shared::studio_ground) != 0;
    const bool is_cast = constants[shared::constant_mode] != shared::mode_traced;
    return constants[shared::constant_light_volume] != 0 || (has_ground && is_cast);
}

RaycastConstants raycast_constants(const Shot& shot, bool is_software) {
    const View& view = shot.view;
    RaycastConstants constants{};
    constants[shared::constant_mode] = static_cast<int>(mode_of(shot));
    constants[shared::constant_lighting] = lighting_of(shot);
    constants[shared::constant_lights] = lights_constant(shot);
    constants[shared::constant_box] = view.box ? 1 : 0;
    constants[shared::constant_output] = output_constant(shot);
    constants[shared::constant_rolling] = rolling_constant(shot.scene);
    constants[shared::constant_light_volume] = wants_light_volume(view) ? 1 : 0;
    constants[shared::constant_cut] = cut_frame(shot).facts.x > 0 ? 1 : 0;
    constants[shared::constant_flow] = flow_constant(shot);
    constants[shared::constant_heights] = heights_constant(view);
    constants[shared::constant_slices] = slices_constant(view);
    constants[shared::constant_paged] = shot.scene.pages != nullptr ? 1 : 0;
    constants[shared::constant_planes] = shot.scene.field != nullptr ? 1 : 0;
    constants[shared::constant_skip] = view.skip_empty ? 1 : 0;
    constants[shared::constant_software] = is_software ? 1 : 0;
    constants[shared::constant_channels] = channels_constant(shot);
    constants[shared::constant_jitter] = shot.pass.number > 0 ? 1 : 0;
    constants[shared::constant_studio] = studio_constant(shot);
    const TransferCurve& curve = curve_of(view, shot.scene.grid());
    constants[shared::constant_second] = second_constant(shot, curve);
    const bool is_rough = curve.nodes.front().roughness != no_roughness;
    constants[shared::constant_isosurface] = is_traced(shot) && view.isosurface ? 1 : 0;
    constants[shared::constant_roughness] = is_traced(shot) && is_rough && view.lighting ? 1 : 0;
    if (is_traced(shot)) {  // not supported by the path tracer
        for (const int i : {shared::constant_jitter, shared::constant_skip, shared::constant_light_volume,
                            shared::constant_rolling, shared::constant_planes}) {
            constants[static_cast<std::size_t>(i)] = 0;
        }
    }
    return constants;
}

}  // namespace echolux
