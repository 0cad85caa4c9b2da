#include "ui/window/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/plural.h"
#include "ui/panels/controls.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/layout.h"
#include "ui/window/theme.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/losses.h"
#include "ui/workspace/recordings.h"

namespace echolux {
namespace {

// Group of actions in a menu. Long groups fold into a submenu, so that every menu fits in a small window.
struct MenuGroup {
    std::string group;
    bool folds = false;
};

struct Menu {
    const char* title;
    std::vector<MenuGroup> groups;
    bool has_others = false;  // also the groups without a menu
};

const std::array<Menu, 7>& menus() {
    static const std::array<Menu, 7> all{Menu{"File", {{"File"}}},
                                         Menu{"Edit", {{"Edit"}}},
                                         Menu{"View", {{"View"}, {"Camera", true}, {"Slices", true}, {"Time", true}}},
                                         Menu{"Source", {{"Source"}, {"Calibration", true}}},
                                         Menu{"Tools", {{"Measure"}, {"Tissue"}, {"Operations"}}, true},
                                         Menu{"Window", {{"Panes"}, {"Window"}}},
                                         Menu{"Help", {{"Help"}}}};
    return all;
}

bool has_own_menu(std::string_view group) {
    return std::ranges::any_of(menus(), [group](const Menu& menu) {
        return std::ranges::find(menu.groups, group, &MenuGroup::group) != menu.groups.end();
    });
}

// Limits the height of the next menu to the space below the menu bar: a higher one would open over the bar.
void limit_height(const PanelContext& context) {
    const float room = ImGui::GetIO().DisplaySize.y - context.style.px(bar_height) - context.style.px(8);
    ImGui::SetNextWindowSizeConstraints({0, 0}, {ImGui::GetIO().DisplaySize.x, std::max(room, 1.0f)});
}

bool begin_menu(const PanelContext& context, const char* title, bool is_possible = true) {
    limit_height(context);
    const bool is_open = ImGui::BeginMenu(title, is_possible);
    if (!is_open) {
        note_place(context, std::string("menu.") + title);
        return false;
    }
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    context.state.controls.places[std::string("open menu.") + title] = {at.x, at.y, at.x + size.x, at.y + size.y};
    return true;
}

void draw_item(const PanelContext& context, const Action& action, const std::string& title) {
    const std::string key = action.keys.empty() ? "" : action.keys.front();
    const bool is_on = action.is_on && action.is_on();
    const std::string id = action.id;
    const bool is_chosen = ImGui::MenuItem(title.c_str(), key.c_str(), is_on, action.is_possible());
    note_place(context, "menu." + id);
    if (is_chosen) attempt(context, "", [&] { context.work.actions().run(id); });
}

// Returns the submenu of an action: "Mode" for "Mode: composite", otherwise an empty text.
std::string family_of(const Action& action) {
    const std::size_t end = action.title.find(": ");
    return end == std::string::npos ? "" : action.title.substr(0, end);
}

void draw_family(const PanelContext& context, const std::vector<std::string>& ids, const std::string& family) {
    if (!begin_menu(context, family.c_str())) return;
    for (const std::string& id : ids) {
        const Action* action = context.work.actions().find(id);
        if (action != nullptr && family_of(*action) == family) {
            draw_item(context, *action, action->title.substr(family.size() + 2));
        }
    }
    ImGui::EndMenu();
}

// Lists the recent files in place of the action that reopens the last one.
void draw_recent(const PanelContext& context, const Action& reopen) {
    if (!begin_menu(context, "Open recent", reopen.is_possible())) return;
    draw_item(context, reopen, reopen.title);
    ImGui::Separator();
    const std::vector<std::filesystem::path> recent = context.work.recent();
    for (std::size_t i = 0; i < recent.size(); ++i) {
        ImGui::PushID(static_cast<int>(i));
        const bool is_chosen = ImGui::MenuItem(recent[i].filename().string().c_str());
        ImGui::PopID();
        note_place(context, fmt::format("menu.recent[{}]", i));
        tooltip(context, recent[i].string());
        if (is_chosen) attempt(context, "files", [&] { context.work.open(recent[i]); });
    }
    ImGui::EndMenu();
}

// Returns the ids of a group in the order of its menu. Running an action may add actions.
std::vector<std::string> ids_of(const Actions& actions, std::string_view group) {
    std::vector<const Action*> found;
    for (const Action& action : actions.all()) {
        if (action.group == group) found.push_back(&action);
    }
    std::ranges::stable_sort(found, {}, &Action::menu_place);
    std::vector<std::string> ids;
    for (const Action* action : found) ids.push_back(action->id);
    return ids;
}

void draw_items(const PanelContext& context, const std::vector<std::string>& ids) {
    std::vector<std::string> families;
    int block = 0;
    for (const std::string& id : ids) {
        const Action* action = context.work.actions().find(id);
        if (action == nullptr) continue;
        if (std::exchange(block, action->menu_place / 10) != action->menu_place / 10) ImGui::Separator();
        const std::string family = family_of(*action);
        if (id == "file.open_last") {
            draw_recent(context, *action);
        } else if (family.empty()) {
            draw_item(context, *action, action->title);
        } else if (std::ranges::find(families, family) == families.end()) {
            families.push_back(family);
            draw_family(context, ids, family);
        }
    }
}

void draw_group(const PanelContext& context, const MenuGroup& group) {
    const std::vector<std::string> ids = ids_of(context.work.actions(), group.group);
    if (!group.folds) return draw_items(context, ids);
    if (!begin_menu(context, group.group.c_str())) return;
    draw_items(context, ids);
    ImGui::EndMenu();
}

// Groups that fold have no line above them if the previous one folds too.
void draw_groups(const PanelContext& context, const Menu& menu) {
    std::vector<MenuGroup> groups = menu.groups;
    for (const Action& action : context.work.actions().all()) {
        if (menu.has_others && !has_own_menu(action.group) &&
            std::ranges::find(groups, action.group, &MenuGroup::group) == groups.end())
            groups.push_back({action.group, true});
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0 && !(groups[i].folds && groups[i - 1].folds)) ImGui::Separator();
        draw_group(context, groups[i]);
    }
}

void draw_menu(const PanelContext& context, const Menu& menu) {
    if (!begin_menu(context, menu.title)) return;
    draw_groups(context, menu);
    ImGui::EndMenu();
}

// In a narrow window the menus are submenus of one, so that the buttons at the right keep their space.
void draw_menus(const PanelContext& context, bool is_narrow) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {context.style.px(10), context.style.px(7)});
    const bool is_open = !is_narrow || begin_menu(context, "Menu");
    for (const Menu& menu : menus()) {
        if (is_open) draw_menu(context, menu);
    }
    if (is_narrow && is_open) ImGui::EndMenu();
    ImGui::PopStyleVar();
}

