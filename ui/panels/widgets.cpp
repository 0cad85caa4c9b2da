#include "ui/panels/widgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include "compute/plural.h"

#include "app/settings/settings_book.h"
#include "app/viewer/live_source.h"
#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/workspace/losses.h"

namespace echolux {
namespace {

constexpr double rest_before_help_s = 0.45;

// True if the pointer has rested on the last item for long enough.
bool asks_for_help(const PanelContext& context) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsMouseDown(0)) return false;
    // Tooltips are drawn above everything, so suppress them below an open dialog.
    if (context.state.has_sheet && !context.state.is_in_sheet) return false;
    const ImVec2 at = ImGui::GetItemRectMin();
    PointerRest& rest = context.state.rest;
    const double now_s = ImGui::GetTime();
    if (rest.x != at.x || rest.y != at.y) rest = {at.x, at.y, now_s};
    return now_s - rest.since_s >= rest_before_help_s;
}

}  // namespace

// A click in a pane would change the picture. Resetting has its own keys: Ctrl+Z.
static bool may_have_focus(std::string_view name) {
    return !name.starts_with("pane.") && !name.ends_with(".reset");
}

// Begins to type into a text box, and selects a number so that typing replaces it.
void enter_control(const PanelContext& context, unsigned int box, unsigned int number) {
    PanelState& state = context.state;
    if (box != 0) state.active = {.control = box, .is_typed = true, .is_new = true, .text = state.focus.text};
    if (number == 0) return;
    state.picked = number;
    state.is_picked_there = true;
}

// Adds the last item to the order of Tab, and frames it if it has the focus.
static void note_focus(const PanelContext& context, std::string_view name) {
    KeyboardFocus& focus = context.state.focus;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const auto [x, y] = focus.corner;
    const bool is_inside = x >= low.x && x < high.x && y >= low.y && y < high.y;
    const unsigned int last_box = std::exchange(focus.box, 0), last_number = std::exchange(focus.number, 0);
    const unsigned int box = is_inside ? last_box : 0, number = is_inside ? last_number : 0;
    if ((context.state.has_sheet && !context.state.is_in_sheet) || !may_have_focus(name)) return;
    if (focus.names.emplace(name).second) focus.order.emplace_back(name);
    const ActiveControl& active = context.state.active;
    if (box != 0 && active.is_typed && active.control == box) focus.typed = name;
    if (focus.control != name) return;
    if (std::exchange(focus.has_moved, false)) enter_control(context, box, number);
    const ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 from = list.GetClipRectMin(), to = list.GetClipRectMax();
    focus.place = {std::max(low.x, from.x), std::max(low.y, from.y), std::min(high.x, to.x), std::min(high.y, to.y)};
    focus.is_visible = focus.place[0] < focus.place[2] && focus.place[1] < focus.place[3];
    if (!focus.is_visible) return ImGui::SetScrollHereY();
    context.state.controls.places["focus"] = {low.x, low.y, high.x, high.y};
    const float rim = context.style.px(1);
    ImGui::GetWindowDrawList()->AddRect({low.x - rim, low.y - rim}, {high.x + rim, high.y + rim},
                                        ImGui::GetColorU32(context.style.accent), context.style.px(4), 0,
                                        context.style.px(1.5f));
}

// Hidden items have no valid position.
void note_place(const PanelContext& context, std::string_view name) {
    note_focus(context, name);
    if (!ImGui::IsItemVisible()) return;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    context.state.controls.places[std::string(name)] = {low.x, low.y, high.x, high.y};
}

void tooltip(const PanelContext& context, const std::function<void()>& content) {
    if (!asks_for_help(context)) return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(context.style.px(340));
    content();
    ImGui::PopTextWrapPos();
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    context.state.controls.places["tooltip"] = {at.x, at.y, at.x + size.x, at.y + size.y};
    ImGui::EndTooltip();
}

void tooltip(const PanelContext& context, const std::string& text) {
    if (text.empty()) return;
    tooltip(context, [&] { ImGui::TextUnformatted(text.c_str()); });
}

bool attempt(const PanelContext& context, std::string_view place, const std::function<void()>& work) {
    try {
        work();
        return true;
    } catch (const Error& error) {
        context.work.notices().report_problem(place, error);
        return false;
    }
}

