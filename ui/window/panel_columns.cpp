#include "ui/window/panel_columns.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

constexpr float first_bottom_height = 92;  // at scale 1, until the first frame has measured it

constexpr ImGuiWindowFlags fixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                   ImGuiWindowFlags_NoNav;

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream in(text);
    for (std::string name; std::getline(in, name, ',');) names.push_back(name);
    return names;
}

void place_window(const Region& place) {
    ImGui::SetNextWindowPos({static_cast<float>(place.left), static_cast<float>(place.top)});
    ImGui::SetNextWindowSize({static_cast<float>(place.width), static_cast<float>(place.height)});
}

// Draws the heading of a panel. The complete row is a button.
bool heading(const PanelContext& context, const Panel& panel, bool is_open) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, style.px(30)};
    const std::string title(panel.title());
    const bool clicked = ImGui::InvisibleButton("heading", size);
    note_place(context, "panel." + std::string(panel.id()));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec4 ground_colour = ImGui::IsItemHovered() ? style.lit : style.raised;
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, ImGui::GetColorU32(ground_colour), style.px(5));
    const float middle = at.y + 0.5f * size.y, arm = style.px(3.5f), x = at.x + style.px(13);
    const ImU32 muted = ImGui::GetColorU32(style.muted);
    if (is_open) {
        list.AddTriangleFilled({x - arm, middle - 0.5f * arm}, {x + arm, middle - 0.5f * arm}, {x, middle + 0.8f * arm},
                               muted);
    } else {
        list.AddTriangleFilled({x - 0.5f * arm, middle - arm}, {x + 0.8f * arm, middle}, {x - 0.5f * arm, middle + arm},
                               muted);
    }
    list.AddText(style.strong, style.strong->FontSize, {at.x + style.px(26), middle - 0.5f * style.strong->FontSize},
                 ImGui::GetColorU32(style.ink), title.c_str());
    return clicked;
}

// Handle along the inner edge of a side for changing its width.
void drag_width(const PanelContext& context, PanelSide side, const Region& place) {
    const float grip = context.style.px(6);
    const float edge = static_cast<float>(side == PanelSide::left ? place.left + place.width : place.left);
    ImGui::SetNextWindowPos({edge - 0.5f * grip, static_cast<float>(place.top)});
    ImGui::SetNextWindowSize({grip, static_cast<float>(place.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::Begin(side == PanelSide::left ? "left edge" : "right edge", nullptr,
                 fixed | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
    ImGui::PopStyleVar(2);
    ImGui::InvisibleButton("edge", {grip, static_cast<float>(place.height)});
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (ImGui::IsItemActive() || ImGui::IsItemDeactivated()) {
        const float x = ImGui::GetIO().MousePos.x;
        const float far = static_cast<float>(place.left + place.width);
        const float width = side == PanelSide::left ? x - static_cast<float>(place.left) : far - x;
        context.work.change(side == PanelSide::left ? "window.left_width" : "window.right_width",
                            std::clamp(std::round(static_cast<double>(width / context.style.scale)), 200.0, 1000.0),
                            ImGui::IsItemActive() ? Edit::in_progress : Edit::done);
    }
    ImGui::End();
}

}  // namespace

bool PanelColumns::is_open(const Workspace& work, std::string_view id) {
    return std::ranges::count(split_names(work.settings().window().open_panels), id) > 0;
}

void PanelColumns::toggle(Workspace& work, std::string_view id) {
    std::vector<std::string> names = split_names(work.settings().window().open_panels);
    if (std::erase(names, std::string(id)) == 0) names.emplace_back(id);
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    work.change("window.open_panels", text);
}

// Scrolls to the panel on request.
void PanelColumns::draw_panel(const PanelContext& context, Panel& panel) {
    const std::string id(panel.id());
    ImGui::PushID(id.c_str());
    const bool open = is_open(context.work, id);
    if (heading(context, panel, open)) toggle(context.work, id);
    if (context.state.wanted_panel == id) {
        ImGui::SetScrollHereY(0);
        context.state.wanted_panel.clear();
    }
    if (open) {
        ImGui::Dummy({0, context.style.px(1)});
        ImGui::Indent(context.style.px(4));
        panel.draw(context);
        ImGui::Unindent(context.style.px(4));
        ImGui::Dummy({0, context.style.px(6)});
    }
    ImGui::PopID();
}

void PanelColumns::draw_side(const PanelContext& context, PanelSide side, const Region& place) {
    if (place.width == 0) return;
    place_window(place);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {context.style.px(8), context.style.px(8)});
    // The scroll bar is always there: it would make the panels narrower when they grow.
    ImGui::Begin(side == PanelSide::left ? "left panels" : "right panels", nullptr,
                 fixed | ImGuiWindowFlags_AlwaysVerticalScrollbar);
    ImGui::PopStyleVar();
    const bool has_document = context.work.viewer().view_source() != nullptr;
    for (const auto& panel : panels_) {
        if (panel->side() != side || !panel->is_available(context.work)) continue;
        if (has_document || !panel->needs_document()) draw_panel(context, *panel);
    }
    ImGui::End();
    drag_width(context, side, place);
}

void PanelColumns::draw_bottom(const PanelContext& context, const Region& place) {
    if (place.height == 0) return;
    place_window(place);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {context.style.px(10), context.style.px(8)});
    ImGui::Begin("bottom panels", nullptr, fixed | ImGuiWindowFlags_NoScrollbar);
    ImGui::PopStyleVar();
    const float top = ImGui::GetCursorPosY();
    for (const auto& panel : panels_) {
        if (panel->side() != PanelSide::bottom || !panel->is_available(context.work)) continue;
        ImGui::PushID(panel->id().data(), panel->id().data() + panel->id().size());
        panel->draw(context);
        ImGui::PopID();
    }
    // Measured for the layout of the next frame.
    const float height = ImGui::GetCursorPosY() - top - ImGui::GetStyle().ItemSpacing.y + context.style.px(16);
    bottom_height_ = height / context.style.scale;
    ImGui::End();
}

std::int64_t PanelColumns::bottom_height(const PanelContext& context) const {
    const bool is_there = std::ranges::any_of(panels_, [&context](const auto& panel) {
        return panel->side() == PanelSide::bottom && panel->is_available(context.work);
    });
    if (!is_there) return 0;
    return std::llround(context.style.px(bottom_height_ > 0 ? bottom_height_ : first_bottom_height));
}

}  // namespace echolux
