#include "ui/window/overlay.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/open/description.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"
#include "ui/workspace/actions.h"
#include "ui/workspace/raw_proposal.h"

namespace echolux {

// A fixed height positions the sheet by its top edge, an automatic height by its centre.
void Overlay::begin_sheet(const PanelContext& context, ImVec2 size, const char* name, const Sheet& sheet) {
    const Style& style = context.style;
    const float margin = style.px(16);
    const float width = std::min(style.px(sheet.width), size.x - 2 * margin);
    const float height = std::min(style.px(sheet.height), size.y - 2 * margin);
    const float left = std::round(0.5f * (size.x - width));
    if (sheet.height > 0) {
        const float top = sheet.from_top < 0 ? 0.5f * (size.y - height) : sheet.from_top * size.y;
        ImGui::SetNextWindowPos({left, std::round(std::min(top, size.y - margin - height))});
        ImGui::SetNextWindowSize({width, height});
    } else {
        ImGui::SetNextWindowPos({left, std::round(0.5f * size.y)}, ImGuiCond_Always, {0, 0.5f});
        ImGui::SetNextWindowSizeConstraints({width, 0}, {width, size.y - 2 * margin});
    }
    if (is_new_) ImGui::SetNextWindowFocus();
    closes_outside_ = sheet.closes_outside;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {style.px(20), style.px(18)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, style.px(10));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, style.raised);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, style.ground);
    ImGui::Begin(name, nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoCollapse |
                     (sheet.height > 0 ? 0 : ImGuiWindowFlags_AlwaysAutoResize));
    ImGui::PopStyleVar(3);
    sheet_state_ = &context.state;
    sheet_state_->is_in_sheet = true;
}

// A click outside closes the sheet only if it did not also open it.
void Overlay::end_sheet() {
    const bool is_beside =
        !is_new_ && ImGui::IsMouseClicked(0) &&
        !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByPopup |
                                ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    ImGui::End();
    ImGui::PopStyleColor(2);
    sheet_state_->is_in_sheet = false;
    is_new_ = false;
    if (is_beside && closes_outside_) close();
}

void Overlay::title(const PanelContext& context, const char* text) {
    ImGui::PushFont(context.style.strong);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
    ImGui::Dummy({0, context.style.px(4)});
}

// ---- Command palette.

namespace {

bool is_pressed(ImGuiKey key) {
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key));
}

// Lower-cases the first letter of a title within a sentence, except for acronyms.
std::string in_place_of_first(std::string title) {
    const bool is_word = title.size() > 1 && title[1] >= 'a' && title[1] <= 'z';
    if (is_word && title[0] >= 'A' && title[0] <= 'Z') title[0] = static_cast<char>(title[0] - 'A' + 'a');
    return title;
}

// Text that describes what Enter does.
std::string effect_of(const Action* action, const std::string& key, const std::string& title) {
    if (action == nullptr) return "shows and edits the setting " + key;
    if (!action->is_possible()) return title + " is not available now";
    if (action->show && action->is_on()) return "shows " + in_place_of_first(title);
    if (action->is_on) return (action->is_on() ? "turns off " : "turns on ") + in_place_of_first(title);
    return in_place_of_first(title);
}

}  // namespace

void CommandPalette::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    begin_sheet(context, size, "palette", {560, 440, 0.14f, true});
    if (is_new()) {
        typed_.clear();
        setting_.clear();
        chosen_ = 0;
        ImGui::SetKeyboardFocusHere();
    }
    if (!setting_.empty()) {
        draw_setting(context);
        return end_sheet();
    }
    ImGui::SetNextItemWidth(-1);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {context.style.px(12), context.style.px(8)});
    if (ImGui::InputTextWithHint("##typed", "Type a command or the name of a setting", &typed_)) chosen_ = 0;
    note_place(context, "palette.typed");
    ImGui::PopStyleVar();
    ImGui::Dummy({0, context.style.px(2)});
    draw_rows(context);
    end_sheet();
}

// Settings are listed only after typing, because there are hundreds.
std::vector<CommandPalette::Row> CommandPalette::rows_for(Workspace& work) const {
    constexpr int action_first = 2;  // advantage of actions over equally matching settings
    std::vector<Row> rows;
    for (const Action* action : work.actions().matching(typed_)) {
        const int points = points_of(typed_, *action) + action_first;
        rows.push_back({action, action->id, action->title, action->group, action->is_possible(), points});
    }
    if (typed_.empty()) return rows;
    for (const BoundField& field : work.settings().fields()) {
        const std::string key = field.key(), label = label_of(field);
        const int points = points_of(typed_, field, label);
        if (points > 0) rows.push_back({nullptr, key, label, key, true, points});
    }
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
        return std::pair(a.is_possible, a.points) > std::pair(b.is_possible, b.points);
    });
    return rows;
}

