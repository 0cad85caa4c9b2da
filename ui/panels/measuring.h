// Measurements by clicks in the panes. Distances and angles are stored in view.distances and view.angles and are
// undoable like all settings. Probes and the profile along a line belong to the open document and are discarded with
// it. Also computes lengths, angles and a table from these settings.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/analysis/figures.h"
#include "ui/workspace/workspace.h"

namespace echolux {

class MeasureTool {
  public:
    enum class Kind { none, distance, angle, probe, profile };

    Kind kind() const { return kind_; }
    void begin(Kind kind);  // stays active for several measurements until cancel()
    void cancel() { begin(Kind::none); }

    // Discards probes, the profile and an incomplete measurement when another document is opened.
    void forget();

    // Adds a clicked position, as reported by the probe of a pane. The last position of a measurement adds it to the
    // view; a profile is read by a job.
    void take(Workspace& work, const Probe& probe);

    std::size_t places_wanted() const;                               // per measurement
    std::size_t places_taken() const { return places_.size() / 3; }  // of the current measurement
    std::span<const double> places() const { return places_; }       // three numbers per position, as in view.distances

    const std::vector<Probe>& probes() const { return probes_; }  // clicked positions
    void remove_probe(std::size_t index) { probes_.erase(probes_.begin() + static_cast<std::ptrdiff_t>(index)); }

    const std::optional<LineProfile>& profile() const { return *profile_; }
    void remove_profile() { profile_ = std::make_shared<std::optional<LineProfile>>(); }

    // Probe under the pointer, set by the panes; nullopt if nothing is visible there.
    std::optional<Probe> under_pointer;

  private:
    void read_profile(Workspace& work);

    Kind kind_ = Kind::none;
    std::vector<double> places_;
    std::vector<Probe> probes_;
    // Shared with the job that reads a profile; replacing it discards a late result.
    std::shared_ptr<std::optional<LineProfile>> profile_ = std::make_shared<std::optional<LineProfile>>();
};

// Returns the next step for the user: "Distance: click point 1 of 2; Esc to finish".
std::string hint_of(const MeasureTool& tool);

// Length of six numbers: start and end. In the unit of the positions.
double length_of(std::span<const double> distance);

// Angle of nine numbers: a point on one leg, the vertex, a point on the other leg. 0 if a leg has no length.
double angle_deg_of(std::span<const double> angle);

// Three coordinates in a common unit chosen by the largest: "0.452, 1.200, 0.384 mm". Without known spacing, in voxels.
struct PositionText {
    std::array<std::string, 3> numbers;
    std::string unit;
};
PositionText place_text(const std::array<double, 3>& place, bool is_um);

// CSV with the header "kind,value,unit,depth_1,a_1,b_1, ..." and one line per measurement. `unit` is the unit of the
// positions.
std::string measurements_csv(const std::vector<double>& distances, const std::vector<double>& angles,
                             const std::string& unit);

}  // namespace echolux
