// How the tissue moves under the beam, as one continuous function of time that lines, B-scans, repeats and volumes all
// read: m = drift + heart beat + tremor + saccades (+ a file). Drift is an Ornstein-Uhlenbeck process behind a low-pass
// filter, tremor white noise of a band; both are sums of waves whose frequencies divide the spectrum into parts of
// equal power (Shinozuka and Deodatis, Applied Mechanics Reviews 44(4), 1991), so any moment can be computed alone.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/simulate/simulator.h"

namespace echolux {

// Micrometres: of the beam over the tissue along x and y, of the tissue towards greater depth.
struct Displacement {
    double x_um = 0;
    double y_um = 0;
    double z_um = 0;
};

class Motion {
  public:
    // Of the first `duration_s` of a recording. Throws Error{bad_file}: of simulation.motion_file.
    Motion(const Simulation& simulation, double duration_s);

    bool is_still() const { return !moves_; }

    Displacement at(double time_s) const;

    // Faster across than 0.3 um/ms, tremor apart: it is as fast for a moment, and goes nowhere.
    bool is_saccade(double time_s) const;

    // The least and the greatest of each axis over the duration, looked up every few milliseconds.
    struct Excursion {
        Displacement least, greatest;
    };
    Excursion excursion() const;

    // Each part alone, for tests and figures.
    Displacement drift(double time_s) const;
    Displacement heart(double time_s) const;
    Displacement tremor(double time_s) const;
    Displacement saccades(double time_s) const;
    Displacement from_file(double time_s) const;

  private:
    using OfAxes = std::array<double, 3>;  // x, y, z

    // One frequency, for all axes: each has its own amplitudes of the cosine and the sine.
    struct Wave {
        double omega;  // rad/s
        OfAxes cosine, sine;
    };
    struct Saccade {
        double time_s, x_um, y_um;
        double x_before, y_before;  // the sum of those before it
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
    std::vector<Saccade> saccades_;  // in time
    std::vector<double> file_;       // rows of four: t_s, x_um, y_um, z_um
};

// Time that all lines of a simulation take.
double duration_s(const Simulation& simulation);

// Writes motion.csv (a row for each acquired line) and motion_rows.csv (means over the lines of each acquired B-scan)
// into `folder`, or removes them where nothing moves. `simulation` with its scene's defaults. Throws Error{output}.
void write_motion(const std::filesystem::path& folder, const Simulation& simulation);

inline constexpr const char* motion_name = "motion.csv";
inline constexpr const char* motion_rows_name = "motion_rows.csv";

}  // namespace echolux
