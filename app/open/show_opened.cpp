#include "app/open/show_opened.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <map>
#include <set>

#include "app/transfer/transfer_file.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/analysis/tissue_structure.h"
#include "engine/io/file_name.h"
#include "engine/io/number_file.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"
#include "engine/layers/layers.h"
#include "engine/scan/scan_pattern.h"
#include "engine/scan/settings.h"
#include "render/camera.h"
#include "render/view/curve.h"

namespace echolux {

// ---- Heights

namespace {

using Rows = std::vector<float>;

// Converts rows of depth and micrometres from zero delay; only rows if the spacing is unknown.
struct Scale {
    double first_um, row_um;

    explicit Scale(const VolumeGrid& grid)
        : first_um(grid.spacing_um[0] > 0 ? grid.first_depth_um : 0),
          row_um(grid.spacing_um[0] > 0 ? grid.spacing_um[0] : 1) {}

    float row(float um) const { return static_cast<float>((static_cast<double>(um) - first_um) / row_um); }
    float um(float row) const { return static_cast<float>(first_um + static_cast<double>(row) * row_um); }
};

Rows rows_of(const std::string& name, const Volume& volume) {
    if (name == "surface") return tissue_surface(volume);
    if (name.starts_with("layers:")) {
        throw Error(ErrorCode::bad_setting, "is a surface that was found in the window and is not in a file", name,
                    "choose \"surface\", or a height map");
    }
    Rows rows = read_heights(name, volume.grid.a_scans, volume.grid.b_scans);
    const Scale scale(volume.grid);
    for (float& height : rows) height = scale.row(height);
    return rows;
}

std::vector<float> in_um(Rows rows, const VolumeGrid& grid) {
    const Scale scale(grid);
    for (float& row : rows) row = scale.um(row);
    return rows;
}

}  // namespace

HeightMaps prepared_heights(const Cut& cut, Volume& volume) {
    std::map<std::string, Rows> named;  // each map is read or found once
    for (const std::string& name : {cut.top_from, cut.bottom_from, cut.flatten}) {
        if (!name.empty() && !named.contains(name)) named.emplace(name, rows_of(name, volume));
    }
    if (!cut.flatten.empty()) {
        const Rows moved = named.at(cut.flatten);
        const auto level = static_cast<float>(flat_row(moved));
        flatten(volume, moved);
        for (auto& [name, rows] : named) {
            for (std::size_t i = 0; i < rows.size(); ++i) rows[i] -= moved[i] - level;
        }
    }
    HeightMaps maps{.a_scans = volume.grid.a_scans, .b_scans = volume.grid.b_scans, .top_um = {}, .bottom_um = {}};
    if (!cut.top_from.empty()) maps.top_um = in_um(named.at(cut.top_from), volume.grid);
    if (!cut.bottom_from.empty()) maps.bottom_um = in_um(named.at(cut.bottom_from), volume.grid);
    return maps;
}

// ---- Poses

std::vector<BScanPose> poses_of(const ScanGeometry& geometry, std::int64_t slices) {
    const bool is_of_planes = geometry.protocol == Protocol::cross || geometry.protocol == Protocol::four_slices;
    if (!is_of_planes || slices != geometry.b_scans) return {};
    constexpr double mm = 1e-3;
    std::vector<BScanPose> poses;
    for (const auto& [first, last] : scan_planes(geometry)) {
        poses.push_back({mm * first.x_um, mm * first.y_um, mm * last.x_um, mm * last.y_um});
    }
    return poses;
}

// ---- Channels

// Parses one [[label]] table.
static TissueLabel label_of(const std::vector<TomlEntry>& table, const std::string& file) {
    TissueLabel label;
    for (const TomlEntry& entry : table) {
        std::vector<std::string_view> names;
        bool is_known = false;
        for (const Field<TissueLabel>& field : describe<TissueLabel>()) {
            names.push_back(field.name);
            if (field.name != entry.name) continue;
            field.set(label, checked(field, field.get(TissueLabel{}), entry.value, entry.where));
            is_known = true;
        }
        if (is_known) continue;
        const std::string near = nearest_name(entry.name, names);
        throw Error(ErrorCode::bad_setting, "unknown key", entry.where,
                    near.empty() ? "a label has id, name, colour and extinction" : "did you mean \"" + near + "\"?");
    }
    if (label.id == 0) throw Error(ErrorCode::bad_setting, "a label has no number", file + ", id", "e.g. id = 1");
    if (label.colour.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a colour has three numbers",
                    fmt::format("{}, label {}, colour", file, label.id), "e.g. [0.95, 0.75, 0.3]");
    }
    return label;
}

