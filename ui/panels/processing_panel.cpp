// Panels for the processing of spectra and volumes: reconstruction, speckle filters, motion correction, and flow.
// Settings without effect are omitted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "render/slots/volume_texture.h"
#include "render/view/curve.h"
#include "ui/panels/panel.h"
#include "ui/panels/plot.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/filtering.h"

namespace echolux {

// ---- Reconstruction from spectra to voxels: background, k linearization, dispersion, window, depth and levels

namespace {

bool is_instrument(ViewSource& view_source) {
    return view_source.live() != nullptr && !view_source.live()->is_recorded();
}

void draw_background(const PanelContext& context) {
    draw_group(context, {"recipe", "calibration"}, "Background");
    ViewSource* view_source = context.work.viewer().view_source();
    if (view_source == nullptr || !is_instrument(*view_source)) return;
    action_button(context, "calibrate.take_background", "Acquire background");
    const float dark = ImGui::CalcTextSize("Acquire dark").x + 2 * ImGui::GetStyle().FramePadding.x;
    same_line_where_fits(context, dark, 8);
    action_button(context, "calibrate.take_dark", "Acquire dark");
}

void draw_dispersion(const PanelContext& context) {
    draw_group(context, {"recipe", "calibration"}, "Dispersion");
    if (context.work.settings().scan()->recipe.dispersion)
        action_button(context, "calibrate.dispersion", "Find automatically");
}

class ProcessingPanel : public NamedPanel {
  public:
    ProcessingPanel()
        : NamedPanel("processing", "Processing", PanelSide::left,
                     "reconstruction recipe dispersion background window") {}
    bool is_available(Workspace& work) const override { return work.settings().scan() != nullptr; }

    void draw(const PanelContext& context) override {
        draw_group(context, {"recipe", "defr", "compressive", "calibration", "nufft"}, "Method");
        if (section(context, "Background", true)) draw_background(context);
        if (section(context, "Spectrum", false)) draw_group(context, {"recipe", "calibration"}, "Spectrum");
        if (section(context, "Dispersion", true)) draw_dispersion(context);
        if (section(context, "Depth", false)) draw_group(context, {"recipe", "calibration"}, "Depth");
        if (section(context, "Levels", true)) draw_group(context, {"recipe", "calibration"}, "Levels");
    }
};

}  // namespace

std::unique_ptr<Panel> make_processing_panel() {
    return std::make_unique<ProcessingPanel>();
}

// ---- Speckle filters for the displayed volume: method, strength, and whether the filtered or the raw volume is
// displayed. Filters affect only the display; files and recordings stay unchanged.

namespace {

// One line in every state, so that the layout does not change.
std::string state_of_live(Workspace& work) {
    const auto done = Filtering::done_live(work);
    if (!work.settings().tissue().filter_display.shown) return "Showing the raw volume";
    if (done == nullptr || !done->was_to_be_filtered) return "Takes effect with the next volume";
    if (!done->unsmooth.empty()) return "Showing the unprocessed volume: " + done->unsmooth;
    const std::int64_t skipped = Filtering::live_stats(work).skipped;
    return skipped == 0 ? "Showing filtered volumes" : fmt::format("Showing filtered volumes; {} skipped", skipped);
}

std::string state_of(Workspace& work) {
    if (Filtering::is_live(work)) return state_of_live(work);
    const Filtering& filtering = work.filtering();
    const std::string obstacle = Filtering::obstacle(work);
    const bool is_wanted = work.settings().tissue().filter_display.shown;
    if (is_wanted && filtering.is_filtered(work)) {
        if (filtering.is_running()) return "Filtering ... showing the previous result";
        return filtering.has_ended_early() ? "Cancelled; showing the previous result" : "Showing the filtered volume";
    }
    if (!obstacle.empty()) return obstacle;
    if (!is_wanted) return "Showing the raw volume";
    return filtering.is_running() ? "Filtering ... showing the raw volume" : "Cancelled; showing the raw volume";
}

class FiltersPanel : public NamedPanel {
  public:
    FiltersPanel()
        : NamedPanel("filters", "Filters", PanelSide::right,
                     "speckle denoise smooth median bilateral nlm non-local means") {}
    bool is_available(Workspace& work) const override {
        return work.viewer().is_open() && !work.viewer().view_source()->has_planes();
    }

