#include "ui/panels/measuring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/annotations/annotations.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/plot.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

// Unused coordinates are omitted at the end of the line.
void add_line(std::string& csv, const char* kind, double value, const std::string& unit,
              std::span<const double> places) {
    csv += fmt::format("{},{:.6g},{}", kind, value, unit);
    for (const double number : places) csv += fmt::format(",{:.6g}", number);
    csv += "\n";
}

}  // namespace

void MeasureTool::begin(Kind kind) {
    kind_ = kind;
    places_.clear();
}

void MeasureTool::forget() {
    cancel();
    probes_.clear();
    remove_profile();
    under_pointer.reset();
}

std::string hint_of(const MeasureTool& tool) {
    const std::size_t next = tool.places_taken() + 1, wanted = tool.places_wanted();
    switch (tool.kind()) {
        case MeasureTool::Kind::distance:
            return fmt::format("Distance: click point {} of {}; Esc to finish", next, wanted);
        case MeasureTool::Kind::angle: return fmt::format("Angle: click point {} of {}; Esc to finish", next, wanted);
        case MeasureTool::Kind::profile:
            return fmt::format("Profile: click point {} of {}; Esc to finish", next, wanted);
        case MeasureTool::Kind::probe: return "Probe: click points; Esc to finish";
        case MeasureTool::Kind::none: break;
    }
    return "";
}

std::size_t MeasureTool::places_wanted() const {
    switch (kind_) {
        case Kind::distance:
        case Kind::profile: return 2;
        case Kind::angle: return 3;
        case Kind::probe: return 1;
        case Kind::none: break;
    }
    return 0;
}

void MeasureTool::take(Workspace& work, const Probe& probe) {
    if (kind_ == Kind::none) return;
    if (kind_ == Kind::probe) return probes_.push_back(probe);
    places_.insert(places_.end(), probe.place_um.begin(), probe.place_um.end());
    if (places_taken() < places_wanted()) return;
    if (kind_ == Kind::profile) return read_profile(work);
    const bool is_distance = kind_ == Kind::distance;
    std::vector<double> all = is_distance ? work.view().distances : work.view().angles;
    all.insert(all.end(), places_.begin(), places_.end());
    places_.clear();
    work.change(is_distance ? "view.distances" : "view.angles", std::move(all));
}

// Reads the voxels along the line in a job, because they are on the device.
void MeasureTool::read_profile(Workspace& work) {
    const std::vector<double> ends = std::exchange(places_, {});
    const PendingVolume coming = work.viewer().view_source()->begin_reading();
    if (!coming) throw Error(ErrorCode::bad_setting, "there is no volume yet", "measure", "wait for the first");
    remove_profile();
    work.jobs().start(
        "reading a profile",
        [coming, ends, target = std::weak_ptr(profile_)](Progress& progress) -> Jobs::LastStep {
            progress.begin("fetch the volume", 0, "");
            LineProfile profile = line_profile(*coming(), {ends[0], ends[1], ends[2]}, {ends[3], ends[4], ends[5]});
            return [target, made = std::move(profile)] {
                if (const auto place = target.lock()) *place = made;
            };
        },
        [&notices = work.notices()](const Error& error) { notices.report_problem("measure", error); });
}

PositionText place_text(const std::array<double, 3>& place, bool is_um) {
    // Lengths below 1 um also use um, so that the origin is not printed in nm.
    const double longest = std::max({std::abs(place[0]), std::abs(place[1]), std::abs(place[2])});
    const LengthUnit unit = is_um ? unit_for(std::max(longest, 1.0)) : LengthUnit{1, "voxels"};
    const int decimals = !is_um ? 1 : unit.um >= 1000 ? 3 : 1;
    PositionText text{{}, unit.name};
    for (std::size_t axis = 0; axis < 3; ++axis)
        text.numbers[axis] = fmt::format("{:.{}f}", place[axis] / unit.um + 0.0, decimals);
    return text;
}

double length_of(std::span<const double> distance) {
    return std::hypot(distance[3] - distance[0], distance[4] - distance[1], distance[5] - distance[2]);
}

double angle_deg_of(std::span<const double> angle) {
    double product = 0, one = 0, other = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double a = angle[axis] - angle[3 + axis], b = angle[6 + axis] - angle[3 + axis];
        product += a * b;
        one += a * a;
        other += b * b;
    }
    if (one == 0 || other == 0) return 0;
    return 180 / std::numbers::pi * std::acos(std::clamp(product / std::sqrt(one * other), -1.0, 1.0));
}