std::string help_of(const Action& action) {
    std::string keys;
    for (const std::string& key : action.keys) keys += (keys.empty() ? "" : ", ") + key;
    return keys.empty() ? action.title : action.title + "  (" + keys + ")";
}

bool run_action(const PanelContext& context, std::string_view id) {
    const Action* action = context.work.actions().find(id);
    bool has_run = false;
    if (action != nullptr) attempt(context, section_of(id), [&] { has_run = context.work.actions().run(id); });
    return has_run;
}

LitButtons::LitButtons(const Style& style, bool is_on) : colours_(is_on ? 3 : 0) {
    if (!is_on) return;
    ImGui::PushStyleColor(ImGuiCol_Button, style.accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, style.accent);
    ImGui::PushStyleColor(ImGuiCol_Text, style.on_accent);
}

LitButtons::~LitButtons() {
    ImGui::PopStyleColor(colours_);
}

bool action_button(const PanelContext& context, std::string_view id, const char* label, float width) {
    const Action* action = context.work.actions().find(id);
    if (action == nullptr) return false;
    const LitButtons lit(context.style, action->is_on && action->is_on());
    const char* text = label != nullptr ? label : action->title.c_str();
    return plain_button(context, id, text, help_of(*action).c_str(), action->is_possible(), width) &&
           run_action(context, id);
}

bool plain_button(const PanelContext& context, std::string_view name, const char* label, const char* help,
                  bool is_possible, float width) {
    ImGui::BeginDisabled(!is_possible);
    ImGui::PushID(name.data(), name.data() + name.size());
    const bool is_pressed = ImGui::Button(label, {width, 0});
    ImGui::PopID();
    ImGui::EndDisabled();
    note_place(context, name);
    tooltip(context, help);
    return is_pressed;
}

bool primary_button(const PanelContext& context, std::string_view name, const char* label, float width) {
    const ImVec4& accent = context.style.accent;
    const auto lighter = [&accent](float by) {
        return ImVec4(accent.x + by * (1 - accent.x), accent.y + by * (1 - accent.y), accent.z + by * (1 - accent.z),
                      1);
    };
    ImGui::PushStyleColor(ImGuiCol_Button, accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, lighter(0.2f));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, lighter(0.35f));
    ImGui::PushStyleColor(ImGuiCol_Text, context.style.on_accent);
    const bool is_pressed = plain_button(context, name, label, "", true, width);
    ImGui::PopStyleColor(4);
    return is_pressed;
}

// The open state is kept in ImGui's storage.
bool section(const PanelContext& context, const char* title, bool open_at_first) {
    const Style& style = context.style;
    const ImGuiID id = ImGui::GetID(title);
    bool& is_open = *ImGui::GetStateStorage()->GetBoolRef(id, open_at_first);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight() + style.px(6)};
    if (ImGui::InvisibleButton(title, size)) is_open = !is_open;
    note_place(context, std::string("section.") + title);
    const ImVec4& colour = ImGui::IsItemHovered() ? ImGui::GetStyleColorVec4(ImGuiCol_Text) : style.muted;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float middle = at.y + 0.5f * size.y, arm = style.px(3.5f), x = at.x + arm;
    const ImU32 shade = ImGui::GetColorU32(colour);
    if (is_open) {
        list->AddTriangleFilled({x - arm, middle - 0.5f * arm}, {x + arm, middle - 0.5f * arm},
                                {x, middle + 0.8f * arm}, shade);
    } else {
        list->AddTriangleFilled({x - 0.5f * arm, middle - arm}, {x + 0.8f * arm, middle},
                                {x - 0.5f * arm, middle + arm}, shade);
    }
    const float left = at.x + style.px(14), height = ImGui::GetTextLineHeight();
    list->AddText({left, middle - 0.5f * height}, shade, title);
    const float line = left + ImGui::CalcTextSize(title).x + style.px(8);
    list->AddLine({line, middle}, {at.x + size.x, middle}, ImGui::GetColorU32(ImGuiCol_Border), style.px(1));
    return is_open;
}

