#include "ui/panels/recording_row.h"

#include <fmt/format.h>

#include <cmath>

#include "ui/panels/icons.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr double scarce_s = 120;  // of recording that the disk still has room for

// A button as wide as the panel: a red circle to begin, a white square on red to end.
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

void RecordingRow::draw_room(const PanelContext& context, double bytes_per_s) {
    const auto room = free_space_.bytes(context.work.window().record_folder, context.work.now_s());
    if (!room) return figure(context, "free on the disk", "…");
    const auto bytes = static_cast<double>(*room);
    const bool is_known = bytes_per_s > 0;
    const double left_s = is_known ? bytes / bytes_per_s : 0;
    const bool is_scarce = is_known && left_s < scarce_s;
    if (is_scarce) ImGui::PushStyleColor(ImGuiCol_Text, context.style.recording);
    figure(context, "free on the disk",
           bytes_text(bytes) + (is_known && left_s < 1e6 ? fmt::format("  for {}", duration_text(left_s)) : ""));
    if (is_scarce) ImGui::PopStyleColor();
}

void RecordingRow::draw_running(const PanelContext& context, const RecorderStats& stats) {
    const double seconds = context.work.now_s() - *begun_s_;
    figure(context, "recorded", bytes_text(static_cast<double>(stats.bytes)));
    draw_room(context, seconds > 1 ? static_cast<double>(stats.bytes) / seconds : 0);
    const std::int64_t missing = stats.missing_blocks + stats.lost_blocks + stats.refused_blocks;
    ImGui::PushStyleColor(ImGuiCol_Text, missing > 0 ? context.style.recording : context.style.good);
    figure(context, "missing", missing > 0 ? count_text(missing) : "none", missing > 0 ? "blocks" : "");
    ImGui::PopStyleColor();
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
    if (const auto stats = live.stats().recorder; is_recording && stats) return draw_running(context, *stats);
    setting_row(context, "window.record_folder", "into");
    draw_room(context, 0);
}

}  // namespace echolux