void CommandPalette::move_choice(int count) {
    const int before = chosen_;
    if (is_pressed(ImGuiKey_DownArrow)) ++chosen_;
    if (is_pressed(ImGuiKey_UpArrow)) --chosen_;
    if (is_pressed(ImGuiKey_PageDown)) chosen_ += 8;
    if (is_pressed(ImGuiKey_PageUp)) chosen_ -= 8;
    follows_ = chosen_ != before;
    chosen_ = std::clamp(chosen_, 0, std::max(count - 1, 0));
}

void CommandPalette::draw_row(const PanelContext& context, const Row& row, bool is_chosen) {
    const Style& style = context.style;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (is_chosen) list.AddRectFilled(low, high, ImGui::GetColorU32(ImGuiCol_HeaderHovered), style.px(5));
    const ImU32 colour = shade(row.is_possible ? style.ink : style.muted, row.is_possible ? 1.0f : 0.6f);
    const float middle = 0.5f * (low.y + high.y), top = middle - 0.5f * style.text->FontSize;
    list.AddText(style.text, style.text->FontSize, {low.x + style.px(10), top}, colour, row.title.c_str());
    const float width = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, row.title.c_str()).x;
    list.AddText(style.text, style.text->FontSize, {low.x + style.px(22) + width, top}, shade(style.muted, 0.75f),
                 row.group.c_str());
    if (row.action != nullptr && !row.action->keys.empty())
        draw_keys_right(style, {high.x - style.px(8), middle}, row.action->keys.front());
}

void CommandPalette::draw_rows(const PanelContext& context) {
    const Style& style = context.style;
    const std::vector<Row> rows = rows_for(context.work);
    move_choice(static_cast<int>(rows.size()));
    std::optional<std::size_t> wanted;
    const float footer = ImGui::GetTextLineHeight() + style.px(8) + 2 * ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("rows", {0, -footer});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ImGui::PushID(static_cast<int>(i));
        const bool clicked = ImGui::InvisibleButton("row", {ImGui::GetContentRegionAvail().x, style.px(30)});
        ImGui::PopID();
        note_place(context, "palette." + rows[i].key);
        // Only a moving pointer selects rows, so that it does not override the arrow keys.
        const ImVec2 moved = ImGui::GetIO().MouseDelta;
        if (ImGui::IsItemHovered() && (moved.x != 0 || moved.y != 0)) chosen_ = static_cast<int>(i);
        const bool is_chosen = static_cast<int>(i) == chosen_;
        if (is_chosen && follows_) ImGui::SetScrollHereY();
        draw_row(context, rows[i], is_chosen);
        if (rows[i].is_possible && (clicked || (is_chosen && is_pressed(ImGuiKey_Enter)))) wanted = i;
    }
    if (rows.empty()) muted_text(context, "No matching action, panel or setting. Try another word.");
    ImGui::EndChild();
    if (!rows.empty()) {
        const Row& chosen = rows[index(chosen_)];
        ImGui::Dummy({0, style.px(2)});
        ImGui::TextColored(style.muted, "Enter: %s", effect_of(chosen.action, chosen.key, chosen.title).c_str());
        note_place(context, "palette.enter=" + chosen.key);
    }
    if (wanted) choose(context, rows[*wanted]);
}

// Copy the action, because running it may change the list of actions.
void CommandPalette::choose(const PanelContext& context, const Row& row) {
    if (row.action == nullptr) {
        setting_ = row.key;
        return;
    }
    const Action action = *row.action;
    close();
    attempt(context, "", [&] {
        if (!action.show || !action.is_on()) context.work.actions().run(action.id);
        if (action.show) action.show();
    });
}

