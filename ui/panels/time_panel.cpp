// Panel for time: playback of a series, or the state of a live source and its kept volumes.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "app/viewer/live_source.h"
#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/losses.h"

namespace echolux {
namespace {

bool is_series(const Timeline* timeline) {
    return timeline != nullptr && timeline->steps() > 1;
}

bool is_instrument(const LiveController* live) {
    return live != nullptr && !live->is_recorded();
}

using Buttons = std::vector<std::pair<const char*, Icon>>;

void draw_buttons(const PanelContext& context, const Buttons& buttons) {
    for (const auto& [action, icon] : buttons) {
        action_icon(context, action, icon);
        ImGui::SameLine(0, context.style.px(3));
    }
}

// `plays` selects the icon for pausing.
Buttons buttons_of(bool plays) {
    return {{"timeline.first", Icon::first},
            {"timeline.previous", Icon::back},
            {"timeline.play", plays ? Icon::pause : Icon::play},
            {"timeline.next", Icon::forward},
            {"timeline.last", Icon::last}};
}

// Playback speed on a logarithmic control.
void draw_speed(const PanelContext& context, Timeline& timeline) {
    const NumberDisplay shown{.scale = NumberScale(NumberScale::Kind::decades, {0.05, 50}, false),
                              .value = timeline.speed(),
                              .text = short_number(timeline.speed()) + " ×",
                              .to_type = spelled(timeline.speed()),
                              .as_set = timeline.speed()};
    const auto edit = number_control(context, "speed", shown, context.style.px(76));
    note_place(context, "time.speed");
    tooltip(context, "playback speed; 1: as recorded");
    if (!edit) return;
    const auto speed = edit->typed ? typed_number(*edit->typed) : edit->dragged_to;
    if (speed) timeline.set_speed(*speed, context.work.now_s());
}

std::string place_text(const Timeline& timeline) {
    const std::string steps = fmt::format("{} / {}", timeline.step() + 1, timeline.steps());
    if (!timeline.has_times()) return steps;
    return fmt::format("{}    {:.2f} / {:.2f} s", steps, static_cast<double>(timeline.step()) * timeline.step_s(),
                       static_cast<double>(timeline.steps() - 1) * timeline.step_s());
}

// Draws text in the rest of the line, shortened to fit, so that the height of the panel does not change.
void draw_text(const PanelContext& context, ImFont* font, const ImVec4& colour, const std::string& text) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    const float room = right - ImGui::GetItemRectMax().x - context.style.px(14);
    if (text.empty() || room < context.style.px(20)) return;
    ImGui::PushFont(font);
    ImGui::SameLine(0, context.style.px(14));
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(colour, "%s", shortened(text, room).c_str());
    ImGui::PopFont();
}

// Reports frame rate, skipped time points and loading progress.
std::string honest_text(const PanelContext& context, const ViewSource& view_source, const Timeline& timeline) {
    if (timeline.plays() || timeline.left_out() > 0) {
        const std::string rate = timeline.plays() ? fmt::format("{:.1f} steps/s", timeline.shown_per_s()) : "";
        if (timeline.left_out() == 0) return rate;
        return rate + (rate.empty() ? "" : ", ") + fmt::format("{} skipped", count_text(timeline.left_out()));
    }
    const bool has_panes =
        context.work.settings().window().layout != PaneLayout::alignment || context.work.viewer().live() == nullptr;
    return has_panes ? loading_text(view_source) : "";  // without panes nothing is being loaded
}

void draw_series(const PanelContext& context, const ViewSource& view_source, Timeline& timeline) {
    draw_buttons(context, buttons_of(timeline.plays()));
    action_icon(context, "timeline.loop", Icon::loop);
    ImGui::SameLine(0, context.style.px(10));
    draw_speed(context, timeline);
    const Style& style = context.style;
    draw_text(context, style.numbers, ImGui::GetStyleColorVec4(ImGuiCol_Text), place_text(timeline));
    draw_text(context, style.text, timeline.left_out() > 0 ? style.warning : style.muted,
              honest_text(context, view_source, timeline));
    time_bar(context, timeline, view_source.ready_steps(), view_source.incomplete_steps());
}

void draw_live(const PanelContext& context, const LiveController& live) {
    const Style& style = context.style;
    const LiveStats stats = live.stats();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeight();
    const SourceBadge badge = live.is_recording() && live.state() == SourceState::live
                                  ? SourceBadge{"RECORDING", style.alarm, ""}
                                  : badge_of(style, live);
    const ImVec4& colour = badge.colour;
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + 0.4f * height, at.y + 0.5f * ImGui::GetFrameHeight()},
                                                0.32f * height, ImGui::GetColorU32(colour));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + 1.1f * height);
    ImGui::AlignTextToFramePadding();
    ImGui::PushFont(style.strong);
    ImGui::TextColored(colour, "%s", badge.text);
    ImGui::PopFont();
    draw_text(context, style.numbers, ImGui::GetStyleColorVec4(ImGuiCol_Text), duration_text(stats.seconds));
    std::string progress = fmt::format("volume {}, {} A-scans/s", count_text(stats.finished_volumes),
                                       rate_text(stats.processed_a_scans_per_s));
    if (stats.shown.count() > 0) progress += ", latency " + short_time_text(stats.shown.percentile_s(0.5));
    draw_text(context, style.text, style.muted, progress);
    const std::int64_t left_out = stats.left_out_volumes();
    if (left_out > 0) draw_text(context, style.text, style.warning, count_text(left_out) + " dropped");
    const Losses& losses = context.work.losses();
    if (const Loss* loss = losses.selected()) {
        draw_text(context, style.text, style.alarm,
                  fmt::format("{} lost after {:.1f} s, in volume {}", plural(loss->blocks, "blocks"), loss->at_s,
                              loss->volume + 1));
    }
    loss_bar(context, stats.seconds);
}

