// Measuring by clicks in the panes. Distances and angles stand in view.distances and view.angles like any other
// setting, undone like any other; probed places and the profile along a line are of what is open and go with it. And
// what those settings amount to: lengths, angles, a table in text.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/analysis/line_profile.h"
#include "ui/workspace/workspace.h"

namespace echolux {

class MeasureTool {
  public:
    enum class Kind { none, distance, angle, probe, profile };

    Kind kind() const { return kind_; }
    void begin(Kind kind);  // of each of which there may be many: it stays until cancel()
    void cancel() { begin(Kind::none); }

    // Another thing was opened: what has been begun ends, probed places and the profile were of the one before.
    void forget();

    // A click on what a pane shows there, as its probe reports it. The last place of a measurement adds it to the view;
    // a profile is read by a job.
    void take(Workspace& work, const Probe& probe);

    std::size_t places_wanted() const;                               // of one measurement
    std::size_t places_taken() const { return places_.size() / 3; }  // of the one that has been begun
    std::span<const double> places() const { return places_; }       // of it, three numbers each, as in view.distances

    const std::vector<Probe>& probes() const { return probes_; }  // that were clicked
    void remove_probe(std::size_t index) { probes_.erase(probes_.begin() + static_cast<std::ptrdiff_t>(index)); }

    const std::optional<LineProfile>& profile() const { return *profile_; }
    void remove_profile() { profile_ = std::make_shared<std::optional<LineProfile>>(); }

    // What panes find under the pointer; nothing: nothing is seen there.
    std::optional<Probe> under_pointer;

  private:
    void read_profile(Workspace& work);

    Kind kind_ = Kind::none;
    std::vector<double> places_;
    std::vector<Probe> probes_;
    // Of the job that reads one too: what is read when nobody wants it any more is forgotten.
    std::shared_ptr<std::optional<LineProfile>> profile_ = std::make_shared<std::optional<LineProfile>>();
};

// What the tool waits for: "Distance: click place 1 of 2; Esc ends".
std::string hint_of(const MeasureTool& tool);

// Six numbers: from and to. In the unit of the places.
double length_of(std::span<const double> distance);

// Nine numbers: a place on one leg, the vertex, a place on the other leg. 0 where a leg has no length.
double angle_deg_of(std::span<const double> angle);

// Three lengths in the one unit that suits the longest: "0.452, 1.200, 0.384 mm"; of unknown spacing in voxels.
struct PlaceText {
    std::array<std::string, 3> numbers;
    std::string unit;
};
PlaceText place_text(const std::array<double, 3>& place, bool is_um);

// "kind,value,unit,depth_1,a_1,b_1, ..." and a line for each; `unit` of the places.
std::string measurements_csv(const std::vector<double>& distances, const std::vector<double>& angles,
                             const std::string& unit);

}  // namespace echolux