void CommandPalette::draw_setting(const PanelContext& context) {
    const BoundField* field = context.work.settings().field(setting_);
    if (field == nullptr) return close();
    title(context, setting_.c_str());
    muted_text(context, std::string(field->help));
    ImGui::Dummy({0, context.style.px(6)});
    setting_row(context, setting_);
    ImGui::Dummy({0, context.style.px(10)});
    if (plain_button(context, "palette.back", "Back to the list")) {
        setting_.clear();
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SameLine();
    if (plain_button(context, "palette.done", "Done")) close();
}

// ---- Sheet with the keys of all actions and the mouse bindings.

namespace {

struct Row {
    std::string keys, meaning;
};

struct Group {
    std::string title;
    std::vector<Row> rows;
};

Group mouse_in_volume(bool as_slicer) {
    return {as_slicer ? "Mouse in the volume (3D Slicer)" : "Mouse in the volume (ParaView)",
            {{"Left drag", "turn"},
             {as_slicer ? "Shift+Left drag" : "Middle drag", "move"},
             {"Right drag", "zoom"},
             {"Wheel", "zoom at the pointer"},
             {as_slicer ? "Ctrl+Left drag" : "Shift+Left drag", "roll"},
             {"Double click", "maximise/restore"}}};
}

const Group& mouse_in_sections() {
    static const Group group{"Mouse in sections",
                             {{"Left drag", "move the cross-hair"},
                              {"Wheel", "scroll through slices"},
                              {"Ctrl+Wheel", "zoom at the pointer"},
                              {"Shift+Left drag", "pan"},
                              {"Right drag", "window and level"},
                              {"Double click", "maximise/restore"}}};
    return group;
}

// Groups actions like the menus; actions without keys are omitted.
std::vector<Group> groups_of(const PanelContext& context) {
    std::vector<Group> groups{mouse_in_volume(context.work.settings().window().mouse_slicer), mouse_in_sections()};
    for (const Action& action : context.work.actions().all()) {
        if (action.keys.empty()) continue;
        auto group = std::ranges::find(groups, action.group, &Group::title);
        if (group == groups.end()) group = groups.insert(group, Group{action.group, {}});
        group->rows.push_back({action.keys.front(), action.title});
    }
    return groups;
}

float height_of(const Style& style, const Group& group) {
    return style.px(40) + style.px(26) * static_cast<float>(group.rows.size());
}

void draw_group(const Style& style, const Group& group, ImVec2 at, float width) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddText(style.strong, style.strong->FontSize, at, ImGui::GetColorU32(style.accent), group.title.c_str());
    float middle = at.y + style.px(38);
    for (const Row& row : group.rows) {
        draw_keys_left(style, {at.x, middle}, row.keys);
        const float left = at.x + std::max(style.px(128), width_of_keys(style, row.keys) + style.px(10));
        list.PushClipRect({left, at.y}, {at.x + width, middle + style.px(20)}, true);
        list.AddText(style.text, style.text->FontSize, {left, middle - 0.5f * style.text->FontSize},
                     ImGui::GetColorU32(style.ink), row.meaning.c_str());
        list.PopClipRect();
        middle += style.px(26);
    }
}

}  // namespace

void KeyMap::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    const Style& style = context.style;
    begin_sheet(context, size, "key map", {1080, 680, -1, true});
    title(context, "Keys and mouse");
    ImGui::BeginChild("groups");
    const float width = ImGui::GetContentRegionAvail().x, gap = style.px(24);
    const int columns = std::max(1, static_cast<int>(width / style.px(310)));
    const float column = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    // Each group is placed in the shortest column.
    std::vector<float> tops(index(columns), ImGui::GetCursorScreenPos().y);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    for (const Group& group : groups_of(context)) {
        const auto lowest = std::ranges::min_element(tops);
        const float left = corner.x + static_cast<float>(lowest - tops.begin()) * (column + gap);
        draw_group(style, group, {left, *lowest}, column);
        *lowest += height_of(style, group);
    }
    ImGui::Dummy({width, *std::ranges::max_element(tops) - corner.y});
    ImGui::EndChild();
    end_sheet();
}

// ---- Tour of five hints.

namespace {

struct Hint {
    const char* title;
    const char* text;
    std::array<std::string_view, 3> about;  // candidates; the first visible one is framed
};

constexpr std::array hints{
    Hint{"Open data",
         "Start the live simulator, open a file (Ctrl+O), or drop one on the window. Volumes, series, scans and raw "
         "spectra all open the same way.",
         {"start.sim.vessel", "section.Open", "menu.File"}},
    Hint{"Rotate and zoom",
         "Drag with the left button to rotate the volume, with the middle button to pan, with the right button to "
         "zoom; the wheel also zooms. Double-click a pane to maximise it, and again to restore the others.",
         {"pane.volume", "", ""}},
    Hint{"Linked sections",
         "Drag in a section to move the cross-hair: the other sections follow. The wheel steps through slices; drag "
         "with the right button to change window and level.",
         {"pane.b-scan", "", ""}},
    Hint{"Every setting has a name",
         "Hover over a control to see its meaning and its name in files and on the command line. Double-click a number "
         "to type it; the arrow on its right resets it; Ctrl+Z undoes any change.",
         {"view.mode", "panel.view", "menu.View"}},
    Hint{"Shortcuts",
         "Ctrl+K finds any command by a few letters; ? shows all shortcuts. Esc only closes menus and panels: it never "
         "stops a measurement or a recording.",
         {"menu.Help", "", ""}},
};

}  // namespace

