// View for alignment with a mirror in the sample arm. Shows the newest lines on their way from camera to A-scan, the
// readings of the peak in large digits, and the calibration from mirrors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "ui/panels/panel.h"
#include "ui/panels/plot.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/calibrating.h"

namespace echolux {
namespace {

ImVec4 faded(ImVec4 colour, float alpha) {
    colour.w = alpha;
    return colour;
}

std::vector<float> floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

// A reading in digits that can be read from across the room.
struct LargeFigure {
    const char* name;
    std::optional<double> value;  // nullopt if there is no reading now
    int decimals;
    const char* unit;
    bool is_problem = false;
};

// Depth and width are in um if the depth pitch is known, otherwise in bins. Saturation above 95 % is marked as trouble.
std::array<LargeFigure, 6> large_figures(const AlignmentReading& reading) {
    const AlignmentStats& stats = reading.stats;
    const auto of_peak = [&](double value) { return stats.has_peak ? std::optional(value) : std::nullopt; };
    const bool has_scale = reading.bin_um > 0, is_clipped = stats.clipped_percent > 0;
    const char* length = has_scale ? "µm" : "bins";
    return {{{is_clipped ? "saturation (clipped)" : "saturation", stats.saturation_percent, 0, "%",
              is_clipped || stats.saturation_percent.value_or(0) > 95},
             {"contrast", of_peak(100 * stats.contrast), 1, "%"},
             {"SNR", of_peak(stats.snr_db), 1, "dB"},
             {"peak", of_peak(stats.peak_db), 1, "dB"},
             {"depth", of_peak(has_scale ? stats.peak_um : stats.peak_bin), 2, length},
             {"width (FWHM)", of_peak(has_scale ? stats.fwhm_um : stats.fwhm_bins), 2, length}}};
}

// `before` is the value of the frozen reading; the difference is printed beside the value.
void draw_large(const PanelContext& context, const LargeFigure& figure, const std::optional<double>& before) {
    const Style& style = context.style;
    ImGui::BeginGroup();
    ImGui::TextColored(style.muted, "%s", figure.name);
    ImGui::PushFont(style.large);
    const float large = ImGui::GetFontSize();
    const std::string text = figure.value ? fmt::format("{:.{}f}", *figure.value, figure.decimals) : "-";
    ImGui::TextColored(figure.is_problem ? style.warning : ImGui::GetStyleColorVec4(ImGuiCol_Text), "%s", text.c_str());
    ImGui::PopFont();
    ImGui::SameLine(0, style.px(4));
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + large - ImGui::GetFontSize() - style.px(2));
    ImGui::TextColored(style.muted, "%s", figure.unit);
    if (figure.value && before) {
        ImGui::SameLine(0, style.px(6));
        const double by = *figure.value - *before;
        // Differences that round to 0 are printed as "=".
        const bool is_seen = std::abs(by) >= 0.5 * std::pow(10, -figure.decimals);
        ImGui::TextColored(style.accent, "%s", is_seen ? fmt::format("{:+.{}f}", by, figure.decimals).c_str() : "=");
    }
    ImGui::EndGroup();
}

class AlignmentView : public NamedPanel {
  public:
    AlignmentView() : NamedPanel("alignment", "Alignment", PanelSide::bottom) {}

    void draw(const PanelContext& context) override {
        Calibrating& calibrating = context.work.calibrating();
        attempt(context, "calibration", [&] { calibrating.look(context.work); });
        const std::optional<AlignmentReading>& reading = calibrating.watch().newest();
        if (!reading) return draw_empty(context);
        draw_figures(context, *reading);
        const float controls = context.style.px(320), min_plots = context.style.px(560);
        if (ImGui::GetContentRegionAvail().x >= controls + min_plots) {
            draw_beside(context, *reading, controls);
        } else {
            draw_below(context, *reading);
        }
    }

  private:
    // Without raw spectra, explains how to get them.
    static void draw_empty(const PanelContext& context) {
        muted_text(context, context.work.settings().scan() == nullptr
                                ? "Open a camera, the simulator or a scan: alignment needs raw spectra."
                                : "No raw spectra yet. Start the source; spectra in GPU memory cannot be shown.");
    }