std::string measurements_csv(const std::vector<double>& distances, const std::vector<double>& angles,
                             const std::string& unit) {
    std::string csv = "kind,value,unit,depth_1,a_1,b_1,depth_2,a_2,b_2,depth_3,a_3,b_3\n";
    const std::span all_distances(distances), all_angles(angles);
    for (std::size_t at = 0; at + 6 <= distances.size(); at += 6) {
        const auto places = all_distances.subspan(at, 6);
        add_line(csv, "distance", length_of(places), unit, places);
    }
    for (std::size_t at = 0; at + 9 <= angles.size(); at += 9) {
        const auto places = all_angles.subspan(at, 9);
        add_line(csv, "angle", angle_deg_of(places), "deg", places);
    }
    return csv;
}

// ---- Panel with the value under the pointer and all measurements.

namespace {

using Kind = MeasureTool::Kind;

std::string with_unit(const std::string& number, const std::string& unit) {
    return unit.empty() ? number : number + " " + unit;
}

std::string joined(const PositionText& place) {
    return fmt::format("{}, {}, {}", place.numbers[0], place.numbers[1], place.numbers[2]);
}

void draw_probe(const PanelContext& context) {
    const auto& probe = context.state.measure.under_pointer;
    figure(context, "value", probe ? short_number(probe->value) : "–", probe ? short_unit(probe->unit).c_str() : "");
    const auto voxel = probe ? fmt::format("{}, {}, {}", probe->voxel[0], probe->voxel[1], probe->voxel[2]) : "–";
    figure(context, "voxel", voxel);
    const PositionText place = probe ? place_text(probe->place_um, probe->has_spacing) : PositionText{};
    figure(context, "place", probe ? joined(place) : "–", place.unit.c_str());
    tooltip(context, "along depth, A-scans, B-scans, from the centre of the first voxel");
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
    state_text(context, tool.kind() == Kind::none ? "Choose a tool, then click in any view." : hint_of(tool), 2);
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
    const BoundField* field = context.work.settings().field(key);
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
        const PositionText place = place_text(probe.place_um, probe.has_spacing);
        const bool is_removed = removable(context, fmt::format("probe {}", i + 1),
                                          with_unit(short_number(probe.value), short_unit(probe.unit)),
                                          fmt::format("measure.probes.remove[{}]", i));
        tooltip(context, "at " + joined(place) + " " + place.unit + " along depth, A-scans, B-scans");
        if (is_removed) return tool.remove_probe(i);
    }
}

// Without a profile the same places are empty.
void draw_profile(const PanelContext& context) {
    MeasureTool& tool = context.state.measure;
    if (!tool.profile()) {
        static PlotZoom zoom;
        draw_plot(context,
                  {.title = "profile",
                   .across = {"along the line", ""},
                   .up = {"value", ""},
                   .whole_across = {0, 1},
                   .if_empty = "Press Profile, then click both ends of a line"},
                  zoom, {ImGui::GetContentRegionAvail().x, context.style.px(170)});
        plain_button(context, "measure.profile.copy", "Copy profile", "measure a profile first", false);
        return;
    }
    const LineProfile& profile = *tool.profile();
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
}

void draw_profile_row(const PanelContext& context) {
    MeasureTool& tool = context.state.measure;
    if (!tool.profile()) return;
    const std::string length = length_text(tool.profile()->length, tool.profile()->has_spacing);
    if (removable(context, "profile", length, "measure.profile.remove")) tool.remove_profile();
}

bool is_empty(const PanelContext& context) {
    const View& view = context.work.view();
    const MeasureTool& tool = context.state.measure;
    return view.distances.empty() && view.angles.empty() && view.flow_arrows.empty() && tool.probes().empty() &&
           !tool.profile();
}

class MeasurePanel : public NamedPanel {
  public:
    MeasurePanel() : NamedPanel("measure", "Measure", PanelSide::right, "distance angle ruler length probe profile") {}
    bool is_available(Workspace& work) const override { return work.viewer().is_open(); }

    void draw(const PanelContext& context) override {
        draw_tools(context);
        draw_probe(context);
        const auto grid = context.work.viewer().view_source()->grid();
        const bool has_unit = grid && grid->spacing_um[0] > 0;
        ImGui::BeginChild("measured", {0, context.style.px(118)});
        if (is_empty(context)) muted_text(context, "Measurements are listed here.");
        draw_list(context, "view.distances", 6, "distance",
                  [has_unit](auto places) { return length_text(length_of(places), has_unit); });
        draw_list(context, "view.angles", 9, "angle",
                  [](auto places) { return fmt::format("{:.1f}°", angle_deg_of(places)); });
        draw_list(context, "view.flow_arrows", 6, "flow arrow",
                  [has_unit](auto places) { return length_text(length_of(places), has_unit); });
        draw_probes(context);
        draw_profile_row(context);
        ImGui::EndChild();
        const View& view = context.work.view();
        const bool has_some = !view.distances.empty() || !view.angles.empty();
        const bool copies = plain_button(context, "measure.copy", "Copy as CSV",
                                         "copy all measurements with positions to the clipboard", has_some);
        draw_profile(context);
        if (copies) {
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
