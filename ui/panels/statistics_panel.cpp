// Panels that report: statistics of the session, and the log of notices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/plan/describe_stats.h"
#include "compute/plural.h"
#include "engine/io/file_name.h"
#include "ui/panels/panel.h"
#include "ui/panels/plot.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/losses.h"

namespace echolux {

// ---- Statistics of the session: rates, waiting times, dropped data with reasons, and frame rate

namespace {

// Draws the statistics that are described for this heading, even if they are 0, so that the layout does not change
// later.
template <class S>
void stat_lines(const PanelContext& context, std::string_view heading, const S& stats) {
    for (const Stat<S>& stat : describe_stats<S>()) {
        if (stat.panel != heading) continue;
        const std::int64_t count = std::get<std::int64_t>(stat.get(stats));
        const std::string name(stat.label), unit(stat.unit);
        figure(context, name.c_str(), count > 0 ? count_text(count) : "none", count > 0 ? unit.c_str() : "");
    }
}

// Draws a name and three columns.
void three_columns(const PanelContext& context, const char* name, const std::array<std::string, 3>& texts,
                   ImFont* font) {
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    const float first = context.style.px(100), each = (width - first) / 3;
    ImGui::TextColored(context.style.muted, "%s", name);
    ImGui::PushFont(font);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const float right = left + first + each * static_cast<float>(i + 1) - context.style.px(4);
        ImGui::SameLine(right - ImGui::CalcTextSize(texts[i].c_str()).x);
        if (font == context.style.numbers) ImGui::TextUnformatted(texts[i].c_str());
        if (font != context.style.numbers) ImGui::TextColored(context.style.muted, "%s", texts[i].c_str());
    }
    ImGui::PopFont();
}

// Median, 95 % and maximum.
void latency_line(const PanelContext& context, const char* name, const Latency& latency) {
    std::array<std::string, 3> texts{"–", "–", "–"};
    if (latency.count() > 0) {
        texts = {short_time_text(latency.percentile_s(0.5)), short_time_text(latency.percentile_s(0.95)),
                 short_time_text(latency.max_s())};
    }
    three_columns(context, name, texts, context.style.numbers);
}

std::string detail_text(const WindowPace& pace) {
    if (pace.pitch > 1) return fmt::format("{:.2g} rays/pixel", 1 / (pace.pitch * pace.pitch));
    return pace.passes > 1 ? fmt::format("{} rays/pixel", pace.passes) : "1 ray/pixel";
}

class StatisticsPanel : public NamedPanel {
  public:
    StatisticsPanel() : NamedPanel("statistics", "Statistics", PanelSide::left, "fps rate speed performance lost") {}

    void draw(const PanelContext& context) override {
        const double now_s = context.work.now_s();
        draw_pictures(context, now_s);
        draw_device(context, now_s);
        ViewSource* view_source = context.work.viewer().view_source();
        if (view_source == nullptr || view_source->live() == nullptr) return;
        const LiveController& live = *view_source->live();
        const LiveStats stats = live.stats();
        draw_rates(context, stats, live.ring(), now_s);
        if (section(context, "GPUs", false)) {
            ImGui::BeginChild("gpus", {0, 5 * ImGui::GetTextLineHeightWithSpacing()});
            draw_devices(context, live.devices());
            ImGui::EndChild();
        }
        if (section(context, "Latency", true)) draw_waiting(context, stats);
        if (!section(context, "Dropped", true)) return;
        const std::int64_t lost = context.work.losses().total();  // as the count in the bar
        figure(context, "lost in all", lost > 0 ? count_text(lost) : "none", lost > 0 ? "blocks" : "");
        stat_lines(context, "Dropped", stats);
        stat_lines(context, "Dropped", live.ring());
    }

