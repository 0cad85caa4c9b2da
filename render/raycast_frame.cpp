#include "render/raycast_frame.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <glm/vec4.hpp>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "compute/indexing.h"
#include "render/annotations/annotations.h"
#include "render/area_lights.h"
#include "render/camera.h"
#include "render/light_volume.h"
#include "render/scan_geometry.h"
#include "render/sky_picture.h"
#include "render/slots/volume_texture.h"
#include "render/transfer_function.h"
#include "render/view/view.h"
#include "shaders/shared/bricks.h"

namespace echolux {
namespace {

// Placeholder for unused planes, in texture coordinates: too far away to be hit by a ray or to clip anything.
constexpr shared::vec4 no_plane{0, 0, 0, 1e12F};

// Uniforms are computed in double precision.
float to_float(double value) {
    return static_cast<float>(value);
}

}  // namespace

static ViewMode mode_of(const Shot& shot) {
    return is_traced(shot) ? ViewMode::traced : mode_while_cast(shot.view);
}

// ---- Distribution of passes within pixels and steps: a low-discrepancy sequence in the plane (M. Roberts, "The
// unreasonable effectiveness of quasirandom sequences", 2018) over the pixel, and multiples of the golden ratio over
// the step along the ray.

// Inverses of the golden ratio and of the plastic number, the root of x^3 = x + 1.
constexpr double golden = 0.6180339887498949;
constexpr double plastic = 0.7548776662466927;

static double fraction(double x) {
    return x - std::floor(x);
}

static shared::PassFrame pass_frame(const Pass& pass) {
    const auto number = static_cast<double>(pass.number);
    const glm::dvec2 spot(fraction(0.5 + number * plastic), fraction(0.5 + number * plastic * plastic));
    return {.spot = glm::vec2(spot),
            .cell_edge = to_float(pass.pitch),
            .padding_1 = {},
            .weight = to_float(1 / (number + 1)),
            .noise_offset = to_float(fraction(number * golden)),
            .padding_2 = {}};
}

// ---- Uniforms of paged volumes for the ray caster.

static glm::vec4 packed_lengths(const Indices& lengths, double w = 0) {
    return glm::vec4(glm::dvec4(lengths[0], lengths[1], lengths[2], w));
}

static shared::PagesFrame pages_frame(const Shot& shot) {
    if (shot.scene.pages == nullptr) return {};
    const PageLayout& layout = shot.scene.pages->layout();
    const Indices stored = layout.stored();
    const auto pool = [&](std::size_t axis) { return layout.slots[axis] * stored[axis]; };
    return {.voxels = glm::vec3(packed_lengths(layout.voxels)),
            .coarse_per_voxel = to_float(1 / static_cast<double>(layout.reduction)),
            .page = glm::vec3(packed_lengths(layout.page)),
            .border = static_cast<float>(page_border),
            .per_page = 1.0F / packed_lengths(layout.page, 1),
            .stored = packed_lengths(stored),
            .per_pool = 1.0F / packed_lengths({pool(0), pool(1), pool(2)}, 1)};
}

// ---- Uniforms of separate B-scan planes in space for the ray caster.

static shared::PlanesFrame planes_frame(const Shot& shot) {
    shared::PlanesFrame frame{};
    if (shot.scene.field == nullptr) return frame;
    const VolumeGrid& grid = shot.scene.volume.grid();
    const std::vector<glm::dvec4>& planes = shot.scene.field->planes;
    frame.plane_count = static_cast<float>(planes.size());
    frame.opacity = to_float(shot.view.planes_opacity);
    frame.grid = glm::vec2(glm::dvec2(grid.a_scans, grid.b_scans));
    for (std::size_t i = 0; i < planes.size(); ++i) frame.plane[i] = glm::vec4(planes[i]);
    return frame;
}

// ---- Uniforms of single view modes for the ray caster.

static shared::ModesFrame modes_frame(const Shot& shot) {
    const View& view = shot.view;
    const VolumeGrid& grid = shot.scene.grid();
    // Bits per um: shaders compute transmittance with exp2.
    const double bits = view.attenuation * std::log2(std::exp(1.0)) / volume_extent(grid).x;
    return {.attenuation_bits = to_float(bits),
            .mida_balance = to_float(view.mida_balance),
            .point_radius = to_float(0.5 * view.point_size),
            .padding = {}};
}

// ---- Uniforms of the lighting for the ray caster.

constexpr double steps_around = 3;         // of ambient occlusion, with doubling length: reaches 7 cells
constexpr double steps_to_lamp = 32;       // of shadow rays, growing by a tenth each: reaches 200 cells
constexpr double gradient_at_half = 0.04;  // of the range per smallest voxel edge; weaker gradients are mostly noise

// Returns the mean edge of a cell of the light volume in um.
static double cell_length(const VolumeGrid& grid) {
    const auto [depth, a_scans, b_scans] = light_cells(grid);
    const glm::dvec3 edges = volume_extent(grid) / glm::dvec3(depth, a_scans, b_scans);
    return (edges.x + edges.y + edges.z) / 3;
}

// Returns the unit vector towards the lamp along depth, A-scans, B-scans.
static glm::dvec3 towards_lamp(const View& view, const Camera& camera) {
    const auto& [right, up, towards] = camera.orientation();  // same for both eyes
    const double azimuth = glm::radians(view.lamp_azimuth_deg);
    const double elevation = glm::radians(view.lamp_elevation_deg);
    const glm::dvec3 level = std::sin(azimuth) * right + std::cos(azimuth) * towards;
    return std::cos(elevation) * level + std::sin(elevation) * up;
}

static shared::LightFrame light_frame(const Shot& shot, const TransferFunction& function) {
    const View& view = shot.view;
    const VolumeTexture& volume = shot.scene.volume;
    const auto [low, high] = function.range;
    const double at_half = gradient_at_half * (high - low) / volume.scale();
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const glm::dvec3 lamp = towards_lamp(view, Camera(view, extent));
    const double cell = cell_length(volume.grid());
    return {.strength = to_float(view.lighting_strength),
            .half_gradient = to_float(at_half),
            .ambient_occlusion = to_float(view.ambient_occlusion),
            .shadows = to_float(view.shadows),
            .lamp = glm::vec3(lamp),
            .is_lamp_free = view.lamp == Lamp::free ? 1.0F : 0.0F,
            .cell = glm::vec3(cell / extent),
            .cell_length = to_float(cell),
            .ambient_steps = to_float(view.ambient_occlusion > 0 ? steps_around : 0),
            .lamp_steps = to_float(view.shadows > 0 ? steps_to_lamp : 0),
            .padding = {}};
}

// ---- Uniforms of the clipping for the ray caster: a list of half spaces.

// Cut faces are unshaded down to this depth, in smallest voxel edges. Shading then fades in over the same depth again.
constexpr double plain_depth = 1.5;

// Adds the faces of the clip box and the constant depth limits that clip anything.
static void add_box(std::vector<Plane>& cuts, const View& view, const VolumeGrid& grid, const glm::dvec3& extent) {
    for (int axis = 0; axis < 3; ++axis) {
        double low = view.clip_low[index(axis)];
        double high = view.clip_high[index(axis)];
        if (axis == 0 && view.top_from.empty()) low = std::max(low, depth_in_texture(grid, view.top_um));
        if (axis == 0 && view.bottom_from.empty()) high = std::min(high, depth_in_texture(grid, view.bottom_um));
        glm::dvec3 normal(0);
        normal[axis] = 1;
        if (low > 0) cuts.push_back({-normal, (0.5 - low) * extent[axis]});
        if (high < 1) cuts.push_back({normal, (high - 0.5) * extent[axis]});
    }
}

static shared::CutFrame cut_frame(const Shot& shot) {
    const VolumeGrid& grid = shot.scene.grid();
    const glm::dvec3 extent = volume_extent(grid);
    std::vector<Plane> cuts = planes_of(shot.view.clip_planes);
    add_box(cuts, shot.view, grid, extent);
    const double smallest = std::ranges::min(voxel_edges(grid));
    shared::CutFrame frame{};
    std::ranges::fill(frame.plane, no_plane);
    frame.plane_count = static_cast<float>(cuts.size());
    frame.plain_depth = to_float(plain_depth * smallest);
    for (std::size_t i = 0; i < cuts.size(); ++i) frame.plane[i] = glm::vec4(cuts[i].in_texture(extent));
    frame.heights_added = glm::vec2(glm::dvec2(depth_in_texture(grid, top_added_um(shot.view)),
                                               depth_in_texture(grid, bottom_added_um(shot.view))));
    frame.depth_per_um = to_float(texture_per_um(grid));
    return frame;
}

// ---- Uniforms of planes inside the volume for the ray caster.

static shared::SlicesFrame slices_frame(const Shot& shot) {
    const View& view = shot.view;
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const std::vector<Plane> planes = planes_of(view.slices);
    shared::SlicesFrame frame{};
    std::ranges::fill(frame.plane, no_plane);
    frame.plane_count = static_cast<float>(planes.size());
    frame.colours = has_gray_slices(view, shot.scene.grid()) ? 0.0F : 1.0F;
    frame.is_clipped = view.slices_cut ? 1.0F : 0.0F;
    for (std::size_t i = 0; i < planes.size(); ++i) frame.plane[i] = glm::vec4(planes[i].in_texture(extent));
    return frame;
}

// ---- Uniforms of the surroundings for the ray caster and the path tracer.

// Returns the brightness of the lamps, comparable with that of the sky.
static double lamps_of(const View& view) {
    if (view.lamp_brightness == 0 || (view.lights == Lights::own && view.area_lights.empty())) return 0;
    return view.lamp_brightness;
}

// Returns the mean brightness of the sky.
static double sky_of(const View& view) {
    return view.sky * (view.sky_read && !view.sky_picture.empty() ? view.sky_read->mean : 1);
}

// Returns the probability of sampling the sky picture. It is clamped because both sources must be sampled.
static double looks_for_sky(const View& view) {
    const double lamps = lamps_of(view), sky = sky_of(view);
    return lamps > 0 ? std::clamp(sky / (lamps + sky), 0.1, 0.9) : 1;
}

static bool has_light_of_sky(const View& view) {
    return !view.sky_picture.empty() && view.sky_read != nullptr && sky_of(view) > 0;
}

static bool needs_cells(const View& view) {
    return view.ground_shadow > 0 && view.show == ViewContent::volume;
}

static double share_of_lamps(const View& view) {
    return has_light_of_sky(view) ? 1 - looks_for_sky(view) : 1;
}

static int studio_constant(const Shot& shot) {
    const View& view = shot.view;
    const bool is_volume = view.show == ViewContent::volume;
    const bool is_lit = text_of(view.mode).is_lit();  // caps and outlines need shaded surfaces
    int bits = 0;
    const auto set = [&](int bit, bool is_set) { bits |= is_set ? bit : 0; };
    set(shared::studio_panorama, view.projection == Projection::panorama);
    set(shared::studio_gradient, !view.background_lower_colour.empty() && !view.transparent && !is_traced(shot));
    set(shared::studio_caps, view.caps != Caps::off && is_lit && is_volume && shot.scene.field == nullptr);
    set(shared::studio_ground, needs_cells(view) && shot.scene.field == nullptr);
    set(shared::studio_outline, view.outline > 0 && is_lit && is_volume && !is_traced(shot));
    set(shared::studio_sky, is_traced(shot) && has_light_of_sky(view));
    return bits;
}

static shared::StudioFrame studio_frame(const Shot& shot) {
    const View& view = shot.view;
    const auto colour = [](const std::vector<double>& rgb) { return glm::vec3(glm::dvec3(rgb[0], rgb[1], rgb[2])); };
    const auto height = static_cast<double>(view.height);
    const double width = static_cast<double>(view.width);
    const double lowest = view.clip_high[0] + view.ground_gap_um / volume_extent(shot.scene.grid()).x;
    const double lamps = lamps_of(view), light = lamps + sky_of(view);
    shared::StudioFrame frame{
        .radians_per_pixel = glm::vec2(glm::dvec2(2 * std::numbers::pi / width, std::numbers::pi / height)),
        .padding_1 = {},
        .lower_background = colour(lower_background(view)),
        .per_height = to_float(1 / height),
        .outline_colour = colour(view.outline_colour),
        .outline_strength = to_float(view.outline),
        .ground_depth = to_float(lowest),
        .ground_shadow = to_float(view.ground_shadow),
        .lamp_share = to_float(light > 0 ? lamps / light : 0),
        .outline_sharpness = to_float(view.outline_sharpness),
        .sky_size = {1, 1},
        .sky_turn = to_float(glm::radians(view.sky_turn_deg)),
        .sky_chance = 0,
        .cap_colours = view.caps == Caps::curve ? 1.0F : 0.0F,
        .padding_2 = {},
        .padding_3 = {}};
    if (has_light_of_sky(view)) {
        const SkyPicture& sky = *view.sky_read;
        frame.sky_size = glm::vec2(glm::dvec2(sky.columns, sky.rows));
        frame.sky_chance = to_float(looks_for_sky(view));
    }
    return frame;
}

const std::vector<double>& lower_background(const View& view) {
    return view.background_lower_colour.empty() ? view.background : view.background_lower_colour;
}

// ---- Uniforms of the area lights for the path tracer: geometry, radiance and sampling probabilities.
//
// An area light's brightness is given as the radiosity of a white surface at the volume's centre that faces the light.
// Dividing it by the form factor of the light gives its radiance.

// Returns the form factor of a light for a facing surface at the volume's centre: the share of the hemisphere's light,
// weighted by the cosine, for a disc or rectangle of radiance 1.
static double share_of_light(const AreaLight& light) {
    const double a = 0.5 * light.width / light.distance;
    if (light.height == 0) return a * a / (1 + a * a);
    const double b = 0.5 * light.height / light.distance;
    const double beside_a = std::sqrt(1 + a * a), beside_b = std::sqrt(1 + b * b);
    return 2 / std::numbers::pi * (a / beside_a * std::atan(b / beside_a) + b / beside_b * std::atan(a / beside_b));
}

// ITU-R BT.709, linear.
static double luminance(const AreaLight& light) {
    const auto [red, green, blue] = light.colour;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

static void set_lights(shared::TraceFrame& frame, const View& view, const glm::dvec3& extent) {
    const std::vector<AreaLight> lights = area_lights(view);
    const Orientation eye = orientation_of(view);
    // Lengths of area lights are in halves of the volume's diagonal.
    const double unit = 0.5 * glm::length(extent);
    double all = 0;
    for (const AreaLight& light : lights) all += luminance(light);
    double chosen = 0;
    for (std::size_t i = 0; i < std::size_t{shared::max_lights}; ++i) {
        shared::AreaLightFrame& to = frame.lights[i];
        to = {.middle = {},
              .cumulative_chance = 1,
              .across = {},
              .is_disc = 0,
              .along = {},
              .area = 1,
              .normal = {},
              .chance = 0,
              .radiance = {}};
        if (i >= lights.size()) continue;
        const AreaLight& light = lights[i];
        // Lights are sampled in proportion to their luminance; `chosen` is the cumulative probability.
        const double chance = all > 0 ? luminance(light) / all : 0;
        chosen = i + 1 == lights.size() ? 1 : chosen + chance;
        const double looks = chance * share_of_lamps(view);
        const glm::dvec3 towards = direction_of(light, eye);
        const glm::dvec3 beside = glm::cross(eye.up, towards);
        const glm::dvec3 across = glm::length(beside) > 1e-6 ? glm::normalize(beside) : eye.right;
        const glm::dvec3 along = glm::cross(towards, across);
        const bool is_disc = light.height == 0;
        const double half_width = 0.5 * light.width * unit;
        const double half_height = is_disc ? half_width : 0.5 * light.height * unit;
        const double area = (is_disc ? std::numbers::pi : 4.0) * half_width * half_height;
        const double radiance = view.lamp_brightness / share_of_light(light);
        const glm::dvec3 colour(light.colour[0], light.colour[1], light.colour[2]);
        to = {.middle = glm::vec3(light.distance * unit * towards),
              .cumulative_chance = to_float(chosen),
              .across = glm::vec3(half_width * across),
              .is_disc = is_disc ? 1.0F : 0.0F,
              .along = glm::vec3(half_height * along),
              .area = to_float(area),
              .normal = glm::vec3(-towards),
              .chance = to_float(looks),
              .radiance = glm::vec4(glm::dvec4(radiance * colour, 0))};
    }
}

// ---- Uniforms of the flow overlay for the ray caster.

constexpr double density = 240;          // extinction of opaque flow, per depth of the volume
constexpr double soft_share = 0.1;       // of the range: width of the fade-in above the threshold
constexpr double left_open_share = 0.1;  // of the range: automatic threshold

// Returns the velocity at a phase of pi; 0 if unknown.
static double v_max(const FlowOverlay& view, const VolumeTexture& flow) {
    return view.flow_v_max > 0 ? view.flow_v_max : flow.grid().v_max;
}

// Returns the automatic range of the colours.
static double usual_range(const FlowOverlay& view, const VolumeTexture& flow) {
    const double usual = flow.range(RangeSource::fixed).high;
    if (!is_phasor(flow.grid())) return round_speed(usual);
    const double of_pi = v_max(view, flow) > 0 ? v_max(view, flow) : std::numbers::pi;
    return std::min(of_pi, round_speed(usual * of_pi / std::numbers::pi));
}

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

void fill_open_values(FlowOverlay& view, const FlowScale& scale) {
    if (view.flow_threshold < 0) view.flow_threshold = scale.threshold;
    if (view.flow_range == 0) view.flow_range = std::max(scale.range, 2 * view.flow_threshold);
}

std::optional<FlowScale> flow_scale(const Shot& shot) {
    if (shot.scene.flow == nullptr) return {};
    return flow_scale(shot.view, *shot.scene.flow);
}

static shared::FlowFrame flow_frame(const Shot& shot) {
    if (shot.scene.flow == nullptr) return {};
    const VolumeTexture& flow = *shot.scene.flow;
    const FlowScale scale = flow_scale(shot.view, flow);
    // Phasors are converted to velocities by this factor, or stay in radians if v_max is unknown.
    const bool is_open = shot.view.flow_threshold < 0;
    const double soft = soft_share * (is_open ? std::min(scale.usual, scale.range) : scale.range);
    const double per_radian = v_max(shot.view, flow) > 0 ? v_max(shot.view, flow) / std::numbers::pi : 1;
    const VolumeGrid& grid = flow.grid();
    const double depth = volume_extent(shot.scene.grid()).x;
    const glm::dvec3 bricks = glm::dvec3(grid.depth, grid.a_scans, grid.b_scans) / double(flow.bricks().edge());
    return {.velocity_scale = to_float(flow.scale()),
            .velocity_offset = to_float(flow.offset()),
            .velocity_per_radian = to_float(per_radian),
            .padding_1 = {},
            .threshold = to_float(scale.threshold),
            .per_fade = to_float(1 / soft),
            .per_range = to_float(1 / scale.range),
            .opacity = to_float(shot.view.flow_opacity),
            .density = to_float(density * std::numbers::log2e / depth),
            .is_under = shot.view.flow_shown == FlowDisplay::under ? 1.0F : 0.0F,
            .padding_2 = {},
            .bricks = glm::vec4(glm::dvec4(bricks, 0))};
}

// ---- Uniforms of two-dimensional transfer functions for the shaders.

// Returns the factor from the shader's units to the function's units: um, 1/um, or values per um.
static double unit_of(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid) {
    const double smallest = std::ranges::min(voxel_edges(grid));
    switch (plane.second) {
        case SecondAxis::gradient: return volume.scale() / smallest;
        case SecondAxis::curvature: return 1 / smallest;
        case SecondAxis::distance: break;
    }
    return 1 / texture_per_um(grid);
}

// Combines the conversion of units with the position on the axis.
SecondScale second_scale(const TransferPlane& plane, const VolumeTexture& volume, const VolumeGrid& grid,
                         double steps) {
    const double per_second = steps / (plane.to - plane.from);
    return {unit_of(plane, volume, grid) * per_second, -plane.from * per_second};
}

shared::SecondFrame second_frame(const Shot& shot, const TransferFunction& function, std::uint64_t number) {
    if (!function.plane) return {};
    const VolumeGrid& grid = shot.scene.grid();
    const SecondScale scale = second_scale(*function.plane, shot.scene.volume, grid, shared::second_rows - 1);
    // Floats are exact up to 2^24.
    return {.row_scale = to_float(scale.factor),
            .row_offset = to_float(scale.offset),
            .tables = static_cast<float>(number % (1 << 24)),
            .depth_per_um = to_float(texture_per_um(grid)),
            .zero_depth = to_float(depth_in_texture(grid, 0)),
            .padding_1 = {},
            .padding_2 = {}};
}

// ---- Uniforms and lookup tables of the channels for the ray caster and the path tracer.

namespace {

static_assert(max_channels == shared::max_channels + 1 && max_label + 1 == shared::channel_entries_of_one &&
              shared::transfer_entries == shared::channel_entries_of_one &&
              4 * shared::channel_peaks_of_one == int{extinction_peaks_count});

const Channel& channel_of(const Shot& shot, const SceneChannel& channel) {
    return shot.view.channels.at(channel.place);
}

// Returns true if the channel is shown as its maximum along the ray instead of by compositing.
bool shows_maximum(const Shot& shot, const Channel& channel) {
    const ViewModeText& mode = text_of(mode_of(shot));
    if (mode.is_lit()) return mode.ray != RayKind::light && channel.mode == ChannelMode::mip;
    return true;
}

// Label tables are indexed by the label number.
TransferTable label_table(const Channel& channel) {
    TransferTable table;
    table.extinctions.resize(shared::channel_entries_of_one);
    table.colours.resize(shared::channel_entries_of_one);
    for (const TissueLabel& label : labels_of(channel)) {
        const auto place = index(label.id);
        table.extinctions[place] = static_cast<float>(label.extinction);
        for (std::size_t i = 0; i < 3; ++i) {
            table.colours[place][i] =
                static_cast<std::uint8_t>(std::lround(255 * std::clamp(label.colour[i], 0.0, 1.0)));
        }
        table.colours[place][3] = 255;
    }
    return table;
}

TransferTable table_of(const Shot& shot, const SceneChannel& channel) {
    const Channel& of = channel_of(shot, channel);
    return of.labels ? label_table(of)
                     : transfer_table(channel_function(shot.view, of, *channel.texture), shared::transfer_entries);
}

// Scale and offset from texture values to table entries, and the extinction factor in bits per um. Same convention as
// raycast_frame() uses for the volume.
struct ChannelLookup {
    double scale, offset, bits;
};

ChannelLookup lookup_of(const Shot& shot, const SceneChannel& channel) {
    const Channel& of = channel_of(shot, channel);
    const VolumeTexture& texture = *channel.texture;
    // log2(e): shaders compute transmittance with exp2.
    const double bits = of.opacity * std::log2(std::exp(1.0));
    if (of.labels) {
        const double given = shot.view.opacity_length_um;
        const double length = given > 0 ? given : volume_extent(shot.scene.grid()).x;
        return {texture.scale(), texture.offset(), bits / length};
    }
    const TransferFunction function = channel_function(shot.view, of, texture);
    const auto [low, high] = function.range;
    const double per_level = (shared::transfer_entries - 1) / (high - low);
    return {texture.scale() * per_level, (texture.offset() - low) * per_level, bits / function.length};
}

// Returns the width of the volume's range in texture values.
double range_of_volume(const Shot& shot) {
    const VolumeTexture& volume = shot.scene.volume;
    const auto [low, high] = transfer_function(shot.view, volume.grid(), volume.range(shot.view.range)).range;
    return (high - low) / volume.scale();
}

shared::ChannelFrame frame_of(const Shot& shot, const SceneChannel& channel) {
    const Channel& of = channel_of(shot, channel);
    const VolumeGrid& grid = channel.texture->grid();
    const ChannelLookup lookup = lookup_of(shot, channel);
    const TransferTable table = table_of(shot, channel);
    const double largest = of.labels ? 1 : std::max(1e-20, double{std::ranges::max(table.extinctions)});
    const double opacity = std::min(of.opacity, 1.0);
    const double of_range = range_of_volume(shot);
    // Gradients of labels are those of visibility, gradients of values are relative to the range.
    const double slopes = of.labels ? of_range : of_range * lookup.scale / (shared::transfer_entries - 1);
    const glm::dvec3 bricks =
        glm::dvec3(grid.depth, grid.a_scans, grid.b_scans) / double(channel.texture->bricks().edge());
    return {.entry_scale = to_float(lookup.scale),
            .entry_offset = to_float(lookup.offset),
            .bits = to_float(lookup.bits),
            .padding = {},
            .weight = to_float(opacity / largest),
            .is_over = of.blend == ChannelBlend::over ? 1.0F : 0.0F,
            .slope_scale = to_float(slopes),
            .opacity = to_float(opacity),
            .bricks = glm::vec4(glm::dvec4(bricks, 0))};
}

// Writes extinction, colour, and the next visible entry at or after each one.
void write_entries(const TransferTable& table, std::span<std::byte> bytes) {
    std::uint32_t visible = shared::channel_entries_of_one;
    for (std::size_t i = table.extinctions.size(); i-- > 0;) {
        if (table.extinctions[i] > 0) visible = static_cast<std::uint32_t>(i);
        std::byte* entry = bytes.data() + 16 * i;
        std::memcpy(entry, &table.extinctions[i], 4);
        std::memcpy(entry + 4, &table.colours[i], 4);
        std::memcpy(entry + 8, &visible, 4);
    }
}

}  // namespace

static shared::ChannelsFrame channels_frame(const Shot& shot) {
    shared::ChannelsFrame frame{};
    for (std::size_t i = 0; i < shot.scene.channels.size(); ++i)
        frame.channel[i] = frame_of(shot, shot.scene.channels[i]);
    return frame;
}

// Labels without a table have no names, hence no legend.
static std::vector<ChannelLegend> channel_legends(const Shot& shot) {
    std::vector<ChannelLegend> legends;
    for (const SceneChannel& channel : shot.scene.channels) {
        const Channel& of = channel_of(shot, channel);
        if (!of.labels)
            legends.push_back({&of, channel.texture->grid().unit, channel_function(shot.view, of, *channel.texture)});
        else if (!of.labels->empty())
            legends.push_back({&of, "", {}});
    }
    return legends;
}

static int channels_constant(const Shot& shot) {
    int constant = static_cast<int>(shot.scene.channels.size());
    for (int i = 0; i < std::ssize(shot.scene.channels); ++i) {
        const Channel& of = channel_of(shot, shot.scene.channels[index(i)]);
        if (of.labels) constant |= 1 << (shared::channels_label_bit + i);
        if (shows_maximum(shot, of)) constant |= 1 << (shared::channels_maximum_bit + i);
    }
    return constant;
}

std::vector<std::byte> channel_tables(const Shot& shot) {
    if (shot.scene.channels.empty()) return {};
    constexpr std::size_t entries = 16 * std::size_t{shared::channel_entries_of_one};
    constexpr std::size_t peaks = 16 * std::size_t{shared::channel_peaks_of_one};
    std::vector<std::byte> bytes(channel_tables_bytes);
    for (std::size_t i = 0; i < shot.scene.channels.size(); ++i) {
        const TransferTable table = table_of(shot, shot.scene.channels[i]);
        write_entries(table, std::span(bytes).subspan(i * entries, entries));
        if (!is_traced(shot)) continue;
        write_extinction_peaks(table.extinctions,
                               std::span(bytes).subspan(shared::max_channels * entries + i * peaks, peaks));
    }
    return bytes;
}

// ---- Uniforms of the path tracer.

static shared::TraceFrame trace_frame(const Shot& shot) {
    if (!is_traced(shot)) return {};
    const View& view = shot.view;
    const auto bounces = static_cast<float>(view.bounces > 0 ? view.bounces : shared::max_scatterings);
    // The lamp's brightness is that of a facing surface and independent of the lamp's size.
    const double cosine = std::cos(glm::radians(view.lamp_size_deg));
    const double lamp = std::numbers::pi * view.lamp_brightness / (0.5 * (1 + cosine));
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const double half_diagonal = 0.5 * glm::length(extent);
    const Camera camera(view, extent);
    const double sharp = camera.depth_of({view.target_um[0], view.target_um[1], view.target_um[2]}) + view.focus_um;
    const double smallest = std::ranges::min(voxel_edges(shot.scene.grid()));
    const float stratified = view.spreads_pixels ? 2.0F : 1.0F;
    const float spread = view.spreads_paths ? stratified : 0;
    shared::TraceFrame frame{.optical_per_bit = std::numbers::ln2_v<float>,
                             .scattering_albedo = to_float(view.scattering),
                             .anisotropy = to_float(view.anisotropy),
                             .scattering_limit = bounces,
                             .sky_radiance = to_float(view.sky),
                             .lamp_irradiance = to_float(lamp),
                             .lamp_cosine = to_float(cosine),
                             .surface_strength = to_float(view.lighting_strength),
                             .lens_radius = to_float(0.5 * view.aperture_um),
                             .focus_distance = to_float(std::max(sharp, 1e-3 * half_diagonal)),
                             .per_half_diagonal = to_float(1 / half_diagonal),
                             .spreads_paths = spread,
                             .brick_edge = static_cast<float>(shot.scene.volume.bricks().edge()),
                             .facet_alpha = to_float(view.roughness * view.roughness),
                             .facet_albedo = 0,
                             .max_extinction = to_float(64 / smallest),
                             .known = {},
                             .lights = {},
                             .albedo = {},
                             .seed = static_cast<std::uint32_t>(view.seed),
                             .path_number = static_cast<std::uint32_t>(shot.pass.number),
                             .width = static_cast<std::uint32_t>(view.width),
                             .movie_frame = view.frame};
    set_lights(frame, view, extent);
    return frame;
}

// Stores the table of surface albedos by the cosine of the angle.
void set_surface(shared::TraceFrame& frame, const SurfaceAlbedo& albedo) {
    frame.facet_albedo = albedo.mean;
    for (int i = 0; i < shared::albedo_steps; ++i) frame.albedo[i / 4][i % 4] = albedo.of_cosine[index(i)];
}

static_assert(static_cast<int>(MajorantFault::half) == shared::fault_half &&
              static_cast<int>(MajorantFault::no_halo) == shared::fault_no_halo &&
              static_cast<int>(MajorantFault::ends_only) == shared::fault_ends_only &&
              static_cast<int>(MajorantFault::stale) == shared::fault_stale);

// Returns whether extinction depends on the value alone: nothing else contributes to it, and only convex solids clip
// the volume. Majorants of bricks are then exact.
shared::MajorantFrame known_of(const Shot& shot, const RaycastConstants& constants) {
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const double nearest = Camera(shot.view, extent).depth_of({0, 0, 0}) - 0.5 * glm::length(extent);
    const bool by_value = constants[shared::constant_flow] == shared::flow_off &&
                          constants[shared::constant_channels] == 0 &&
                          constants[shared::constant_second] == shared::second_off &&
                          constants[shared::constant_heights] == shared::heights_off && nearest >= shot.view.near_um;
    return {.by_value_alone = by_value ? 1.0F : 0.0F, .fault = static_cast<float>(shot.fault), .padding = {}};
}

// Exposure is in stops: +1 EV doubles the light.
shared::ToneFrame tone_of(const View& view) {
    return {.exposure = to_float(std::exp2(view.exposure_ev)),
            .curve = static_cast<float>(view.tone),
            .white = to_float(view.white_point),
            .padding = {}};
}

// ---- Annotations of a picture.

Sheet sheet_of(const Shot& shot) {
    const VolumeTexture& volume = shot.scene.volume;
    const TransferFunction function = transfer_function(shot.view, shot.scene.grid(), volume.range(shot.view.range));
    return annotations_of(shot.view, shot.scene.grid(), function, flow_scale(shot), channel_legends(shot));
}

// ---- Raycast constants

namespace {

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
    return view.show == ViewContent::en_face ? shared::heights_along_rays : shared::heights_anywhere;
}

int slices_constant(const View& view) {
    if (view.show != ViewContent::volume) return shared::slices_section;
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
    constants[shared::constant_mode] = text_of(mode_of(shot)).shader;
    constants[shared::constant_lighting] = lighting_of(shot);
    constants[shared::constant_lights] = lights_constant(shot);
    constants[shared::constant_box] = view.box ? 1 : 0;
    constants[shared::constant_output] = output_constant(shot);
    constants[shared::constant_rolling] = rolling_constant(shot.scene);
    constants[shared::constant_light_volume] = needs_light_volume(view) ? 1 : 0;
    constants[shared::constant_cut] = cut_frame(shot).plane_count > 0 ? 1 : 0;
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
            constants[index(i)] = 0;
        }
    }
    return constants;
}

