// Uniforms of the surroundings for the ray caster and the path tracer.
#include "render/view/studio.h"

#include <algorithm>
#include <cmath>
#include <glm/trigonometric.hpp>
#include <numbers>

#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/raycast_constants.h"
#include "render/sky_picture.h"

namespace echolux {
namespace {

// Returns the brightness of the lamps, comparable with that of the sky.
double lamps_of(const View& view) {
    if (view.lamp_brightness == 0 || (view.lights == Lights::own && view.area_lights.empty())) return 0;
    return view.lamp_brightness;
}

// Returns the mean brightness of the sky.
double sky_of(const View& view) {
    return view.sky * (view.sky_read && !view.sky_picture.empty() ? view.sky_read->mean : 1);
}

// Returns the probability of sampling the sky picture. It is clamped because both sources must be sampled.
double looks_for_sky(const View& view) {
    const double lamps = lamps_of(view), sky = sky_of(view);
    return lamps > 0 ? std::clamp(sky / (lamps + sky), 0.1, 0.9) : 1;
}

}  // namespace

bool has_light_of_sky(const View& view) {
    return !view.sky_picture.empty() && view.sky_read != nullptr && sky_of(view) > 0;
}

bool wants_cells(const View& view) {
    return view.ground_shadow > 0 && view.show == Shown::volume;
}

double share_of_lamps(const View& view) {
    return has_light_of_sky(view) ? 1 - looks_for_sky(view) : 1;
}

int studio_constant(const Shot& shot) {
    const View& view = shot.view;
    const bool is_volume = view.show == Shown::volume;
    // Modes with shaded surfaces, which caps and outlines need.
    const bool is_lit = view.mode == ViewMode::composite || view.mode == ViewMode::mida ||
                        view.mode == ViewMode::isosurface || view.mode == ViewMode::points ||
                        view.mode == ViewMode::traced;
    int bits = 0;
    const auto set = [&](int bit, bool is_set) { bits |= is_set ? bit : 0; };
    set(shared::studio_panorama, view.projection == Projection::panorama);
    set(shared::studio_gradient, !view.background_lower_colour.empty() && !view.transparent && !is_traced(shot));
    set(shared::studio_caps, view.caps != Caps::off && is_lit && is_volume && shot.scene.field == nullptr);
    set(shared::studio_ground, wants_cells(view) && shot.scene.field == nullptr);
    set(shared::studio_outline, view.outline > 0 && is_lit && is_volume && !is_traced(shot));
    set(shared::studio_sky, is_traced(shot) && has_light_of_sky(view));
    return bits;
}

shared::StudioFrame studio_frame(const Shot& shot) {
    const View& view = shot.view;
    const auto packed = [](double x, double y, double z, double w) { return glm::vec4(glm::dvec4(x, y, z, w)); };
    const auto colour = [&](const std::vector<double>& rgb, double w) { return packed(rgb[0], rgb[1], rgb[2], w); };
    const auto height = static_cast<double>(view.height);
    const double width = static_cast<double>(view.width);
    const double lowest = view.clip_high[0] + view.ground_gap_um / volume_extent(shot.scene.grid()).x;
    const double lamps = lamps_of(view), light = lamps + sky_of(view);
    shared::StudioFrame frame{
        .around = packed(2 * std::numbers::pi / width, std::numbers::pi / height, 0, 0),
        .below = colour(lower_background(view), 1 / height),
        .outline = colour(view.outline_colour, view.outline),
        .ground = packed(lowest, view.ground_shadow, light > 0 ? lamps / light : 0, view.outline_sharpness),
        .sky = packed(1, 1, glm::radians(view.sky_turn_deg), 0),
        .caps = packed(view.caps == Caps::curve ? 1 : 0, 0, 0, 0)};
    if (has_light_of_sky(view)) {
        const SkyPicture& sky = *view.sky_read;
        frame.sky = packed(double(sky.columns), double(sky.rows), frame.sky.z, looks_for_sky(view));
    }
    return frame;
}

const std::vector<double>& lower_background(const View& view) {
    return view.background_lower_colour.empty() ? view.background : view.background_lower_colour;
}

}  // namespace echolux