  private:
    void draw_pictures(const PanelContext& context, double now_s) {
        const WindowPace& pace = context.state.pace;
        pictures_.add(now_s, pace.pictures_per_s);
        interface_.add(now_s, 1e3 * pace.interface_cpu_s);
        sparkline(context, "frame rate", pictures_, now_s, fmt::format("{:.1f}", pace.pictures_per_s), "fps");
        sparkline(context, "UI frame time", interface_, now_s, short_time_text(pace.interface_cpu_s), "");
        if (context.work.viewer().is_open()) {
            figure(context, "sampling", detail_text(pace));
        }
        Renderer& renderer = context.work.viewer().renderer();
        figure(context, "read back", bytes_text(static_cast<double>(renderer.bytes_read_back())));
        const std::string& device = renderer.device_name();
        figure(context, "renderer", device.substr(0, device.find(" (")));
        tooltip(context, device);
    }

    // Times measured by the device's own clock, which not all devices have. Reconstruction is part of the session
    // statistics, because the CPU may do it.
    void draw_device(const PanelContext& context, double now_s) {
        if (!section(context, "GPU time", true)) return;
        const std::optional<double> interface_s = context.state.pace.interface_gpu_s;
        const CastStats stats = context.work.viewer().renderer().cast_stats();
        // Averages over at least one second.
        if (now_s - casts_since_s_ >= 1) {
            const auto casts = static_cast<double>(std::max<std::int64_t>(stats.timed - casts_.timed, 0));
            const double seconds = stats.seconds - casts_.seconds;
            cast_s_ = casts > 0 ? seconds / casts : 0;
            rays_load_ = std::clamp(seconds / (now_s - casts_since_s_), 0.0, 1.0);
            casts_ = stats;
            casts_since_s_ = now_s;
        }
        figure(context, "UI frame time", interface_s ? short_time_text(*interface_s) : "not measured");
        figure(context, "rays", cast_s_ > 0 ? short_time_text(cast_s_) : interface_s ? "at rest" : "not measured");
        tooltip(context,
                "duration of a pass, or of the part submitted at once; includes the brick update of a new volume");
        figure(context, "ray-casting load", fmt::format("{:.0f}", 100 * rays_load_), "%");
    }

    void draw_rates(const PanelContext& context, const LiveStats& stats, const RingStatistics& ring, double now_s) {
        if (!section(context, "Session", true)) return;
        acquired_.add(now_s, stats.acquired_a_scans_per_s);
        processed_.add(now_s, stats.processed_a_scans_per_s);
        load_.add(now_s, 100 * stats.load);
        sparkline(context, "acquired", acquired_, now_s, rate_text(stats.acquired_a_scans_per_s), "A-scans/s");
        sparkline(context, "processed", processed_, now_s, rate_text(stats.processed_a_scans_per_s), "A-scans/s");
        sparkline(context, "load", load_, now_s, fmt::format("{:.0f}", 100 * stats.load), "%");
        stat_lines(context, "Session", stats);
        stat_lines(context, "Session", ring);
        figure(context, "kept", ring.max_kept > 0 ? fmt::format("{} of {}", ring.kept, ring.max_kept) : "none");
        figure(context, "queue", fmt::format("{} (max {})", stats.queue.waiting_blocks, stats.queue.max_waiting_blocks),
               "blocks");
    }

    static void draw_waiting(const PanelContext& context, const LiveStats& stats) {
        three_columns(context, "", {"median", "95 %", "max"}, context.style.text);
        latency_line(context, "queue", stats.waiting);
        latency_line(context, "reconstructing", stats.feeding);
        latency_line(context, "end to end", stats.shown);
    }

