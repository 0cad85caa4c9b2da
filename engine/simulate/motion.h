// Motion of the tissue under the beam: one continuous function of time for lines, B-scans, repeats and volumes. It is
// the sum of drift, heart beat, tremor, saccades and an optional file. Drift is a low-pass filtered Ornstein-Uhlenbeck
// process, tremor is band-limited white noise. Both are sums of waves whose frequencies divide the spectrum into parts
// of equal power (Shinozuka and Deodatis, Applied Mechanics Reviews 44(4), 1991), so any moment can be computed
// independently.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/simulate/simulator.h"

namespace echolux {

// In micrometres: x and y of the beam relative to the tissue, z of the tissue towards greater depth.
struct Displacement {
    double x_um = 0;
    double y_um = 0;
    double z_um = 0;
};

// The motion of one recording. Thread-safe after construction.
class Motion {
  public:
    // Covers the first `duration_s` of a recording. Throws Error{bad_file} for simulation.motion_file.
    Motion(const Simulation& simulation, double duration_s);

    bool is_still() const { return !moves_; }

    // Returns the total displacement.
    Displacement at(double time_s) const;

    // Returns whether lateral motion without tremor exceeds 0.3 um/ms. Tremor can be as fast for a moment, but has no
    // net displacement.
    bool is_saccade(double time_s) const;

    // Minimum and maximum of each axis over the duration, sampled every few milliseconds.
    struct Excursion {
        Displacement least, greatest;
    };
    Excursion excursion() const;

    // Individual parts, for tests and figures.
    Displacement drift(double time_s) const;
    Displacement heart(double time_s) const;
    Displacement tremor(double time_s) const;
    Displacement saccades(double time_s) const;
    Displacement from_file(double time_s) const;

  private:
    using OfAxes = std::array<double, 3>;  // x, y, z

    // One frequency with separate cosine and sine amplitudes per axis.
    struct Wave {
        double omega;  // rad/s
        OfAxes cosine, sine;
    };
    // A jump of the beam relative to the tissue.
    struct Saccade {
        double time_s, x_um, y_um;
        double x_before, y_before;  // sum of the previous saccades
    };

    void add_waves(std::vector<Wave>& waves, const std::vector<double>& frequencies_hz, const OfAxes& rms_um,
                   std::uint64_t seed) const;
    void add_saccades(const Simulation& simulation);
    static Displacement sum_of(const std::vector<Wave>& waves, double time_s);

    double duration_s_;
    bool moves_ = false;
    double heart_omega_ = 0;
    OfAxes heart_um_{};
    std::vector<Wave> drift_, tremor_;
    std::vector<Saccade> saccades_;  // sorted by time
    std::vector<double> file_;       // [row][4]: t_s, x_um, y_um, z_um
};

// Returns the time to acquire all lines of a simulation.
double duration_s(const Simulation& simulation);

// Writes motion.csv (a row per acquired line) and motion_rows.csv (means over the lines of each acquired B-scan) to
// `folder`, or removes them if nothing moves. `simulation` must include its scene's defaults. Throws Error{output}.
void write_motion(const std::filesystem::path& folder, const Simulation& simulation);

inline constexpr const char* motion_name = "motion.csv";
inline constexpr const char* motion_rows_name = "motion_rows.csv";

}  // namespace echolux
