// Time points of a series as a bar, see widgets.h.
#include "ui/panels/widgets.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/stage/kept_time.h"

namespace echolux {
namespace {

// Position of the bar in pixels, and its number of time points.
struct Bar {
    ImVec2 low, high;
    std::int64_t steps;

    float at(double step) const {
        return low.x + (high.x - low.x) * static_cast<float>(step / static_cast<double>(steps));
    }
    float middle_of(std::int64_t step) const { return at(static_cast<double>(step) + 0.5); }
    std::int64_t step_at(float x) const {
        const double part = static_cast<double>((x - low.x) / (high.x - low.x));
        return std::clamp(static_cast<std::int64_t>(std::floor(part * static_cast<double>(steps))), std::int64_t{0},
                          steps - 1);
    }
};

// Reserves the space of the bar and handles the pointer.
Bar placed_bar(const PanelContext& context, std::int64_t steps) {
    const Style& style = context.style;
    const ImVec2 size{ImGui::GetContentRegionAvail().x - style.px(8), style.px(16)};
    ImGui::Dummy({0, style.px(1)});
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + style.px(4));
    ImGui::InvisibleButton("##bar", size);
    note_place(context, "time.bar");
    return {ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), steps};
}

// Background with the playback range highlighted.
void draw_ground(const PanelContext& context, const Bar& bar, const Interval& lit) {
    const float rounding = context.style.px(3);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(bar.low, bar.high, ImGui::GetColorU32(ImGuiCol_FrameBg), rounding);
    ImVec4 inside = context.style.accent;
    inside.w = 0.16f;
    list->AddRectFilled({bar.at(static_cast<double>(lit.begin)), bar.low.y},
                        {bar.at(static_cast<double>(lit.end)), bar.high.y}, ImGui::GetColorU32(inside), rounding);
}

// Marks loaded time points in green along the lower edge.
void draw_ready(const PanelContext& context, const Bar& bar, const std::vector<Interval>& ready) {
    ImVec4 prepared = context.style.good;
    prepared.w = 0.75f;
    for (const Interval& part : ready) {
        ImGui::GetWindowDrawList()->AddRectFilled(
            {bar.at(static_cast<double>(part.begin)), bar.high.y - context.style.px(3)},
            {bar.at(static_cast<double>(part.end)), bar.high.y}, ImGui::GetColorU32(prepared));
    }
}

void draw_step(const PanelContext& context, const Bar& bar, std::int64_t step) {
    const Style& style = context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float x = bar.middle_of(step);
    list->AddLine({x, bar.low.y - style.px(2)}, {x, bar.high.y + style.px(2)}, IM_COL32(255, 255, 255, 255),
                  style.px(2));
    list->AddCircleFilled({x, bar.low.y - style.px(1)}, style.px(4), IM_COL32(255, 255, 255, 255));
}

void draw_bar(const PanelContext& context, const Bar& bar, const Timeline& timeline,
              const std::vector<Interval>& ready) {
    const Style& style = context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    draw_ground(context, bar, {timeline.first(), timeline.last() + 1});
    draw_ready(context, bar, ready);
    for (const float x :
         {bar.at(static_cast<double>(timeline.first())), bar.at(static_cast<double>(timeline.last() + 1))}) {
        list->AddRectFilled({x - style.px(1.5f), bar.low.y - style.px(3)},
                            {x + style.px(1.5f), bar.high.y + style.px(3)}, ImGui::GetColorU32(style.accent),
                            style.px(1.5f));
    }
    draw_step(context, bar, timeline.step());
}

// The dragged part: current time point, or an end of the playback range.
enum class Held { step, first, last };

Held held_at(const Bar& bar, const Timeline& timeline, float x, float reach) {
    const float to_first = std::abs(x - bar.at(static_cast<double>(timeline.first())));
    const float to_last = std::abs(x - bar.at(static_cast<double>(timeline.last() + 1)));
    if (to_first > reach && to_last > reach) return Held::step;
    return to_first <= to_last ? Held::first : Held::last;
}

}  // namespace

void time_bar(const PanelContext& context, Timeline& timeline, const std::vector<Interval>& ready) {
    const Style& style = context.style;
    const Bar bar = placed_bar(context, timeline.steps());
    const float x = ImGui::GetIO().MousePos.x;
    ActiveControl& active = context.state.active;
    if (ImGui::IsItemActivated()) {
        active = {.control = ImGui::GetID("##bar"), .text = {}};
        active.place = static_cast<double>(held_at(bar, timeline, x, style.px(5)));
    }
    if (ImGui::IsItemActive() && active.control == ImGui::GetID("##bar")) {
        switch (static_cast<Held>(active.place)) {
            case Held::step: timeline.go_to(bar.step_at(x)); break;
            case Held::first: timeline.set_ends(std::min(bar.step_at(x), timeline.last()), timeline.last()); break;
            case Held::last: timeline.set_ends(timeline.first(), std::max(bar.step_at(x), timeline.first())); break;
        }
    }
    if (ImGui::IsItemDeactivated()) active = {};
    draw_bar(context, bar, timeline, ready);
    tooltip(context, "drag to move through time; the blue ends mark where playing starts and stops; green: loaded");
}

// The bar has room for the maximum number of volumes and fills from the left.
void kept_bar(const PanelContext& context, KeptTime& kept) {
    const Bar bar = placed_bar(context, kept.max_volumes());
    const std::int64_t count = std::ssize(kept.volumes());
    if (ImGui::IsItemActive() && count > 0) kept.go_to(std::min(bar.step_at(ImGui::GetIO().MousePos.x), count - 1));
    draw_ground(context, bar, {0, count});
    draw_ready(context, bar, {{0, count}});
    if (count > 0) draw_step(context, bar, kept.step());
    tooltip(context, "drag to stop at one of the last volumes; Space shows the newest again");
}

}  // namespace echolux
