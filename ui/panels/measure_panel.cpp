// Panel with the value under the pointer and all measurements.
#include <fmt/format.h>

#include <array>

#include "compute/plan/describe.h"
#include "render/annotations/annotations.h"
#include "ui/panels/icons.h"
#include "ui/panels/measuring.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/plot.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

using Kind = MeasureTool::Kind;

std::string with_unit(const std::string& number, const std::string& unit) {
    return unit.empty() ? number : number + " " + unit;
}

std::string joined(const PlaceText& place) {
    return fmt::format("{}, {}, {}", place.numbers[0], place.numbers[1], place.numbers[2]);
}

void draw_probe(const PanelContext& context) {
    const auto& probe = context.state.measure.under_pointer;
    figure(context, "value", probe ? short_number(probe->value) : "–", probe ? short_unit(probe->unit).c_str() : "");
    const auto voxel = probe ? fmt::format("{}, {}, {}", probe->voxel[0], probe->voxel[1], probe->voxel[2]) : "–";
    figure(context, "voxel", voxel);
    const PlaceText place = probe ? place_text(probe->place_um, probe->has_spacing) : PlaceText{};
    figure(context, "place", probe ? joined(place) : "–", place.unit.c_str());
    tooltip(context, "along depth, A-scans, B-scans, from the middle of the first voxel");
}

void draw_tools(const PanelContext& context) {
    struct Tool {
        const char *id, *label;
        Kind kind;
    };
    constexpr std::array tools{Tool{"measure.distance", "Distance", Kind::distance},
                               Tool{"measure.angle", "Angle", Kind::angle}, Tool{"measure.probe", "Probe", Kind::probe},
                               Tool{"measure.profile", "Profile", Kind::profile}};
    MeasureTool& tool = context.state.measure;
    const float gap = context.style.px(4);
    const float width = (ImGui::GetContentRegionAvail().x - gap * (tools.size() - 1)) / tools.size();
    for (const auto& [id, label, kind] : tools) {
        if (kind != tools.front().kind) ImGui::SameLine(0, gap);
        const bool is_on = tool.kind() == kind;
        const Action* action = context.work.actions().find(id);  // registered by the window, with its key
        const LitButtons lit(context.style, is_on);
        if (plain_button(context, id, label, action != nullptr ? help_of(*action).c_str() : "", true, width))
            tool.begin(is_on ? Kind::none : kind);
    }
    muted_text(context, tool.kind() == Kind::none ? "Choose a tool, then click in any view." : hint_of(tool));
}

// One line of text with a button to remove it. Returns true if the button was clicked.
bool removable(const PanelContext& context, const std::string& name, const std::string& value,
               const std::string& mark) {
    ImGui::PushID(mark.c_str());
    ImGui::AlignTextToFramePadding();
    figure(context, name.c_str(), value);
    ImGui::SameLine(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - 1.25f * ImGui::GetFrameHeight());
    const bool is_removed = icon_button(context, mark, Icon::remove, "remove");
    ImGui::PopID();
    return is_removed;
}

// Draws one line per group of `size` numbers of a setting, each removable.
template <class Text>
void draw_list(const PanelContext& context, const std::string& key, std::size_t size, const char* name,
               const Text& text) {
    const BoundField* field = context.work.field(key);
    if (field == nullptr) return;
    const auto numbers = std::get<std::vector<double>>(field->get());
    for (std::size_t first = 0; first + size <= numbers.size(); first += size) {
        const std::size_t number = first / size;
        if (!removable(context, fmt::format("{} {}", name, number + 1), text(std::span(numbers).subspan(first, size)),
                       fmt::format("{}.remove[{}]", key, number)))
            continue;
        std::vector<double> fewer = numbers;
        const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(first);
        fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
        context.work.change(key, fewer);
        return;
    }
}

void draw_probes(const PanelContext& context) {
    MeasureTool& tool = context.state.measure;
    for (std::size_t i = 0; i < tool.probes().size(); ++i) {
        const Probe& probe = tool.probes()[i];
        const PlaceText place = place_text(probe.place_um, probe.has_spacing);
        const bool is_removed = removable(context, fmt::format("probe {}", i + 1),
                                          with_unit(short_number(probe.value), short_unit(probe.unit)),
                                          fmt::format("measure.probes.remove[{}]", i));
        tooltip(context, "at " + joined(place) + " " + place.unit + " along depth, A-scans, B-scans");
        if (is_removed) return tool.remove_probe(i);
    }
}

void draw_profile(const PanelContext& context) {
    MeasureTool& tool = context.state.measure;
    if (!tool.profile()) return;
    const LineProfile& profile = *tool.profile();
    const bool is_removed =
        removable(context, "profile", length_text(profile.length, profile.has_spacing), "measure.profile.remove");
    // Long profiles are labelled in mm.
    const LengthUnit unit = profile.has_spacing ? unit_for(profile.length) : LengthUnit{1, "voxels"};
    const std::string of_values = short_unit(profile.unit);
    // Shared, because at most one profile exists.
    static PlotZoom zoom;
    const Plot plot{
        .title = "profile",
        .across = {"along the line", unit.name},
        .up = {"value", of_values.c_str()},
        .whole_across = {0, std::max(profile.length / unit.um, 1e-9)},
        .traces = {{"value", {profile.values, 0, std::max(profile.step() / unit.um, 1e-12)}, context.style.accent}}};
    draw_plot(context, plot, zoom, {ImGui::GetContentRegionAvail().x, context.style.px(170)});
    note_place(context, "measure.profile.plot");
    if (plain_button(context, "measure.profile.copy", "Copy profile", "as CSV, to the clipboard"))
        ImGui::SetClipboardText(profile_csv(profile).c_str());
    if (is_removed) tool.remove_profile();
}

class MeasurePanel : public NamedPanel {
  public:
    MeasurePanel() : NamedPanel("measure", "Measure", PanelSide::right) {}
    bool is_there(Workspace& work) const override { return work.is_open(); }

    void draw(const PanelContext& context) override {
        draw_tools(context);
        draw_probe(context);
        const auto grid = context.work.stage().exhibit()->grid();
        const bool has_unit = grid && grid->spacing_um[0] > 0;
        draw_list(context, "view.distances", 6, "distance",
                  [has_unit](auto places) { return length_text(length_of(places), has_unit); });
        draw_list(context, "view.angles", 9, "angle",
                  [](auto places) { return fmt::format("{:.1f}°", angle_deg_of(places)); });
        draw_list(context, "view.flow_arrows", 6, "flow arrow",
                  [has_unit](auto places) { return length_text(length_of(places), has_unit); });
        draw_probes(context);
        draw_profile(context);
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
