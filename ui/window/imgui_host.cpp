#include "ui/window/imgui_host.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "ui/window/theme.h"

namespace echolux {
namespace {

// Vertices and indices are copied without conversion.
static_assert(sizeof(ImDrawVert) == sizeof(InterfaceVertex));
static_assert(offsetof(ImDrawVert, pos) == offsetof(InterfaceVertex, x));
static_assert(offsetof(ImDrawVert, uv) == offsetof(InterfaceVertex, u));
static_assert(offsetof(ImDrawVert, col) == offsetof(InterfaceVertex, colour));
static_assert(std::is_same_v<ImDrawIdx, std::uint16_t>);

struct KnownKey {
    const char* name;
    ImGuiKey key;
};
constexpr std::array known_keys{
    KnownKey{"Tab", ImGuiKey_Tab},
    KnownKey{"Left", ImGuiKey_LeftArrow},
    KnownKey{"Right", ImGuiKey_RightArrow},
    KnownKey{"Up", ImGuiKey_UpArrow},
    KnownKey{"Down", ImGuiKey_DownArrow},
    KnownKey{"PageUp", ImGuiKey_PageUp},
    KnownKey{"PageDown", ImGuiKey_PageDown},
    KnownKey{"Home", ImGuiKey_Home},
    KnownKey{"End", ImGuiKey_End},
    KnownKey{"Insert", ImGuiKey_Insert},
    KnownKey{"Delete", ImGuiKey_Delete},
    KnownKey{"Backspace", ImGuiKey_Backspace},
    KnownKey{"Space", ImGuiKey_Space},
    KnownKey{"Enter", ImGuiKey_Enter},
    KnownKey{"Esc", ImGuiKey_Escape},
    KnownKey{"A", ImGuiKey_A},
    KnownKey{"C", ImGuiKey_C},
    KnownKey{"V", ImGuiKey_V},
    KnownKey{"X", ImGuiKey_X},
    KnownKey{"Y", ImGuiKey_Y},
    KnownKey{"Z", ImGuiKey_Z},
};

// Versions before 1.87 read key states from an array, later ones receive events.
#if IMGUI_VERSION_NUM >= 18700
void map_keys(ImGuiIO&) {}
void set_key(ImGuiIO& io, std::size_t known, bool down) {
    io.AddKeyEvent(known_keys[known].key, down);
}
void set_modifiers(ImGuiIO& io, bool ctrl, bool shift, bool alt, bool super) {
    io.AddKeyEvent(ImGuiMod_Ctrl, ctrl);
    io.AddKeyEvent(ImGuiMod_Shift, shift);
    io.AddKeyEvent(ImGuiMod_Alt, alt);
    io.AddKeyEvent(ImGuiMod_Super, super);
}
#else
void map_keys(ImGuiIO& io) {
    for (std::size_t i = 0; i < known_keys.size(); ++i) io.KeyMap[known_keys[i].key] = static_cast<int>(i);
}
void set_key(ImGuiIO& io, std::size_t known, bool down) {
    io.KeysDown[known] = down;
}
void set_modifiers(ImGuiIO& io, bool ctrl, bool shift, bool alt, bool super) {
    io.KeyCtrl = ctrl;
    io.KeyShift = shift;
    io.KeyAlt = alt;
    io.KeySuper = super;
}
#endif

}  // namespace

ImguiHost::ImguiHost(NativeWindow& native) : native_(native) {
    open_context();
}

void ImguiHost::open_context() {
    context_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors | ImGuiBackendFlags_RendererHasVtxOffset;
    // for menus; all other windows set NoNav and leave keys to actions
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.MouseDoubleClickTime = 0.35f;
    map_keys(io);
    io.ClipboardUserData = this;
    io.GetClipboardTextFn = [](void* host) {
        ImguiHost& self = *static_cast<ImguiHost*>(host);
        self.clipboard_ = self.native_.clipboard();
        return self.clipboard_.c_str();
    };
    io.SetClipboardTextFn = [](void* host, const char* text) {
        static_cast<ImguiHost*>(host)->native_.set_clipboard(text);
    };
}

ImguiHost::~ImguiHost() {
    ImGui::DestroyContext(context_);
}

bool ImguiHost::set_scale(double scale) {
    const float wanted = static_cast<float>(std::clamp(scale, 0.75, 4.0));
    if (style_.text != nullptr && wanted == style_.scale) return false;
    style_.scale = wanted;
    load_fonts(style_);
    apply_theme(style_);
    return true;
}

void ImguiHost::set_theme(WindowTheme theme) {
    if (theme == theme_) return;
    theme_ = theme;
    set_colours(style_, theme);
    if (style_.text != nullptr) apply_theme(style_);
}

ImguiHost::Glyphs ImguiHost::glyphs() const {
    unsigned char* coverage = nullptr;
    int width = 0, height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&coverage, &width, &height);
    return {width, height, {coverage, coverage + static_cast<std::ptrdiff_t>(width) * height}};
}

