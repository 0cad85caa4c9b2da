// Flow: how it is computed of the repeats of a scan, and how it is coloured over the structure.
#include <fmt/format.h>

#include <algorithm>

#include "render/colour_maps.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

void rows(const PanelContext& context, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) setting_row(context, key);
}

bool averages(FlowMethod method) {
    return method == FlowMethod::doppler || method == FlowMethod::power_doppler || method == FlowMethod::cdv;
}

void draw_method(const PanelContext& context, const FlowRecipe& flow) {
    setting_row(context, "flow.method");
    if (flow.method == FlowMethod::none) return;
    if (averages(flow.method)) rows(context, {"flow.window_depth", "flow.window_lines"});
    setting_row(context, "flow.threshold_db");
    if (averages(flow.method)) setting_row(context, "flow.bulk_motion");
    if (flow.method == FlowMethod::doppler) rows(context, {"flow.unwrap", "flow.invert", "flow.angle_deg"});
    if (flow.method == FlowMethod::decorrelation) setting_row(context, "flow.sub_bands");
    if (flow.method == FlowMethod::correlation) setting_row(context, "flow.correlation_reach");
}

// From the fastest one way to the fastest the other way, with its ends in the unit of the flow.
void colour_bar(const PanelContext& context, const VolumeGrid& grid) {
    const Style& style = context.style;
    const View& view = context.work.view();
    const bool is_signed = grid.quantity == "doppler";
    const double range = view.flow_range > 0 ? view.flow_range : grid.v_max;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, style.px(14)};
    ImDrawList* list = ImGui::GetWindowDrawList();
    constexpr int pieces = 64;
    for (int i = 0; i < pieces; ++i) {
        const double level = (i + 0.5) / pieces;
        const auto colour = colour_at(flow_map(), is_signed ? level : 0.5 + 0.5 * level);
        const float x = at.x + size.x * static_cast<float>(i) / pieces;
        list->AddRectFilled({x, at.y}, {x + size.x / pieces + 1, at.y + size.y},
                            ImGui::GetColorU32({static_cast<float>(colour.r), static_cast<float>(colour.g),
                                                static_cast<float>(colour.b), 1}));
    }
    ImGui::Dummy(size);
    if (range <= 0) return;
    ImGui::PushFont(style.numbers);
    const std::string high = short_number(range) + " " + grid.unit;
    ImGui::TextColored(style.muted, "%s", is_signed ? fmt::format("−{}", short_number(range)).c_str() : "0");
    ImGui::SameLine(ImGui::GetCursorPosX() + size.x - ImGui::CalcTextSize(high.c_str()).x);
    ImGui::TextColored(style.muted, "%s", high.c_str());
    ImGui::PopFont();
}

class FlowPanel : public NamedPanel {
  public:
    FlowPanel() : NamedPanel("flow", "Flow", PanelSide::left) {}

    bool is_there(Workspace& work) const override {
        return work.scan() != nullptr || (work.is_open() && work.stage().exhibit()->flow_grid());
    }

    void draw(const PanelContext& context) override {
        if (const Scan* scan = context.work.scan()) draw_method(context, FlowRecipe(scan->flow));
        Exhibit* exhibit = context.work.stage().exhibit();
        const auto grid = exhibit != nullptr ? exhibit->flow_grid() : std::nullopt;
        if (!grid || !section(context, "Display", true)) return;
        colour_bar(context, *grid);
        rows(context, {"view.flow_shown", "view.flow_range", "view.flow_threshold", "view.flow_opacity"});
        if (grid->v_max <= 0) setting_row(context, "view.flow_v_max");
    }
};

}  // namespace

std::unique_ptr<Panel> make_flow_panel() {
    return std::make_unique<FlowPanel>();
}

}  // namespace echolux
