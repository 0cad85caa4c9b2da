#include "app/open/channel_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "app/transfer/transfer_file.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/file_name.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"
#include "engine/scan/settings.h"
#include "render/view/curve.h"

namespace echolux {
namespace {

// Parses one [[label]] table.
TissueLabel label_of(const std::vector<TomlEntry>& table, const std::string& file) {
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
bool holds_labels(const std::filesystem::path& path) {
    constexpr std::size_t enough = 1 << 16;
    return lower_ending(path) == ".toml" && start_of_file(path, enough).find("[[label]]") != std::string::npos;
}

void load_curve(Channel& channel) {
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

std::shared_ptr<const ChannelVoxels> voxels_of_channel(const std::string& file) {
    auto volume = std::make_shared<const Volume>(read_volume(file));
    if (volume->grid.type == VoxelType::complex64 || volume->grid.type == VoxelType::phasor8) {
        throw Error(ErrorCode::bad_setting, "a channel cannot show complex voxels", file,
                    "give a volume of real values, or show it as `flow`");
    }
    return std::make_shared<const ChannelVoxels>(
        ChannelVoxels{file, file_hash(file), volume->grid, volume->voxels.data(), volume});
}

bool is_of_file(const Channel& channel, const std::string& file) {
    return channel.volume && channel.volume->file == file;
}

}  // namespace

std::vector<TissueLabel> read_labels(const std::filesystem::path& path) {
    std::vector<TissueLabel> labels;
    std::set<std::int64_t> ids;
    for (const std::vector<TomlEntry>& table : toml_tables(path, "label")) {
        labels.push_back(label_of(table, path.string()));
        if (ids.insert(labels.back().id).second) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("there are two labels {}", labels.back().id),
                    path.string() + ", id", "give each label a number of its own");
    }
    return labels;
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
        throw Error(ErrorCode::bad_setting, "is one too many: three volumes at most are seen together with the first",
                    "channel " + text, "leave one out");
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
                "leave out the channels, or leave out view.flatten");
}

}  // namespace echolux
