// Line of text to type into, see controls.h.
#include "ui/panels/controls.h"

#include <utility>

namespace echolux {
namespace {

constexpr std::size_t room_to_type = 1024;

// Takes the ASCII characters typed since the last frame, so that no other widget receives them.
std::string taken_letters() {
    std::string letters;
    for (const ImWchar letter : ImGui::GetIO().InputQueueCharacters) {
        if (letter < 0x80) letters += static_cast<char>(letter);
    }
    ImGui::GetIO().InputQueueCharacters.resize(0);
    return letters;
}

// ImGui callback that appends characters and moves the cursor to the end.
int put_at_the_end(ImGuiInputTextCallbackData* data) {
    const auto& letters = *static_cast<const std::string*>(data->UserData);
    data->ClearSelection();
    data->CursorPos = data->BufTextLen;
    data->InsertChars(data->BufTextLen, letters.c_str());
    return 0;
}

}  // namespace

std::optional<std::string> text_box(const PanelContext& context, const char* name, const std::string& value,
                                    float width, const char* hint) {
    ActiveControl& active = context.state.active;
    const ImGuiID id = ImGui::GetID(name);
    const auto is_mine = [&] { return active.control == id && active.is_typed; };
    // The box gets keyboard focus one or two frames after the request. Characters typed before are collected here.
    std::string late = is_mine() && active.goes_on ? taken_letters() : "";
    if (is_mine() && !active.has_keyboard) active.text += std::exchange(late, {});
    const bool adds = is_mine() && active.has_keyboard && std::exchange(active.goes_on, false);
    std::string text = is_mine() ? active.text : value;
    text.resize(text.size() + room_to_type);

    ImGui::SetNextItemWidth(width);
    if (is_mine() && std::exchange(active.is_new, false)) ImGui::SetKeyboardFocusHere();
    const auto flags = ImGuiInputTextFlags_AutoSelectAll | (adds ? ImGuiInputTextFlags_CallbackAlways : 0);
    ImGui::InputTextWithHint(name, hint, text.data(), text.size(), flags, adds ? put_at_the_end : nullptr, &late);
    text.resize(text.find('\0'));
    if (ImGui::IsItemActivated() && !is_mine()) active = {.control = id, .is_typed = true, .text = value};
    if (is_mine() && ImGui::IsItemActive()) {
        active.text = text;
        active.has_keyboard = true;
    }
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
