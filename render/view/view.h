// The view: all settings of a picture, combined from the parts below. All fields are keys of the section [view] and
// affect the picture only. The help texts in describe() document meaning, unit and range of each field.
#pragma once

#include <array>
#include <cstdint>
#include <glm/vec3.hpp>
#include <glm/vec4.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/types.h"
#include "render/view/curve.h"
#include "render/view/view_modes.h"

namespace echolux {

// ---- Settings of the text and graphics drawn over the picture. Sizes are fractions of the picture's shorter side, so
// that small and large pictures look alike.

// Points in `distances`, `angles`, `flow_arrows` and `flow_streaks` are in um from the centre of the first voxel: index
// times voxel spacing along depth, A-scans, B-scans, as the probe reports them.
struct Annotations {
    bool box = true;
    bool scale_bar = false;
    bool axes = false;
    bool colour_bar = false;
    bool depth_ruler = false;
    bool time_stamp = false;
    double time_s = 0;
    double time_rate = 0;  // speed of the data relative to the movie; 0: not shown
    std::string text;
    std::vector<double> text_at{0.5, 0};  // fractions of the picture from its left and top edge
    std::vector<double> distances;        // six numbers each: start and end point
    std::vector<double> angles;           // nine numbers each: point on one leg, vertex, point on the other leg
    std::vector<double> flow_arrows;      // six numbers each: start and end point
    std::vector<double> flow_streaks;     // five numbers per point: vessel, point (3), mm/s
    std::vector<double> streak_pulse;     // two numbers per moment: s, speed over its mean
    double streak_time_s = 0;
    double streak_pace = 0.05;  // speed of the streaks over that of the blood
    double streak_s = 0;        // length as a travel time of the blood; 0: automatic
    double text_size = 0.025;
    std::vector<double> text_colour;  // red, green, blue; empty: automatic
};

template <>
const std::vector<Field<Annotations>>& describe<Annotations>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Annotations& annotations);

// ---- Additional volumes with the same grid that are shown together with the volume, which is the first channel. Each
// channel has its own curve or labels.

inline constexpr std::size_t max_channels = 4;  // including the volume
inline constexpr std::int64_t max_label = 1023;

enum class ChannelMode { view, mip };

// add: extinctions add up. over: replaces the channels before it, like flow.
enum class ChannelBlend { add, over };

// Meaning of the voxels with one label number. Number 0 is never visible.
struct TissueLabel {
    std::int64_t id = 0;
    std::string name{};
    std::vector<double> colour{0.8, 0.8, 0.8};
    double extinction = 120;  // per depth of the volume

    bool operator==(const TissueLabel&) const = default;
};

// Content of a channel's file.
struct ChannelVoxels {
    std::string file;
    std::string hash;  // fingerprint of the file
    VolumeGrid grid;
    const void* voxels = nullptr;
    std::shared_ptr<const void> owner{};  // keeps the voxels alive
};

struct Channel {
    std::string file;
    std::string curve = "automatic";  // preset, transfer function file, "labels" or label file
    std::string colour_map = "preset";
    double low = lowest_value;
    double high = highest_value;
    double opacity = 1;
    ChannelMode mode = ChannelMode::view;
    ChannelBlend blend = ChannelBlend::add;
    bool shown = true;

    // Content of the files. The code that sets their names also reads them.
    std::shared_ptr<const ChannelVoxels> volume{};
    std::optional<TransferCurve> own_curve{};
    std::optional<std::vector<TissueLabel>> labels{};  // voxels are label numbers; empty list: automatic colours

    bool is_seen() const { return shown && volume != nullptr; }
};

struct Channels {
    bool channel_1_shown = true;
    std::array<Channel, max_channels - 1> channels{};
};

template <>
const std::vector<Field<TissueLabel>>& describe<TissueLabel>();
template <>
const std::vector<Field<Channel>>& describe<Channel>();
template <>
const std::vector<Field<Channels>>& describe<Channels>();

