// Panel for the computation of flow from repeated scans, and for its colours over the structure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/stage/exhibit.h"
#include "render/slots/volume_texture.h"
#include "render/view/curve.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

void draw_method(const PanelContext& context) {
    setting_rows(context,
                 {"flow.method", "flow.window_depth", "flow.window_lines", "flow.threshold_db", "flow.bulk_motion",
                  "flow.align", "flow.align_depth", "flow.align_lines", "flow.min_match", "flow.significance",
                  "flow.unwrap", "flow.invert", "flow.angle_deg", "flow.sub_bands", "flow.correlation_reach"});
}

// Colour bar with its limits in the unit of the flow. Signed flow ranges from towards to away.
void colour_bar(const PanelContext& context, const FlowScale& scale) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, style.px(14)};
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ColourMap map = colour_map(context.work.view().flow_colour_map);
    constexpr int pieces = 64;
    for (int i = 0; i < pieces; ++i) {
        const double level = (i + 0.5) / pieces;
        const auto colour = colour_at(map, scale.has_sign ? level : 0.5 + 0.5 * level);
        const float x = at.x + size.x * static_cast<float>(i) / pieces;
        list->AddRectFilled({x, at.y}, {x + size.x / pieces + 1, at.y + size.y},
                            ImGui::GetColorU32({static_cast<float>(colour.r), static_cast<float>(colour.g),
                                                static_cast<float>(colour.b), 1}));
    }
    ImGui::Dummy(size);
    note_place(context, "flow.colour_bar");
    const bool is_known = !std::isnan(scale.range);
    const std::string number = is_known ? short_number(scale.range) : "", unit = is_known ? scale.unit : "";
    const std::string high = number + (unit.empty() ? "" : " " + unit) + (scale.has_sign ? " away" : "");
    const std::string low = (is_known ? "−" + number : "") + " towards";
    ImGui::PushFont(style.numbers);
    ImGui::TextColored(style.muted, "%s", scale.has_sign ? low.c_str() : "0");
    ImGui::SameLine(ImGui::GetCursorPosX() + size.x - ImGui::CalcTextSize(high.c_str()).x);
    ImGui::TextColored(style.muted, "%s", high.c_str());
    ImGui::PopFont();
}

// The method may be set before the first volume arrives.
bool computes_flow(const Workspace& work) {
    return work.scan() != nullptr && work.scan()->flow.method != FlowMethod::none;
}

class FlowPanel : public NamedPanel {
  public:
    FlowPanel() : NamedPanel("flow", "Flow", PanelSide::right) {}

    bool is_there(Workspace& work) const override {
        return work.scan() != nullptr || (work.is_open() && work.stage().exhibit()->flow_grid());
    }

    // Flow is the first panel if it is displayed. This applies as soon as flow is computed, before its first volume, so
    // that panels do not move later.
    bool comes_first(Workspace& work) const override {
        return computes_flow(work) || (work.is_open() && work.stage().exhibit()->flow_grid());
    }

    void draw(const PanelContext& context) override {
        Exhibit* exhibit = context.work.stage().exhibit();
        const View& view = context.work.view();
        const auto scale = exhibit != nullptr ? exhibit->flow_scale(view) : std::nullopt;
        const bool is_shown = scale || computes_flow(context.work);
        if (is_shown) {
            // placeholder before the first volume
            colour_bar(context, scale.value_or(FlowScale{.range = NAN, .unit = ""}));
            setting_rows(context, {"view.flow_shown", "view.flow_range", "view.flow_threshold", "view.flow_opacity",
                                   "view.flow_colour_map"});
            if (!view.flow_streaks.empty()) {
                setting_rows(context, {"view.streak_pace", "view.streak_s"});
                if (plain_button(context, "flow.no_streaks", "Remove streaks", "those along vessels"))
                    context.work.change("view.flow_streaks", std::vector<double>{});
            }
            const auto grid = exhibit != nullptr ? exhibit->flow_grid() : std::nullopt;
            if (grid && grid->v_max <= 0 && is_phasor(*grid)) setting_row(context, "view.flow_v_max");
        }
        const Scan* scan = context.work.scan();
        if (scan != nullptr && (!is_shown || section(context, "Computing", true))) draw_method(context);
    }
};

}  // namespace

std::unique_ptr<Panel> make_flow_panel() {
    return std::make_unique<FlowPanel>();
}

}  // namespace echolux
