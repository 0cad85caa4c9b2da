// What is under the pointer, and what has been measured.
#include <fmt/format.h>

#include "ui/panels/icons.h"
#include "ui/panels/measuring.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

using Kind = MeasureTool::Kind;

std::string triple(const std::array<double, 3>& numbers) {
    return short_number(numbers[0]) + ", " + short_number(numbers[1]) + ", " + short_number(numbers[2]);
}

void draw_probe(const PanelContext& context) {
    const auto& probe = context.state.measure.under_pointer;
    figure(context, "value", probe ? short_number(probe->value) : "–", probe ? short_unit(probe->unit).c_str() : "");
    const auto voxel = probe ? fmt::format("{}, {}, {}", probe->voxel[0], probe->voxel[1], probe->voxel[2]) : "–";
    figure(context, "voxel", voxel);
    figure(context, "place", probe ? triple(probe->place_um) : "–", probe && probe->has_spacing ? "µm" : "");
    tooltip(context, "along depth, A-scans, B-scans");
}

void mode_button(const PanelContext& context, Kind kind, const char* name, const char* label) {
    MeasureTool& tool = context.state.measure;
    const bool is_on = tool.kind() == kind;
    const LitButtons lit(context.style, is_on);
    if (plain_button(context, name, label)) tool.begin(is_on ? Kind::none : kind);
}

void draw_tool(const PanelContext& context) {
    mode_button(context, Kind::distance, "measure.distance", "Distance");
    ImGui::SameLine();
    mode_button(context, Kind::angle, "measure.angle", "Angle");
    const MeasureTool& tool = context.state.measure;
    if (tool.kind() == Kind::none) return;
    muted_text(context, fmt::format("Click place {} of {} in any view; Esc ends.", tool.places_taken() + 1,
                                    tool.places_wanted()));
}

// One line for each group of `size` numbers; taking one away leaves the others.
template <class Text>
void draw_list(const PanelContext& context, const std::string& key, std::size_t size, const char* name,
               const Text& text) {
    const BoundField* field = context.work.field(key);
    if (field == nullptr) return;
    const auto numbers = std::get<std::vector<double>>(field->get());
    for (std::size_t first = 0; first + size <= numbers.size(); first += size) {
        const std::size_t number = first / size;
        ImGui::PushID(static_cast<int>(first));
        ImGui::AlignTextToFramePadding();
        figure(context, fmt::format("{} {}", name, number + 1).c_str(), text(std::span(numbers).subspan(first, size)));
        ImGui::SameLine(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - 1.25f * ImGui::GetFrameHeight());
        const bool is_removed = icon_button(context, fmt::format("{}.remove[{}]", key, number), Icon::remove, "remove");
        ImGui::PopID();
        if (!is_removed) continue;
        std::vector<double> fewer = numbers;
        const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(first);
        fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
        context.work.change(key, fewer);
        return;
    }
}

class MeasurePanel : public NamedPanel {
  public:
    MeasurePanel() : NamedPanel("measure", "Measure", PanelSide::right) {}
    bool is_there(Workspace& work) const override { return work.is_open(); }

    void draw(const PanelContext& context) override {
        draw_probe(context);
        draw_tool(context);
        const auto grid = context.work.stage().exhibit()->grid();
        const bool has_unit = grid && grid->spacing_um[0] > 0;
        const char* unit = has_unit ? "µm" : "voxels";
        draw_list(context, "view.distances", 6, "distance",
                  [unit](auto places) { return short_number(length_of(places)) + " " + unit; });
        draw_list(context, "view.angles", 9, "angle",
                  [](auto places) { return short_number(angle_deg_of(places)) + "°"; });
        const View& view = context.work.view();
        if (view.distances.empty() && view.angles.empty()) return;
        if (plain_button(context, "measure.copy", "Copy as CSV", "copy all with their positions to the clipboard")) {
            const auto csv = measurements_csv(view.distances, view.angles, has_unit ? "um" : "voxels");
            ImGui::SetClipboardText(csv.c_str());
        }
    }
};

}  // namespace

std::unique_ptr<Panel> make_measure_panel() {
    return std::make_unique<MeasurePanel>();
}

}  // namespace echolux