    static void draw_figures(const PanelContext& context, const AlignmentReading& reading) {
        const auto stats = large_figures(reading);
        const std::optional<AlignmentReading>& frozen = context.work.calibrating().watch().frozen();
        const float room = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
        const std::size_t in_a_row = room >= 6 * context.style.px(128) ? 6 : 3;
        for (std::size_t i = 0; i < stats.size(); ++i) {
            const float share = static_cast<float>(i % in_a_row) / static_cast<float>(in_a_row);
            if (share > 0) ImGui::SameLine(left + share * room);
            draw_large(context, stats[i], frozen ? large_figures(*frozen)[i].value : std::nullopt);
        }
        ImGui::Dummy({0, context.style.px(4)});
    }

    void draw_beside(const PanelContext& context, const AlignmentReading& reading, float controls_width) {
        const float gap = context.style.px(12);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        draw_plots_in(context, reading, {room.x - controls_width - gap, room.y});
        ImGui::SameLine(0, gap);
        if (ImGui::BeginChild("controls")) {
            draw_reading_controls(context);
            draw_calibration_controls(context);
        }
        ImGui::EndChild();
    }

    // Plots above the controls. The controls have two columns, or one in a narrow window.
    void draw_below(const PanelContext& context, const AlignmentReading& reading) {
        const float gap = context.style.px(12);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        draw_plots_in(context, reading, {room.x, std::max(0.62f * room.y, context.style.px(240))});
        const bool has_columns = room.x >= context.style.px(560);
        const float column = has_columns ? (room.x - gap) / 2 : room.x;
        if (ImGui::BeginChild("controls", {column, 0})) {
            draw_reading_controls(context);
            if (!has_columns) draw_calibration_controls(context);
        }
        ImGui::EndChild();
        if (!has_columns) return;
        ImGui::SameLine(0, gap);
        if (ImGui::BeginChild("calibration")) draw_calibration_controls(context);
        ImGui::EndChild();
    }

    void draw_plots_in(const PanelContext& context, const AlignmentReading& reading, ImVec2 size) {
        constexpr ImGuiWindowFlags still = ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar;
        if (ImGui::BeginChild("plots", size, false, still)) draw_plots(context, reading);
        ImGui::EndChild();
    }

    // Four plots in a 2 x 2 grid: spectrum, fringe, A-scan and history.
    void draw_plots(const PanelContext& context, const AlignmentReading& reading) {
        const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
        const float gap = context.style.px(10);
        const ImVec2 size{(room.x - gap) / 2, (room.y - gap) / 2};
        const auto go_to = [&](float column, float row) {
            ImGui::SetCursorScreenPos({at.x + column * (size.x + gap), at.y + row * (size.y + gap)});
        };
        draw_spectrum(context, reading, size);
        go_to(1, 0);
        draw_fringe(context, reading, size);
        go_to(0, 1);
        draw_a_scan(context, reading, size);
        go_to(1, 1);
        draw_history(context, size);
    }

    // Mean spectrum within the band of its extremes, with background and full scale.
    void draw_spectrum(const PanelContext& context, const AlignmentReading& reading, ImVec2 size) {
        const Style& style = context.style;
        const std::vector<float> mean = floats(reading.spectrum), least = floats(reading.min),
                                 greatest = floats(reading.max), background = floats(reading.background);
        Plot plot{"Spectrum", {"sample", ""}, {"counts", ""}, across(mean.size(), 1)};
        plot.bands.push_back({{least}, {greatest}, faded(style.accent, 0.25f)});
        plot.traces.push_back(
            {reading.has_background ? "background" : "low-frequency part", {background}, style.muted});
        plot.traces.push_back({"mean", {mean}, style.accent});
        if (reading.full_scale) {
            plot.levels.push_back({*reading.full_scale, "full scale", style.warning});
            plot.up_range = PlotRange{0, 1.08 * *reading.full_scale};
        }
        draw_plot(context, plot, spectrum_zoom_, size);
    }

