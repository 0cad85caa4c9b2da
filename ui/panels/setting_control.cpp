#include "ui/panels/setting_control.h"

#include <array>
#include <cmath>
#include <utility>

#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/value_text.h"

namespace echolux {
namespace {

bool is_whole(const Value& value) {
    return std::holds_alternative<std::int64_t>(value);
}

double number_of(const Value& value) {
    return is_whole(value) ? static_cast<double>(std::get<std::int64_t>(value)) : std::get<double>(value);
}

// Converts a number to the type of `like`.
Value value_like(const Value& like, double number) {
    if (is_whole(like)) return static_cast<std::int64_t>(std::llround(number));
    return number;
}

// Settings with few allowed integers use a list instead of a drag.
void only_control(const SettingControl& control, std::int64_t value) {
    ImGui::SetNextItemWidth(control.width);
    if (!ImGui::BeginCombo("##control", std::to_string(value).c_str())) return;
    for (const std::int64_t candidate : control.hint.only) {
        if (ImGui::Selectable(std::to_string(candidate).c_str(), candidate == value)) {
            control.change(candidate, Edit::done);
        }
    }
    ImGui::EndCombo();
}

// Text for an automatic value, with the current value if known: "auto 12".
std::string stand_in_text(const ControlHint& hint, const std::optional<double>& in_effect) {
    return std::string(hint.special_text) + (in_effect ? "  " + short_number(*in_effect) : "");
}

std::string number_text_of(const NumberScale& scale, const Value& value) {
    return is_whole(value) ? std::to_string(std::get<std::int64_t>(value)) : text_on(scale, std::get<double>(value));
}

// An automatic value is displayed muted, and a drag starts at the value in effect.
NumberShown shown_number(const SettingControl& control, const Value& value) {
    const double number = number_of(value);
    const ControlHint& hint = control.hint;
    const bool is_stand_in = hint.special_value == number;
    const ValueRange wanted = hint.soft_range.value_or(ValueRange{control.field.low, control.field.high});
    const auto in_effect = value_in_effect(control.key, control.context.state.volume);
    const double at = is_stand_in ? in_effect.value_or(wanted.low) : number;
    const NumberScale scale = scale_for(fitting(control.field, wanted, at), is_whole(value));
    return {.scale = scale,
            .value = at,
            .text = is_stand_in ? stand_in_text(hint, in_effect) : number_text_of(scale, value),
            .to_type = is_stand_in ? std::string(hint.special_text) : spelled(value),
            .as_set = number,
            .is_muted = is_stand_in};
}

std::vector<double> with(std::vector<double> list, std::size_t at, double number) {
    list[at] = number;
    return list;
}

// An empty list is an automatic colour.
void colour_control(const SettingControl& control, const std::vector<double>& value) {
    std::array<float, 3> colour{1, 1, 1};
    for (std::size_t i = 0; i < 3 && i < value.size(); ++i) colour[i] = static_cast<float>(value[i]);
    const bool is_automatic = value.empty();
    const auto flags = ImGuiColorEditFlags_NoInputs | ImGuiColorEditFlags_NoLabel;
    if (ImGui::ColorEdit3("##control", colour.data(), flags)) {
        control.change(std::vector<double>(colour.begin(), colour.end()), Edit::under_way);
    }
    if (ImGui::IsItemDeactivatedAfterEdit()) control.change(control.field.get(), Edit::done);
    if (!is_automatic) return;
    ImGui::SameLine();
    ImGui::TextColored(control.context.style.muted, "auto");
}

// One number per axis.
void triple_control(const SettingControl& control, const std::vector<double>& value) {
    constexpr std::array axes{"depth", "A-scans", "B-scans"};
    const float gap = control.context.style.px(3);
    const float width = (control.width - 2 * gap) / 3;
    for (std::size_t i = 0; i < 3; ++i) {
        if (i > 0) ImGui::SameLine(0, gap);
        const ValueRange whole{control.field.low, control.field.high};
        const ValueRange reach = fitting(control.field, control.hint.soft_range.value_or(whole), value[i]);
        const auto change = plain_number(control.context, axes[i], value[i], reach, width);
        if (change) control.change(with(value, i, change->value), change->edit);
    }
}

}  // namespace

bool is_colour(const BoundField& field) {
    return std::holds_alternative<std::vector<double>>(field.default_value) &&
           (field.name.ends_with("colour") || field.name == "background");
}

bool is_triple(const BoundField& field) {
    const auto* list = std::get_if<std::vector<double>>(&field.default_value);
    return list != nullptr && list->size() == 3 && !is_colour(field);
}

// An empty text selects the automatic value.
void take_typed(const SettingControl& control, const std::string& typed) {
    if (control.hint.special_value && typed.empty()) {
        control.change(value_like(control.field.default_value, *control.hint.special_value), Edit::done);
        return;
    }
    attempt(control.context, control.field.section, [&] {
        control.change(parsed(control.field, control.field.default_value, typed, control.key), Edit::done);
    });
}

// A switch with a sliding knob.
void switch_control(const SettingControl& control, bool value) {
    const Style& style = control.context.style;
    const float height = ImGui::GetFrameHeight(), inner = 0.62f * height;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("##control", {1.9f * inner, height})) control.change(!value, Edit::done);
    const ImVec2 low{at.x, at.y + 0.5f * (height - inner)}, high{at.x + 1.8f * inner, low.y + inner};
    ImVec4 colour = value ? style.accent : ImGui::GetStyleColorVec4(ImGuiCol_FrameBgActive);
    if (ImGui::IsItemHovered()) colour = {colour.x * 1.12f, colour.y * 1.12f, colour.z * 1.12f, colour.w};
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float radius = 0.5f * inner;
    list->AddRectFilled(low, high, ImGui::GetColorU32(colour), radius);
    list->AddCircleFilled({value ? high.x - radius : low.x + radius, low.y + radius}, radius - style.px(2),
                          ImGui::GetColorU32(ImVec4(0.95f, 0.96f, 0.98f, 1)));
}