// ---- Places at the right end of the bar: losses, state, start, record. Each keeps its place and width in every state.

struct BarButton {
    const char* name;
    std::string text, help;
    ImVec4 colour;
    bool is_filled = false, is_possible = true;
    std::optional<Icon> icon{};
};

// Draws a rounded button from `left` and returns whether it was clicked.
bool bar_button(const PanelContext& context, const BarButton& button, float left, float width, float middle) {
    const Style& style = context.style;
    const float height = style.px(26);
    ImGui::SetCursorScreenPos({left, middle - 0.5f * height});
    ImGui::BeginDisabled(!button.is_possible);
    ImGui::PushID(button.name);
    const bool is_clicked = ImGui::InvisibleButton("button", {width, height});
    ImGui::PopID();
    const bool is_hovered = ImGui::IsItemHovered();
    ImGui::EndDisabled();
    note_place(context, button.name);
    tooltip(context, button.help);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImVec4 inside = button.is_filled ? button.colour : style.control;
    if (is_hovered)
        inside = button.is_filled ? ImVec4(inside.x * 0.88f, inside.y * 0.88f, inside.z * 0.88f, 1) : style.hovered;
    const float opacity = button.is_possible ? 1 : 0.45f;
    list.AddRectFilled({left, middle - 0.5f * height}, {left + width, middle + 0.5f * height}, shade(inside, opacity),
                       style.px(5));
    const ImVec4 text_colour = button.is_filled ? ImVec4(1, 1, 1, 1) : style.ink;
    float at = left + style.px(10);
    if (button.icon) {
        const ImVec4& colour = button.is_filled ? text_colour : button.colour;
        const float centre = button.text.empty() ? left + 0.5f * width : left + style.px(16);
        draw_icon(&list, *button.icon, {centre, middle}, style.px(11), shade(colour, opacity));
        at = left + style.px(29);
    }
    list.PushClipRect({left, middle - height}, {left + width - style.px(4), middle + height}, true);
    ImGui::PushFont(style.text);
    const std::string seen = shortened(button.text, left + width - style.px(4) - at);
    ImGui::PopFont();
    if (!button.text.empty() && seen != button.text) note_place(context, std::string("cut.") + button.name);
    list.AddText(style.text, style.text->FontSize, {at, std::round(middle - 0.5f * style.text->FontSize)},
                 shade(text_colour, opacity), seen.c_str());
    list.PopClipRect();
    return is_clicked;
}

