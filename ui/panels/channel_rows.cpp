#include "ui/panels/channel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ui/panels/widgets.h"

namespace echolux {
namespace {

std::string channel_setting(std::size_t place, std::string_view name) {
    return "view." + channel_key(place, name);
}

// Lists at most 24 labels with their colours.
void draw_label_colours(const PanelContext& context, const Channel& channel) {
    constexpr std::size_t most = 24;
    const std::vector<TissueLabel>& labels = *channel.labels;
    for (std::size_t i = 0; i < std::min(labels.size(), most); ++i) {
        const TissueLabel& label = labels[i];
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float height = ImGui::GetTextLineHeight();
        ImGui::GetWindowDrawList()->AddRectFilled(
            at, {at.x + height, at.y + height},
            ImGui::GetColorU32({static_cast<float>(label.colour[0]), static_cast<float>(label.colour[1]),
                                static_cast<float>(label.colour[2]), 1}));
        ImGui::Dummy({height, height});
        ImGui::SameLine();
        ImGui::TextUnformatted(label.name.empty() ? std::to_string(label.id).c_str() : label.name.c_str());
    }
    if (labels.size() > most) muted_text(context, fmt::format("and {} more", labels.size() - most));
}

void draw_channel(const PanelContext& context, std::size_t place) {
    Workspace& work = context.work;
    const Channel& channel = work.view().channels[place];
    const std::string name = std::filesystem::path(channel.file).filename().string();
    ImGui::PushID(static_cast<int>(place));
    bool is_seen = channel.shown;
    const bool is_changed = ImGui::Checkbox("##seen", &is_seen);
    note_place(context, channel_setting(place, "shown"));
    tooltip(context, channel.file + "\n" + channel_setting(place, "shown"));
    ImGui::SameLine();
    const bool is_open = section(context, name.c_str(), true);
    // Changes are applied after the widgets, because they may remove the channel.
    bool is_removed = false;
    if (is_open) {
        setting_row(context, channel_setting(place, "curve"), "curve");
        if (!channel.labels) {
            for (const char* row : {"low", "high", "colour_map"})
                setting_row(context, channel_setting(place, row),
                            row == std::string_view("colour_map") ? "colour map" : row);
        }
        setting_row(context, channel_setting(place, "opacity"), "opacity");
        setting_row(context, channel_setting(place, "blend"), "blend");
        setting_row(context, channel_setting(place, "mode"), "mode");
        setting_row(context, channel_setting(place, "file"), "file");
        if (channel.labels) draw_label_colours(context, channel);
        is_removed = plain_button(context, fmt::format("channel_{}.remove", place + 2), "Remove",
                                  "it is no longer seen together with the volume");
    }
    ImGui::PopID();
    if (is_changed) work.change(channel_setting(place, "shown"), is_seen);
    if (is_removed) work.change(channel_setting(place, "file"), std::string());
}

}  // namespace

void draw_channels(const PanelContext& context) {
    const auto& channels = context.work.view().channels;
    for (std::size_t i = 0; i < channels.size(); ++i) {
        if (channels[i].volume) draw_channel(context, i);
    }
    draw_add_channel(context);
}

void draw_add_channel(const PanelContext& context) {
    const auto& channels = context.work.view().channels;
    const auto free = std::ranges::find_if(channels, [](const Channel& channel) { return channel.file.empty(); });
    const bool has_room = free != channels.end();
    const auto place = static_cast<std::size_t>(free - channels.begin());
    if (!plain_button(context, "channel.add", "Add a volume...",
                      "a volume of the same voxels, seen together with this one", has_room)) {
        return;
    }
    Workspace& work = context.work;
    context.state.file_wish = FileWish{
        .kind = FileWish::Kind::open,
        .title = "Add a volume of the same voxels",
        .chosen = [&work, place](const auto& path) { work.change(channel_setting(place, "file"), path.string()); }};
}

}  // namespace echolux
