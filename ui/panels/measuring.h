// Measuring by clicks in the panes: each click on a place goes into a distance or an angle, which then stands in
// view.distances or view.angles like any other setting, undone like any other. And what those settings amount to:
// lengths, angles, a table in text.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ui/workspace/workspace.h"

namespace echolux {

class MeasureTool {
  public:
    enum class Kind { none, distance, angle };

    Kind kind() const { return kind_; }
    void begin(Kind kind);  // of each of which there may be many: it stays until cancel()
    void cancel() { begin(Kind::none); }

    // A click on what a pane shows there, as its probe reports it. The last place of a measurement adds it to the view.
    void take(Workspace& work, const Probe& probe);

    std::size_t places_wanted() const;                               // of one measurement
    std::size_t places_taken() const { return places_.size() / 3; }  // of the one that has been begun

    // What panes find under the pointer; nothing: nothing is seen there.
    std::optional<Probe> under_pointer;

  private:
    Kind kind_ = Kind::none;
    std::vector<double> places_;  // three numbers each, as in view.distances
};

// Six numbers: from and to. In the unit of the places.
double length_of(std::span<const double> distance);

// Nine numbers: a place on one leg, the vertex, a place on the other leg. 0 where a leg has no length.
double angle_deg_of(std::span<const double> angle);

// "kind,value,unit,depth_1,a_1,b_1, ..." and a line for each; `unit` of the places.
std::string measurements_csv(const std::vector<double>& distances, const std::vector<double>& angles,
                             const std::string& unit);

}  // namespace echolux
