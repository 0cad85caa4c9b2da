// Speckle filters for the displayed volume: method, strength, and whether the filtered or the raw volume is displayed.
// Filters affect only the display; files and recordings stay unchanged.
#include <fmt/format.h>

#include "compute/plan/describe.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/filtering.h"

namespace echolux {
namespace {

// Row for a filter width, which must be odd.
void odd_row(const PanelContext& context, const char* key) {
    const BoundField* field = context.work.field(key);
    if (field == nullptr) return;
    setting_row(context, *field, [&](const Value& value, Edit edit) {
        return context.work.change(key, Value(std::get<std::int64_t>(value) | 1), edit);
    });
}

// Settings of the selected method.
void draw_method(const PanelContext& context, FilterMethod method) {
    switch (method) {
        case FilterMethod::nlm:
            setting_row(context, "filter.strength");
            odd_row(context, "filter.search_depth");
            odd_row(context, "filter.search_a_scans");
            odd_row(context, "filter.search_b_scans");
            odd_row(context, "filter.patch");
            break;
        case FilterMethod::median: setting_row(context, "filter.median_size"); break;
        case FilterMethod::bilateral:
            setting_row(context, "filter.sigma");
            setting_row(context, "filter.range_db");
            break;
    }
}

// One line in every state, so that the layout does not change.
std::string state_of_live(Workspace& work) {
    const auto done = Filtering::done_live(work);
    if (!work.tissue().filter_display.shown) return "Shown: the raw volume.";
    if (done == nullptr || !done->was_to_be_filtered) return "From the next volume on.";
    if (!done->unsmooth.empty()) return "Shown as it is: " + done->unsmooth;
    const std::int64_t skipped = Filtering::live_stats(work).skipped;
    return skipped == 0 ? "Shown: filtered volumes." : fmt::format("Shown: filtered volumes; {} skipped.", skipped);
}

std::string state_of(Workspace& work) {
    if (Filtering::is_live(work)) return state_of_live(work);
    const Filtering& filtering = work.filtering();
    const std::string obstacle = Filtering::obstacle(work);
    const bool is_wanted = work.tissue().filter_display.shown;
    if (is_wanted && filtering.is_filtered(work)) {
        if (filtering.is_under_way()) return "Filtering again: shown is the one before.";
        return filtering.has_ended_early() ? "Ended early: shown is the one before." : "Shown: the filtered volume.";
    }
    if (!obstacle.empty()) return obstacle;
    if (!is_wanted) return "Shown: the raw volume.";
    return filtering.is_under_way() ? "Filtering: shown is the raw volume." : "Ended early: shown is the raw volume.";
}

class FiltersPanel : public NamedPanel {
  public:
    FiltersPanel() : NamedPanel("filters", "Filters", PanelSide::right) {}
    bool is_there(Workspace& work) const override { return work.is_open() && !work.stage().exhibit()->has_planes(); }

    void draw(const PanelContext& context) override {
        setting_row(context, "filter.shown", "show filtered");
        setting_row(context, "filter.method");
        draw_method(context, context.work.tissue().filter.method);
        setting_row(context, "filter.looks");
        setting_row(context, "filter.stored_as", "voxels hold");
        muted_text(context, state_of(context.work));
        if (!Filtering::is_live(context.work)) draw_job(context);
    }

  private:
    // Buttons to cancel and restart the filter job.
    static void draw_job(const PanelContext& context) {
        Workspace& work = context.work;
        Filtering& filtering = work.filtering();
        const bool is_wanted = work.tissue().filter_display.shown;
        const bool runs = is_wanted && filtering.is_under_way();
        const bool ended_early = is_wanted && filtering.has_ended_early();
        if (plain_button(context, "filter.cancel", "Cancel", "ends the filtering that is under way", runs))
            work.jobs().cancel(filtering.filter_job());
        ImGui::SameLine();
        if (plain_button(context, "filter.again", "Filter again", "after it was cancelled, or failed",
                         ended_early && Filtering::obstacle(work).empty()))
            filtering.again();
    }
};

}  // namespace

std::unique_ptr<Panel> make_filters_panel() {
    return std::make_unique<FiltersPanel>();
}

}  // namespace echolux
