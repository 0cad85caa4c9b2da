#include "ui/panels/controls.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compute/plan/describe.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr double fine = 0.1;  // speed of a drag with Shift

bool begins_typing(bool is_hovered) {
    return is_hovered && (ImGui::IsMouseDoubleClicked(0) || (ImGui::IsMouseClicked(0) && ImGui::GetIO().KeyCtrl));
}

// Returns the characters typed since the last frame if all of them belong to numbers, otherwise an empty text.
std::string typed_digits() {
    std::string text;
    for (const ImWchar letter : ImGui::GetIO().InputQueueCharacters) {
        if (!is_of_number(static_cast<std::uint32_t>(letter))) return "";
        text += static_cast<char>(letter);
    }
    return text;
}

// Notes the last item, into which Tab leads.
void note_entry(KeyboardFocus& focus, unsigned int& kind, ImGuiID id) {
    kind = id;
    focus.corner = {ImGui::GetItemRectMin().x, ImGui::GetItemRectMin().y};
}

ImVec4 faded(ImVec4 colour, float alpha) {
    colour.w = alpha;
    return colour;
}

// Bar from zero, or from the low end of the range, to the value.
void draw_bar(const PanelContext& context, const NumberDisplay& shown, bool is_lit) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const auto at = [&](double place) {
        return low.x + static_cast<float>(std::clamp(place, 0.0, 1.0)) * (high.x - low.x);
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float rounding = ImGui::GetStyle().FrameRounding;
    list->AddRectFilled(low, high, ImGui::GetColorU32(is_lit ? ImGuiCol_FrameBgHovered : ImGuiCol_FrameBg), rounding);
    const float zero = at(shown.scale.range().low < 0 ? shown.scale.place_of(0) : 0);
    const float value = at(shown.scale.place_of(shown.value));
    if (shown.is_muted || std::abs(value - zero) < 1) return;
    list->AddRectFilled({std::min(zero, value), low.y}, {std::max(zero, value), high.y},
                        ImGui::GetColorU32(faded(context.style.accent, is_lit ? 0.5f : 0.36f)), rounding);
}

void draw_number(const PanelContext& context, const NumberDisplay& shown) {
    const Style& style = context.style;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImGui::PushFont(style.numbers);
    const auto is_wide = [&](const std::string& text) {
        return ImGui::CalcTextSize(text.c_str()).x > high.x - low.x - 2 * style.px(4);
    };
    // Without room for "auto  0.1" only "auto"
    const std::string text = is_wide(shown.text) ? shown.text.substr(0, shown.text.find("  ")) : shown.text;
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float left = std::max(low.x + style.px(4), 0.5f * (low.x + high.x - size.x));
    list->PushClipRect(low, high, true);
    list->AddText({left, 0.5f * (low.y + high.y - size.y)},
                  shown.is_muted ? ImGui::GetColorU32(style.muted) : ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
    list->PopClipRect();
    ImGui::PopFont();
}

// Frame around the selected number.
void draw_frame(const PanelContext& context) {
    ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                        ImGui::GetColorU32(context.style.accent), ImGui::GetStyle().FrameRounding, 0,
                                        context.style.px(1.2f));
}

// Esc returns to the value before the drag.
std::optional<NumberEdit> dragged(ActiveControl& active, const NumberDisplay& shown, float width) {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)) && active.has_moved) {
        const double before = active.before;
        active = {};
        return NumberEdit{before, std::nullopt, Edit::done};
    }
    active.place += (io.KeyShift ? fine : 1) * static_cast<double>(io.MouseDelta.x) / static_cast<double>(width);
    if (!active.has_moved && !ImGui::IsMouseDragging(0, 2)) return std::nullopt;
    const double value = shown.scale.value_at(active.place, io.KeyShift ? fine : 1);
    if (value == shown.value && !shown.is_muted) return std::nullopt;
    active.has_moved = true;
    return NumberEdit{value, std::nullopt, Edit::in_progress};
}

}  // namespace

