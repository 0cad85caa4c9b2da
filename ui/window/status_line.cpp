// The line at the bottom of the window: see bars.h.
#include "compute/counted.h"
#include "ui/window/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/stage/exhibit.h"
#include "app/stage/live_session.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

// What of a text has room in the current font, with an ellipsis where it was cut.
std::string shortened(std::string text, float max_width) {
    if (ImGui::CalcTextSize(text.c_str()).x <= max_width) return text;
    const auto ends_within = [&text] {
        return !text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80;
    };
    while (!text.empty() && ImGui::CalcTextSize((text + "…").c_str()).x > max_width) {
        while (ends_within()) text.pop_back();  // characters go as a whole
        if (!text.empty()) text.pop_back();
    }
    return text + "…";
}

// Text at a place of the line, as far as it has room.
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

// Who draws, who reconstructs, how fast: on the right.
std::string stats_text(const PanelContext& context) {
    Workspace& work = context.work;
    std::string text;
    const auto add = [&text](const std::string& part) {
        if (!part.empty()) text += (text.empty() ? "" : "   ·   ") + part;
    };
    if (Exhibit* exhibit = work.stage().exhibit()) {
        if (LiveSession* live = exhibit->live(); live != nullptr && live->is_running()) {
            const SessionStats stats = live->stats();
            const double rate = stats.processed_a_scans_per_s;
            if (rate > 0) add(rate_text(rate) + " A-scans/s");
            const std::int64_t lost = stats.arrived.lost + stats.dropped_volumes;
            if (lost > 0) add(count_text(lost) + " lost");
        }
        const std::string way = exhibit->way();
        add(way.substr(0, way.find(';')));  // what comes after it are reasons, which the statistics tell
        if (way.empty()) add(work.stage().renderer().device_name());
    } else {
        add(work.stage().renderer().device_name());
    }
    if (context.state.pace.pictures_per_s > 0) add(fmt::format("{:.0f}/s", context.state.pace.pictures_per_s));
    return text;
}

float draw_job(const PanelContext& context, const JobState& job, float left, float middle) {
    const Style& style = context.style;
    std::string text = job.is_cancelled ? job.title + ": stopping" : job.title;
    if (!job.task.empty() && job.task != job.title) text += ": " + job.task;
    if (job.seconds_left) text += ", " + duration_text(*job.seconds_left) + " left";
    left += write(context, style.text, left, style.px(360), middle, text, ink) + style.px(8);
    const float width = style.px(110), height = style.px(4);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float top = std::round(middle - 0.5f * height);
    list.AddRectFilled({left, top}, {left + width, top + height}, ImGui::GetColorU32(hairline), 0.5f * height);
    const double part = job.total > 0 ? static_cast<double>(job.done) / static_cast<double>(job.total) : 0;
    if (job.total > 0) {
        list.AddRectFilled({left, top}, {left + width * static_cast<float>(std::min(part, 1.0)), top + height},
                           ImGui::GetColorU32(style.accent), 0.5f * height);
    } else {  // unknown how much there is: something that moves
        const float phase = static_cast<float>(std::fmod(job.seconds, 1.6) / 1.6);
        const float from = std::max(0.0f, phase * 1.3f - 0.3f), to = std::min(1.0f, phase * 1.3f);
        list.AddRectFilled({left + width * from, top}, {left + width * to, top + height},
                           ImGui::GetColorU32(style.accent), 0.5f * height);
    }
    left += width + style.px(6);
    ImGui::SetCursorScreenPos({left, middle - style.px(11)});
    ImGui::PushID(static_cast<int>(job.id));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {style.px(6), style.px(2)});
    ImGui::PushStyleColor(ImGuiCol_Button, {0, 0, 0, 0});
    if (ImGui::Button("Cancel") && !job.is_cancelled) context.work.jobs().cancel(job.id);
    note_place(context, "job.cancel");
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::PopID();
    return ImGui::GetItemRectMax().x + style.px(12);
}

// The newest notice that stands; nullptr: none.
const Notice* newest_standing(const Notices& notices) {
    for (auto notice = notices.all().rbegin(); notice != notices.all().rend(); ++notice) {
        if (notice->stands) return &*notice;
    }
    return nullptr;
}

void draw_notice(const PanelContext& context, float left, float right, float middle) {
    const Style& style = context.style;
    const Notice* notice = newest_standing(context.work.notices());
    if (notice == nullptr || right - left < style.px(80)) return;
    constexpr double note_lasts_s = 12;
    if (!notice->is_trouble && context.work.now_s() - notice->time_s > note_lasts_s) return;
    std::string line = notice->line;
    if (notice->times > 1) line += fmt::format("  ({})", counted(notice->times, "times"));
    const ImVec4 colour = notice->is_trouble ? style.trouble : style.muted;
    if (notice->is_trouble) {
        ImGui::GetWindowDrawList()->AddCircleFilled({left + style.px(4), middle}, style.px(3.5f),
                                                    ImGui::GetColorU32(colour));
        left += style.px(14);
    }
    const float written = write(context, style.text, left, right - left, middle, line, colour);
    ImGui::SetCursorScreenPos({left, middle - style.px(12)});
    const std::uint64_t number = notice->number;
    ImGui::InvisibleButton("notice", {std::max(written, 1.0f), style.px(24)});
    note_place(context, "notice");
    if (ImGui::IsItemClicked()) context.work.notices().dismiss(number);
    tooltip(context, line + "\n\nClick to dismiss; the log keeps it.");
}

}  // namespace

void draw_status_line(const PanelContext& context, const Region& place) {
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
    const std::string stats = stats_text(context);
    ImGui::PushFont(style.text);
    const float width = std::min(ImGui::CalcTextSize(stats.c_str()).x, 0.55f * (end - begin));
    ImGui::PopFont();
    write(context, style.text, end - width, width, middle, stats, style.muted);
    float left = begin;
    constexpr double worth_telling_s = 0.3;
    for (const JobState& job : context.work.jobs().states()) {
        if (job.seconds > worth_telling_s && left < end - width - style.px(260))
            left = draw_job(context, job, left, middle);
    }
    draw_notice(context, left, end - width - style.px(20), middle);
    ImGui::End();
}

}  // namespace echolux