std::string shortened(std::string text, float max_width) {
    if (ImGui::CalcTextSize(text.c_str()).x <= max_width) return text;
    const auto ends_within = [&text] {
        return !text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80;
    };
    while (!text.empty() && ImGui::CalcTextSize((text + "…").c_str()).x > max_width) {
        while (ends_within()) text.pop_back();  // removes complete UTF-8 characters
        if (!text.empty()) text.pop_back();
    }
    return text + "…";
}

void figure(const PanelContext& context, const char* name, const std::string& value, const char* unit) {
    const Style& style = context.style;
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    ImGui::TextColored(style.muted, "%s", name);
    const float unit_width = *unit == '\0' ? 0 : ImGui::CalcTextSize(unit).x + style.px(5);
    const float name_width = ImGui::CalcTextSize(name).x + style.px(8);
    ImGui::PushFont(style.numbers);
    // A long value begins before the column, so that it is not cut.
    const float usual = std::max(0.36f * width, style.px(100));
    const float column =
        std::max(std::min(usual, width - unit_width - ImGui::CalcTextSize(value.c_str()).x - style.px(1)), name_width);
    ImGui::SameLine(left + column);
    const std::string seen = shortened(value, std::max(width - column - unit_width, style.px(20)));
    ImGui::TextUnformatted(seen.c_str());
    ImGui::PopFont();
    if (seen != value) {
        tooltip(context, value);
        note_place(context, std::string("cut.") + name);
    }
    if (*unit == '\0') return;
    ImGui::SameLine(0, style.px(5));
    ImGui::TextColored(style.muted, "%s", unit);
}

void state_text(const PanelContext& context, const std::string& text, int lines, const ImVec4& colour) {
    const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const char *begin = text.c_str(), *end = begin + text.size();
    bool is_whole = true;
    for (int i = 0; i < lines && begin < end; ++i) {
        const bool is_last = i + 1 == lines;
        const char* stop = is_last ? end : ImGui::GetFont()->CalcWordWrapPositionA(1, begin, end, width);
        const std::string part(begin, stop), seen = shortened(part, width);
        is_whole = is_whole && seen == part;
        list->AddText({at.x, at.y + static_cast<float>(i) * line}, ImGui::GetColorU32(colour), seen.c_str());
        begin = stop;
        while (begin < end && *begin == ' ') ++begin;
    }
    ImGui::Dummy({width, static_cast<float>(lines) * line});
    if (!is_whole) tooltip(context, text);
}

void state_text(const PanelContext& context, const std::string& text, int lines) {
    state_text(context, text, lines, context.style.muted);
}

SourceBadge badge_of(const Style& style, const LiveController& live) {
    switch (live.state()) {
        case SourceState::stopped: return {"Stopped", style.muted, "the source is stopped"};
        case SourceState::ended: return {"Ended", style.muted, "the source has no more data"};
        case SourceState::live: return {"LIVE", style.good, "data arrive from the source"};
        case SourceState::replay: return {"Replay", style.accent, "a recording is replayed; no instrument is read"};
        case SourceState::late: return {"No data", style.late, "no data for 1 s: check the trigger and the cable"};
        case SourceState::failed: break;
    }
    return {"Source lost", style.alarm, "the source failed and is restarting; the log has the reason"};
}

void muted_text(const PanelContext& context, const std::string& text) {
    ImGui::PushStyleColor(ImGuiCol_Text, context.style.muted);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

void text_if_empty(const PanelContext& context, const std::string& name, const std::string& text, ImVec2 low,
                   ImVec2 high) {
    if (text.empty()) return;
    const float wrap = high.x - low.x - context.style.px(16);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap);
    const ImVec2 at{std::round(0.5f * (low.x + high.x - size.x)), std::round(0.5f * (low.y + high.y - size.y))};
    ImGui::GetWindowDrawList()->AddText(context.style.text, context.style.text->FontSize, at,
                                        ImGui::GetColorU32(context.style.muted), text.c_str(), nullptr, wrap);
    context.state.controls.places[name + ".empty"] = {at.x, at.y, at.x + size.x, at.y + size.y};
}

void same_line_where_fits(const PanelContext& context, float width, float gap) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    if (ImGui::GetItemRectMax().x + context.style.px(gap) + width <= right) ImGui::SameLine(0, context.style.px(gap));
}