static bool is_text(const WindowEvent& event) {
    return std::holds_alternative<TextTyped>(event);
}

// Decides whether an event must wait for the next frame, because Dear ImGui only sees the state at the start of a
// frame. Within a frame:
// - a button may change once, and the pointer may not move after that; otherwise a click would be lost or happen at a
//   later position
// - a button may not be released after a move; otherwise the end of a quick drag would be lost
// - a key may not be released after another was pressed, such as Ctrl before K in Ctrl+K
// - Tab may not follow text, which would be lost with the box that it leaves. It waits some frames more, in which a
//   number opens the box for its first digits
// Text typed after a click or a command key belongs to the control that it opens.
bool ImguiHost::is_for_next(const WindowEvent& event, const std::vector<WindowEvent>& taken) const {
    const auto before = [&taken](auto fits) { return std::any_of(taken.begin(), taken.end(), fits); };
    const auto is_button = [](const WindowEvent& e) { return std::holds_alternative<PointerButton>(e); };
    const auto is_move = [](const WindowEvent& e) { return std::holds_alternative<PointerMoved>(e); };
    const auto is_scroll = [](const WindowEvent& e) { return std::holds_alternative<Scrolled>(e); };
    if (is_move(event)) return before(is_button) || before(is_scroll);
    if (const auto* button = std::get_if<PointerButton>(&event)) {
        return before(is_button) || (!button->down && before(is_move));
    }
    if (is_text(event)) {
        return before(is_button) || before([this](const WindowEvent& e) { return acts(e); });
    }
    if (const auto* key = std::get_if<KeyPressed>(&event)) {
        if (key->name == "Tab" && (tab_waits_ > 0 || before(is_text))) return true;
        return before(is_button) || before([key](const WindowEvent& e) {
                   const auto* other = std::get_if<KeyPressed>(&e);
                   return other != nullptr && (other->name == key->name || (other->down && !key->down));
               });
    }
    return false;
}

// True for keys that trigger an action instead of typing text.
bool ImguiHost::acts(const WindowEvent& event) const {
    const auto* key = std::get_if<KeyPressed>(&event);
    if (key == nullptr || !key->down) return false;
    constexpr std::array<std::string_view, 5> silent{"Ctrl", "Shift", "Alt", "Super", "Space"};
    const bool has_name = key->name.size() > 1 && std::ranges::find(silent, key->name) == silent.end();
    return has_name || (key->name.size() == 1 && (ctrl_ || alt_));
}

std::vector<WindowEvent> ImguiHost::begin(std::int64_t width, std::int64_t height, double now_s) {
    ImGuiIO& io = ImGui::GetIO();
    std::vector<WindowEvent> taken;
    double time_s = now_s;
    // Text waits at most a few frames for a control that accepts it. In the first frame that is still the last one.
    const bool is_accepted = accepts_text() && text_waits_ < max_text_waits;
    text_waits_ = is_accepted ? 0 : std::max(0, text_waits_ - 1);
    had_popup_ = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    const auto waits = [&](const WindowEvent& event) {
        return is_for_next(event, taken) || (text_waits_ > 0 && is_text(event));
    };
    while (!waiting_.empty() && !waits(waiting_.front().what)) {
        time_s = waiting_.front().time_s;
        take(waiting_.front().what);
        taken.push_back(std::move(waiting_.front().what));
        waiting_.pop_front();
    }
    tab_waits_ = std::ranges::any_of(taken, is_text) ? max_tab_waits : std::max(0, tab_waits_ - 1);
    constexpr double shortest_s = 1e-4;  // Dear ImGui requires a positive time step
    const double passed_s = std::max(time_s - clock_s_, shortest_s);
    clock_s_ += passed_s;
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = static_cast<float>(passed_s);
    ImGui::NewFrame();
    return taken;
}