// Returns the key of a field, e.g. "channel_2_file" for place 0, the first channel after the volume.
std::string channel_key(std::size_t place, std::string_view name);

inline constexpr std::string_view label_curve = "labels";

// Returns the labels of a channel: those of its file, else all numbers in colours that are easy to distinguish.
std::vector<TissueLabel> labels_of(const Channel& channel);

// Returns the channel that replaces a hidden volume: the first visible one without labels. Null if the volume is shown
// or there is no such channel.
const Channel* in_place_of_volume(const Channels& channels);

// Returns true if the channel's curve is a file name, not a preset or "labels".
bool names_file(const Channel& channel);

// Returns true if both contain the same voxels, curves and labels.
bool has_same_voxels(const Channels& a, const Channels& b);

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Channels& channels);

// Throws Error{bad_setting} with both files and sizes if a channel's grid differs from that of the volume `name`.
void check_channels(const Channels& channels, const VolumeGrid& grid, const std::string& name);

// ---- Settings of the clipping: a box, free planes, and two depths. A point is visible only if no limit clips it.

// A depth limit at its extreme clips nothing.
constexpr double above_all_um = -1e9;
constexpr double below_all_um = 1e9;

struct Cut {
    std::vector<double> clip_low{0, 0, 0};  // depth, A-scans, B-scans, as fractions of the volume
    std::vector<double> clip_high{1, 1, 1};
    // Four numbers each: normal (depth, A-scans, B-scans), offset in um from the centre.
    std::vector<double> clip_planes;
    std::string top_from;  // reference of top_um: "" for zero delay, "surface", or a file
    double top_um = above_all_um;
    std::string bottom_from;
    double bottom_um = below_all_um;
    bool heights_cut = true;  // false: the depth limits keep their values but clip nothing
    std::string flatten;      // "" as recorded, "surface", or a file
};

template <>
const std::vector<Field<Cut>>& describe<Cut>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Cut& cut);

// ---- Settings of the flow overlay: a second volume of the same time point, shown in colour over the structure.

// under: visible only where the structure is dark.
enum class FlowDisplay { overlay, under, alone, hidden };

struct FlowOverlay {
    FlowDisplay flow_shown = FlowDisplay::overlay;
    double flow_threshold = -1;  // in the unit of the flow; -1: automatic
    double flow_range = 0;       // at the ends of the colours; 0: automatic
    double flow_opacity = 1;
    double flow_v_max = 0;  // mm/s at a phase of pi; 0: value of the file
    std::string flow_colour_map = "flow";
};

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const FlowOverlay& flow);

// ---- Settings of the lighting.

enum class Lamp { headlight, free };

struct Light {
    bool lighting = true;
    double lighting_strength = 0.8;
    Lamp lamp = Lamp::headlight;
    double lamp_azimuth_deg = -40;   // to the right of the eye
    double lamp_elevation_deg = 40;  // above the eye
    double gradient_radius = 2;      // in voxels to either side
    double ambient_occlusion = 0;
    double shadows = 0;
};

template <>
const std::vector<Field<Light>>& describe<Light>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Light& light);

// ---- Settings of single view modes.

struct Modes {
    double attenuation = 8;   // attenuated-mip: optical depth of a volume of maximal values
    double mida_balance = 0;  // mida: -1 composite, 1 MIP
    double point_size = 0.8;  // points: diameter in voxels
};

template <>
const std::vector<Field<Modes>>& describe<Modes>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Modes& modes);

// ---- Settings of the camera. See camera.h for the axes.

enum class Projection { perspective, orthographic, panorama };

// Named viewing directions; free: from the angles.
enum class Look { free, front, back, left, right, top, bottom, oblique };

