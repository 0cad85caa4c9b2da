#include "ui/window/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/plural.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"
#include "ui/workspace/exporting.h"

namespace echolux {
namespace {

struct Menu {
    const char* title;
    std::vector<std::string_view> groups;  // groups of actions in order; empty: all groups without a menu
};

const std::array<Menu, 6>& menus() {
    static const std::array<Menu, 6> all{Menu{"File", {"File"}},
                                         Menu{"Edit", {"Edit"}},
                                         Menu{"View", {"View", "Camera", "Slices"}},
                                         Menu{"Window", {"Panes", "Window"}},
                                         Menu{"Tools", {}},
                                         Menu{"Help", {"Help"}}};
    return all;
}

bool has_own_menu(std::string_view group) {
    return std::ranges::any_of(
        menus(), [group](const Menu& menu) { return std::ranges::find(menu.groups, group) != menu.groups.end(); });
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
    if (!ImGui::BeginMenu(family.c_str())) return;
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
    const bool is_open = ImGui::BeginMenu("Open recent", reopen.is_possible());
    if (!is_open) note_place(context, "menu.recent");
    if (!is_open) return;
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

void draw_group(const PanelContext& context, std::string_view group, bool& is_first) {
    const std::vector<std::string> ids = ids_of(context.work.actions(), group);
    if (ids.empty()) return;
    if (!is_first) ImGui::Separator();
    is_first = false;
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

void draw_menu(const PanelContext& context, const Menu& menu) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {context.style.px(10), context.style.px(7)});
    const bool is_open = ImGui::BeginMenu(menu.title);
    if (is_open) {
        bool is_first = true;
        std::vector<std::string_view> groups = menu.groups;
        if (groups.empty()) {
            for (const Action& action : context.work.actions().all()) {
                if (!has_own_menu(action.group) && std::ranges::find(groups, action.group) == groups.end()) {
                    groups.push_back(action.group);
                }
            }
        }
        for (const std::string_view group : groups) draw_group(context, std::string(group), is_first);
        ImGui::EndMenu();
    }
    ImGui::PopStyleVar();
    if (!is_open) note_place(context, std::string("menu.") + menu.title);
}

// Draws a rounded field with a dot before its text, and returns its width.
float draw_pill(const Style& style, float right, float middle, const std::string& text, const ImVec4& colour,
                bool is_filled) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::PushFont(is_filled ? style.strong : style.text);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float height = style.px(26), width = size.x + style.px(38), left = right - width;
    const ImVec4 inside = is_filled ? colour : ImVec4(colour.x, colour.y, colour.z, 0.16f);
    list.AddRectFilled({left, middle - 0.5f * height}, {right, middle + 0.5f * height}, ImGui::GetColorU32(inside),
                       0.5f * height);
    const ImVec4 text_colour = is_filled ? ImVec4(1, 1, 1, 1) : colour;
    list.AddCircleFilled({left + style.px(15), middle}, style.px(4.5f), ImGui::GetColorU32(text_colour));
    list.AddText({left + style.px(26), std::round(middle - 0.5f * size.y)}, ImGui::GetColorU32(text_colour),
                 text.c_str());
    ImGui::PopFont();
    return width;
}

void draw_name(const PanelContext& context, float left, float right, float middle) {
    ViewSource* view_source = context.work.viewer().view_source();
    const Style& style = context.style;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect({left, middle - style.px(20)}, {right, middle + style.px(20)}, true);
    const std::string name = view_source != nullptr ? view_source->name() : "";
    ImGui::PushFont(style.strong);
    const float width = ImGui::CalcTextSize(name.c_str()).x;
    const float at = std::max(left, 0.5f * (left + right - width));
    list.AddText({std::round(at), std::round(middle - 0.5f * style.strong->FontSize)}, ImGui::GetColorU32(ink),
                 name.c_str());
    ImGui::PopFont();
    list.PopClipRect();
}

}  // namespace