// ---- Row of a panel with the name of a setting, its control, its unit, and a button to reset it.

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
            ImGui::TextColored(style.muted, "drag (Shift: fine); double-click to type");
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
    tooltip(context, "reset to " + spelled(default_value));
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

RowColumns row_places(const Style& style) {
    const float left = ImGui::GetCursorPosX();
    const float width = ImGui::GetContentRegionAvail().x;
    const float label = std::max(0.39f * width, style.px(96));
    return {left + label, left + width - style.px(60), left + width - style.px(18), left + width};
}

void row_label(const PanelContext& context, const std::string& label) {
    const float width = row_places(context.style).control - ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = width - context.style.px(4), needed = ImGui::CalcTextSize(label.c_str()).x;
    if (needed <= room) return ImGui::TextUnformatted(label.c_str());
    // A long name in a narrow panel is smaller.
    constexpr float min_size = 0.75f;
    const float size = std::max(min_size, room / needed) * ImGui::GetFontSize(), height = ImGui::GetTextLineHeight();
    const std::string seen = shortened(label, std::max(room / min_size, room));
    if (seen != label) note_place(context, "cut." + label);
    const float drop = 0.5f * (ImGui::GetFrameHeight() - size);
    ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), size, {at.x, std::round(at.y + drop)},
                                        ImGui::GetColorU32(ImGuiCol_Text), seen.c_str());
    ImGui::Dummy({room, height});
}

void setting_row(const PanelContext& context, const BoundField& field, const ChangeField& change,
                 const std::string& label, const RefuseField& refuse) {
    refresh_facts(context);
    const Style& style = context.style;
    const Value value = field.get();
    const std::string key = field.key();
    const std::string unit = unit_of(field, context.state.volume);
    const bool fills = fills_the_unit_column(field, value);
    const RowColumns places = row_places(style);
    const ControlHint hint = hint_for(key, field, context.state.volume);
    const ChangeField change_to_odd = [&change](const Value& number, Edit edit) {
        return change(Value(std::get<std::int64_t>(number) | 1), edit);
    };
    const ChangeField& apply = hint.only_odd ? change_to_odd : change;

    // The key is the ImGui scope, so that equal labels do not collide.
    ImGui::PushID(key.c_str());
    row_label(context, label.empty() ? label_of(field) : label);
    explain(context, field, hint);
    if (fills) unit_beside_label(context, unit, places.control);
    ImGui::SameLine(places.control);
    // A unit that is longer than its column takes space from the control. Units of volumes come later and do not.
    const float unit_width = ImGui::CalcTextSize(unit.c_str()).x, gap = style.px(4);
    const bool is_of_volume = unit != unit_text(field.unit);
    const float unit_left = is_of_volume ? places.unit : std::min(places.unit, places.reset - unit_width - gap);
    const float right = fills ? places.reset : unit_left;
    ImGui::BeginGroup();
    draw_control({context, field, apply, key, hint, right - places.control - gap, refuse}, value);
    ImGui::EndGroup();
    note_place(context, key);
    explain(context, field, hint);
    if (!fills && !unit.empty()) {
        ImGui::SameLine(unit_left);
        ImGui::TextColored(style.muted, "%s", shortened(unit, places.reset - unit_left).c_str());
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        context.state.controls.places[key + ".unit"] = {low.x, low.y, high.x, high.y};
    }
    if (value != field.default_value) {
        ImGui::SameLine(places.reset);
        reset_mark(context, key, change, field.default_value);
    }
    ImGui::PopID();
}

