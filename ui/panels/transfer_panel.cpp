// Panels for the displayed data and its colours: the transfer function of the volume, and the layers of the picture
// with their channels.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/transfer/transfer_file.h"
#include "app/viewer/view_source.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "render/slots/volume_texture.h"
#include "ui/panels/curve_editor.h"
#include "ui/panels/panel.h"
#include "ui/panels/plane_editor.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {

// ---- Rows for the channels of a view: further volumes on the same voxel grid that are displayed together.

namespace {

// Draws each channel with visibility, curve, range, blending and label colours, and a button to add a channel.
void draw_channels(const PanelContext& context);

// Draws only the button.
void draw_add_channel(const PanelContext& context);

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
        is_removed =
            plain_button(context, fmt::format("channel_{}.remove", place + 2), "Remove", "remove this overlay");
    }
    ImGui::PopID();
    if (is_changed) work.change(channel_setting(place, "shown"), is_seen);
    if (is_removed) work.change(channel_setting(place, "file"), std::string());
}

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
    const auto place = index(free - channels.begin());
    if (!plain_button(context, "channel.add", "Add overlay...", "overlay a volume with the same grid", has_room)) {
        return;
    }
    Workspace& work = context.work;
    context.state.file_request = FileRequest{
        .kind = FileRequest::Kind::open, .title = "Add overlay volume", .chosen = [&work, place](const auto& path) {
            work.change(channel_setting(place, "file"), path.string());
        }};
}

// ---- Panel for the transfer function: curve, range of values and opacity

class TransferPanel : public NamedPanel {
  public:
    TransferPanel()
        : NamedPanel("transfer", "Transfer function", PanelSide::right,
                     "colour brightness contrast opacity curve histogram window level") {}
    bool is_available(Workspace& work) const override { return work.viewer().is_open(); }

    void draw(const PanelContext& context) override {
        setting_row(context, "view.preset");
        draw_curve(context);
        draw_origin(context);
        draw_group(context, {"view"}, "Range");
        draw_plane_section(context);
        if (section(context, "More", false)) draw_more(context);
    }

  private:
    // Origin of the curve, and a button to return to the preset from a custom curve.
    static void draw_origin(const PanelContext& context) {
        Workspace& work = context.work;
        const bool is_own = work.view().transfer_curve.has_value();
        ImGui::AlignTextToFramePadding();
        ImGui::TextColored(context.style.muted, "%s",
                           !is_own                        ? "Curve of the preset"
                           : work.view().transfer.empty() ? "Custom curve"
                                                          : "Curve from a file");
        const float width = ImGui::CalcTextSize("Back to preset").x + 2 * ImGui::GetStyle().FramePadding.x;
        const float room = ImGui::GetContentRegionAvail().x, longest = ImGui::CalcTextSize("Curve of the preset").x;
        // In a narrow panel the button is below, for all texts.
        if (longest + width + context.style.px(8) <= room) ImGui::SameLine(ImGui::GetCursorPosX() + room - width);
        if (plain_button(context, "transfer.back", "Back to preset", "use the curve of the preset again", is_own)) {
            work.change("view.preset", work.settings().field("view.preset")->get());
        }
    }

    void draw_curve(const PanelContext& context) {
        Workspace& work = context.work;
        ViewSource& view_source = *work.viewer().view_source();
        const auto grid = view_source.grid();
        const auto shown = function_in_use(work, work.view());
        if (!grid || !shown) return CurveEditor::draw_without_volume(context);
        // The points of the curve are edited without the colour map.
        View without_map = work.view();
        without_map.colour_map = "preset";
        const auto bare = function_in_use(work, without_map);
        if (bare) editor_.draw(context, *shown, *bare, view_source.histogram(), *grid);
    }

    // Also drawn without a volume, so that the layout does not change when one arrives.
    void draw_plane_section(const PanelContext& context) {
        if (!section(context, "Second axis", false)) return;
        Workspace& work = context.work;
        const auto grid = work.viewer().view_source()->grid();
        View without_map = work.view();
        without_map.colour_map = "preset";
        const auto bare = function_in_use(work, without_map);
        if (grid && bare) plane_.draw(context, *bare, *grid);
    }

    static void draw_more(const PanelContext& context) {
        draw_group(context, {"view"}, "Curve");
        draw_add_channel(context);
        if (!plain_button(context, "transfer.save", "Save the curve...", "save to a file for view.transfer")) return;
        Workspace& work = context.work;
        context.state.file_request = FileRequest{.kind = FileRequest::Kind::save,
                                                 .title = "Save transfer function",
                                                 .suggested = "transfer.toml",
                                                 .endings = {".toml"},
                                                 .chosen = [&work](const auto& path) { save(work, path); }};
    }

    static void save(Workspace& work, const std::filesystem::path& path) {
        try {
            ViewSource* view_source = work.viewer().view_source();
            const auto grid = view_source != nullptr ? view_source->grid() : std::nullopt;
            const auto function = function_in_use(work, work.view());
            work.check_recent_name(path);
            if (grid && function) write_transfer(path, curve_in_use(work.view(), *grid, *function));
        } catch (const Error& error) {
            work.notices().report_problem("view", error);
        }
    }

    CurveEditor editor_;
    PlaneEditor plane_;
};

}  // namespace

std::unique_ptr<Panel> make_transfer_panel() {
    return std::make_unique<TransferPanel>();
}

// ---- Panel of displayed layers from top to bottom. Layers can be hidden, and flow can be above or below the volume.
// Also lists the channels: volumes on the same voxel grid, each with its own curve.