struct Pose {
    Look look = Look::free;
    double azimuth_deg = 35;
    double elevation_deg = 25;
    double roll_deg = 0;
    bool fit = false;  // zoom 1 fits the current instead of every orientation
    double zoom = 1;
    double distance = 1;                     // relative to the distance that shows the whole volume
    std::vector<double> target_um{0, 0, 0};  // depth, A-scans, B-scans from the volume's centre
    Projection projection = Projection::perspective;
    double fov_deg = 30;           // along the shorter side, at zoom 1
    double near_um = 0;            // nothing closer to the eye is shown
    double eyes_apart = 1.0 / 30;  // as a fraction of the distance to the target
    double eye = 0;  // position on the stereo base: -0.5 left, 0 centre, 0.5 right; not a setting, see camera.h
};

template <>
const std::vector<Field<Pose>>& describe<Pose>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Pose& pose);

struct Angles {
    double azimuth_deg, elevation_deg, roll_deg;
};

// Returns the angles of the named direction, or the pose's own ones for Look::free.
Angles angles_of(const Pose& pose);

// ---- Settings of the sampling along rays and of the number of rays.

struct Sampling {
    double step = 1;                 // in units of the smallest voxel edge
    bool skip_empty = true;          // skip empty regions
    bool end_early = true;           // stop rays once they are opaque
    bool adaptive = true;            // longer steps where little is visible
    std::int64_t samples = 1;        // rays per pixel of a saved picture
    std::int64_t rest_samples = 32;  // rays per pixel at rest in a window
    double frame_ms = 33;            // time limit of a picture in motion
};

template <>
const std::vector<Field<Sampling>>& describe<Sampling>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Sampling& sampling);

// ---- Settings of planes inside the volume and of separate views of its sections.

enum class ViewContent { volume, slice, en_face };
enum class SlicePlane { b_scan, en_face, side, oblique };
enum class SliceColours { gray, curve };

struct Slices {
    std::vector<double> slices;  // four numbers each: normal (depth, A-scans, B-scans), offset in um from the centre
    double planes_opacity = 1;
    bool slices_cut = true;  // clipped like the volume
    SliceColours slice_colours = SliceColours::gray;
    ViewContent show = ViewContent::volume;
    SlicePlane plane = SlicePlane::b_scan;
    std::vector<double> plane_normal{1, 0, 0};  // for oblique planes
    double plane_offset_um = 0;                 // along the normal, from the centre
    bool plane_from_behind = false;             // mirrored; roll_deg rotates the section
    double slab_um = 0;                         // thickness of the section; 0: a single sample
};

template <>
const std::vector<Field<Slices>>& describe<Slices>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Slices& slices);

// ---- Settings of the surroundings: sky picture, background, ground, cut faces, outlines, frame and title, and the
// shutter of movies.

struct SkyPicture;

// Appearance of cut faces: off shows the volume behind them, gray and curve a section in these colours.
enum class Caps { off, gray, curve };

struct Studio {
    std::string sky_picture;
    double sky_turn_deg = 0;
    std::vector<double> background_lower_colour;  // empty: uniform background
    double ground_shadow = 0;
    double ground_gap_um = 0;  // distance of the ground below the volume
    Caps caps = Caps::off;
    double outline = 0;
    double outline_sharpness = 4;
    std::vector<double> outline_colour{0, 0, 0};
    std::string title;
    double picture_frame = 0;  // as a fraction of the shorter side
    double shutter = 0;        // exposure as a fraction of the frame interval
    std::int64_t shutter_pictures = 16;

    // Content of the file `sky_picture`.
    std::shared_ptr<const SkyPicture> sky_read;
};

template <>
const std::vector<Field<Studio>>& describe<Studio>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Studio& studio);

// ---- Settings of path tracing.

// Tone curves, in the order of shared::tone_linear and the following constants.
enum class Tone { linear, reinhard, filmic };

// Light sources other than the sky: view.lamp, or area lights around the volume that turn with the eye.
enum class Lights { lamp, headlight, three_point, dissection_microscope, own };

// Numbers per light: azimuth, elevation, distance, width, height, red, green, blue.
inline constexpr std::size_t area_light_numbers = 8;
inline constexpr std::size_t max_area_lights = 6;