// ---- The uniform block

namespace {

constexpr double min_transmittance = 0.002;  // half a step of an 8-bit picture
constexpr double elsewhere = 1e12;           // in squared pixels: too far away to be visible
constexpr double box_line_width = 1.5;       // in pixels, for a picture height of 1024

// Thin runs may use steps of up to two voxels: 1, 2 or 4 samples per step.
double thin_stride(const View& view) {
    return std::exp2(std::clamp(std::floor(std::log2(2 / view.step)), 0.0, 2.0));
}

glm::vec4 packed(const glm::dvec3& v, double w = 0) {
    return glm::vec4(glm::dvec4(v, w));
}
glm::vec4 packed(double x, double y, double z, double w) {
    return glm::vec4(glm::dvec4(x, y, z, w));
}

void set_rays(shared::RaycastFrame& frame, const Camera::Rays& rays) {
    frame.eye = packed(rays.eye);
    frame.eye_x = packed(rays.eye_x);
    frame.eye_y = packed(rays.eye_y);
    frame.ray = packed(rays.ray);
    frame.ray_x = packed(rays.ray_x);
    frame.ray_y = packed(rays.ray_y);
}

void set_lookup(shared::RaycastFrame& frame, const VolumeTexture& volume, const View& view,
                const TransferFunction& function) {
    const auto [low, high] = function.range;
    const double per_level = (shared::transfer_entries - 1) / (high - low);
    // log2(e) below: shaders compute transmittance with exp2.
    frame.lookup = {.entry_scale = to_float(volume.scale() * per_level),
                    .entry_offset = to_float((volume.offset() - low) * per_level),
                    .bits = to_float(view.opacity * std::log2(std::exp(1.0)) / function.length),
                    .isovalue = to_float((isovalue_of(view, function) - volume.offset()) / volume.scale())};
    frame.value_scale = to_float(volume.scale());
    frame.value_offset = to_float(volume.offset());
}

void set_colours(shared::RaycastFrame& frame, const View& view, const TransferFunction& function) {
    const glm::dvec3 background(view.background[0], view.background[1], view.background[2]);
    frame.background = packed(background, view.transparent ? 0 : 1);
    const double width = std::max(1.0, box_line_width * static_cast<double>(std::min(view.width, view.height)) / 1024);
    frame.box_colour = glm::vec3(glm::dvec3(has_dark_background(view) ? 0.55 : 0.35));
    frame.box_width = to_float(width);
    // Isosurfaces have the colour of the upper part of the range.
    const TransferNode surface = function.at(0.75);
    frame.surface_colour = packed(surface.red, surface.green, surface.blue, 1);
}

// Runs of samples are short enough for the brick at their centre, including those of flow and channels, to cover them.
// Their length is a multiple of the longer steps.
void set_runs(shared::RaycastFrame& frame, const Scene& scene, const View& view) {
    const VolumeGrid& grid = scene.volume.grid();
    const Bricks& bricks = scene.volume.bricks();
    const Bricks& of_flow = scene.flow != nullptr ? scene.flow->bricks() : bricks;
    frame.bricks = packed(glm::dvec3(grid.depth, grid.a_scans, grid.b_scans) / double(bricks.edge()));
    constexpr double together = 4;  // samples fetched at once: as many long steps must fit into a run
    int least = std::min(bricks.reach(), of_flow.reach());
    for (const SceneChannel& channel : scene.channels) {
        // labels read one voxel further than interpolation
        const int wider = view.channels.at(channel.place).labels ? 1 : 0;
        least = std::min(least, channel.texture->bricks().reach() - wider);
    }
    const double reach = std::max(1.0, std::floor(least / view.step));
    const double longest = std::exp2(std::floor(std::log2(std::max(1.0, reach / together))));
    const double stride = view.adaptive ? std::min(thin_stride(view), longest) : 1;
    frame.run_length = to_float(reach < together ? reach : reach - std::fmod(reach, together * stride));
    frame.thin_stride = to_float(stride);
}

// A stride near the golden ratio distributes consecutive rows evenly over the picture.
void set_rows(shared::RaycastFrame& frame, const Shot& shot) {
    const std::int64_t rows = shot.group_rows();
    std::int64_t stride = std::max<std::int64_t>(1, std::llround(0.618 * static_cast<double>(rows)));
    while (std::gcd(stride, rows) != 1) ++stride;
    frame.row_count = static_cast<float>(rows);
    frame.row_stride = static_cast<float>(stride);
}

// The limits exclude unfilled slices, also from interpolation. Includes the low end of the range.
void set_filled(shared::RaycastFrame& frame, const Scene& scene, const TransferFunction& function) {
    const auto slices = static_cast<double>(scene.volume.grid().b_scans);
    const auto filled = static_cast<double>(scene.filled_to);
    const double lowest = (function.range.low - scene.volume.offset()) / scene.volume.scale();
    frame.filled = {.end = to_float(filled / slices),
                    .last_slice = to_float((filled - 0.5) / slices),
                    .low = to_float(lowest),
                    .padding = {}};
}

// Sets the four edges along each axis. Edges of faces towards the eye are in front of the volume.
void set_box(shared::RaycastFrame& frame, const Camera& camera, const glm::dvec3& extent, bool is_panorama) {
    for (int i = 0; i < shared::box_edges; ++i) {
        const int axis = i / 4;
        const int b = (axis + 1) % 3;
        const int c = (axis + 2) % 3;
        const int side_b = (i & 1) != 0 ? 1 : -1;
        const int side_c = (i & 2) != 0 ? 1 : -1;
        glm::dvec3 end = 0.5 * extent;
        end[b] *= side_b;
        end[c] *= side_c;
        glm::dvec3 start = end;
        start[axis] = -end[axis];
        const bool front = camera.faces(b, side_b) || camera.faces(c, side_c);
        if (is_panorama) {
            const auto towards = [&](const glm::dvec3& point) { return glm::normalize(point - camera.eye()); };
            frame.edge[i] = packed(towards(start), front ? 0 : elsewhere);
            frame.edge_facts[i] = packed(towards(end), front ? elsewhere : 0);
            continue;
        }
        const std::optional<Camera::Line> line = camera.project_line(start, end);
        if (!line) {  // behind the eye
            frame.edge_facts[i] = packed(0, elsewhere, elsewhere, 0);
            continue;
        }
        const glm::dvec2 along = line->to - line->from;
        frame.edge[i] = packed(line->from.x, line->from.y, along.x, along.y);
        frame.edge_facts[i] =
            packed(1 / std::max(glm::dot(along, along), 1e-12), front ? 0 : elsewhere, front ? elsewhere : 0, 0);
    }
}

}  // namespace