    void draw(const PanelContext& context) override {
        setting_row(context, "filter.shown");
        draw_group(context, {"filter"}, "Filter");
        state_text(context, state_of(context.work), 2);
        if (!Filtering::is_live(context.work)) draw_job(context);
    }

  private:
    // Buttons to cancel and restart the filter job.
    static void draw_job(const PanelContext& context) {
        Workspace& work = context.work;
        Filtering& filtering = work.filtering();
        const bool is_wanted = work.settings().tissue().filter_display.shown;
        const bool runs = is_wanted && filtering.is_running();
        const bool ended_early = is_wanted && filtering.has_ended_early();
        if (plain_button(context, "filter.cancel", "Cancel", "cancel filtering", runs))
            work.jobs().cancel(filtering.filter_job());
        ImGui::SameLine();
        if (plain_button(context, "filter.again", "Filter again", "restart filtering after it was cancelled or failed",
                         ended_early && Filtering::obstacle(work).empty()))
            filtering.again();
    }
};

}  // namespace

std::unique_ptr<Panel> make_filters_panel() {
    return std::make_unique<FiltersPanel>();
}

// ---- Panel for motion correction of the displayed volume: reference, shifts of the B-scans, their quality, and
// whether the stabilised or the raw volume is displayed.

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

// One line per state, for a live source.
std::string state_of_live_motion(Workspace& work) {
    const auto done = Filtering::done_live(work);
    if (!work.settings().tissue().registration_display.shown) return "Showing the raw volume";
    if (done == nullptr || !done->was_to_be_stabilised) return "Takes effect with the next volume";
    if (!done->unsteady.empty()) return "Showing the unprocessed volume: " + done->unsteady;
    const std::int64_t skipped = Filtering::live_stats(work).skipped;
    return skipped == 0 ? "Showing stabilised volumes" : fmt::format("Showing stabilised volumes; {} skipped", skipped);
}

std::string state_of_motion(Workspace& work) {
    if (Filtering::is_live(work)) return state_of_live_motion(work);
    const Filtering& filtering = work.filtering();
    const std::string obstacle = Filtering::obstacle(work);
    const bool is_wanted = work.settings().tissue().registration_display.shown;
    if (is_wanted && filtering.is_stabilised(work))
        return filtering.is_running() ? "Stabilising ... showing the previous result" : "Showing the stabilised volume";
    if (!obstacle.empty()) return obstacle;
    if (!is_wanted) return "Showing the raw volume";
    return filtering.is_running() ? "Stabilising ... showing the raw volume" : "Cancelled; showing the raw volume";
}

class StabilisePanel : public NamedPanel {
  public:
    StabilisePanel()
        : NamedPanel("stabilise", "Stabilise", PanelSide::right, "motion register registration align saccade shift") {}
    bool is_available(Workspace& work) const override {
        return work.viewer().is_open() && !work.viewer().view_source()->has_planes();
    }

    void draw(const PanelContext& context) override {
        Workspace& work = context.work;
        setting_row(context, "registration.shown");
        const bool is_live = Filtering::is_live(work);
        if (is_live)
            setting_row(context, "registration.across_volumes");
        else if (work.viewer().view_source()->timeline() != nullptr)
            setting_row(context, "registration.reference");
        if (section(context, "Ranges", false)) {
            draw_group(context, {"registration"}, "Ranges");
            if (!is_live) draw_group(context, {"registration"}, "Single volume");
        }
        if (!is_live) draw_buttons(context);
        state_text(context, state_of_motion(work), 2);
        static const std::vector<RowShift> none;
        if (const auto done = Filtering::done_live(work)) {
            draw_result(context, {done->rows, done->used, done});
        } else if (const StabilisedVolume* found = work.filtering().stabilised()) {
            draw_result(context, {found->rows, found->used, found->volume});
        } else {
            draw_result(context, {none, 0, nullptr});
        }
    }

  private:
    struct RegisteredRows {
        const std::vector<RowShift>& rows;
        std::int64_t used;
        std::shared_ptr<const void> of;  // identifies the rows; changes with them
    };