void setting_row(const PanelContext& context, std::string_view key, const std::string& label) {
    const BoundField* field = context.work.settings().field(key);
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

void draw_group(const PanelContext& context, std::initializer_list<std::string_view> sections, std::string_view group) {
    for (const std::string_view section : sections) {
        for (const BoundField* field : context.work.settings().settings().effective(section, group))
            setting_row(context, field->key());
    }
}

// ---- Setting control

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
std::string substitute_text(const ControlHint& hint, const std::optional<double>& in_effect) {
    return std::string(hint.special_text) + (in_effect ? "  " + short_number(*in_effect) : "");
}

std::string number_text_of(const NumberScale& scale, const Value& value) {
    return is_whole(value) ? std::to_string(std::get<std::int64_t>(value)) : text_on(scale, std::get<double>(value));
}

// An automatic value is displayed muted, and a drag starts at the value in effect.
NumberDisplay shown_number(const SettingControl& control, const Value& value) {
    const double number = number_of(value);
    const ControlHint& hint = control.hint;
    const bool is_substitute = hint.special_value == number;
    const ValueRange wanted = hint.soft_range.value_or(ValueRange{control.field.low, control.field.high});
    const auto in_effect = value_in_effect(control.key, control.context.state.volume);
    const double at = is_substitute ? in_effect.value_or(wanted.low) : number;
    const NumberScale scale = scale_for(fitting(control.field, wanted, at), is_whole(value));
    return {.scale = scale,
            .value = at,
            .text = is_substitute ? substitute_text(hint, in_effect) : number_text_of(scale, value),
            .to_type = is_substitute ? std::string(hint.special_text) : spelled(value),
            .as_set = number,
            .is_muted = is_substitute};
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
        control.change(std::vector<double>(colour.begin(), colour.end()), Edit::in_progress);
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
    control.context.state.focus.number = ImGui::GetID(axes[0]);  // Tab leads to the first one
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
    try {
        control.change(parsed(control.field, control.field.default_value, typed, control.key), Edit::done);
    } catch (const Error& error) {
        if (control.refuse) return control.refuse(error);
        control.context.work.notices().report_problem(control.field.section, error);
    }
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
    const std::string whole = choice_text(value);
    const ChoiceInBox seen = choice_in_box(whole, control.width);
    const auto arrow = seen.has_arrow ? ImGuiComboFlags_None : ImGuiComboFlags_NoArrowButton;
    ImGui::SetNextItemWidth(control.width);
    const bool is_open = ImGui::BeginCombo("##control", seen.text.c_str(), ImGuiComboFlags_HeightLarge | arrow);
    if (!is_open && seen.text != whole) tooltip(control.context, whole);
    if (!is_open) return;
    for (const std::string_view choice : control.field.choices) {
        const std::string name(choice);
        if (ImGui::Selectable(choice_text(name).c_str(), name == value)) control.change(name, Edit::done);
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
    control.context.state.file_request = FileRequest{
        .kind = control.hint.path == PathKind::folder ? FileRequest::Kind::folder : FileRequest::Kind::open,
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

// ---- Lists of planes as rows. A plane is stored as four numbers: its normal and its offset from the centre in um.

namespace {

using Numbers = std::vector<double>;
constexpr std::size_t numbers_each = 4;
constexpr std::array axes{"depth", "A-scans", "B-scans", "oblique"};

// Returns the axis along which a normal points, in either direction, or 3 if it is oblique.
std::size_t axis_of(const double* plane) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (plane[axis] != 0 && plane[(axis + 1) % 3] == 0 && plane[(axis + 2) % 3] == 0) return axis;
    }
    return 3;
}

// The rows of one setting; `numbers` is a copy of its value.
struct PlaneList {
    const PanelContext& context;
    const std::string& key;
    Numbers numbers;

    void axis_combo(std::size_t first, float width) {
        const std::size_t axis = axis_of(&numbers[first]);
        ImGui::SetNextItemWidth(width);
        if (!ImGui::BeginCombo("##axis", axes[axis])) return;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (!ImGui::Selectable(axes[i], i == axis)) continue;
            for (std::size_t j = 0; j < 3; ++j) numbers[first + j] = i == 3 || i == j ? 1 : 0;
            context.work.change(key, numbers);
        }
        ImGui::EndCombo();
    }

    void number(const char* name, std::size_t at, const ValueRange& reach, float width) {
        const auto change = plain_number(context, name, numbers[at], reach, width);
        if (!change) return;
        numbers[at] = change->value;
        context.work.change(key, numbers, change->edit);
    }

    // Range of offsets that stay within the volume.
    ValueRange offsets(std::size_t first) const {
        const Numbers& extents = context.state.volume.extents_um;
        if (extents.empty()) return {-500, 500};
        double half = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (numbers[first + axis] != 0) half = std::max(half, 0.5 * extents[axis]);
        }
        return {-half, half};
    }

    // Draws one row. Returns false if its plane was removed.
    bool row(std::size_t first) {
        const Style& style = context.style;
        const RowColumns places = row_places(style);
        const float gap = style.px(4), left = ImGui::GetCursorPosX();
        axis_combo(first, places.control - left - gap);
        ImGui::SameLine(places.control);
        number("offset", first + 3, offsets(first), places.unit - places.control - gap);
        note_place(context, fmt::format("{}[{}]", key, first / numbers_each));
        ImGui::SameLine(places.unit);
        ImGui::TextColored(style.muted, "µm");
        ImGui::SameLine(places.reset - style.px(8));
        if (icon_button(context, fmt::format("{}.remove[{}]", key, first / numbers_each), Icon::remove, "remove")) {
            const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
            numbers.erase(begin, begin + numbers_each);
            context.work.change(key, numbers);
            return false;
        }
        if (axis_of(&numbers[first]) != 3) return true;
        ImGui::SetCursorPosX(places.control);
        const float width = (places.unit - places.control - 3 * gap) / 3;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (axis > 0) ImGui::SameLine(0, gap);
            number(axes[axis], first + axis, {-1, 1}, width);
            tooltip(context, std::string("normal along ") + axes[axis]);
        }
        return true;
    }
};

}  // namespace