void ImguiHost::take(const WindowEvent& event) {
    ImGuiIO& io = ImGui::GetIO();
    if (const auto* moved = std::get_if<PointerMoved>(&event)) {
        io.MousePos = {static_cast<float>(moved->x), static_cast<float>(moved->y)};
    } else if (const auto* button = std::get_if<PointerButton>(&event)) {
        if (button->button >= 0 && button->button < 3) io.MouseDown[button->button] = button->down;
    } else if (const auto* scrolled = std::get_if<Scrolled>(&event)) {
        io.MouseWheelH += static_cast<float>(scrolled->x);
        io.MouseWheel += static_cast<float>(scrolled->y);
    } else if (const auto* key = std::get_if<KeyPressed>(&event)) {
        take_key(*key);
    } else if (const auto* typed = std::get_if<TextTyped>(&event)) {
        if (!ctrl_ && !alt_) io.AddInputCharacter(typed->character);
    } else if (const auto* focus = std::get_if<FocusChanged>(&event)) {
        if (!focus->has_focus) release_all();
    }
}

void ImguiHost::take_key(const KeyPressed& key) {
    if (key.name == "Ctrl") ctrl_ = key.down;
    if (key.name == "Shift") shift_ = key.down;
    if (key.name == "Alt") alt_ = key.down;
    if (key.name == "Super") super_ = key.down;
    ImGuiIO& io = ImGui::GetIO();
    set_modifiers(io, ctrl_, shift_, alt_, super_);
    // Dear ImGui chooses in menus and lists by Space alone.
    const bool has_list = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    const bool chooses = key.name == "Enter" && !accepts_text() && (has_list || !key.down);
    for (std::size_t i = 0; i < known_keys.size(); ++i) {
        const bool is_chosen = chooses && known_keys[i].key == ImGuiKey_Space;
        if (key.name == known_keys[i].name || is_chosen) set_key(io, i, key.down);
    }
}

// Reports all keys and buttons as released when the window loses focus.
void ImguiHost::release_all() {
    ImGuiIO& io = ImGui::GetIO();
    ctrl_ = shift_ = alt_ = super_ = false;
    set_modifiers(io, false, false, false, false);
    for (std::size_t i = 0; i < known_keys.size(); ++i) set_key(io, i, false);
    std::fill(std::begin(io.MouseDown), std::end(io.MouseDown), false);
}

const InterfaceMesh& ImguiHost::end() {
    ImGui::Render();
    const ImDrawData& drawn = *ImGui::GetDrawData();
    mesh_.vertices.clear();
    mesh_.indices.clear();
    mesh_.parts.clear();
    // Converts the command lists to one mesh with a clip rectangle per part.
    for (int i = 0; i < drawn.CmdListsCount; ++i) {
        const ImDrawList& list = *drawn.CmdLists[i];
        const auto first_vertex = static_cast<std::uint32_t>(mesh_.vertices.size());
        const auto first_index = static_cast<std::uint32_t>(mesh_.indices.size());
        for (const ImDrawVert& vertex : list.VtxBuffer) {
            mesh_.vertices.push_back({vertex.pos.x, vertex.pos.y, vertex.uv.x, vertex.uv.y, vertex.col});
        }
        mesh_.indices.insert(mesh_.indices.end(), list.IdxBuffer.begin(), list.IdxBuffer.end());
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback != nullptr || command.ElemCount == 0) continue;
            mesh_.parts.push_back({{command.ClipRect.x, command.ClipRect.y, command.ClipRect.z, command.ClipRect.w},
                                   first_index + command.IdxOffset,
                                   command.ElemCount,
                                   first_vertex + command.VtxOffset});
        }
    }
    return mesh_;
}

// Dear ImGui cannot end a frame whose windows and stacks are open, so the context is created again.
void ImguiHost::abandon() {
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    ImGui::DestroyContext(context_);
    open_context();
    ImGui::GetIO().MousePos = pointer;
    load_fonts(style_);
    apply_theme(style_);
    ctrl_ = shift_ = alt_ = super_ = false;
}

bool ImguiHost::accepts_text() const {
    return ImGui::GetIO().WantTextInput;
}

PointerShape ImguiHost::pointer() const {
    switch (ImGui::GetMouseCursor()) {
        case ImGuiMouseCursor_TextInput: return PointerShape::text;
        case ImGuiMouseCursor_Hand: return PointerShape::hand;
        case ImGuiMouseCursor_ResizeAll: return PointerShape::move;
        case ImGuiMouseCursor_ResizeEW: return PointerShape::resize_across;
        case ImGuiMouseCursor_ResizeNS: return PointerShape::resize_down;
        default: return PointerShape::arrow;
    }
}

std::string ImguiHost::chord(const std::string& key) const {
    return std::string(ctrl_ ? "Ctrl+" : "") + (shift_ ? "Shift+" : "") + (alt_ ? "Alt+" : "") + key;
}

bool ImguiHost::holds(const std::string& modifier) const {
    return modifier == "Ctrl" ? ctrl_ : modifier == "Shift" ? shift_ : modifier == "Alt" ? alt_ : super_;
}

}  // namespace echolux