ChoiceInBox choice_in_box(const std::string& value, float width) {
    const float room = width - 2 * ImGui::GetStyle().FramePadding.x;
    if (ImGui::CalcTextSize(value.c_str()).x <= room - ImGui::GetFrameHeight()) return {value, true};
    return {shortened(value, room), false};
}

// The complete text is in the tooltip if it does not fit.
void choice_control(const SettingControl& control, const std::string& value) {
    const ChoiceInBox seen = choice_in_box(value, control.width);
    const auto arrow = seen.has_arrow ? ImGuiComboFlags_None : ImGuiComboFlags_NoArrowButton;
    ImGui::SetNextItemWidth(control.width);
    const bool is_open = ImGui::BeginCombo("##control", seen.text.c_str(), ImGuiComboFlags_HeightLarge | arrow);
    if (!is_open && seen.text != value) tooltip(control.context, value);
    if (!is_open) return;
    for (const std::string_view choice : control.field.choices) {
        const std::string name(choice);
        if (ImGui::Selectable(name.c_str(), name == value)) control.change(name, Edit::done);
        note_place(control.context, control.key + "=" + name);
    }
    ImGui::EndCombo();
}

// Settings that name files also have a button that opens the file dialog.
void text_control(const SettingControl& control, const std::string& value) {
    const bool picks = control.hint.path != PathKind::none;
    const float gap = control.context.style.px(3), button = picks ? ImGui::GetFrameHeight() + gap : 0;
    if (const auto typed = text_box(control.context, "##control", value, control.width - button, picks ? "none" : "")) {
        control.change(*typed, Edit::done);
    }
    if (!picks) return;
    ImGui::SameLine(0, gap);
    if (!ImGui::Button("...", {ImGui::GetFrameHeight(), 0})) return;
    control.context.state.file_wish = FileWish{
        .kind = control.hint.path == PathKind::folder ? FileWish::Kind::folder : FileWish::Kind::open,
        .title = control.key,
        .suggested = value,
        .endings = {control.hint.endings.begin(), control.hint.endings.end()},
        .chosen = [change = control.change](const std::filesystem::path& path) { change(path.string(), Edit::done); }};
}

void number_setting_control(const SettingControl& control, const Value& value) {
    if (!control.hint.only.empty()) return only_control(control, std::get<std::int64_t>(value));
    const auto edit = number_control(control.context, "##control", shown_number(control, value), control.width);
    if (!edit) return;
    if (edit->typed) return take_typed(control, *edit->typed);
    control.change(edit->dragged_to ? value_like(value, *edit->dragged_to) : value, edit->edit);
}

void list_control(const SettingControl& control, const std::vector<double>& value) {
    if (is_colour(control.field)) return colour_control(control, value);
    if (is_triple(control.field) && value.size() == 3) return triple_control(control, value);
    const std::string text = value.empty() ? "" : spelled(value);
    const auto typed = text_box(control.context, "##control", text, control.width, "none");
    if (!typed) return;
    if (typed->empty()) {
        control.change(std::vector<double>{}, Edit::done);
    } else {
        take_typed(control, *typed);
    }
}

}  // namespace echolux