void plane_list(const PanelContext& context, const std::string& key, std::size_t max_planes, const char* add_label) {
    const BoundField* field = context.work.settings().field(key);
    if (field == nullptr) return;
    refresh_facts(context);
    PlaneList list{context, key, std::get<Numbers>(field->get())};
    ImGui::PushID(key.c_str());
    for (std::size_t first = 0; first + numbers_each <= list.numbers.size(); first += numbers_each) {
        ImGui::PushID(static_cast<int>(first));
        const bool is_there = list.row(first);
        ImGui::PopID();
        if (!is_there) break;
    }
    const bool has_room = list.numbers.size() < max_planes * numbers_each;
    const std::string help = key + ": " + std::string(field->help);
    if (plain_button(context, key + ".add", add_label, help.c_str(), has_room)) {
        Numbers longer = list.numbers;
        // New planes alternate between the axes.
        const std::size_t axis = (longer.size() / numbers_each + 2) % 3;
        for (std::size_t i = 0; i < 3; ++i) longer.push_back(i == axis ? 1 : 0);
        longer.push_back(0);
        context.work.change(key, longer);
    }
    ImGui::PopID();
}

// ---- Time points of a series as a bar, see widgets.h.

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

// Draws a strip along the top of each incomplete step.
void draw_incomplete(const PanelContext& context, const Bar& bar, const std::vector<std::int64_t>& incomplete) {
    for (const std::int64_t step : incomplete) {
        const float from = bar.at(static_cast<double>(step));
        const float to = std::max(bar.at(static_cast<double>(step + 1)), from + context.style.px(2));
        ImGui::GetWindowDrawList()->AddRectFilled({from, bar.low.y}, {to, bar.low.y + context.style.px(3)},
                                                  ImGui::GetColorU32(context.style.warning));
    }
}

void draw_step(const PanelContext& context, const Bar& bar, std::int64_t step) {
    const Style& style = context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float x = bar.middle_of(step);
    const ImU32 colour = ImGui::GetColorU32(style.ink);
    list->AddLine({x, bar.low.y - style.px(2)}, {x, bar.high.y + style.px(2)}, colour, style.px(2));
    list->AddCircleFilled({x, bar.low.y - style.px(1)}, style.px(4), colour);
}

void draw_bar(const PanelContext& context, const Bar& bar, const Timeline& timeline, const std::vector<Interval>& ready,
              const std::vector<std::int64_t>& incomplete) {
    const Style& style = context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    draw_ground(context, bar, {timeline.first(), timeline.last() + 1});
    draw_ready(context, bar, ready);
    draw_incomplete(context, bar, incomplete);
    for (const float x :
         {bar.at(static_cast<double>(timeline.first())), bar.at(static_cast<double>(timeline.last() + 1))}) {
        list->AddRectFilled({x - style.px(1.5f), bar.low.y - style.px(3)},
                            {x + style.px(1.5f), bar.high.y + style.px(3)}, ImGui::GetColorU32(style.accent),
                            style.px(1.5f));
    }
    draw_step(context, bar, timeline.step());
}