// Draws a word with a dot before it.
void draw_badge(const PanelContext& context, const SourceBadge& badge, float left, float width, float middle) {
    const Style& style = context.style;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = style.px(26);
    ImGui::SetCursorScreenPos({left, middle - 0.5f * height});
    ImGui::Dummy({width, height});
    note_place(context, "bar.state");
    tooltip(context, badge.help);
    list.AddRectFilled({left, middle - 0.5f * height}, {left + width, middle + 0.5f * height},
                       shade(badge.colour, badge_opacity), 0.5f * height);
    list.AddCircleFilled({left + style.px(14), middle}, style.px(4.5f), shade(badge.colour));
    list.AddText(style.strong, style.strong->FontSize,
                 {left + style.px(24), std::round(middle - 0.5f * style.strong->FontSize)}, shade(badge.colour),
                 badge.text);
}

void draw_name(const PanelContext& context, float left, float right, float middle) {
    ViewSource* view_source = context.work.viewer().view_source();
    const Style& style = context.style;
    if (view_source == nullptr || right - left < style.px(40)) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::PushFont(style.strong);
    const std::string name = shortened(view_source->name(), right - left);
    const float width = ImGui::CalcTextSize(name.c_str()).x;
    const float at = std::max(left, 0.5f * (left + right - width));
    list.AddText({std::round(at), std::round(middle - 0.5f * style.strong->FontSize)}, ImGui::GetColorU32(style.ink),
                 name.c_str());
    ImGui::PopFont();
}

// Widths at scale 1, in a wide and in a narrow window.
struct BarWidths {
    float record, start, state, losses;
};
constexpr BarWidths wide_bar{186, 76, 116, 158}, narrow_bar{92, 34, 116, 124};
constexpr float bar_gap = 6, menus_width = 400, menu_width = 70;  // all menus in a wide window, one in a narrow one

float total(const BarWidths& widths) {
    return widths.record + widths.start + widths.state + widths.losses + 4 * bar_gap;
}

// The losses stay until they are acknowledged.
void draw_losses(const PanelContext& context, float left, float width, float middle) {
    const Style& style = context.style;
    if (context.work.losses().unseen() == 0) return;
    const float acknowledge = style.px(28), gap = style.px(2);
    const BarButton shown{"losses.show", context.work.losses().short_text(),
                          context.work.losses().text() + ": show where, on the time line", style.recording, true};
    if (bar_button(context, shown, left, width - acknowledge - gap, middle)) run_action(context, "source.show_loss");
    const BarButton known{"losses.acknowledge", "", "acknowledge and hide the count", style.recording, true, true,
                          Icon::remove};
    if (bar_button(context, known, left + width - acknowledge, acknowledge, middle))
        run_action(context, "source.acknowledge_losses");
}

std::string recorded_text(const PanelContext& context, const LiveController& live, bool is_narrow) {
    const std::string time = duration_text(context.work.recordings().seconds());
    const std::optional<RecorderStats> written = live.stats().recorder;
    return is_narrow ? time : time + "   " + bytes_text(written ? static_cast<double>(written->bytes) : 0.0);
}