    static void draw_buttons(const PanelContext& context) {
        Workspace& work = context.work;
        Filtering& filtering = work.filtering();
        const bool is_shown = work.settings().tissue().registration_display.shown,
                   is_there = filtering.stabilised() != nullptr;
        const bool can_begin = Filtering::obstacle(work).empty() && !filtering.is_running() && !is_there;
        if (plain_button(context, "registration.measure", "Measure motion",
                         "compute the shifts; the raw volume stays visible", can_begin))
            is_shown ? filtering.again() : filtering.measure(work);
        ImGui::SameLine();
        if (plain_button(context, "registration.cancel", "Cancel", "cancel the job", filtering.is_running()))
            work.jobs().cancel(filtering.stabilise_job());
    }

    // Copies the curves only when the result changes. Without a result, the same places are empty.
    void draw_result(const PanelContext& context, const RegisteredRows& found) {
        const auto saccades = std::ranges::count_if(found.rows, &RowShift::is_saccade);
        const bool is_there = !found.rows.empty();
        figure(context, "registered B-scans", is_there ? fmt::format("{} of {}", found.used, found.rows.size()) : "–");
        figure(context, "in saccades", is_there ? fmt::format("{}", saccades) : "–");
        if (of_ != found.of) read(found);
        const float width = ImGui::GetContentRegionAvail().x;
        const double rows = std::max<double>(1, static_cast<double>(found.rows.size()) - 1);
        const Style& style = context.style;
        const Plot shifts{
            .title = "shifts",
            .across = {"B-scan", ""},
            .up = {"shift", "voxels"},
            .whole_across = {0, rows},
            .traces = {{"depth", {z_}, style.accent}, {"A-scans", {x_}, style.good}, {"B-scans", {y_}, style.warning}},
            .if_empty = "Press Measure motion"};
        draw_plot(context, shifts, shifts_zoom_, {width, style.px(170)});
        note_place(context, "registration.shifts");
        const Plot quality{.title = "quality",
                           .across = {"B-scan", ""},
                           .up = {"quality", ""},
                           .whole_across = {0, rows},
                           .up_range = PlotRange{0, 1},
                           .traces = {{"correlation", {quality_}, style.accent}},
                           .if_empty = "Press Measure motion"};
        draw_plot(context, quality, quality_zoom_, {width, style.px(120)});
        note_place(context, "registration.quality");
        draw_reasons(context, found);
        muted_text(context,
                   "Within one volume, slow motion cannot be distinguished from tissue shape: level, slope and "
                   "curvature are kept unless another time point is the reference.");
    }

    // Counts the B-scans without a position by reason, in two lines.
    static void draw_reasons(const PanelContext& context, const RegisteredRows& found) {
        std::map<std::string, int> without;
        for (const RowShift& row : found.rows) {
            if (!row.is_valid()) ++without[std::string(name_of(row.reason))];
        }
        std::string text;
        for (const auto& [reason, count] : without)
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", reason, count);
        if (!found.rows.empty()) text = text.empty() ? "All B-scans have a position." : "Without a position: " + text;
        state_text(context, text, 2);
    }

    // B-scans without a position become gaps in the curves.
    void read(const RegisteredRows& found) {
        of_ = found.of;
        for (std::vector<float>* curve : {&z_, &x_, &y_, &quality_}) curve->clear();
        for (const RowShift& row : found.rows) {
            const bool is_there = row.is_valid();
            z_.push_back(is_there ? static_cast<float>(row.z) : unknown);
            x_.push_back(is_there ? static_cast<float>(row.x) : unknown);
            y_.push_back(is_there ? static_cast<float>(row.y) : unknown);
            quality_.push_back(static_cast<float>(row.quality));
        }
    }

    PlotZoom shifts_zoom_, quality_zoom_;
    std::shared_ptr<const void> of_;  // result from which the curves were copied
    std::vector<float> z_, x_, y_, quality_;
};

}  // namespace

std::unique_ptr<Panel> make_stabilise_panel() {
    return std::make_unique<StabilisePanel>();
}

// ---- Panel for the computation of flow from repeated scans, and for its colours over the structure.

