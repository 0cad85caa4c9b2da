#include "ui/panels/measuring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "app/stage/exhibit.h"
#include "compute/error.h"
#include "render/annotations/annotations.h"

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
        case MeasureTool::Kind::distance: return fmt::format("Distance: click place {} of {}; Esc ends", next, wanted);
        case MeasureTool::Kind::angle: return fmt::format("Angle: click place {} of {}; Esc ends", next, wanted);
        case MeasureTool::Kind::profile: return fmt::format("Profile: click place {} of {}; Esc ends", next, wanted);
        case MeasureTool::Kind::probe: return "Probe: click places; Esc ends";
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
    const VolumeToCome coming = work.stage().exhibit()->begin_reading();
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
        [&notices = work.notices()](const Error& error) { notices.trouble("measure", error); });
}

PlaceText place_text(const std::array<double, 3>& place, bool is_um) {
    // Lengths below 1 um also use um, so that the origin is not printed in nm.
    const double longest = std::max({std::abs(place[0]), std::abs(place[1]), std::abs(place[2])});
    const LengthUnit unit = is_um ? unit_for(std::max(longest, 1.0)) : LengthUnit{1, "voxels"};
    const int decimals = !is_um ? 1 : unit.um >= 1000 ? 3 : 1;
    PlaceText text{{}, unit.name};
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

}  // namespace echolux