// Draws record, start and state from the right end, and returns their left end.
float draw_live(const PanelContext& context, const LiveController& live, float right, float middle, bool is_narrow) {
    const Style& style = context.style;
    const BarWidths& widths = is_narrow ? narrow_bar : wide_bar;
    const bool records = live.is_recording(), runs = live.is_running();
    float left = right - style.px(widths.record);
    const BarButton record{
        "bar.record",
        records ? recorded_text(context, live, is_narrow) : "Record",
        records ? "stop recording  (Ctrl+R)" : "record all blocks, from the next volume on  (Ctrl+R)",
        style.recording,
        records,
        records || runs,
        records ? Icon::stop : Icon::record};
    if (bar_button(context, record, left, style.px(widths.record), middle)) run_action(context, "source.record");
    left -= style.px(widths.start + bar_gap);
    const BarButton start{"bar.start_stop",
                          is_narrow ? ""
                          : runs    ? "Stop"
                                    : "Start",
                          runs ? "stop the source  (Ctrl+Space)" : "start the source  (Ctrl+Space)",
                          style.ink,
                          false,
                          !records,
                          runs ? Icon::stop : Icon::play};
    if (bar_button(context, start, left, style.px(widths.start), middle)) run_action(context, "source.start_stop");
    left -= style.px(widths.state + bar_gap);
    draw_badge(context, badge_of(style, live), left, style.px(widths.state), middle);
    return left;
}

// A recording also marks the lower edge of the bar in red.
void draw_state(const PanelContext& context, const Region& place, bool is_narrow) {
    const Style& style = context.style;
    ViewSource* view_source = context.work.viewer().view_source();
    LiveController* live = view_source != nullptr ? view_source->live() : nullptr;
    const bool is_instrument = live != nullptr && !live->is_recorded();
    const float middle = static_cast<float>(place.top) + 0.5f * static_cast<float>(place.height);
    float left = static_cast<float>(place.left + place.width) - style.px(8);
    if (is_instrument) left = draw_live(context, *live, left, middle, is_narrow);
    if (live != nullptr) {
        const float width = style.px((is_narrow ? narrow_bar : wide_bar).losses);
        left -= width + style.px(bar_gap);
        draw_losses(context, left, width, middle);
    }
    const float menus_end = static_cast<float>(place.left) + style.px(is_narrow ? menu_width : menus_width);
    draw_name(context, menus_end, left - style.px(10), middle);
    if (!is_instrument || !live->is_recording()) return;
    ImGui::GetForegroundDrawList()->AddRectFilled(
        {static_cast<float>(place.left), static_cast<float>(place.top + place.height) - style.px(2)},
        {static_cast<float>(place.left + place.width), static_cast<float>(place.top + place.height) + style.px(1)},
        ImGui::GetColorU32(style.recording));
}

}  // namespace

