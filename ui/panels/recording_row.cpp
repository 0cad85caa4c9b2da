#include "ui/panels/recording_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/panels/icons.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr double every_s = 2;  // interval of queries

// Data is distributed equally, so the fullest disk limits the total.
std::optional<std::int64_t> bytes_free(const std::vector<std::filesystem::path>& folders) {
    std::optional<std::uintmax_t> least;
    for (const std::filesystem::path& folder : folders) {
        std::error_code problem;
        const auto space = std::filesystem::space(folder, problem);
        if (problem) return std::nullopt;
        least = std::min(least.value_or(space.available), space.available);
    }
    return static_cast<std::int64_t>(least.value_or(0) * folders.size());
}

constexpr double scarce_s = 120;  // remaining recording time that is highlighted

// Button of the panel's width: a red circle to start, a white square on red to stop.
bool record_button(const PanelContext& context, bool is_recording, const std::string& label) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, style.px(34)};
    const bool is_pressed = ImGui::InvisibleButton("##record", size);
    note_place(context, "source.record");
    tooltip(context, is_recording ? "end the recording" : "record every block from the next volume on");
    ImDrawList* list = ImGui::GetWindowDrawList();
    const bool is_lit = ImGui::IsItemHovered();
    ImVec4 ground =
        is_recording ? style.recording : ImGui::GetStyleColorVec4(is_lit ? ImGuiCol_ButtonHovered : ImGuiCol_Button);
    if (is_recording && is_lit) ground.x = 1;
    list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, ImGui::GetColorU32(ground),
                        ImGui::GetStyle().FrameRounding);
    const ImU32 white = IM_COL32(255, 255, 255, 255);
    const ImVec2 middle{at.x + style.px(19), at.y + 0.5f * size.y};
    draw_icon(list, is_recording ? Icon::stop : Icon::record, middle, style.px(13),
              is_recording ? white : ImGui::GetColorU32(style.recording));
    ImGui::PushFont(style.strong);
    const float height = ImGui::GetTextLineHeight();
    list->AddText({at.x + style.px(36), middle.y - 0.5f * height},
                  is_recording ? white : ImGui::GetColorU32(ImGuiCol_Text), label.c_str());
    ImGui::PopFont();
    return is_pressed;
}

}  // namespace

// Starts a query if the last one is old, and returns the last result without waiting.
std::optional<std::int64_t> FreeSpace::bytes(const std::vector<std::filesystem::path>& folders, double now_s) {
    using std::chrono::seconds;
    if (asked_.valid() && asked_.wait_for(seconds(0)) == std::future_status::ready) known_ = asked_.get();
    const bool is_due = folders != folders_ || now_s >= asked_at_s_ + every_s;
    if (!asked_.valid() && is_due) {
        if (folders != folders_) known_.reset();
        folders_ = folders;
        asked_at_s_ = now_s;
        asked_ = std::async(std::launch::async, bytes_free, folders);
    }
    return known_;
}

// With a known data rate, also shows the remaining recording time.
void RecordingRow::draw_room(const PanelContext& context, double bytes_per_s) {
    const auto folders = context.work.recording_folders();
    const char* name = folders.size() == 1 ? "free on the disk" : "free on the disks";
    const auto room = free_space_.bytes(folders, context.work.now_s());
    if (!room) return figure(context, name, "…");
    const auto bytes = static_cast<double>(*room);
    const bool is_known = bytes_per_s > 0;
    const double left_s = is_known ? bytes / bytes_per_s : 0;
    const bool is_scarce = is_known && left_s < scarce_s;
    if (is_scarce) ImGui::PushStyleColor(ImGuiCol_Text, context.style.recording);
    figure(context, name,
           bytes_text(bytes) + (is_known && left_s < 1e6 ? fmt::format("  for {}", duration_text(left_s)) : ""));
    if (is_scarce) ImGui::PopStyleColor();
}

// Draws the figures also before the first recording, so that the layout does not change.
void RecordingRow::draw_written(const PanelContext& context, const std::optional<RecorderStats>& stats) {
    const auto bytes = stats ? static_cast<double>(stats->bytes) : 0;
    const double seconds = begun_s_ ? context.work.now_s() - *begun_s_ : 0;
    figure(context, "recorded", stats ? bytes_text(bytes) : "–");
    const std::int64_t blocks = stats ? stats->blocks_not_in_it() : 0;
    const std::int64_t missing = blocks > 0 ? blocks : stats ? stats->lost_b_scans : 0;
    const ImVec4& colour = missing > 0 ? context.style.recording : context.style.good;
    ImGui::PushStyleColor(ImGuiCol_Text, stats ? colour : context.style.muted);
    figure(context, "missing",
           !stats        ? "–"
           : missing > 0 ? count_text(missing)
                         : "none",
           missing == 0 ? ""
           : blocks > 0 ? "blocks"
                        : "B-scans");
    ImGui::PopStyleColor();
    draw_room(context, seconds > 1 ? bytes / seconds : 0);
}

void RecordingRow::draw(const PanelContext& context, const LiveSession& live) {
    const bool is_recording = live.is_recording();
    if (!is_recording) begun_s_.reset();
    if (is_recording && !begun_s_) begun_s_ = context.work.now_s();
    const std::string label =
        is_recording ? "RECORDING   " + duration_text(context.work.now_s() - *begun_s_) : std::string("Record");
    ImGui::BeginDisabled(!is_recording && !live.is_running());
    const bool is_pressed = record_button(context, is_recording, label);
    ImGui::EndDisabled();
    if (is_pressed) run_action(context, "source.record");
    ImGui::BeginDisabled(is_recording);
    setting_row(context, "window.record_folder", "folder");
    setting_row(context, "window.stripe_folders", "further disks");
    ImGui::EndDisabled();
    figure(context, "goes into", short_path(context.work.keeping_folder(UserFolder::videos)));
    draw_written(context, live.stats().recorder);
}

}  // namespace echolux