namespace {

struct Layer {
    const char* id;    // "flow"
    std::string name;  // such as "Flow: doppler, mm/s"
    bool is_seen;
    bool can_change;  // whether it can be hidden
    const char* help;
    std::string on, off;  // values of `key` when visible and hidden
    const char* key;
    bool can_move = false;  // can be swapped with the other layer
};

bool has_heights(const Cut& cut) {
    return !cut.top_from.empty() || !cut.bottom_from.empty() || cut.top_um > above_all_um ||
           cut.bottom_um < below_all_um;
}

bool has_channels(const View& view) {
    return std::ranges::any_of(view.channels, [](const Channel& channel) { return channel.volume != nullptr; });
}

std::string named(const char* name, const std::string& quantity, const std::string& unit) {
    const std::string what = quantity.empty() || unit.empty() ? quantity + unit : quantity + ", " + unit;
    return what.empty() ? name : std::string(name) + ": " + what;
}

// Returns the layers from top to bottom.
std::vector<Layer> layers_of(const PanelContext& context) {
    const View& view = context.work.view();
    ViewSource& view_source = *context.work.viewer().view_source();
    const std::optional<VolumeGrid> grid = view_source.grid(), flow = view_source.flow_grid();
    std::vector<Layer> layers;
    const bool is_phase = flow && is_phasor(*flow);
    const bool can_hide_volume = flow && !is_phase && view.flow_shown != FlowDisplay::hidden;
    Layer volume{
        "volume",
        grid ? named("Volume", grid->quantity, short_unit(grid->unit)) : "Volume",
        view.flow_shown != FlowDisplay::alone || !flow,
        can_hide_volume,
        is_phase ? "phases can only be shown over the structure; unwrapped velocities (flow.unwrap) can be shown alone"
                 : "the structure",
        "overlay",
        "alone",
        "view.flow_shown"};
    if (has_channels(view)) {
        volume.is_seen = view.channel_1_shown;
        volume.can_change = true;
        volume.help = "the volume itself, the first channel";
        volume.on = "true";
        volume.off = "false";
        volume.key = "view.channel_1_shown";
    }
    if (flow) {
        const auto scale = view_source.flow_scale(view);
        const bool is_under = view.flow_shown == FlowDisplay::under;
        // Both are visible.
        const bool both = is_under || view.flow_shown == FlowDisplay::overlay;
        Layer moving{"flow",
                     named("Flow", flow->quantity, scale ? scale->unit : flow->unit),
                     view.flow_shown != FlowDisplay::hidden,
                     view.flow_shown != FlowDisplay::alone,
                     "speeds or an angiogram, in colour",
                     "overlay",
                     "hidden",
                     "view.flow_shown",
                     both};
        volume.can_move = both;
        layers.push_back(is_under ? volume : moving);
        layers.push_back(is_under ? moving : volume);
    } else {
        // The row of a scan is there before its first flow.
        if (context.work.settings().scan() != nullptr)
            layers.push_back({"flow", "Flow: none", false, false, "choose a method in the panel Flow", "overlay",
                              "hidden", "view.flow_shown"});
        layers.push_back(volume);
    }
    const bool is_cut = has_heights(view);
    layers.push_back({"heights", "Height maps", is_cut && view.heights_cut, is_cut,
                      is_cut ? "view.top_* and view.bottom_* clip the volume; their settings are kept if this is off"
                             : "none: set view.top_from or view.bottom_from in the panel View, Clip",
                      "true", "false", "view.heights_cut"});
    return layers;
}

// Layers are switched by a boolean or a choice.
Value value_of(const Layer& layer, bool is_seen) {
    const std::string& text = is_seen ? layer.on : layer.off;
    if (text == "true" || text == "false") return text == "true";
    return text;
}

void draw_layer(const PanelContext& context, const Layer& layer, bool is_top) {
    const std::string name = std::string("layers.") + layer.id;
    ImGui::PushID(layer.id);
    bool is_seen = layer.is_seen;
    ImGui::BeginDisabled(!layer.can_change);
    const bool is_changed = ImGui::Checkbox(layer.name.c_str(), &is_seen);
    ImGui::EndDisabled();
    note_place(context, name);
    tooltip(context, std::string(layer.help) + "\n" + layer.key);
    bool moves = false;
    if (layer.can_move) {
        const float width = ImGui::GetFrameHeight();
        ImGui::SameLine(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width);
        moves =
            plain_button(context, name + ".move", is_top ? "↓" : "↑", is_top ? "move down" : "move up", true, width);
    }
    ImGui::PopID();
    if (is_changed) context.work.change(layer.key, value_of(layer, is_seen));
    if (!moves) return;
    const bool is_under = context.work.view().flow_shown == FlowDisplay::under;
    context.work.change("view.flow_shown", std::string(is_under ? "overlay" : "under"));
}

class OverlaysPanel : public NamedPanel {
  public:
    OverlaysPanel()
        : NamedPanel("layers", "Overlays", PanelSide::right, "overlay visibility show hide order channels") {}

    bool is_available(Workspace& work) const override { return work.viewer().is_open(); }

    void draw(const PanelContext& context) override {
        const std::vector<Layer> layers = layers_of(context);
        for (const Layer& layer : layers) draw_layer(context, layer, &layer == layers.data());
        draw_channels(context);
    }
};

}  // namespace

std::unique_ptr<Panel> make_overlays_panel() {
    return std::make_unique<OverlaysPanel>();
}

}  // namespace echolux
