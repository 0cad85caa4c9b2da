#include "engine/layers/surfaces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {

double share_of(const Surfaces& surfaces, Reason reason) {
    std::int64_t count = 0;
    for (const Surface& surface : surfaces.all) count += std::ranges::count(surface.reasons, reason);
    const auto places = static_cast<double>(surfaces.lines()) * static_cast<double>(surfaces.all.size());
    return places > 0 ? static_cast<double>(count) / places : 0;
}

double share_found(const Surfaces& surfaces) {
    return share_of(surfaces, Reason::ok) + share_of(surfaces, Reason::ambiguous);
}

std::size_t index_of(const Surfaces& surfaces, const std::string& name) {
    std::vector<std::string_view> names;
    std::string list;
    for (std::size_t i = 0; i < surfaces.all.size(); ++i) {
        if (surfaces.all[i].name == name) return i;
        names.push_back(surfaces.all[i].name);
        list += (list.empty() ? "" : ", ") + surfaces.all[i].name;
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "there is no surface '" + name + "'", "surface",
                near.empty() ? "choose one of " + list : "did you mean \"" + near + "\"?");
}

void put_in_order(Surfaces& surfaces) {
    std::vector<float> deepest(static_cast<std::size_t>(surfaces.lines()), std::numeric_limits<float>::quiet_NaN());
    for (Surface& surface : surfaces.all) {
        for (std::size_t i = 0; i < surface.rows.size(); ++i) {
            float& row = surface.rows[i];
            if (row < deepest[i]) {
                row = deepest[i];
                ++surfaces.moved;
            }
            if (!std::isnan(row)) deepest[i] = row;
        }
    }
}

DepthScale::DepthScale(const VolumeGrid& grid)
    : is_known_(grid.spacing_um[0] > 0), first_(is_known_ ? grid.first_depth_um : 0),
      row_(is_known_ ? grid.spacing_um[0] : 1) {}

std::vector<float> thickness_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower,
                                     const VolumeGrid& grid) {
    const DepthScale scale(grid);
    const std::vector<float>&above = surfaces.all[upper].rows, &below = surfaces.all[lower].rows;
    std::vector<float> thickness(above.size());
    for (std::size_t i = 0; i < above.size(); ++i)
        thickness[i] = static_cast<float>(scale.thickness(below[i] - above[i]));
    return thickness;
}

}  // namespace echolux