void draw_top_bar(const PanelContext& context, const Region& place) {
    const Style& style = context.style;
    ImGui::SetNextWindowPos({static_cast<float>(place.left), static_cast<float>(place.top)});
    ImGui::SetNextWindowSize({static_cast<float>(place.width), static_cast<float>(place.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {style.px(4), 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    const float text_height = style.text->FontSize;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        {style.px(10), std::floor(0.5f * (static_cast<float>(place.height) - text_height))});
    ImGui::Begin("top bar", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_MenuBar | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollWithMouse);
    const bool has_bar = ImGui::BeginMenuBar();
    ImGui::PopStyleVar(3);
    if (has_bar) {
        const bool is_narrow = static_cast<float>(place.width) < style.px(menus_width + total(wide_bar));
        const bool is_very_narrow = static_cast<float>(place.width) < style.px(menus_width + total(narrow_bar));
        draw_menus(context, is_very_narrow);
        draw_state(context, place, is_narrow);
        ImGui::EndMenuBar();
    }
    ImGui::End();
}

std::string window_title(Workspace& work) {
    ViewSource* view_source = work.viewer().view_source();
    if (view_source == nullptr) return "Echolux";
    const bool records = view_source->live() != nullptr && view_source->live()->is_recording();
    return (records ? "● REC " : "") + view_source->name() + " - Echolux";
}

// ---- Line at the bottom of the window

namespace {

// Draws shortened text and returns its width.
float write(const PanelContext& context, ImFont* font, float left, float max_width, float middle,
            const std::string& whole, const ImVec4& colour) {
    ImGui::PushFont(font);
    const std::string text = shortened(whole, max_width);
    const float width = ImGui::CalcTextSize(text.c_str()).x;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect({left, middle - context.style.px(14)}, {left + max_width, middle + context.style.px(14)}, true);
    list.AddText({std::round(left), std::round(middle - 0.5f * font->FontSize)}, ImGui::GetColorU32(colour),
                 text.c_str());
    list.PopClipRect();
    ImGui::PopFont();
    return width < max_width ? width : max_width;
}

// Returns devices and rates, for the right end.
std::string stats_text(const PanelContext& context, bool has_device) {
    Workspace& work = context.work;
    std::string text;
    const auto add = [&text](const std::string& part) {
        if (!part.empty()) text += (text.empty() ? "" : "   ·   ") + part;
    };
    if (ViewSource* view_source = work.viewer().view_source()) {
        if (LiveController* live = view_source->live(); live != nullptr && live->is_running()) {
            const double rate = live->stats().processed_a_scans_per_s;
            if (rate > 0) add(rate_text(rate) + " A-scans/s");
        }
        const std::string backend_description = view_source->backend_description();
        // Reasons and details, in parentheses, are in the panels.
        if (has_device) add(without_parentheses(backend_description.substr(0, backend_description.find(';'))));
        if (has_device && backend_description.empty()) add(work.viewer().renderer().device_name());
    } else if (has_device) {
        add(work.viewer().renderer().device_name());
    }
    if (context.state.pace.pictures_per_s > 0) add(fmt::format("{:.0f}/s", context.state.pace.pictures_per_s));
    return text;
}

// Progress bar along the lower edge of the line.
void draw_share(const PanelContext& context, float left, float right, float middle, double done, double seconds) {
    const Style& style = context.style;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = style.px(3), top = std::round(middle + style.px(9)), width = right - left;
    const auto bar = [&](float from, float to, ImU32 colour) {
        list.AddRectFilled({left + width * from, top}, {left + width * to, top + height}, colour, 0.5f * height);
    };
    bar(0, 1, ImGui::GetColorU32(style.hairline));
    if (done >= 0) return bar(0, static_cast<float>(std::min(done, 1.0)), ImGui::GetColorU32(style.accent));
    const float phase = static_cast<float>(std::fmod(seconds, 1.6) / 1.6);  // unknown total: moving bar
    bar(std::max(0.0f, phase * 1.3f - 0.3f), std::min(1.0f, phase * 1.3f), ImGui::GetColorU32(style.accent));
}

std::string text_of(const JobState& job) {
    std::string text = job.is_cancelled ? job.title + ": stopping" : job.title;
    if (!job.task.empty() && job.task != job.title) text += ": " + job.task;
    if (job.seconds_left) text += ", " + duration_text(*job.seconds_left) + " left";
    return text;
}

void draw_job(const PanelContext& context, const JobState& job, std::size_t others, float left, float right,
              float middle) {
    const Style& style = context.style;
    const float button = style.px(64), gap = style.px(8);
    const std::string more = others > 0 ? fmt::format("  (+{})", others) : "";
    const float room = right - left - button - gap;
    const std::string whole = text_of(job) + more;  // the task is omitted if there is no space
    const bool has_room = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, whole.c_str()).x <= room;
    JobState in_short = job;
    in_short.task.clear();
    write(context, style.text, left, room, middle, has_room ? whole : text_of(in_short) + more, style.ink);
    draw_share(context, left, right - button - gap, middle,
               job.total > 0 ? static_cast<double>(job.done) / static_cast<double>(job.total) : -1, job.seconds);
    ImGui::SetCursorScreenPos({right - button, middle - style.px(11)});
    ImGui::PushID(static_cast<int>(job.id));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {style.px(6), style.px(2)});
    ImGui::PushStyleColor(ImGuiCol_Button, {0, 0, 0, 0});
    if (ImGui::Button("Cancel", {button, style.px(22)}) && !job.is_cancelled) context.work.jobs().cancel(job.id);
    note_place(context, "job.cancel");
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::PopID();
}

// Shows the progress of a picture being drawn, or the longest running job, or the next step of a measuring tool.
void draw_work(const PanelContext& context, float left, float right, float middle) {
    constexpr double min_reported_s = 0.3;  // shorter jobs would flicker
    if (const auto share = context.work.exporting().share_of_picture()) {
        write(context, context.style.text, left, right - left, middle,
              fmt::format("rendering the image: {:.0f} %", 100 * *share), context.style.ink);
        return draw_share(context, left, right, middle, *share, 0);
    }
    const MeasureTool& tool = context.state.measure;
    const bool measures = tool.kind() != MeasureTool::Kind::none;
    const std::vector<JobState> jobs = context.work.jobs().states();
    const auto longest = std::ranges::max_element(jobs, {}, &JobState::seconds);
    const bool has_job = longest != jobs.end() && longest->seconds >= min_reported_s;
    if (!has_job && measures) {
        const float width =
            write(context, context.style.text, left, right - left, middle, hint_of(tool), context.style.ink);
        context.state.controls.places["measure.hint"] = {left, middle, left + width, middle + 1};
    }
    if (!has_job) return;
    draw_job(context, *longest, jobs.size() - 1, left, right, middle);
}

bool bare_button(const PanelContext& context, const char* name, const char* label, float left, float width,
                 float middle) {
    const Style& style = context.style;
    ImGui::SetCursorScreenPos({left, middle - style.px(11)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {style.px(2), style.px(2)});
    ImGui::PushStyleColor(ImGuiCol_Button, style.control);
    ImGui::PushID(name);
    const bool is_pressed = ImGui::Button(label, {width, style.px(22)});
    ImGui::PopID();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    note_place(context, name);
    return is_pressed;
}

std::string text_of(const Notice& notice) {
    return notice.times > 1 ? fmt::format("{}  ({})", notice.line, plural(notice.times, "times")) : notice.line;
}

// Buttons that open the file of a notice, or its folder.
void draw_file_buttons(const PanelContext& context, const NoticeFile& file, float right, float middle) {
    const Style& style = context.style;
    const float folder = style.px(108), open = style.px(52), gap = style.px(6);
    const bool is_wanted = bare_button(context, "notice.open", "Open", right - folder - gap - open, open, middle);
    const bool wants_folder = bare_button(context, "notice.folder", "Show in folder", right - folder, folder, middle);
    if (wants_folder) context.state.desktop_request = file.path.parent_path();
    if (!is_wanted) return;
    if (file.opener == NoticeFile::Opener::desktop)
        context.state.desktop_request = file.path;
    else
        attempt(context, "files", [&] { context.work.open(file.path); });
}

// Draws text in at most `lines` lines, one or two, shortened at the end. Returns whether it was shortened.
bool write_lines(const PanelContext& context, int lines, float left, float right, float middle, const std::string& text,
                 const ImVec4& colour) {
    const Style& style = context.style;
    ImGui::PushFont(style.text);
    const float width = right - left, height = style.text->FontSize, line = height + style.px(2);
    const char *begin = text.c_str(), *end = begin + text.size();
    const char* first_end = lines == 1 ? begin : style.text->CalcWordWrapPositionA(1, begin, end, width);
    std::string first(begin, first_end), second(first_end, end);
    second.erase(0, second.find_first_not_of(' '));
    const std::string seen = shortened(second, width);
    const bool is_one = first.empty() || second.empty();
    float top = is_one ? middle - 0.5f * height : middle - line + style.px(1);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (const std::string& part : {first, seen}) {
        if (part.empty()) continue;
        list.AddText({std::round(left), std::round(top)}, ImGui::GetColorU32(colour), part.c_str());
        top += line;
    }
    ImGui::PopFont();
    return seen != second;
}

// Unfolds the panel with all notices.
void show_log(const PanelContext& context) {
    const Action* action = context.work.actions().find("panel.log");
    if (action == nullptr) return;
    const auto show = action->show;
    if (!action->is_on()) run_action(context, "panel.log");
    show();
}

}  // namespace

// Errors stay until they are settled or dismissed; notes expire, those about files later.
const Notice* notice_to_show(Workspace& work) {
    constexpr double max_note_s = 12, max_file_note_s = 60;
    const std::deque<Notice>& all = work.notices().all();
    for (auto notice = all.rbegin(); notice != all.rend(); ++notice) {
        if (!notice->stands) continue;
        const double max_s = notice->file.path.empty() ? max_note_s : max_file_note_s;
        if (notice->is_problem || work.notices().age_s(*notice) <= max_s) return &*notice;
    }
    return nullptr;
}

void StatusLine::draw_notice(const PanelContext& context, int lines, float left, float right, float middle) {
    const Style& style = context.style;
    const Notice* held = held_ == 0 ? nullptr : context.work.notices().find(held_);
    const Notice* notice = held != nullptr && held->stands ? held : notice_to_show(context.work);
    const bool is_under_pointer =
        ImGui::IsMouseHoveringRect({left, middle - style.px(22)}, {right, middle + style.px(22)});
    held_ = notice != nullptr && is_under_pointer ? notice->number : 0;
    if (notice == nullptr) return;
    const Notice shown = *notice;  // pressing a button may add notices
    const ImVec4 colour = shown.is_problem ? style.warning : style.muted;
    if (bare_button(context, "notice.dismiss", "x", left, style.px(22), middle)) {
        context.work.notices().dismiss(shown.number);
    }
    tooltip(context, "Dismiss; the log keeps it");
    left += style.px(30);
    constexpr float min_width = 330;  // else the buttons would leave no space for the text
    const bool has_buttons = !shown.file.path.empty() && right - left > style.px(min_width);
    const float end = has_buttons ? right - style.px(108 + 6 + 52 + 10) : right;
    const std::string line = text_of(shown);
    const bool is_shortened = write_lines(context, lines, left, end, middle, line, colour);
    ImGui::SetCursorScreenPos({left, middle - style.px(20)});
    if (ImGui::InvisibleButton("notice", {std::max(end - left, 1.0f), style.px(40)})) show_log(context);
    note_place(context, "notice");
    tooltip(context, (is_shortened ? line + "\n" : std::string()) + "Click for the log.");
    if (has_buttons) draw_file_buttons(context, shown.file, right, middle);
}

void StatusLine::draw(const PanelContext& context, const Region& place) {
    const Style& style = context.style;
    ImGui::SetNextWindowPos({static_cast<float>(place.left), static_cast<float>(place.top)});
    ImGui::SetNextWindowSize({static_cast<float>(place.width), static_cast<float>(place.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {style.px(10), 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::Begin("status line", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar(2);
    const float middle = static_cast<float>(place.top) + 0.5f * static_cast<float>(place.height);
    const float begin = static_cast<float>(place.left) + style.px(12);
    const float end = static_cast<float>(place.left + place.width) - style.px(12);
    // Notices have two lines at the left. At the right, work is above the statistics.
    const float notice_end = begin + 0.6f * (end - begin), right = notice_end + style.px(16);
    const bool is_low = static_cast<float>(place.height) < style.px(40);  // one line without statistics
    draw_notice(context, is_low ? 1 : 2, begin, notice_end, middle);
    draw_work(context, right, end, is_low ? middle : middle - style.px(10));
    if (is_low) return ImGui::End();
    const auto width_of = [&style](const std::string& text) {
        ImGui::PushFont(style.text);
        const float width = ImGui::CalcTextSize(text.c_str()).x;
        ImGui::PopFont();
        return width;
    };
    std::string stats = stats_text(context, true);
    if (width_of(stats) > end - right) stats = stats_text(context, false);  // whole words only
    const float width = std::min(width_of(stats), end - right);
    if (width < width_of(stats)) context.state.controls.places["cut.statistics"] = {right, middle, end, middle};
    write(context, style.text, end - width, width, middle + style.px(11), stats, style.muted);
    ImGui::End();
}

}  // namespace echolux