// A recording also marks the lower edge of the bar in red.
void TopBar::draw_state(const PanelContext& context, const Region& place) {
    const Style& style = context.style;
    ViewSource* view_source = context.work.viewer().view_source();
    LiveController* live = view_source != nullptr ? view_source->live() : nullptr;
    const float middle = static_cast<float>(place.top) + 0.5f * static_cast<float>(place.height);
    float right = static_cast<float>(place.left + place.width) - style.px(10);
    const bool records = live != nullptr && live->is_recording();
    if (!records) recording_since_s_ = -1;
    if (live != nullptr && !live->is_recorded()) {
        if (records) {
            if (recording_since_s_ < 0) recording_since_s_ = context.work.now_s();
            const std::optional<RecorderStats> written = live->stats().recorder;
            const std::string text =
                fmt::format("REC  {}  {}", duration_text(context.work.now_s() - recording_since_s_),
                            bytes_text(written ? static_cast<double>(written->bytes) : 0.0));
            right -= draw_pill(style, right, middle, text, style.recording, true) + style.px(8);
        }
        const bool runs = live->is_running();
        right -= draw_pill(style, right, middle, runs ? "Live" : "Stopped", runs ? style.good : style.muted, false);
    }
    const float menus_end = static_cast<float>(place.left) + style.px(350);
    draw_name(context, menus_end, right - style.px(10), middle);
    if (!records) return;
    ImGui::GetForegroundDrawList()->AddRectFilled(
        {static_cast<float>(place.left), static_cast<float>(place.top + place.height) - style.px(2)},
        {static_cast<float>(place.left + place.width), static_cast<float>(place.top + place.height) + style.px(1)},
        ImGui::GetColorU32(style.recording));
}

