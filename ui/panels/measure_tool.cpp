#include "ui/panels/measure_tool.h"

#include <utility>

namespace echolux {

void MeasureTool::begin(Kind kind) {
    kind_ = kind;
    places_.clear();
}

std::size_t MeasureTool::places_wanted() const {
    return kind_ == Kind::distance ? 2 : kind_ == Kind::angle ? 3 : 0;
}

void MeasureTool::take(Workspace& work, const Probe& probe) {
    if (kind_ == Kind::none) return;
    places_.insert(places_.end(), probe.place_um.begin(), probe.place_um.end());
    if (places_taken() < places_wanted()) return;
    const bool is_distance = kind_ == Kind::distance;
    std::vector<double> all = is_distance ? work.view().distances : work.view().angles;
    all.insert(all.end(), places_.begin(), places_.end());
    places_.clear();
    work.change(is_distance ? "view.distances" : "view.angles", std::move(all));
}

}  // namespace echolux