// Frames the control and connects it to the hint.
void Tour::point_at(const PanelContext& context, const std::vector<std::string_view>& names) const {
    const auto& places = context.state.controls.places;
    for (const std::string_view name : names) {
        const auto found = places.find(std::string(name));
        if (found == places.end()) continue;
        const auto [left, top, right, bottom] = found->second;
        const Style& style = context.style;
        const float rim = style.px(3);
        const ImVec2 sheet = ImGui::GetWindowPos();
        const ImVec2 from{sheet.x + 0.5f * ImGui::GetWindowWidth(), sheet.y};
        const ImVec2 to{std::clamp(from.x, left, right), bottom + rim};
        ImDrawList& list = *ImGui::GetForegroundDrawList();
        const ImU32 colour = ImGui::GetColorU32(style.accent);
        list.AddRect({left - rim, top - rim}, {right + rim, bottom + rim}, colour, style.px(6), 0, style.px(2));
        if (to.y < from.y) list.AddLine(to, from, colour, style.px(2));
        context.state.controls.places["tour.about"] = {left, top, right, bottom};
        return;
    }
}

void Tour::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    if (is_new()) hint_ = 0;
    const Style& style = context.style;
    begin_sheet(context, size, "tour", {420, 216, 0.62f, false});
    const Hint& hint = hints[hint_];
    point_at(context, {hint.about.begin(), hint.about.end()});
    title(context, hint.title);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(hint.text);
    ImGui::PopTextWrapPos();
    const float row = ImGui::GetWindowHeight() - style.px(18) - ImGui::GetFrameHeight();
    ImGui::SetCursorPosY(row);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(style.muted, "%s", fmt::format("{} of {}", hint_ + 1, hints.size()).c_str());
    const bool is_last = hint_ + 1 == hints.size();
    const float button = style.px(84);
    ImGui::SameLine(ImGui::GetWindowWidth() - style.px(20) - 2 * button - ImGui::GetStyle().ItemSpacing.x);
    if (plain_button(context, "tour.skip", is_last ? "Restart tour" : "Skip", "", true, button)) {
        if (is_last)
            hint_ = 0;
        else
            close();
    }
    ImGui::SameLine();
    const bool is_next = primary_button(context, "tour.next", is_last ? "Done" : "Next", button);
    if (is_next || ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter), false)) {
        if (is_last)
            close();
        else
            ++hint_;
    }
    end_sheet();
}

// ---- About sheet with version, devices and licences.

void About::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    begin_sheet(context, size, "about", {460, 0, -1, true});
    ImGui::PushFont(context.style.large);
    ImGui::TextUnformatted("Echolux");
    ImGui::PopFont();
    muted_text(context, "OCT spectra to volumes, live and in 4-D.");
    ImGui::Dummy({0, context.style.px(8)});
    figure(context, "Version", std::string(version));
    figure(context, "Pictures", context.work.viewer().renderer().device_name());
    figure(context, "Interface", std::string("Dear ImGui ") + ImGui::GetVersion());
    ImGui::Dummy({0, context.style.px(8)});
    muted_text(context,
               "Apache License 2.0. The fonts Inter and JetBrains Mono are under the SIL Open Font License 1.1. Not a "
               "medical device.");
    ImGui::Dummy({0, context.style.px(8)});
    if (plain_button(context, "about.close", "Close")) close();
    end_sheet();
}

// ---- Question

// Darkens the window and takes its clicks.
static void draw_shade(ImVec2 size) {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImVec4(0, 0, 0, 0.55f));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    ImGui::Begin("shade", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoNav);
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
}

