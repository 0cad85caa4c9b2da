// Panel for motion correction of the displayed volume: reference, shifts of the B-scans, their quality, and whether the
// stabilised or the raw volume is displayed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "compute/plan/describe.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/plot.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/filtering.h"

namespace echolux {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

// One line per state, for a live source.
std::string state_of_live_motion(Workspace& work) {
    const auto done = Filtering::done_live(work);
    if (!work.tissue().registration_display.shown) return "Shown: the raw volume.";
    if (done == nullptr || !done->was_to_be_stabilised) return "From the next volume on.";
    if (!done->unsteady.empty()) return "Shown as it is: " + done->unsteady;
    const std::int64_t skipped = Filtering::live_stats(work).skipped;
    return skipped == 0 ? "Shown: stabilised volumes." : fmt::format("Shown: stabilised volumes; {} skipped.", skipped);
}

std::string state_of_motion(Workspace& work) {
    if (Filtering::is_live(work)) return state_of_live_motion(work);
    const Filtering& filtering = work.filtering();
    const std::string obstacle = Filtering::obstacle(work);
    const bool is_wanted = work.tissue().registration_display.shown;
    if (is_wanted && filtering.is_stabilised(work))
        return filtering.is_under_way() ? "Working: shown is the one before." : "Shown: the stabilised volume.";
    if (!obstacle.empty()) return obstacle;
    if (!is_wanted) return "Shown: the raw volume.";
    return filtering.is_under_way() ? "Working: shown is the raw volume." : "Ended early: shown is the raw volume.";
}

class StabilisePanel : public NamedPanel {
  public:
    StabilisePanel() : NamedPanel("stabilise", "Stabilise", PanelSide::right) {}
    bool is_there(Workspace& work) const override { return work.is_open() && !work.stage().exhibit()->has_planes(); }

    void draw(const PanelContext& context) override {
        Workspace& work = context.work;
        setting_row(context, "registration.shown", "show stabilised");
        const bool is_live = Filtering::is_live(work);
        if (is_live)
            setting_row(context, "registration.across_volumes", "across volumes");
        else if (work.stage().exhibit()->timeline() != nullptr)
            setting_row(context, "registration.reference", "compare with");
        if (section(context, "Ranges", false)) {
            for (const char* key : {"registration.axial_range", "registration.lateral_range", "registration.row_range"})
                setting_row(context, key);
            odd_strip(context);
            setting_row(context, "registration.min_quality");
            setting_row(context, "registration.saccade_speed");
            if (!is_live) setting_row(context, "registration.crosses");
        }
        if (!is_live) draw_buttons(context);
        muted_text(context, state_of_motion(work));
        if (const auto done = Filtering::done_live(work)) {
            if (!done->rows.empty()) draw_result(context, {done->rows, done->used, done});
        } else if (const StabilisedVolume* found = work.filtering().stabilised()) {
            draw_result(context, {found->rows, found->used, found->volume});
        }
    }

  private:
    struct Found {
        const std::vector<RowShift>& rows;
        std::int64_t used;
        std::shared_ptr<const void> of;  // identifies the rows; changes with them
    };

    // The strip must have an odd width.
    static void odd_strip(const PanelContext& context) {
        const BoundField* field = context.work.field("registration.strip");
        if (field == nullptr) return;
        setting_row(context, *field, [&](const Value& value, Edit edit) {
            return context.work.change("registration.strip", Value(std::get<std::int64_t>(value) | 1), edit);
        });
    }

    static void draw_buttons(const PanelContext& context) {
        Workspace& work = context.work;
        Filtering& filtering = work.filtering();
        const bool is_shown = work.tissue().registration_display.shown, is_there = filtering.stabilised() != nullptr;
        const bool can_begin = Filtering::obstacle(work).empty() && !filtering.is_under_way() && !is_there;
        if (plain_button(context, "registration.measure", "Measure motion",
                         "finds the shifts; the raw volume stays in view", can_begin))
            is_shown ? filtering.again() : filtering.measure(work);
        ImGui::SameLine();
        if (plain_button(context, "registration.cancel", "Cancel", "ends what is under way", filtering.is_under_way()))
            work.jobs().cancel(filtering.stabilise_job());
    }

    // Copies the curves only when the result changes.
    void draw_result(const PanelContext& context, const Found& found) {
        const auto saccades = std::ranges::count_if(found.rows, &RowShift::is_saccade);
        figure(context, "B-scans with a place", fmt::format("{} of {}", found.used, found.rows.size()));
        figure(context, "in saccades", fmt::format("{}", saccades));
        if (of_ != found.of) read(found);
        const float width = ImGui::GetContentRegionAvail().x;
        const double rows = std::max<double>(1, static_cast<double>(found.rows.size()) - 1);
        const Style& style = context.style;
        const Plot shifts{
            .title = "shifts",
            .across = {"B-scan", ""},
            .up = {"shift", "voxels"},
            .whole_across = {0, rows},
            .traces = {{"depth", {z_}, style.accent}, {"A-scans", {x_}, style.good}, {"B-scans", {y_}, style.trouble}}};
        draw_plot(context, shifts, shifts_zoom_, {width, style.px(170)});
        note_place(context, "registration.shifts");
        const Plot quality{.title = "quality",
                           .across = {"B-scan", ""},
                           .up = {"quality", ""},
                           .whole_across = {0, rows},
                           .up_range = PlotRange{0, 1},
                           .traces = {{"correlation", {quality_}, style.accent}}};
        draw_plot(context, quality, quality_zoom_, {width, style.px(120)});
        note_place(context, "registration.quality");
        draw_reasons(context, found);
        muted_text(context,
                   "Slow motion and slopes of the tissue look the same from within one volume: level, slope and "
                   "bow of the tissue are left as they are, unless another time point is compared with.");
    }

    // Counts the B-scans without a position by reason.
    static void draw_reasons(const PanelContext& context, const Found& found) {
        std::map<std::string, int> without;
        for (const RowShift& row : found.rows) {
            if (!row.is_valid()) ++without[std::string(name_of(row.reason))];
        }
        for (const auto& [reason, count] : without) figure(context, reason.c_str(), std::to_string(count), "B-scans");
    }

    // B-scans without a position become gaps in the curves.
    void read(const Found& found) {
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

}  // namespace echolux