// Label files are distinguished from transfer functions by their content.
static bool holds_labels(const std::filesystem::path& path) {
    constexpr std::size_t enough = 1 << 16;
    return lower_ending(path) == ".toml" && start_of_file(path, enough).find("[[label]]") != std::string::npos;
}

// Reads [[label]] tables with id, name, colour and extinction; see docs/rendering.md. Throws Error{bad_file,
// bad_setting} with file, line and key.
static std::vector<TissueLabel> read_labels(const std::filesystem::path& path) {
    std::vector<TissueLabel> labels;
    std::set<std::int64_t> ids;
    for (const std::vector<TomlEntry>& table : toml_tables(path, "label")) {
        labels.push_back(label_of(table, path.string()));
        if (ids.insert(labels.back().id).second) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("there are two labels {}", labels.back().id),
                    path.string() + ", id", "give each label its own number");
    }
    return labels;
}

static void load_curve(Channel& channel) {
    channel.own_curve.reset();
    channel.labels.reset();
    if (channel.file.empty()) return;
    if (channel.curve == label_curve) {
        channel.labels.emplace();
    } else if (names_file(channel)) {
        if (holds_labels(channel.curve))
            channel.labels = read_labels(channel.curve);
        else
            channel.own_curve = read_transfer(channel.curve);
    } else if (channel.curve != automatic_preset) {
        const std::filesystem::path own = own_file(transfer_files, channel.curve);
        if (!own.empty()) channel.own_curve = read_transfer(own);
    }
}

static std::shared_ptr<const ChannelVoxels> voxels_of_channel(const std::string& file) {
    auto volume = std::make_shared<const Volume>(read_volume(file));
    if (volume->grid.type == VoxelType::complex64 || volume->grid.type == VoxelType::phasor8) {
        throw Error(ErrorCode::bad_setting, "a channel cannot show complex voxels", file,
                    "use a volume of real values, or show it as `flow`");
    }
    return std::make_shared<const ChannelVoxels>(
        ChannelVoxels{file, file_hash(file), volume->grid, volume->voxels.data(), volume});
}

static bool is_of_file(const Channel& channel, const std::string& file) {
    return channel.volume && channel.volume->file == file;
}

void load_channels(View& view, const View* before) {
    for (std::size_t i = 0; i < view.channels.size(); ++i) {
        Channel& channel = view.channels[i];
        if (channel.file.empty()) {
            channel.volume.reset();
        } else if (!is_of_file(channel, channel.file)) {
            const bool is_there = before != nullptr && is_of_file(before->channels[i], channel.file);
            channel.volume = is_there ? before->channels[i].volume : voxels_of_channel(channel.file);
        }
        load_curve(channel);
    }
}

void add_channel(Channels& channels, const std::string& text) {
    const auto free =
        std::ranges::find_if(channels.channels, [](const Channel& channel) { return channel.file.empty(); });
    if (free == channels.channels.end()) {
        throw Error(ErrorCode::bad_setting, "is one too many: at most three volumes can be overlaid", "channel " + text,
                    "remove one");
    }
    const std::size_t colon = text.rfind(':');
    std::error_code problem;
    const bool has_curve = colon != std::string::npos && colon > 1 && !std::filesystem::exists(text, problem);
    free->file = has_curve ? text.substr(0, colon) : text;
    if (has_curve) free->curve = text.substr(colon + 1);
}

std::vector<std::string> channel_assignments(const std::vector<std::string>& texts) {
    Channels channels;
    for (const std::string& text : texts) add_channel(channels, text);
    std::vector<std::string> assignments;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const Channel& channel = channels.channels[i];
        assignments.push_back("view." + channel_key(i, "file") + "=" + channel.file);
        if (channel.curve != Channel{}.curve)
            assignments.push_back("view." + channel_key(i, "curve") + "=" + channel.curve);
    }
    return assignments;
}