// Esc keeps, and so does Enter: only offers are confirmed by it. The focus moves by Tab and has Enter for itself.
void QuestionDialog::draw(const PanelContext& context, ImVec2 size) {
    if (!context.work.question()) return close();
    if (!is_open()) open();
    const Question question = *context.work.question();
    const Style& style = context.style;
    draw_shade(size);
    begin_sheet(context, size, "question", {440, 0});
    ImGui::SetWindowFocus();
    title(context, question.title.c_str());
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(question.text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::Dummy({0, style.px(10)});
    const auto width_of = [&](const std::string& label) {
        return std::max(ImGui::CalcTextSize(label.c_str()).x + style.px(28), style.px(110));
    };
    const float confirm = width_of(question.confirm), keep = width_of(question.keep);
    const bool enters = !is_new() && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter), false) &&
                        !context.state.focus.control.starts_with("question");
    const auto button = [&](const char* name, const std::string& label, float width, bool is_usual) {
        const bool is_clicked = is_usual ? primary_button(context, name, label.c_str(), width)
                                         : plain_button(context, name, label.c_str(), "", true, width);
        return is_clicked || (is_usual && enters);
    };
    ImGui::SetCursorPosX(ImGui::GetWindowWidth() - style.px(20) - confirm - keep - ImGui::GetStyle().ItemSpacing.x);
    const bool is_confirmed = button("question.confirm", question.confirm, confirm, question.is_offer);
    ImGui::SameLine();
    const bool is_kept = button("question.keep", question.keep, keep, !question.is_offer);
    end_sheet();
    if (is_confirmed || is_kept) context.work.answer(is_confirmed);
}

// ---- Raw dialog

constexpr std::int64_t cells = 160;  // resolution of a preview in both directions

constexpr std::array first_settings{"scan.sample_format", "scan.offset_bytes", "scan.samples",
                                    "scan.a_scans",       "scan.b_scans",      "scan.volumes"};
constexpr std::array more_settings{"recipe.background", "recipe.window",         "scan.spacing_a_um",
                                   "scan.spacing_b_um", "scan.refractive_index", "scan.line_rate_hz"};

// Draws a gray picture as a mesh of triangles with vertex colours, because the renderer has no textures except the font
// atlas.
static void draw_gray(ImDrawList& list, const Picture& picture, std::int64_t first_row, std::int64_t rows, ImVec2 at,
                      float edge) {
    const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
    list.PrimReserve(static_cast<int>(6 * (cells - 1) * (cells - 1)), static_cast<int>(cells * cells));
    const auto first = static_cast<ImDrawIdx>(list._VtxCurrentIdx);
    for (std::int64_t y = 0; y < cells - 1; ++y) {
        for (std::int64_t x = 0; x < cells - 1; ++x) {
            const auto corner = static_cast<ImDrawIdx>(first + y * cells + x);
            for (const std::int64_t step :
                 {std::int64_t{0}, std::int64_t{1}, cells + 1, std::int64_t{0}, cells + 1, cells}) {
                list.PrimWriteIdx(static_cast<ImDrawIdx>(corner + step));
            }
        }
    }
    for (std::int64_t y = 0; y < cells; ++y) {
        for (std::int64_t x = 0; x < cells; ++x) {
            const std::int64_t row = first_row + y * rows / cells, column = x * picture.width / cells;
            const std::uint8_t gray = picture.pixels[index(row * picture.width + column)];
            const float step = edge / static_cast<float>(cells - 1);
            list.PrimWriteVtx({at.x + static_cast<float>(x) * step, at.y + static_cast<float>(y) * step}, white,
                              IM_COL32(gray, gray, gray, 255));
        }
    }
}

// The preview picture contains the spectra above the reconstruction.
static void draw_square(const PanelContext& context, const Picture& picture, bool is_lower, float edge,
                        const char* caption) {
    ImGui::BeginGroup();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + edge, at.y + edge}, ImGui::GetColorU32(context.style.surface), context.style.px(4));
    const std::int64_t half = picture.height / 2;
    if (picture.width > 0 && half > 0) draw_gray(list, picture, is_lower ? half : 0, half, at, edge);
    ImGui::Dummy({edge, edge});
    muted_text(context, caption);
    ImGui::EndGroup();
}

static std::string guess_text(const RawGuess& guess) {
    return fmt::format("{} × {} × {}   {}", plural(guess.samples, "samples"), guess.a_scans, guess.b_scans,
                       samples_text(guess));
}