struct Tracing {
    std::int64_t paths = 256;   // max per pixel
    std::int64_t bounces = 64;  // max per path; 0: unlimited
    double scattering = 0.95;   // albedo of white tissue
    double anisotropy = 0;      // mean cosine of the scattering angle
    double roughness = 0.5;
    double sky = 1;
    double lamp_brightness = 4;
    double lamp_size_deg = 8;
    double exposure_ev = 0;
    Tone tone = Tone::reinhard;
    double white_point = 4;  // luminance that the tone curve maps to white
    std::int64_t seed = 0;
    bool denoise = true;
    double noise_target = 1;  // in steps of 8 bits; ends early once reached, 0: never
    double aperture_um = 0;   // lens diameter
    double focus_um = 0;      // behind the target
    bool isosurface = false;
    Lights lights = Lights::lamp;
    std::vector<double> area_lights;  // area_light_numbers per light

    // Number of the movie's frame, which selects its random numbers. Set by the movie writer.
    std::uint32_t frame = 0;

    // Duration of the cross-fade from the previous picture at rest. Set by the window; saved pictures never fade.
    double cross_fade_s = 0;

    // Stratifies the first random decisions of the paths of a pixel. Off to compare the noise with that of independent
    // paths.
    bool spreads_paths = true;

    // Also distributes them as blue noise over the pixels. Off to compare pixels that must be independent.
    bool spreads_pixels = true;
};

template <>
const std::vector<Field<Tracing>>& describe<Tracing>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Tracing& tracing);

// Stereo pictures: side by side in the halves of the picture, or as an anaglyph.
enum class Stereo { off, side_by_side, anaglyph };

// Settings of the picture itself.
struct Canvas {
    ViewMode mode = ViewMode::composite;
    std::vector<double> background{0.04, 0.045, 0.055};
    bool transparent = false;
    Stereo stereo = Stereo::off;
    std::int64_t width = 1024;
    std::int64_t height = 1024;
};

struct View : Canvas,
              Pose,
              Modes,
              Curve,
              Light,
              Cut,
              Slices,
              FlowOverlay,
              Channels,
              Annotations,
              Sampling,
              Tracing,
              Studio {};

template <>
const std::vector<Field<View>>& describe<View>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Canvas& canvas);

// Return the number of rays or light paths per pixel of a saved picture, and of a picture at rest in a window.
std::int64_t passes_when_saved(const View& view);
std::int64_t passes_at_rest(const View& view);

// Returns the mode of a picture in motion. Traced pictures are ray cast until they rest.
ViewMode mode_while_cast(const View& view);

// Returns true if both views give the same picture. Ignores frame_ms.
bool is_same(const View& a, const View& b);

// Returns true if both views have the same light paths. Ignores settings that affect only the display of the traced
// light.
bool has_same_paths(const View& a, const View& b);

// Checks all fields and their combinations. Throws Error{bad_setting} that names the key.
void check_view(const View& view);
// Checks only the combinations: each field must be within its range.
void check_combinations(const View& view);

// ---- Planes in settings: four numbers each, a normal of any length along depth, A-scans and B-scans, and an offset
// along it from the centre of the volume in um (voxels if the spacing is unknown).

struct Plane {
    glm::dvec3 normal;  // unit length
    double offset;

    // Returns the plane in texture coordinates of a volume with these edges. dot(xyz, point) - w is the signed distance
    // of a point, positive on the side of the normal.
    glm::dvec4 in_texture(const glm::dvec3& extent) const;
};

// Converts checked numbers to planes with unit normals.
std::vector<Plane> planes_of(const std::vector<double>& numbers);

// Throws Error{bad_setting} naming `key` for an incomplete plane, more than `most` planes, or a zero normal.
void check_planes(std::span<const double> numbers, std::size_t most, std::string_view key);

// ---- Brightness of the background, which decides the colour of lines.

// Returns true if lines on the background should be light. A transparent background counts as dark.
inline bool has_dark_background(const Canvas& canvas) {
    const std::vector<double>& colour = canvas.background;
    return canvas.transparent || colour[0] + colour[1] + colour[2] < 1.5;
}

}  // namespace echolux