void check_channels_of(const View& view, const VolumeGrid& grid, const std::string& name) {
    check_channels(view, grid, name);
    if (view.flatten.empty() || std::ranges::none_of(view.channels, &Channel::is_seen)) return;
    throw Error(ErrorCode::bad_setting, "channels cannot be flattened", "view.flatten, view.channel_2_file",
                "remove the channels or view.flatten");
}

// ---- Showing

// Warns if the isosurface is beyond all values: the picture would be empty without a hint why.
static void warn_of_no_surface(OpenedVolume& opened, const View& view) {
    const VolumeGrid& grid = opened.volume.grid;
    const bool is_chosen = view.show == ViewContent::volume && mode_while_cast(view) == ViewMode::isosurface &&
                           view.flow_shown == FlowDisplay::overlay && view.isovalue != lowest_value;
    if (!is_chosen || grid.type == VoxelType::f16) return;
    const auto [min, max] = min_and_max(opened.volume);
    const double greatest = std::max(min * grid.scale, max * grid.scale) + grid.offset;
    if (view.isovalue <= greatest) return;
    opened.warnings.push_back(fmt::format(
        "no surface is visible: view.isovalue is {:g}, the max value of the volume {:g}", view.isovalue, greatest));
}

// Warns if the slice plane is outside the volume.
static void warn_of_plane_outside(OpenedVolume& opened, const View& view) {
    if (view.show != ViewContent::slice) return;
    const glm::dvec3 extent = volume_extent(opened.volume.grid);
    glm::dvec3 normal(view.plane == SlicePlane::en_face, view.plane == SlicePlane::side,
                      view.plane == SlicePlane::b_scan);
    if (view.plane == SlicePlane::oblique)
        normal = glm::normalize(glm::dvec3(view.plane_normal[0], view.plane_normal[1], view.plane_normal[2]));
    const double reach = 0.5 * glm::dot(glm::abs(normal), extent);
    if (std::abs(view.plane_offset_um) <= reach + 0.5 * view.slab_um) return;
    opened.warnings.push_back(
        fmt::format("nothing is visible: view.plane_offset_um is {:g}, but the volume extends from {:.4g} to {:.4g}",
                    view.plane_offset_um, -reach, reach));
}

// Warns if nothing is between the chosen depths.
static void warn_of_empty_slab(OpenedVolume& opened, const View& view) {
    if (!view.heights_cut || view.show == ViewContent::slice) return;
    const VolumeGrid& grid = opened.volume.grid;
    const DepthScale scale(grid);
    const double first = scale.depth(-0.5F), last = scale.depth(static_cast<float>(grid.depth) - 0.5F);
    const bool is_above = view.bottom_from.empty() && view.bottom_um <= first;
    const bool is_below = view.top_from.empty() && view.top_um >= last;
    if (is_above || is_below) {
        opened.warnings.push_back(fmt::format(
            "nothing is visible: {} is {:g}, but the volume extends from {:.4g} to {:.4g} um below zero delay",
            is_above ? "view.bottom_um" : "view.top_um", is_above ? view.bottom_um : view.top_um, first, last));
    } else if (view.top_from == view.bottom_from && view.top_um >= view.bottom_um) {
        opened.warnings.push_back(fmt::format(
            "nothing is visible: view.top_um is {:g}, but view.bottom_um is only {:g}", view.top_um, view.bottom_um));
    }
}

void show_opened(Renderer& renderer, OpenedVolume& opened, const std::optional<Volume>& flow, const View& view,
                 Progress& progress) {
    const HeightMaps heights = prepared_heights(view, opened.volume);
    const VolumeGrid& grid = opened.volume.grid;
    warn_of_no_surface(opened, view);
    warn_of_plane_outside(opened, view);
    warn_of_empty_slab(opened, view);
    renderer.set_poses(poses_of(opened.geometry, grid.b_scans));
    progress.begin("upload", grid.voxels(), "voxels");
    renderer.show(renderer.prepare(voxels_in_memory(grid, opened.volume.voxels.data()), opened.chosen,
                                   [&](std::int64_t voxels) { progress.advance(voxels); }));
    progress.end();
    renderer.set_heights(heights);
    const std::optional<Volume>& shown_flow = flow ? flow : opened.flow;
    if (shown_flow && view.flatten.empty()) renderer.set_flow(shown_flow->grid, shown_flow->voxels.data());
}

}  // namespace echolux
