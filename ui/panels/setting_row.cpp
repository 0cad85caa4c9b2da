// Row of a panel with the name of a setting, its control, its unit, and a button to reset it.
#include <fmt/format.h>

#include <algorithm>

#include "compute/plan/describe.h"
#include "ui/panels/setting_control.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

// Units of values and speeds depend on the open volume.
std::string unit_of(const BoundField& field, const VolumeFacts& volume) {
    if (field.unit == "speed") return volume.flow ? volume.flow->unit : "";
    return field.unit == "value" ? volume.value_unit : unit_text(field.unit == "dB or counts" ? "dB" : field.unit);
}

std::string range_text(const BoundField& field, const VolumeFacts& volume) {
    const bool is_number = field.choices.empty() && field.low < field.high;
    if (!is_number) return "";
    return fmt::format("{:g} to {:g} {}", field.low, field.high, unit_of(field, volume));
}

// Tooltip with key, help, range and default.
void explain(const PanelContext& context, const BoundField& field, const ControlHint& hint) {
    const Style& style = context.style;
    tooltip(context, [&] {
        ImGui::PushFont(style.numbers);
        ImGui::TextColored(style.accent, "%s", field.key().c_str());
        ImGui::PopFont();
        ImGui::TextUnformatted(std::string(field.help).c_str());
        if (const std::string range = range_text(field, context.state.volume); !range.empty()) {
            ImGui::TextColored(style.muted, "%s", range.c_str());
        }
        const bool is_automatic = hint.special_value && field.default_value == Value(*hint.special_value);
        const std::string usual = is_automatic ? std::string(hint.special_text) : spelled(field.default_value);
        ImGui::TextColored(style.muted, "default %s", usual.c_str());
        if (!range_text(field, context.state.volume).empty()) {
            ImGui::TextColored(style.muted, "drag, finely with Shift; double click to type");
        }
    });
}

// Button with a circular arrow that resets the setting.
void reset_mark(const PanelContext& context, const std::string& key, const ChangeField& change,
                const Value& default_value) {
    const Style& style = context.style;
    const float size = ImGui::GetFrameHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("##reset", {style.px(18), size})) change(default_value, Edit::done);
    note_place(context, key + ".reset");
    const ImU32 colour = ImGui::GetColorU32(ImGui::IsItemHovered() ? style.accent : style.muted);
    const float radius = style.px(4.5f);
    const ImVec2 middle{at.x + style.px(9), at.y + 0.5f * size};
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->PathArcTo(middle, radius, -2.2f, 2.6f, 16);
    list->PathStroke(colour, 0, style.px(1.4f));
    const ImVec2 tip{middle.x - 0.59f * radius, middle.y - 0.81f * radius};
    const float barb = style.px(3.4f);
    list->AddTriangleFilled({tip.x - barb, tip.y - 0.2f * barb}, {tip.x + 0.6f * barb, tip.y - barb},
                            {tip.x + 0.5f * barb, tip.y + 0.9f * barb}, colour);
    tooltip(context, "back to " + spelled(default_value));
}

// Draws the unit after the label if it fits before the control.
void unit_beside_label(const PanelContext& context, const std::string& unit, float control) {
    const float gap = context.style.px(5), width = ImGui::CalcTextSize(unit.c_str()).x;
    if (unit.empty()) return;
    ImGui::SameLine(0, gap);
    if (ImGui::GetCursorPosX() + width + gap > control) return;
    ImGui::TextColored(context.style.muted, "%s", unit.c_str());
}

void draw_control(const SettingControl& control, const Value& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return switch_control(control, *flag);
    if (const auto* list = std::get_if<std::vector<double>>(&value)) return list_control(control, *list);
    if (const auto* text = std::get_if<std::string>(&value)) {
        return control.field.choices.empty() ? text_control(control, *text) : choice_control(control, *text);
    }
    number_setting_control(control, value);
}

// These controls also use the column of the unit.
bool fills_the_unit_column(const BoundField& field, const Value& value) {
    const bool is_text = std::holds_alternative<std::string>(value);
    return is_text || (std::holds_alternative<std::vector<double>>(value) && !is_colour(field));
}

}  // namespace

RowPlaces row_places(const Style& style) {
    const float left = ImGui::GetCursorPosX();
    const float width = ImGui::GetContentRegionAvail().x;
    const float label = std::max(0.39f * width, style.px(96));
    return {left + label, left + width - style.px(60), left + width - style.px(18), left + width};
}

void row_label(const PanelContext& context, const std::string& label) {
    const float width = row_places(context.style).control - ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushClipRect(at, {at.x + width - context.style.px(4), at.y + 2 * ImGui::GetFrameHeight()}, true);
    ImGui::TextUnformatted(label.c_str());
    ImGui::PopClipRect();
}

void setting_row(const PanelContext& context, const BoundField& field, const ChangeField& change,
                 const std::string& label) {
    refresh_facts(context);
    const Style& style = context.style;
    const Value value = field.get();
    const std::string key = field.key();
    const std::string unit = unit_of(field, context.state.volume);
    const bool fills = fills_the_unit_column(field, value);
    const RowPlaces places = row_places(style);
    const ControlHint hint = hint_for(key, field, context.state.volume);

    // The key is the ImGui scope, so that equal labels do not collide.
    ImGui::PushID(key.c_str());
    row_label(context, label.empty() ? label_of(field) : label);
    explain(context, field, hint);
    if (fills) unit_beside_label(context, unit, places.control);
    ImGui::SameLine(places.control);
    const float right = fills ? places.reset : places.unit;
    ImGui::BeginGroup();
    draw_control({context, field, change, key, hint, right - places.control - style.px(4)}, value);
    ImGui::EndGroup();
    note_place(context, key);
    explain(context, field, hint);
    if (!fills && !unit.empty()) {
        ImGui::SameLine(places.unit);
        ImGui::TextColored(style.muted, "%s", unit.c_str());
    }
    if (value != field.default_value) {
        ImGui::SameLine(places.reset);
        reset_mark(context, key, change, field.default_value);
    }
    ImGui::PopID();
}

void setting_row(const PanelContext& context, std::string_view key, const std::string& label) {
    const BoundField* field = context.work.field(key);
    if (field == nullptr) return;
    Workspace& work = context.work;
    setting_row(
        context, *field,
        [&work, name = std::string(key)](const Value& value, Edit edit) { return work.change(name, value, edit); },
        label);
}

void setting_row(const PanelContext& context, std::string_view key) {
    setting_row(context, key, "");
}

void setting_rows(const PanelContext& context, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        if (context.work.has_effect(key)) setting_row(context, key);
    }
}

}  // namespace echolux
