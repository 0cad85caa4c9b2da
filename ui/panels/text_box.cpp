// A line of text that is typed: see controls.h.
#include "ui/panels/controls.h"

#include <utility>

namespace echolux {
namespace {

constexpr std::size_t room_to_type = 1024;

}  // namespace

std::optional<std::string> text_box(const PanelContext& context, const char* name, const std::string& value,
                                    float width, const char* hint) {
    ActiveControl& active = context.state.active;
    const ImGuiID id = ImGui::GetID(name);
    const auto is_mine = [&] { return active.control == id && active.is_typed; };
    std::string text = is_mine() ? active.text : value;
    text.resize(text.size() + room_to_type);

    ImGui::SetNextItemWidth(width);
    if (is_mine() && std::exchange(active.is_new, false)) ImGui::SetKeyboardFocusHere();
    ImGui::InputTextWithHint(name, hint, text.data(), text.size(), ImGuiInputTextFlags_AutoSelectAll);
    text.resize(text.find('\0'));
    if (ImGui::IsItemActivated() && !is_mine()) active = {.control = id, .is_typed = true, .text = value};
    if (is_mine() && ImGui::IsItemActive()) active.text = text;
    if (!is_mine() || !ImGui::IsItemDeactivated()) return std::nullopt;

    const bool is_given_up = ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape));
    const bool is_entered = ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter)) ||
                            ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_KeyPadEnter));
    const std::string typed = is_entered ? text : active.text;
    active = {};
    if (is_given_up || typed == value) return std::nullopt;
    return typed;
}

void begin_typing(const PanelContext& context, const char* name, const std::string& value) {
    context.state.active = {.control = ImGui::GetID(name), .is_typed = true, .is_new = true, .text = value};
}

bool is_typing(const PanelContext& context, const char* name) {
    return context.state.active.is_typed && context.state.active.control == ImGui::GetID(name);
}

}  // namespace echolux