// The dragged part: current time point, or an end of the playback range.
enum class DragPart { step, first, last };

DragPart held_at(const Bar& bar, const Timeline& timeline, float x, float reach) {
    const float to_first = std::abs(x - bar.at(static_cast<double>(timeline.first())));
    const float to_last = std::abs(x - bar.at(static_cast<double>(timeline.last() + 1)));
    if (to_first > reach && to_last > reach) return DragPart::step;
    return to_first <= to_last ? DragPart::first : DragPart::last;
}

}  // namespace

void time_bar(const PanelContext& context, Timeline& timeline, const std::vector<Interval>& ready,
              const std::vector<std::int64_t>& incomplete) {
    const Style& style = context.style;
    const Bar bar = placed_bar(context, timeline.steps());
    const float x = ImGui::GetIO().MousePos.x;
    ActiveControl& active = context.state.active;
    if (ImGui::IsItemActivated()) {
        active = {.control = ImGui::GetID("##bar"), .text = {}};
        active.place = static_cast<double>(held_at(bar, timeline, x, style.px(5)));
    }
    if (ImGui::IsItemActive() && active.control == ImGui::GetID("##bar")) {
        switch (static_cast<DragPart>(active.place)) {
            case DragPart::step: timeline.go_to(bar.step_at(x)); break;
            case DragPart::first: timeline.set_ends(std::min(bar.step_at(x), timeline.last()), timeline.last()); break;
            case DragPart::last: timeline.set_ends(timeline.first(), std::max(bar.step_at(x), timeline.first())); break;
        }
    }
    if (ImGui::IsItemDeactivated()) active = {};
    draw_bar(context, bar, timeline, ready, incomplete);
    const std::string lost =
        incomplete.empty() ? "" : "; orange: " + plural(incomplete.size(), "volumes") + " with missing B-scans";
    tooltip(context, "drag to move through time; the blue marks limit playback; green: loaded" + lost);
}

void loss_bar(const PanelContext& context, double seconds) {
    const Style& style = context.style;
    const Losses& losses = context.work.losses();
    const float width = ImGui::GetContentRegionAvail().x - style.px(8), height = style.px(8);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + style.px(4));
    ImGui::InvisibleButton("##losses", {width, height});
    note_place(context, "losses.bar");
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(low, high, ImGui::GetColorU32(ImGuiCol_FrameBg), style.px(3));
    const auto at = [&](const Loss& loss) {
        return low.x + width * static_cast<float>(std::clamp(loss.at_s / std::max(seconds, 1e-9), 0.0, 1.0));
    };
    for (const Loss& loss : losses.all()) {
        const float x = at(loss);
        list->AddRectFilled({x - style.px(1.5f), low.y}, {x + style.px(1.5f), high.y},
                            ImGui::GetColorU32(style.recording));
    }
    if (const Loss* selected = losses.selected()) {
        const float x = at(*selected);
        list->AddRect({x - style.px(4), low.y - style.px(3)}, {x + style.px(4), high.y + style.px(3)},
                      ImGui::GetColorU32(style.ink), style.px(2), 0, style.px(1.5f));
    }
    tooltip(context, losses.all().empty()
                         ? "time since the start; losses will be marked in red"
                         : "time since the start; red: " + plural(losses.all().size(), "losses") + " of blocks");
}

// The bar has room for the maximum number of volumes and fills from the left.
void recent_bar(const PanelContext& context, RecentTimeline* kept) {
    const Bar bar = placed_bar(context, kept == nullptr ? 1 : kept->max_volumes());
    const std::int64_t count = kept == nullptr ? 0 : std::ssize(kept->volumes());
    if (ImGui::IsItemActive() && count > 0) kept->go_to(std::min(bar.step_at(ImGui::GetIO().MousePos.x), count - 1));
    draw_ground(context, bar, {0, count});
    draw_ready(context, bar, {{0, count}});
    if (count > 0) draw_step(context, bar, kept->step());
    tooltip(context, "drag to pause at an earlier volume; Space returns to live");
}

}  // namespace echolux