shared::RaycastFrame raycast_frame(const Shot& shot, const TransferFunction& function) {
    const Scene& scene = shot.scene;
    const View& view = shot.view;
    const Region& region = shot.region;
    const VolumeTexture& volume = scene.volume;
    const glm::dvec3 extent = volume_extent(scene.grid());
    const auto edges = voxel_edges(scene.grid());
    const double smallest = std::ranges::min(edges);
    const Camera camera(view, extent);
    shared::RaycastFrame frame{};
    set_rays(frame, camera.rays());
    frame.per_extent = glm::vec3(1.0 / extent);
    frame.near_distance = to_float(view.near_um);
    const glm::dvec3 edge(edges[0], edges[1], edges[2]);
    frame.gradient_step = packed(view.gradient_radius * edge / extent);
    frame.per_difference = packed(smallest / (2 * view.gradient_radius * edge));
    frame.picture = glm::vec2(glm::dvec2(view.width, view.height));
    frame.step_length = to_float(view.step * smallest);
    frame.min_transmittance = to_float(view.end_early ? min_transmittance : 0);
    frame.region = packed(static_cast<double>(region.left), static_cast<double>(region.top),
                          static_cast<double>(shot.columns()), static_cast<double>(shot.rows()));
    set_lookup(frame, volume, view, function);
    set_colours(frame, view, function);
    set_rows(frame, shot);
    frame.pass = pass_frame(shot.pass);
    set_runs(frame, scene, view);
    set_filled(frame, scene, function);
    frame.modes = modes_frame(shot);
    frame.light = light_frame(shot, function);
    frame.cut = cut_frame(shot);
    frame.slices = slices_frame(shot);
    frame.flow = flow_frame(shot);
    frame.pages = pages_frame(shot);
    frame.planes = planes_frame(shot);
    frame.trace = trace_frame(shot);
    frame.channels = channels_frame(shot);
    frame.studio = studio_frame(shot);
    set_box(frame, camera, extent, view.projection == Projection::panorama);
    return frame;
}

}  // namespace echolux
