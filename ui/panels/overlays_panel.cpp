// Panel of displayed layers from top to bottom. Layers can be hidden, and flow can be above or below the volume. Also
// lists the channels: volumes on the same voxel grid, each with its own curve. Present only if there is more than the
// volume.
#include <algorithm>
#include <vector>

#include "app/stage/exhibit.h"
#include "compute/plan/describe.h"
#include "render/slots/volume_texture.h"
#include "ui/panels/channel_rows.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {
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
    Exhibit& exhibit = *context.work.stage().exhibit();
    const std::optional<VolumeGrid> grid = exhibit.grid(), flow = exhibit.flow_grid();
    std::vector<Layer> layers;
    const bool is_phase = flow && is_phasor(*flow);
    const bool can_hide_volume = flow && !is_phase && view.flow_shown != FlowShown::hidden;
    Layer volume{"volume",
                 grid ? named("Volume", grid->quantity, short_unit(grid->unit)) : "Volume",
                 view.flow_shown != FlowShown::alone || !flow,
                 can_hide_volume,
                 is_phase ? "phases are shown over the structure only; unwrapped ones (flow.unwrap) can stand alone"
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
        const auto scale = exhibit.flow_scale(view);
        const bool is_under = view.flow_shown == FlowShown::under;
        // Both are visible.
        const bool both = is_under || view.flow_shown == FlowShown::overlay;
        Layer moving{"flow",
                     named("Flow", flow->quantity, scale ? scale->unit : flow->unit),
                     view.flow_shown != FlowShown::hidden,
                     view.flow_shown != FlowShown::alone,
                     "speeds or an angiogram, in colours",
                     "overlay",
                     "hidden",
                     "view.flow_shown",
                     both};
        volume.can_move = both;
        layers.push_back(is_under ? volume : moving);
        layers.push_back(is_under ? moving : volume);
    } else {
        layers.push_back(volume);
    }
    if (has_heights(view)) {
        layers.push_back({"heights", "Height maps", view.heights_cut, true,
                          "view.top_* and view.bottom_* cut the volume; the heights themselves stay as they are set",
                          "true", "false", "view.heights_cut"});
    }
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
        moves = plain_button(context, name + ".move", is_top ? "↓" : "↑",
                             is_top ? "below the other one" : "above the other one", true, width);
    }
    ImGui::PopID();
    if (is_changed) context.work.change(layer.key, value_of(layer, is_seen));
    if (!moves) return;
    const bool is_under = context.work.view().flow_shown == FlowShown::under;
    context.work.change("view.flow_shown", std::string(is_under ? "overlay" : "under"));
}

class OverlaysPanel : public NamedPanel {
  public:
    OverlaysPanel() : NamedPanel("layers", "Shown together", PanelSide::right) {}

    bool is_there(Workspace& work) const override {
        return work.is_open() &&
               (work.stage().exhibit()->flow_grid() || has_heights(work.view()) || has_channels(work.view()));
    }

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