std::string recent_text(const RecentTimeline& kept) {
    const std::int64_t count = std::ssize(kept.volumes());
    if (kept.is_paused()) return fmt::format("paused at {} / {}    {:.2f} s ago", kept.step() + 1, count, kept.ago_s());
    return fmt::format("{} of {} kept    {:.2f} s", count, kept.max_volumes(), kept.seconds());
}

// Kept volumes of a live source, drawn below its state. Before the first volume the same places are empty.
void draw_recent(const PanelContext& context, RecentTimeline* kept) {
    draw_buttons(context, buttons_of(kept == nullptr || !kept->is_paused()));
    action_button(context, "source.save_kept", "Save");
    const Style& style = context.style;
    const bool is_paused = kept != nullptr && kept->is_paused();
    draw_text(context, style.numbers, is_paused ? style.warning : ImGui::GetStyleColorVec4(ImGuiCol_Text),
              kept != nullptr ? recent_text(*kept) : "none kept yet");
    recent_bar(context, kept);
}

class TimePanel : public NamedPanel {
  public:
    TimePanel() : NamedPanel("time", "Time", PanelSide::bottom) {}

    bool is_available(Workspace& work) const override {
        ViewSource* view_source = work.viewer().view_source();
        return view_source != nullptr && (is_series(view_source->timeline()) || is_instrument(view_source->live()));
    }

    void draw(const PanelContext& context) override {
        ViewSource& view_source = *context.work.viewer().view_source();
        if (Timeline* timeline = view_source.timeline(); is_series(timeline)) {
            draw_series(context, view_source, *timeline);
        } else {
            draw_live(context, *view_source.live());
            const bool keeps = context.work.settings().source().keep_gb > 0;
            RecentTimeline* kept = view_source.recent_timeline();
            if (keeps || kept != nullptr) draw_recent(context, kept);
        }
    }
};

}  // namespace

std::unique_ptr<Panel> make_time_panel() {
    return std::make_unique<TimePanel>();
}

}  // namespace echolux