namespace {

// Colour bar with its limits in the unit of the flow, and the directions of signed flow below it.
void colour_bar(const PanelContext& context, const FlowScale& scale) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, style.px(14)};
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ColourMap map = colour_map(context.work.view().flow_colour_map);
    constexpr int pieces = 64;
    for (int i = 0; i < pieces; ++i) {
        const double level = (i + 0.5) / pieces;
        const auto colour = colour_at(map, scale.has_sign ? level : 0.5 + 0.5 * level);
        const float x = at.x + size.x * static_cast<float>(i) / pieces;
        list->AddRectFilled({x, at.y}, {x + size.x / pieces + 1, at.y + size.y},
                            ImGui::GetColorU32({static_cast<float>(colour.r), static_cast<float>(colour.g),
                                                static_cast<float>(colour.b), 1}));
    }
    ImGui::Dummy(size);
    note_place(context, "flow.colour_bar");
    const bool is_known = !std::isnan(scale.range);
    const std::string number = is_known ? short_number(scale.range) : "", unit = is_known ? scale.unit : "";
    const std::string high = number + (unit.empty() ? "" : " " + unit);
    const auto ends = [&](const std::string& left, const std::string& right) {
        ImGui::TextColored(style.muted, "%s", left.c_str());
        ImGui::SameLine(ImGui::GetCursorPosX() + size.x - ImGui::CalcTextSize(right.c_str()).x);
        ImGui::TextColored(style.muted, "%s", right.c_str());
    };
    const auto [positive, negative] = flow_words(context.work);
    ImGui::PushFont(style.numbers);
    ends(!scale.has_sign ? "0" : is_known ? "−" + number : "", (scale.has_sign && is_known ? "+" : "") + high);
    ImGui::PopFont();
    ends(scale.has_sign ? negative : "", scale.has_sign ? positive : "");
}

// The method may be set before the first volume arrives.
bool computes_flow(const Workspace& work) {
    return work.settings().scan() != nullptr && work.settings().scan()->flow.method != FlowMethod::none;
}

class FlowPanel : public NamedPanel {
  public:
    FlowPanel()
        : NamedPanel("flow", "Flow", PanelSide::right,
                     "doppler velocity octa angiography blood speed perfusion vessels") {
        settings_.bind("flow", coming_);
    }

    bool is_available(Workspace& work) const override {
        return work.settings().scan() != nullptr ||
               (work.viewer().is_open() && work.viewer().view_source()->flow_grid());
    }

    void draw(const PanelContext& context) override {
        ViewSource* view_source = context.work.viewer().view_source();
        const View& view = context.work.view();
        const auto scale = view_source != nullptr ? view_source->flow_scale(view) : std::nullopt;
        const Scan* scan = context.work.settings().scan();
        // Known before the first volume and before a restart, so that nothing moves when they are complete.
        const Values* coming = context.work.restarting();
        const bool is_shown = scan == nullptr || computes_flow(context.work) || coming != nullptr ||
                              (view_source != nullptr && view_source->live() == nullptr && view_source->flow_grid());
        if (is_shown) {
            // placeholder before the first volume
            colour_bar(context, scale.value_or(FlowScale{.range = NAN, .unit = ""}));
            draw_group(context, {"view"}, "Flow");
            draw_group(context, {"view"}, "Streaks");
            if (plain_button(context, "flow.no_streaks", "Remove streaks", "remove streaks along vessels",
                             !view.flow_streaks.empty()))
                context.work.change("view.flow_streaks", std::vector<double>{});
            const auto grid = view_source != nullptr ? view_source->flow_grid() : std::nullopt;
            const bool lacks_v_max = scan != nullptr ? !(scan->geometry.line_rate_hz > 0) : grid && grid->v_max <= 0;
            if (lacks_v_max && (!grid || is_phasor(*grid))) setting_row(context, "view.flow_v_max");
        }
        if (scan != nullptr && (!is_shown || section(context, "Computing", true))) {
            if (coming != nullptr)
                draw_coming(context, *coming);
            else
                draw_group(context, {"flow"}, "Flow");
        }
    }

  private:
    // The rows that there will be when the scan has been opened again.
    void draw_coming(const PanelContext& context, const Values& values) {
        coming_ = {};
        for (const auto& [key, value] : values) {
            if (settings_.field(key) != nullptr) settings_.set_value(key, value, "flow");
        }
        ImGui::BeginDisabled();
        for (const BoundField* field : settings_.effective("flow", "Flow"))
            setting_row(context, *field, [](const Value&, Edit) {});
        ImGui::EndDisabled();
    }

    decltype(Scan::flow) coming_;
    Settings settings_;  // binds coming_
};

}  // namespace

std::unique_ptr<Panel> make_flow_panel() {
    return std::make_unique<FlowPanel>();
}

}  // namespace echolux
