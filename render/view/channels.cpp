#include "render/view/channels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/colour_maps.h"
#include "render/view/presets.h"

namespace echolux {

template <>
const std::vector<Field<TissueLabel>>& describe<TissueLabel>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<TissueLabel>> fields{
        integer<TissueLabel>("id", &TissueLabel::id, 1, max_label, "", view, "number of the label's voxels"),
        text<TissueLabel>("name", &TissueLabel::name, view, "name in the legend"),
        numbers<TissueLabel>("colour", &TissueLabel::colour, 0, 1, "", view, "red, green, blue"),
        number<TissueLabel>("extinction", &TissueLabel::extinction, 0, 1e6, "", view,
                            "how dense it is, per depth of the volume; 0: not seen"),
    };
    return fields;
}

template <>
const std::vector<Field<Channel>>& describe<Channel>() {
    constexpr Effect view = Effect::view;
    static const std::vector<std::string> maps = asset_names(colour_map_files, "preset");
    static const Field<Channel> colours = [] {
        Field<Channel> field = text<Channel>("colour_map", &Channel::colour_map, view,
                                             "colour map that replaces the colours of the channel's curve");
        field.choices.assign(maps.begin(), maps.end());
        return field;
    }();
    static const std::vector<Field<Channel>> fields{
        text<Channel>("file", &Channel::file, view,
                      "volume of the same voxels that is seen together with the volume; \"\": none")
            .file(),
        flag<Channel>("shown", &Channel::shown, view, "the channel is seen"),
        text<Channel>("curve", &Channel::curve, view,
                      "a preset, or a file of a transfer function; labels, or a file of labels: voxels are numbers of "
                      "labels")
            .file({".toml", ".json"}),
        colours,
        number<Channel>("low", &Channel::low, lowest_value, highest_value, "value", view,
                        "value where the channel's curve begins; auto (-1e12): as view.low")
            .special(-1e12, "auto"),
        number<Channel>("high", &Channel::high, lowest_value, highest_value, "value", view,
                        "value where the channel's curve ends; auto (1e12): as view.high")
            .special(1e12, "auto"),
        number<Channel>("opacity", &Channel::opacity, 0, 1000, "", view,
                        "factor on the channel's extinction; below 1 on its opacity in sections and projections too")
            .soft(0.01, 100),
        choice<Channel>("mode", &Channel::mode, {"view", "mip"}, view,
                        "view: as view.mode shows the volume; mip: its maximum along each ray, over the picture"),
        choice<Channel>("blend", &Channel::blend, {"add", "over"}, view,
                        "add: extinctions add up, in any order; over: it takes the place of the channels before it"),
    };
    return fields;
}

std::string channel_key(std::size_t place, std::string_view name) {
    return fmt::format("channel_{}_{}", place + 2, name);
}

template <>
const std::vector<Field<Channels>>& describe<Channels>() {
    static std::deque<std::string> names;  // owns the names that fields point to
    static const std::vector<Field<Channels>> fields = [] {
        std::vector<Field<Channels>> all{
            flag<Channels>("channel_1_shown", &Channels::channel_1_shown, Effect::view,
                           "the volume itself, the first channel, is seen; false: the others alone")};
        for (std::size_t i = 0; i + 1 < max_channels; ++i) {
            for (const Field<Channel>& field : describe<Channel>()) {
                Field<Channels> numbered{field, {}, {}};
                numbered.name = names.emplace_back(channel_key(i, field.name));
                numbered.get = [i, get = field.get](const Channels& of) { return get(of.channels[i]); };
                numbered.set = [i, set = field.set](Channels& of, const Value& value) { set(of.channels[i], value); };
                all.push_back(std::move(numbered));
            }
        }
        return all;
    }();
    return fields;
}