// Open as long as there is a proposal.
void RawDialog::draw(const PanelContext& context, ImVec2 size) {
    RawProposal* proposal = context.work.raw().proposal();
    if (proposal == nullptr) {
        if (is_open()) Overlay::close();
        return;
    }
    if (!is_open()) open();
    begin_sheet(context, size, "raw file", {900, 640});
    title(context, ("Contents of " + proposal->file.filename().string() + "?").c_str());
    muted_text(context,
               "This file has no description. These values are estimated from its size and the similarity of "
               "neighbouring lines. Check the previews: columns must be vertical and tissue recognisable.");
    ImGui::Dummy({0, context.style.px(6)});
    const float height =
        ImGui::GetContentRegionAvail().y - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("settings", {context.style.px(320), height});
    draw_guesses(context);
    draw_settings(context);
    ImGui::EndChild();
    ImGui::SameLine(0, context.style.px(20));
    ImGui::BeginChild("preview", {0, height});
    draw_preview(context, ImGui::GetContentRegionAvail());
    ImGui::EndChild();
    draw_answer(context);
    end_sheet();
}

void RawDialog::close(const PanelContext& context) {
    Overlay::close();
    context.work.raw().drop();
}

void RawDialog::draw_guesses(const PanelContext& context) {
    RawProposal& proposal = *context.work.raw().proposal();
    ImGui::TextColored(context.style.muted, "Candidates, by similarity of lines");
    for (std::size_t i = 0; i < proposal.guesses.size(); ++i) {
        const RawGuess& guess = proposal.guesses[i];
        const ScanGeometry& geometry = proposal.scan.geometry;
        const bool is_taken = geometry.samples == guess.samples && geometry.a_scans == guess.a_scans &&
                              geometry.b_scans == guess.b_scans &&
                              proposal.scan.format.sample_format == guess.sample_format &&
                              proposal.scan.format.byte_order == guess.byte_order;
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::Selectable(guess_text(guess).c_str(), is_taken)) proposal.take(guess);
        ImGui::PopID();
        note_place(context, fmt::format("raw.guess{}", i));
        ImGui::SameLine(ImGui::GetContentRegionMax().x - context.style.px(44));
        ImGui::TextColored(context.style.muted, "%s", fmt::format("{:.0f} %", 100 * guess.likeness).c_str());
    }
    if (proposal.guesses.empty()) muted_text(context, "No layout fits well: enter it below.");
    for (const std::string& doubt : proposal.doubts) muted_text(context, "Uncertain: " + doubt);
    ImGui::Dummy({0, context.style.px(8)});
}

void RawDialog::draw_settings(const PanelContext& context) {
    RawProposal& proposal = *context.work.raw().proposal();
    const auto row = [&](const char* key) {
        const auto found = std::ranges::find(proposal.settings.fields(), std::string(key), &BoundField::key);
        if (found == proposal.settings.fields().end()) return;
        setting_row(context, *found, [&](const Value& value, Edit) {
            return attempt(context, "raw", [&] {
                found->set(checked(*found, found->get(), value, key));
                // A changed setting invalidates the preview, which a job computes again.
                proposal.is_stale = true;
            });
        });
    };
    for (const char* key : first_settings) row(key);
    if (section(context, "More", false)) {
        for (const char* key : more_settings) row(key);
    }
}

void RawDialog::draw_preview(const PanelContext& context, ImVec2 size) const {
    const RawProposal& proposal = *context.work.raw().proposal();
    const float gap = context.style.px(14), captions = context.style.px(26);
    const float edge = std::max(context.style.px(60), std::min(0.5f * (size.x - gap), size.y - 2 * captions));
    draw_square(context, proposal.preview, false, edge, "Spectra: one line per A-scan");
    ImGui::SameLine(0, gap);
    draw_square(context, proposal.preview, true, edge, "Reconstructed, depth downwards");
    if (proposal.problem.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, context.style.warning);
    ImGui::TextWrapped("%s", proposal.problem.c_str());
    ImGui::PopStyleColor();
}

void RawDialog::draw_answer(const PanelContext& context) {
    const RawProposal& proposal = *context.work.raw().proposal();
    const Style& style = context.style;
    const float button = style.px(150);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(style.muted, "%s",
                       ("Writes " + proposal.scan.path.filename().string() + " next to the file").c_str());
    ImGui::SameLine(ImGui::GetWindowWidth() - style.px(20) - 2 * button - ImGui::GetStyle().ItemSpacing.x);
    const bool drops = ImGui::Button("Cancel", {button, 0});
    note_place(context, "raw.cancel");
    ImGui::SameLine();
    ImGui::BeginDisabled(!proposal.problem.empty());
    const bool accepts = primary_button(context, "raw.accept", "Write and open", button);
    ImGui::EndDisabled();
    if (drops)
        close(context);
    else if (accepts)
        attempt(context, "files", [&] { context.work.raw().accept(); });
}

}  // namespace echolux