    // Means per block since the last change of settings.
    static void draw_devices(const PanelContext& context, const std::vector<DeviceWork>& devices) {
        three_columns(context, "", {"link", "kernels", "copy"}, context.style.text);
        std::int64_t all = 0;
        for (const DeviceWork& one : devices) all += one.blocks;
        for (const DeviceWork& one : devices) {
            const auto blocks = static_cast<double>(std::max<std::int64_t>(1, one.blocks));
            const double share =
                100 * static_cast<double>(one.blocks) / static_cast<double>(std::max<std::int64_t>(1, all));
            const std::string name = fmt::format("{}: {:.0f} %", &one - devices.data() + 1, share);
            if (one.failure.empty()) {
                three_columns(context, name.c_str(),
                              {short_time_text(one.link_s / blocks), short_time_text(one.kernels_s / blocks),
                               short_time_text(one.copy_s / blocks)},
                              context.style.numbers);
            } else {
                figure(context, name.c_str(), "not used");
            }
            tooltip(context, fmt::format("{}{}{}; waits {} per block for a buffer{}", one.name,
                                         one.transfer_path.empty() ? "" : ", ", one.transfer_path,
                                         short_time_text(one.waiting_s / blocks),
                                         one.failure.empty() ? "" : "; " + one.failure));
        }
    }

    CastStats casts_;  // values one second ago
    double casts_since_s_ = 0, cast_s_ = 0, rays_load_ = 0;
    RecentValues pictures_, interface_, acquired_, processed_, load_;
};

}  // namespace

std::unique_ptr<Panel> make_statistics_panel() {
    return std::make_unique<StatisticsPanel>();
}

// ---- Panel with all notices, newest first.

namespace {

constexpr std::size_t max_lines = 200;  // maximum number of drawn lines; Copy has no limit

std::string line_of(const Notice& notice) {
    const std::string times = notice.times > 1 ? fmt::format("  ({})", plural(notice.times, "times")) : "";
    return fmt::format("{}  {}{}", duration_text(notice.time_s), notice.line, times);
}

class LogPanel : public NamedPanel {
  public:
    LogPanel() : NamedPanel("log", "Log", PanelSide::left, "messages errors warnings notices") {}

    void draw(const PanelContext& context) override {
        const Style& style = context.style;
        const std::deque<Notice>& all = context.work.notices().all();
        const float copy = ImGui::CalcTextSize("Copy").x + 2 * ImGui::GetStyle().FramePadding.x;
        const float button = ImGui::GetContentRegionAvail().x - copy - style.px(6);
        ImGui::SetNextItemWidth(button);
        std::array<char, 128> filter{};
        filter_.copy(filter.data(), filter.size() - 1);
        if (ImGui::InputTextWithHint("##filter", "filter", filter.data(), filter.size())) filter_ = filter.data();
        note_place(context, "log.filter");
        ImGui::SameLine(0, style.px(6));
        if (plain_button(context, "log.copy", "Copy", "copy all lines that match the filter to the clipboard"))
            copy_all(all);
        draw_lines(context, all);
    }

  private:
    // Ignores case.
    bool fits(const Notice& notice) const {
        return filter_.empty() ||
               lower_case(notice.place + " " + notice.line).find(lower_case(filter_)) != std::string::npos;
    }

    void copy_all(const std::deque<Notice>& all) const {
        std::string text;
        for (const Notice& notice : all) {
            if (fits(notice)) text += line_of(notice) + "\n";
        }
        ImGui::SetClipboardText(text.c_str());
    }

    void draw_lines(const PanelContext& context, const std::deque<Notice>& all) const {
        const Style& style = context.style;
        ImGui::BeginChild("lines", {0, style.px(180)});
        if (all.empty()) muted_text(context, "Warnings, errors and saved files are listed here.");
        ImGui::PushTextWrapPos(0);
        std::size_t drawn = 0;
        for (auto notice = all.rbegin(); notice != all.rend() && drawn < max_lines; ++notice) {
            if (!fits(*notice)) continue;
            ++drawn;
            const bool is_bad = notice->is_problem;
            const ImVec4 colour = is_bad && notice->stands ? style.warning : style.muted;
            ImGui::PushStyleColor(ImGuiCol_Text, colour);
            ImGui::TextUnformatted(line_of(*notice).c_str());
            ImGui::PopStyleColor();
        }
        ImGui::PopTextWrapPos();
        ImGui::EndChild();
    }

    std::string filter_;
};

}  // namespace

std::unique_ptr<Panel> make_log_panel() {
    return std::make_unique<LogPanel>();
}

}  // namespace echolux