namespace {

// Hues at multiples of the golden ratio, so that successive labels differ strongly.
std::vector<double> colour_of_label(std::int64_t id) {
    const double turn = 6 * std::fmod(0.08 + 0.61803398875 * static_cast<double>(id), 1.0);
    const auto part = [turn](double at) {
        const double off = std::abs(std::fmod(turn + at, 6.0) - 3);
        return 0.35 + 0.6 * std::clamp(off - 1, 0.0, 1.0);
    };
    return {part(0), part(4), part(2)};
}

// For error messages.
std::string size_of(const VolumeGrid& grid) {
    return fmt::format("{} x {} x {} voxels", grid.depth, grid.a_scans, grid.b_scans);
}

// An unknown spacing (0) matches any other.
bool is_as_far_apart(double a, double b) {
    constexpr double tolerance = 1e-3;                                         // relative: files round
    return a <= 0 || b <= 0 || std::abs(a - b) <= tolerance * std::max(a, b);  // relative: files contain rounded values
}

// The curve of a channel must be a preset or have been read from its file.
void check_curve(const Channel& channel, const std::string& key) {
    const bool is_known = channel.own_curve || channel.labels || is_shipped_preset(channel.curve);
    if (is_known || channel.file.empty()) return;
    throw Error(ErrorCode::bad_setting, fmt::format("\"{}\" is not a preset, and no file was read", channel.curve), key,
                "name a preset, \"labels\", or a file of a transfer function or of labels");
}

}  // namespace

bool names_file(const Channel& channel) {
    return channel.curve.find_first_of("/.") != std::string::npos;
}

std::vector<TissueLabel> labels_of(const Channel& channel) {
    if (channel.labels && !channel.labels->empty()) return *channel.labels;
    std::vector<TissueLabel> all;
    for (std::int64_t id = 1; id <= max_label; ++id) {
        all.push_back({.id = id, .name = fmt::format("{}", id), .colour = colour_of_label(id)});
    }
    return all;
}

const Channel* in_place_of_volume(const Channels& channels) {
    if (channels.channel_1_shown) return nullptr;
    const auto found = std::ranges::find_if(
        channels.channels, [](const Channel& channel) { return channel.is_seen() && !channel.labels; });
    return found == channels.channels.end() ? nullptr : &*found;
}

bool has_same_voxels(const Channels& a, const Channels& b) {
    return std::ranges::equal(a.channels, b.channels, [](const Channel& one, const Channel& other) {
        return one.volume == other.volume && one.own_curve == other.own_curve && one.labels == other.labels;
    });
}

void check_part(const Channels& channels) {
    for (std::size_t i = 0; i < channels.channels.size(); ++i) {
        const Channel& channel = channels.channels[i];
        const auto key = [i](std::string_view name) { return "view." + channel_key(i, name); };
        if (!channel.file.empty() && !channel.volume) {
            throw Error(ErrorCode::bad_setting, "the file has not been read", key("file"),
                        "read it with load_channels");
        }
        if (channel.colour_map != "preset") colour_map(channel.colour_map);
        check_curve(channel, key("curve"));
        if (channel.low < channel.high) continue;
        throw Error(ErrorCode::bad_setting, "low is not below high", key("low") + ", " + key("high"),
                    "exchange them, or leave one out for automatic");
    }
}

void check_channels(const Channels& channels, const VolumeGrid& grid, const std::string& name) {
    for (std::size_t i = 0; i < channels.channels.size(); ++i) {
        const Channel& channel = channels.channels[i];
        if (!channel.volume) continue;
        const VolumeGrid& own = channel.volume->grid;
        const std::string where = fmt::format("{} (view.{})", channel.file, channel_key(i, "file"));
        if (own.depth != grid.depth || own.a_scans != grid.a_scans || own.b_scans != grid.b_scans) {
            throw Error(ErrorCode::bad_setting,
                        fmt::format("its {} do not fit the {} of {}", size_of(own), size_of(grid), name), where,
                        "make both from the same scan, with the same depth range");
        }
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (is_as_far_apart(own.spacing_um[axis], grid.spacing_um[axis])) continue;
            throw Error(ErrorCode::bad_setting,
                        fmt::format("its voxels are {:g} um apart, those of {} {:g} um", own.spacing_um[axis], name,
                                    grid.spacing_um[axis]),
                        where, "make both from the same scan, or correct the spacing of one");
        }
    }
}

}  // namespace echolux