    void draw_fringe(const PanelContext& context, const AlignmentReading& reading, ImVec2 size) {
        Plot plot{"Fringe on the k grid", {"point", ""}, {"counts", ""}, across(reading.windowed.size(), 1)};
        plot.traces.push_back({"fringe", {reading.windowed}, context.style.accent});
        draw_plot(context, plot, fringe_zoom_, size);
    }

    void draw_a_scan(const PanelContext& context, const AlignmentReading& reading, ImVec2 size) {
        const Style& style = context.style;
        const AlignmentWatch& watch = context.work.calibrating().watch();
        const double bin = reading.bin_um > 0 ? reading.bin_um : 1;
        const double step = bin / static_cast<double>(reading.points_per_bin);
        Plot plot{"A-scan",
                  {"depth", reading.bin_um > 0 ? "µm" : "bins"},
                  {"level", "dB"},
                  across(reading.a_scan_db.size(), step)};
        if (watch.frozen()) plot.traces.push_back({"frozen", {watch.frozen()->a_scan_db, 0, step}, style.muted});
        if (!watch.held_db().empty())
            plot.traces.push_back({"held", {watch.held_db(), 0, step}, faded(style.good, 0.7f)});
        plot.traces.push_back({"now", {reading.a_scan_db, 0, step}, style.accent});
        const AlignmentStats& stats = reading.stats;
        plot.levels.push_back({stats.floor_db, "noise", style.muted});
        if (stats.has_peak) plot.levels.push_back({stats.peak_bin * bin, "", style.good, true});
        // Keeps the axis steady while the signal moves: from 12 dB below the noise to the next multiple of 10 dB above
        // the highest recent peak.
        double top = stats.peak_db;
        for (const AlignmentWatch::PeakPoint& moment : watch.moments()) top = std::max(top, moment.peak_db);
        plot.up_range = PlotRange{10 * std::floor((stats.floor_db - 12) / 10), 10 * std::ceil((top + 3) / 10)};
        draw_plot(context, plot, a_scan_zoom_, size);
    }

    // Peak and SNR of the last minute, in steps of 0.1 s with gaps where values are missing.
    void draw_history(const PanelContext& context, ImVec2 size) {
        constexpr double shown_s = 60, step_s = 0.1;
        const AlignmentWatch& watch = context.work.calibrating().watch();
        const double now_s = context.work.now_s();
        const auto steps = static_cast<std::size_t>(shown_s / step_s) + 1;
        const float unknown = std::numeric_limits<float>::quiet_NaN();
        std::vector<float> snr(steps, unknown), peak(steps, unknown);
        for (const AlignmentWatch::PeakPoint& moment : watch.moments()) {
            const double place = (moment.time_s - now_s + shown_s) / step_s;
            if (place < 0 || place >= static_cast<double>(steps)) continue;
            snr[static_cast<std::size_t>(place)] = static_cast<float>(moment.snr_db);
            peak[static_cast<std::size_t>(place)] = static_cast<float>(moment.peak_db);
        }
        Plot plot{"Peak over time", {"time", "s"}, {"peak, SNR", "dB"}, {-shown_s, 0}};
        plot.traces.push_back({"peak", {peak, -shown_s, step_s}, context.style.good});
        plot.traces.push_back({"SNR", {snr, -shown_s, step_s}, context.style.accent});
        draw_plot(context, plot, history_zoom_, size);
    }

    static PlotRange across(std::size_t points, double step) {
        return {0, std::max(step, static_cast<double>(points - 1) * step)};
    }

    // ---- controls

    // Row for a setting of this view, which is not part of the workspace settings.
    static void row(const PanelContext& context, std::string_view key) {
        for (const BoundField& field : context.work.calibrating().fields()) {
            if (field.key() != key) continue;
            setting_row(context, field, [&](const Value& value, Edit) {
                return attempt(context, "calibration",
                               [&] { field.set(checked(field, field.default_value, value, key)); });
            });
        }
    }

    static void draw_reading_controls(const PanelContext& context) {
        if (section(context, "A-scan", true)) draw_reading(context);
        if (section(context, "Background", true)) draw_taking(context);
    }

    static void draw_calibration_controls(const PanelContext& context) {
        if (section(context, "k map from two mirrors", true)) draw_mirrors(context);
        if (!section(context, "Dispersion", true)) return;
        setting_row(context, "recipe.a2_rad");
        setting_row(context, "recipe.a3_rad");
        action_button(context, "calibrate.dispersion", "Search on current B-scan");
    }