bool is_of_number(std::uint32_t letter) {
    return (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' || letter == '+';
}

std::string text_on(const NumberScale& scale, double value) {
    const double step = scale.resolution_at(value);
    const double digit = std::pow(10, std::floor(std::log10(step) + 1e-9));  // decimal digit that a step changes
    const bool has_more = std::abs(value / digit - std::round(value / digit)) > 1e-6;
    return number_text(value, has_more ? 0.1 * digit : digit);
}

std::optional<NumberEdit> number_control(const PanelContext& context, const char* name, const NumberDisplay& shown,
                                         float width) {
    ActiveControl& active = context.state.active;
    const ImGuiID id = ImGui::GetID(name);
    // differs from the name of the button, which may still be held
    const std::string box = std::string("##typed ") + name;
    if (is_typing(context, box.c_str())) {
        auto typed = text_box(context, box.c_str(), shown.to_type, width);
        return typed ? std::optional(NumberEdit{std::nullopt, std::move(typed), Edit::done}) : std::nullopt;
    }

    ImGui::InvisibleButton(name, {width, ImGui::GetFrameHeight()});
    note_entry(context.state.focus, context.state.focus.number, id);
    const bool is_hovered = ImGui::IsItemHovered(), is_active = ImGui::IsItemActive();
    if (is_hovered || is_active) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    draw_bar(context, shown, is_hovered || is_active);
    draw_number(context, shown);
    if (begins_typing(is_hovered)) {
        begin_typing(context, box.c_str(), shown.to_type);
        return std::nullopt;
    }
    // A click selects the number; digits typed afterwards replace it.
    unsigned int& picked = context.state.picked;
    if (picked == id && ImGui::IsMouseClicked(0)) picked = 0;
    if (picked == id) {
        context.state.is_picked_there = true;
        draw_frame(context);
        if (const std::string digits = typed_digits(); !digits.empty()) {
            picked = 0;
            begin_typing(context, box.c_str(), digits);
            context.state.active.continues = true;
            return std::nullopt;
        }
    }
    if (ImGui::IsItemActivated()) {
        active = {.control = id, .place = shown.scale.place_of(shown.value), .before = shown.as_set, .text = {}};
    }
    if (active.control != id) return std::nullopt;
    if (is_active) return dragged(active, shown, width);
    const bool has_moved = active.has_moved;
    active = {};
    if (!has_moved) picked = id;
    if (!has_moved) context.state.is_picked_there = true;
    return has_moved ? std::optional(NumberEdit{std::nullopt, std::nullopt, Edit::done}) : std::nullopt;
}

std::optional<NumberChange> plain_number(const PanelContext& context, const char* name, double value, ValueRange range,
                                         float width) {
    range = {std::min(range.low, value), std::max(range.high, value)};
    const NumberScale scale = scale_for(range, false);
    const NumberDisplay shown{
        .scale = scale, .value = value, .text = text_on(scale, value), .to_type = spelled(value), .as_set = value};
    const auto edit = number_control(context, name, shown, width);
    if (!edit) return std::nullopt;
    if (!edit->typed) return NumberChange{edit->dragged_to.value_or(value), edit->edit};
    const auto typed = typed_number(*edit->typed);
    return typed ? std::optional(NumberChange{*typed, Edit::done}) : std::nullopt;
}

// ---- Range with two draggable ends

static void draw_range(const PanelContext& context, const ValueRange& whole, const ValueRange& value, bool is_lit) {
    const Style& style = context.style;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const auto at = [&](double number) {
        return low.x + static_cast<float>((number - whole.low) / (whole.high - whole.low)) * (high.x - low.x);
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float rounding = ImGui::GetStyle().FrameRounding;
    list->AddRectFilled(low, high, ImGui::GetColorU32(is_lit ? ImGuiCol_FrameBgHovered : ImGuiCol_FrameBg), rounding);
    ImVec4 colour = style.accent;
    colour.w = is_lit ? 0.5f : 0.36f;
    list->AddRectFilled({at(value.low), low.y}, {at(value.high), high.y}, ImGui::GetColorU32(colour), rounding);
    const float half = style.px(1.5f);
    for (const double end : {value.low, value.high}) {
        const float x = std::clamp(at(end), low.x + half, high.x - half);
        list->AddRectFilled({x - half, low.y}, {x + half, high.y}, ImGui::GetColorU32(style.accent), half);
    }
    ImGui::PushFont(style.numbers);
    const double resolution = 0.01 * (whole.high - whole.low);
    const std::string text = number_text(value.low, resolution) + " – " + number_text(value.high, resolution);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    list->AddText({0.5f * (low.x + high.x - size.x), 0.5f * (low.y + high.y - size.y)},
                  ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
    ImGui::PopFont();
}

std::optional<RangeEdit> range_control(const PanelContext& context, const char* name, const ValueRange& whole,
                                       const ValueRange& value, float width) {
    ActiveControl& active = context.state.active;
    const ImGuiID id = ImGui::GetID(name);
    ImGui::InvisibleButton(name, {width, ImGui::GetFrameHeight()});
    const bool is_active = ImGui::IsItemActive(), is_hovered = ImGui::IsItemHovered();
    if (is_active || is_hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    draw_range(context, whole, value, is_active || is_hovered);

    // A drag moves the end that is closer to the pointer.
    const float left = ImGui::GetItemRectMin().x;
    const double at = std::lerp(whole.low, whole.high, static_cast<double>((ImGui::GetIO().MousePos.x - left) / width));
    if (ImGui::IsItemActivated()) {
        active = {.control = id, .text = {}};
        active.holds_low_end = std::abs(at - value.low) < std::abs(at - value.high);
    }
    if (active.control != id) return std::nullopt;
    const bool is_low = active.holds_low_end;
    if (!is_active) {
        const bool has_moved = active.has_moved;
        active = {};
        if (!has_moved) return std::nullopt;
        return RangeEdit{is_low, is_low ? value.low : value.high, Edit::done};
    }
    // Steps are half of the minimum width.
    const double min_width = 0.01 * (whole.high - whole.low);
    const double rounded = std::round(at / (0.5 * min_width)) * 0.5 * min_width;
    const double wanted = is_low ? std::clamp(rounded, whole.low, value.high - min_width)
                                 : std::clamp(rounded, value.low + min_width, whole.high);
    if (wanted == (is_low ? value.low : value.high) || !ImGui::IsMouseDragging(0, 2)) return std::nullopt;
    active.has_moved = true;
    return RangeEdit{is_low, wanted, Edit::in_progress};
}

// ---- Line of text to type into

constexpr std::size_t room_to_type = 1024;

// Takes the ASCII characters typed since the last frame, so that no other widget receives them.
static std::string taken_letters() {
    std::string letters;
    for (const ImWchar letter : ImGui::GetIO().InputQueueCharacters) {
        if (letter < 0x80) letters += static_cast<char>(letter);
    }
    ImGui::GetIO().InputQueueCharacters.resize(0);
    return letters;
}

// ImGui callback that appends characters and moves the cursor to the end.
static int move_cursor_to_end(ImGuiInputTextCallbackData* data) {
    const auto& letters = *static_cast<const std::string*>(data->UserData);
    data->ClearSelection();
    data->CursorPos = data->BufTextLen;
    data->InsertChars(data->BufTextLen, letters.c_str());
    return 0;
}

std::optional<std::string> text_box(const PanelContext& context, const char* name, const std::string& value,
                                    float width, const char* hint) {
    ActiveControl& active = context.state.active;
    const ImGuiID id = ImGui::GetID(name);
    const auto is_mine = [&] { return active.control == id && active.is_typed; };
    // The box gets keyboard focus one or two frames after the request. Characters typed before are collected here.
    std::string late = is_mine() && active.continues ? taken_letters() : "";
    if (is_mine() && !active.has_keyboard) active.text += std::exchange(late, {});
    const bool adds = is_mine() && active.has_keyboard && std::exchange(active.continues, false);
    std::string text = is_mine() ? active.text : value;
    context.state.focus.text = text;
    text.resize(text.size() + room_to_type);

    ImGui::SetNextItemWidth(width);
    if (is_mine() && std::exchange(active.is_new, false)) ImGui::SetKeyboardFocusHere();
    const auto flags = ImGuiInputTextFlags_AutoSelectAll | (adds ? ImGuiInputTextFlags_CallbackAlways : 0);
    ImGui::InputTextWithHint(name, hint, text.data(), text.size(), flags, adds ? move_cursor_to_end : nullptr, &late);
    note_entry(context.state.focus, context.state.focus.box, id);
    text.resize(text.find('\0'));
    if (ImGui::IsItemActivated() && !is_mine()) active = {.control = id, .is_typed = true, .text = value};
    if (is_mine() && ImGui::IsItemActive()) {
        active.text = text;
        active.has_keyboard = true;
    }
    if (!is_mine() || !ImGui::IsItemDeactivated()) return std::nullopt;

    const bool is_abandoned = ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape));
    const bool is_entered = ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter)) ||
                            ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_KeyPadEnter));
    const std::string typed = is_entered ? text : active.text;
    active = {};
    if (is_abandoned || typed == value) return std::nullopt;
    return typed;
}