void TopBar::draw(const PanelContext& context, const Region& place) {
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
        for (const Menu& menu : menus()) draw_menu(context, menu);
        draw_state(context, place);
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
std::string stats_text(const PanelContext& context) {
    Workspace& work = context.work;
    std::string text;
    const auto add = [&text](const std::string& part) {
        if (!part.empty()) text += (text.empty() ? "" : "   ·   ") + part;
    };
    if (ViewSource* view_source = work.viewer().view_source()) {
        if (LiveController* live = view_source->live(); live != nullptr && live->is_running()) {
            const LiveStats stats = live->stats();
            const double rate = stats.processed_a_scans_per_s;
            if (rate > 0) add(rate_text(rate) + " A-scans/s");
            const std::int64_t lost = stats.arrived.lost_blocks + stats.dropped_volumes;
            if (lost > 0) add(count_text(lost) + " lost");
        }
        const std::string backend_description = view_source->backend_description();
        add(backend_description.substr(
            0, backend_description.find(';')));  // the part after it has reasons, which the statistics panel shows
        if (backend_description.empty()) add(work.viewer().renderer().device_name());
    } else {
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
    bar(0, 1, ImGui::GetColorU32(hairline));
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
    write(context, style.text, left, room, middle, has_room ? whole : text_of(in_short) + more, ink);
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
    constexpr double min_reported_s = 0.3;
    if (const auto share = context.work.exporting().share_of_picture()) {
        write(context, context.style.text, left, right - left, middle,
              fmt::format("rendering the image: {:.0f} %", 100 * *share), ink);
        return draw_share(context, left, right, middle, *share, 0);
    }
    const MeasureTool& tool = context.state.measure;
    const bool measures = tool.kind() != MeasureTool::Kind::none;
    const std::vector<JobState> jobs = context.work.jobs().states();
    const auto longest = std::ranges::max_element(jobs, {}, &JobState::seconds);
    const bool has_job = longest != jobs.end() && longest->seconds >= min_reported_s;
    if (!has_job && measures) {
        const float width = write(context, context.style.text, left, right - left, middle, hint_of(tool), ink);
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
    ImGui::PushStyleColor(ImGuiCol_Button, {1, 1, 1, 0.06f});
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

}  // namespace

// Errors stay until they are settled or dismissed; notes expire, those about files later.
const Notice* notice_to_show(Workspace& work) {
    constexpr double note_lasts_s = 12, note_of_file_lasts_s = 60;
    const std::deque<Notice>& all = work.notices().all();
    for (auto notice = all.rbegin(); notice != all.rend(); ++notice) {
        if (!notice->stands) continue;
        const double lasts_s = notice->file.path.empty() ? note_lasts_s : note_of_file_lasts_s;
        if (notice->is_problem || work.notices().age_s(*notice) <= lasts_s) return &*notice;
    }
    return nullptr;
}

void StatusLine::draw_notice(const PanelContext& context, float left, float right, float middle) {
    const Style& style = context.style;
    const Notice* held = held_ == 0 ? nullptr : context.work.notices().find(held_);
    const Notice* notice = held != nullptr && held->stands ? held : notice_to_show(context.work);
    const bool is_under_pointer =
        ImGui::IsMouseHoveringRect({left, middle - style.px(14)}, {right, middle + style.px(14)});
    held_ = notice != nullptr && is_under_pointer ? notice->number : 0;
    if (notice == nullptr) return;
    const Notice shown = *notice;  // pressing a button may add notices
    const ImVec4 colour = shown.is_problem ? style.warning : style.muted;
    if (bare_button(context, "notice.dismiss", "x", left, style.px(22), middle)) {
        context.work.notices().dismiss(shown.number);
    }
    tooltip(context, "Dismiss; the log keeps it");
    left += style.px(30);
    constexpr float min_room = 330;
    const bool has_buttons = !shown.file.path.empty() && right - left > style.px(min_room);
    const float end = has_buttons ? right - style.px(108 + 6 + 52 + 10) : right;
    const std::string line = text_of(shown);
    write(context, style.text, left, end - left, middle, line, colour);
    ImGui::SetCursorScreenPos({left, middle - style.px(12)});
    ImGui::Dummy({std::max(end - left, 1.0f), style.px(24)});
    note_place(context, "notice");
    tooltip(context, line);
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
    // Half of the line is for notices, a quarter for work, a quarter for statistics.
    const float notice_end = begin + 0.5f * (end - begin), work_end = begin + 0.75f * (end - begin);
    draw_notice(context, begin, notice_end, middle);
    draw_work(context, notice_end + style.px(16), work_end, middle);
    const std::string stats = stats_text(context);
    const float room = end - work_end - style.px(16);
    ImGui::PushFont(style.text);
    const float width = std::min(ImGui::CalcTextSize(stats.c_str()).x, room);
    ImGui::PopFont();
    write(context, style.text, end - width, width, middle, stats, style.muted);
    ImGui::End();
}

// Only drawn for a short time, because it covers the picture.
void draw_problem(const PanelContext& context, const Region& centre) {
    constexpr double lasts_s = 15;
    const Style& style = context.style;
    const Notice* notice = notice_to_show(context.work);
    if (notice == nullptr || !notice->is_problem || context.work.notices().age_s(*notice) > lasts_s) return;
    const float room = static_cast<float>(centre.width) - 2 * style.px(20), width = std::min(room, style.px(560));
    if (width < style.px(100)) return;
    ImGui::SetNextWindowPos({static_cast<float>(centre.left) + 0.5f * static_cast<float>(centre.width),
                             static_cast<float>(centre.top) + style.px(40)},
                            ImGuiCond_Always, {0.5f, 0});
    ImGui::SetNextWindowSizeConstraints({width, 0}, {width, 0.4f * static_cast<float>(centre.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {style.px(14), style.px(10)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, style.px(6));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImVec4(raised.x, raised.y, raised.z, 0.94f));
    ImGui::PushStyleColor(ImGuiCol_Border, style.warning);
    ImGui::Begin("trouble", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_AlwaysAutoResize);
    ImGui::PushTextWrapPos(width - style.px(14));
    ImGui::PushStyleColor(ImGuiCol_Text, style.warning);
    ImGui::TextUnformatted(text_of(*notice).c_str());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
    ImGui::End();
    ImGui::PopStyleColor(2);
    ImGui::PopStyleVar(3);
}

}  // namespace echolux