    static void draw_reading(const PanelContext& context) {
        Calibrating& calibrating = context.work.calibrating();
        AlignmentWatch& watch = calibrating.watch();
        for (const char* key : {"alignment.line", "alignment.average", "alignment.depth_begin"}) row(context, key);
        bool holds = watch.holds_peaks();
        if (ImGui::Checkbox("hold peaks", &holds)) watch.hold_peaks(holds);
        note_place(context, "alignment.hold");
        ImGui::SameLine();
        ImGui::Checkbox("pause", &calibrating.is_still);
        note_place(context, "alignment.still");
        const char* help = "keep the current A-scan as a reference and show differences";
        if (plain_button(context, "alignment.freeze", "Freeze to compare", help)) watch.freeze();
        ImGui::SameLine();
        if (plain_button(context, "alignment.thaw", "Clear", "", watch.frozen().has_value())) watch.thaw();
    }

    // Shows progress while a spectrum is recorded, then its number of lines and age.
    static void draw_taken(const PanelContext& context, Spectrum which) {
        Calibrating& calibrating = context.work.calibrating();
        const MeanSpectrum* measured = calibrating.measured(which);
        if (calibrating.taking() == which) {
            const auto percent = static_cast<int>(100 * calibrating.share_taken());
            figure(context, name_of(which).data(), fmt::format("{} %", percent));
        } else if (measured != nullptr) {
            const std::string ago = duration_text(context.work.now_s() - measured->time_s);
            figure(context, name_of(which).data(), fmt::format("{}, {} ago", plural(measured->lines, "lines"), ago));
        } else {
            figure(context, name_of(which).data(), "none");
        }
    }

    static void draw_taking(const PanelContext& context) {
        action_button(context, "calibrate.take_dark", "Acquire dark");
        ImGui::SameLine();
        action_button(context, "calibrate.take_background", "Acquire background");
        draw_taken(context, Spectrum::dark);
        draw_taken(context, Spectrum::background);
    }

    static void draw_mirrors(const PanelContext& context) {
        Calibrating& calibrating = context.work.calibrating();
        for (const char* key :
             {"mirrors.sides", "mirrors.wavelength_rises", "mirrors.displacement_um", "mirrors.centre_wavelength_nm"}) {
            row(context, key);
        }
        action_button(context, "calibrate.mirror_1", "Acquire mirror 1");
        ImGui::SameLine();
        action_button(context, "calibrate.mirror_2", "Acquire mirror 2");
        draw_taken(context, Spectrum::mirror_1);
        draw_taken(context, Spectrum::mirror_2);
        const bool is_possible = calibrating.can_compute(context.work);
        if (plain_button(context, "calibrate.compute", "Compute", "preview of the result", is_possible)) {
            attempt(context, "calibration", [&] { calibrating.compute(context.work); });
        }
        ImGui::SameLine();
        action_button(context, "calibrate.apply", "Apply and save");
        if (calibrating.found()) draw_found(context, *calibrating.found());
    }

    static void draw_found(const PanelContext& context, const MirrorCalibration& found) {
        muted_text(context, "FWHM: raw, k-linearised, dispersion-compensated");
        for (const std::size_t m : {0U, 1U}) {
            figure(context, m == 0 ? "mirror 1" : "mirror 2",
                   fmt::format("{:.2f}  {:.2f}  {:.2f}", found.fwhm_before[m], found.fwhm_mapped[m], found.fwhm[m]),
                   "bins");
        }
        figure(context, "a2, a3", fmt::format("{:.2f}, {:.2f}", found.a2_rad, found.a3_rad), "rad");
        if (found.depth_pitch_um > 0)
            figure(context, "a bin", fmt::format("{:.4f}", found.depth_pitch_um), "µm in air");
    }

    PlotZoom spectrum_zoom_, fringe_zoom_, a_scan_zoom_, history_zoom_;
};

}  // namespace

std::unique_ptr<Panel> make_alignment_view() {
    return std::make_unique<AlignmentView>();
}

}  // namespace echolux