void begin_typing(const PanelContext& context, const char* name, const std::string& value) {
    context.state.active = {.control = ImGui::GetID(name), .is_typed = true, .is_new = true, .text = value};
}

bool is_typing(const PanelContext& context, const char* name) {
    return context.state.active.is_typed && context.state.active.control == ImGui::GetID(name);
}

// ---- Number scale

constexpr double decades_from = 150;  // ratio of the limits from which the scale is logarithmic
constexpr double even_part = 1e-3;    // linear part around zero, relative to the range
constexpr double steps = 100;         // distinguishable positions along a control

// Rounds down to 1, 2 or 5 times a power of ten: 0.2, 0.5, 1, 2, 5 ...
static double round_step(double size) {
    const double power = std::pow(10, std::floor(std::log10(size)));
    const double digit = size / power;
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

static double farthest(const ValueRange& range) {
    return std::max(std::abs(range.low), std::abs(range.high));
}

NumberScale::NumberScale(Kind kind, ValueRange range, bool is_whole)
    : kind_(kind), range_(range), is_whole_(is_whole) {}

// Maps a value to the axis on which the control is linear.
double NumberScale::bent(double value) const {
    switch (kind_) {
        case Kind::even: return value;
        case Kind::decades: return std::log(std::max(value, range_.low * 1e-3));
        case Kind::signed_decades: return std::asinh(value / (even_part * farthest(range_)));
    }
    return value;
}

double NumberScale::straight(double bent) const {
    switch (kind_) {
        case Kind::even: return bent;
        case Kind::decades: return std::exp(bent);
        case Kind::signed_decades: return std::sinh(bent) * even_part * farthest(range_);
    }
    return bent;
}

double NumberScale::place_of(double value) const {
    return (bent(value) - bent(range_.low)) / (bent(range_.high) - bent(range_.low));
}

// At most 1 % of the value on logarithmic scales.
double NumberScale::resolution_at(double value) const {
    if (is_whole_) return 1;
    const double all = range_.high - range_.low;
    if (kind_ == Kind::even) return round_step(all / steps);
    const double size = kind_ == Kind::decades ? range_.low : even_part * farthest(range_);
    return round_step(std::max(std::abs(value), size) / 100);
}

double NumberScale::value_at(double place, double fineness) const {
    const double value = straight(std::lerp(bent(range_.low), bent(range_.high), std::clamp(place, 0.0, 1.0)));
    const double step = is_whole_ ? 1 : fineness * resolution_at(value);
    return std::clamp(std::round(value / step) * step, range_.low, range_.high);
}

NumberScale scale_for(ValueRange range, bool is_whole) {
    using Kind = NumberScale::Kind;
    if (range.low > 0 && range.high / range.low >= decades_from) return {Kind::decades, range, is_whole};
    const bool has_zero = range.low <= 0 && range.high >= 0;
    return {has_zero && farthest(range) >= 1000 ? Kind::signed_decades : Kind::even, range, is_whole};
}

ValueRange fitting(const FieldText& field, ValueRange range, double value) {
    range = {std::max(range.low, field.low), std::min(range.high, field.high)};
    range = {std::min(range.low, value), std::max(range.high, value)};
    if (range.low < range.high) return range;
    return {field.low, std::max(field.high, field.low + 1)};
}

// ---- Icons

// Draws a triangle around `at` that points right (`direction` is 1) or left (-1).
static void draw_arrow(ImDrawList* list, ImVec2 at, float half, float direction, ImU32 colour) {
    list->AddTriangleFilled({at.x - direction * 0.8f * half, at.y - half}, {at.x + direction * half, at.y},
                            {at.x - direction * 0.8f * half, at.y + half}, colour);
}

static void draw_bar(ImDrawList* list, ImVec2 at, float half, ImU32 colour) {
    list->AddRectFilled({at.x - 0.18f * half, at.y - half}, {at.x + 0.18f * half, at.y + half}, colour);
}

// An arc with an arrow head.
static void draw_loop(ImDrawList* list, ImVec2 at, float half, ImU32 colour) {
    const float stroke = 0.28f * half;
    list->PathArcTo(at, half, -2.5f, 1.9f, 20);
    list->PathStroke(colour, 0, stroke);
    const ImVec2 tip{at.x - 0.8f * half, at.y - 0.6f * half};
    list->AddTriangleFilled({tip.x - 0.5f * half, tip.y - 0.3f * half}, {tip.x + 0.5f * half, tip.y - 0.35f * half},
                            {tip.x - 0.1f * half, tip.y + 0.6f * half}, colour);
}

// The lines of a plus or a cross.
static void draw_lines(ImDrawList* list, Icon icon, ImVec2 at, float half, ImU32 colour) {
    const float a = 0.75f * half, stroke = 0.25f * half;
    if (icon == Icon::add) {
        list->AddLine({at.x - a, at.y}, {at.x + a, at.y}, colour, stroke);
        list->AddLine({at.x, at.y - a}, {at.x, at.y + a}, colour, stroke);
        return;
    }
    list->AddLine({at.x - a, at.y - a}, {at.x + a, at.y + a}, colour, stroke);
    list->AddLine({at.x - a, at.y + a}, {at.x + a, at.y - a}, colour, stroke);
}

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
