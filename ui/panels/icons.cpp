#include "ui/panels/icons.h"

#include "ui/panels/widgets.h"

namespace echolux {
namespace {

// Draws a triangle around `at` that points right (`way` is 1) or left (-1).
void draw_arrow(ImDrawList* list, ImVec2 at, float half, float way, ImU32 colour) {
    list->AddTriangleFilled({at.x - way * 0.8f * half, at.y - half}, {at.x + way * half, at.y},
                            {at.x - way * 0.8f * half, at.y + half}, colour);
}

void draw_bar(ImDrawList* list, ImVec2 at, float half, ImU32 colour) {
    list->AddRectFilled({at.x - 0.18f * half, at.y - half}, {at.x + 0.18f * half, at.y + half}, colour);
}

// An arc with an arrow head.
void draw_loop(ImDrawList* list, ImVec2 at, float half, ImU32 colour) {
    const float stroke = 0.28f * half;
    list->PathArcTo(at, half, -2.5f, 1.9f, 20);
    list->PathStroke(colour, 0, stroke);
    const ImVec2 tip{at.x - 0.8f * half, at.y - 0.6f * half};
    list->AddTriangleFilled({tip.x - 0.5f * half, tip.y - 0.3f * half}, {tip.x + 0.5f * half, tip.y - 0.35f * half},
                            {tip.x - 0.1f * half, tip.y + 0.6f * half}, colour);
}

// The lines of a plus or a cross.
void draw_lines(ImDrawList* list, Icon icon, ImVec2 at, float half, ImU32 colour) {
    const float a = 0.75f * half, stroke = 0.25f * half;
    if (icon == Icon::add) {
        list->AddLine({at.x - a, at.y}, {at.x + a, at.y}, colour, stroke);
        list->AddLine({at.x, at.y - a}, {at.x, at.y + a}, colour, stroke);
        return;
    }
    list->AddLine({at.x - a, at.y - a}, {at.x + a, at.y + a}, colour, stroke);
    list->AddLine({at.x - a, at.y + a}, {at.x + a, at.y - a}, colour, stroke);
}

}  // namespace

void draw_icon(ImDrawList* list, Icon icon, ImVec2 at, float size, ImU32 colour) {
    const float half = 0.5f * size;
    switch (icon) {
        case Icon::first:
            draw_bar(list, {at.x - 0.8f * half, at.y}, half, colour);
            return draw_arrow(list, {at.x + 0.2f * half, at.y}, half, -1, colour);
        case Icon::last:
            draw_bar(list, {at.x + 0.8f * half, at.y}, half, colour);
            return draw_arrow(list, {at.x - 0.2f * half, at.y}, half, 1, colour);
        case Icon::back:
            draw_bar(list, {at.x + 0.7f * half, at.y}, half, colour);
            return draw_arrow(list, {at.x - 0.3f * half, at.y}, 0.85f * half, -1, colour);
        case Icon::forward:
            draw_bar(list, {at.x - 0.7f * half, at.y}, half, colour);
            return draw_arrow(list, {at.x + 0.3f * half, at.y}, 0.85f * half, 1, colour);
        case Icon::play: return draw_arrow(list, at, half, 1, colour);
        case Icon::pause:
            list->AddRectFilled({at.x - 0.75f * half, at.y - half}, {at.x - 0.2f * half, at.y + half}, colour);
            return list->AddRectFilled({at.x + 0.2f * half, at.y - half}, {at.x + 0.75f * half, at.y + half}, colour);
        case Icon::loop: return draw_loop(list, at, half, colour);
        case Icon::record: return list->AddCircleFilled(at, half, colour);
        case Icon::stop:
            return list->AddRectFilled({at.x - 0.85f * half, at.y - 0.85f * half},
                                       {at.x + 0.85f * half, at.y + 0.85f * half}, colour, 0.15f * half);
        case Icon::remove:
        case Icon::add: return draw_lines(list, icon, at, half, colour);
    }
}

bool icon_button(const PanelContext& context, std::string_view name, Icon icon, const char* help, bool is_on,
                 bool is_possible) {
    const float size = ImGui::GetFrameHeight();
    ImGui::BeginDisabled(!is_possible);
    ImGui::PushID(name.data(), name.data() + name.size());
    const bool is_pressed = ImGui::Button("##icon", {1.25f * size, size});
    ImGui::PopID();
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const ImU32 colour = is_on ? ImGui::GetColorU32(context.style.accent) : ImGui::GetColorU32(ImGuiCol_Text);
    draw_icon(ImGui::GetWindowDrawList(), icon, {0.5f * (low.x + high.x), 0.5f * (low.y + high.y)}, 0.45f * size,
              colour);
    ImGui::EndDisabled();
    note_place(context, name);
    tooltip(context, help);
    return is_pressed;
}

void action_icon(const PanelContext& context, std::string_view id, Icon icon) {
    const Action* action = context.work.actions().find(id);
    if (action == nullptr) return;
    const bool is_on = action->is_on && action->is_on();
    if (icon_button(context, id, icon, help_of(*action).c_str(), is_on, action->is_possible())) run_action(context, id);
}

}  // namespace echolux
