// Optical model of the sample arm: beam profile, focus, roll-off, attenuation, phase, and the density of scatterers.
// Tissue and Blood place scatterers; SampleArm computes their signal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/simulate/counter_random.h"
#include "engine/simulate/scene.h"
#include "engine/simulate/spectrometer.h"

namespace echolux {

// Scatterers seen by one line, grouped by slab.
struct SlabLists {
    struct List {
        std::vector<float> u, real, imaginary;
    };
    std::vector<List> lists;

    void clear();
};

// One scatterer in the form that SpectrumSum expects, without the beam's weight.
struct Echo {
    std::int64_t slab = 0;
    float u = 0;
    float real = 0;
    float imaginary = 0;
};

// Computes the signal of scatterers. Thread-safe after construction.
class SampleArm {
  public:
    // Keeps references to `scenery` and `sum`. Throws Error{bad_setting} if one B-scan needs more scatterers than fit
    // in memory.
    SampleArm(const Simulation& simulation, const Scenery& scenery, const Spectrometer& spectrometer,
              const SpectrumSum& sum);

    double reach_um() const { return 2 * beam_um; }  // um; scatterers further out contribute less than 4e-4
    double cell_um() const { return beam_um / 2; }   // um, width of a lateral column

    // Returns the amplitude of one tissue scatterer at depth z in um: brightness, roll-off, focus, attenuation
    // exp(-loss).
    double amplitude(double brightness, double z, double loss) const;
    double sensitivity(double depth_um) const;  // roll-off and focus
    // Returns the echo of a scatterer at depth `z` in um.
    Echo echo(double z, double amplitude) const;

    const Scenery& scenery;
    const SpectrumSum& sum;
    double beam_um = 0;
    double index = 1;
    double density = 0;  // scatterers per cubic micrometre

  private:
    void check_scatterers() const;
    double exact_sensitivity(const Spectrometer& spectrometer, double depth_um) const;

    double phase_per_um_ = 0;  // 2 k0 n
    double amplitude_ = 0;
    double focus_um_ = 0;
    double rayleigh_um_ = 0;           // 0 without focus
    std::vector<double> sensitivity_;  // sampled every micrometre
};

// Returns exp(x) for -80 <= x <= 0, accurate to 1e-6. Simple enough for compilers to vectorize.
inline float negative_exp(float x) {
    const float y = x * 1.44269504F;
    const auto whole = static_cast<std::int32_t>(y - 0.5F);
    const float t = (y - static_cast<float>(whole)) * 0.693147181F;
    const float series = 1 + t * (1 + t * (0.5F + t * (1.0F / 6 + t * (1.0F / 24 + t * (1.0F / 120 + t / 720)))));
    return series * std::bit_cast<float>((whole + 127) << 23);
}

// Returns the weight of a scatterer off the beam's axis; light passes the beam profile twice.
inline float beam_weight(float dx, float dy, float inverse_square) {
    return negative_exp(std::max(-2 * (dx * dx + dy * dy) * inverse_square, -80.0F));
}

// ---- Fixed scatterers of a scene, generated in strips one lateral column wide in y. A strip is generated when the
// first line needs it and dropped after the last, so memory does not grow with the scan.

// Bounding box of the beam during some lines, in scene coordinates (um).
struct BeamBox {
    double x_low, x_high, y_low, y_high;
};

// Generates fixed scatterers. gather() may run in several threads, prepare() only alone.
class Tissue {
  public:
    Tissue(const SampleArm& arm, std::uint64_t seed, const Renewal& renewal);

    // Generates the scatterers visible from the box and drops all others. Phases are those of `step` of Renewal.
    void prepare(const BeamBox& box, std::int64_t step = 0);

    // Appends the scatterers that the beam at (x, y) sees; (x, y) must be inside the box. Lines may run in parallel,
    // each with its own `lists`.
    void gather(double x, double y, SlabLists& lists) const;

  private:
    // The scatterers of one row of columns.
    struct Strip {
        std::vector<float> x, y, u, real, imaginary;  // sorted by slab, then by column
        std::vector<std::int64_t> start;              // start of [slab][column], plus the end

        // With renewal: values without phase changes, and the last tick applied to each scatterer.
        std::vector<float> first_real, first_imaginary;
        std::vector<std::int64_t> ticks;
        std::int64_t step = -1;
    };

    Strip strip(std::int64_t row) const;
    void take_columns(const BeamBox& box);
    void renew(Strip& strip, std::int64_t step) const;
    std::int64_t column_of(double x) const;

    const SampleArm& arm_;
    std::uint64_t seed_;
    Renewal renewal_;
    std::int64_t first_column_ = 0;
    std::int64_t columns_ = 0;
    std::map<std::int64_t, Strip> strips_;  // strips by row
};

// ---- Moving scatterers of a scene. A tube is filled with streamlines, each with the speed of laminar flow at its
// distance from the axis. Scatterers follow one another along a streamline without end: number c is at (c + jitter(c))
// * pitch + distance flown. Nothing is stored, the inflow never repeats, and any moment can be computed independently.

// Generates the echoes of moving blood.
class Blood {
  public:
    Blood(const SampleArm& arm, std::uint64_t seed);

    // A cross-section of a tube at the beam's y: slopes, and position and amplitude of the streamlines within reach.
    // Positions in um.
    struct Slice {
        struct Point {
            double x, z, amplitude;
        };
        double x_slope = 0;
        double z_slope = 0;
        std::size_t first = 0;  // index of the first streamline in the tube's list
        std::vector<Point> points;
    };
    // Cross-sections of all tubes at one y.
    struct Section {
        double y = 0;
        std::vector<Slice> tubes;
    };
    // Returns the cross-sections of all tubes at `y`, for beams between `x_low` and `x_high`.
    Section section(double y, double x_low, double x_high) const;

    // Appends the echoes of blood that the beam at (x, section.y) sees at `time_s`. x must be inside the range of the
    // section.
    void gather(const Section& section, double x, double time_s, SlabLists& lists) const;

  private:
    struct Streamline {
        double dx, dz;  // offset from the axis, in um
        double speed;   // um/s
        std::uint64_t key;
    };

    Slice slice(std::size_t tube, double y, double x_low, double x_high) const;
    double reach_um(const Slice& slice) const;  // along x
    void gather_streamline(const Streamline& line, const Slice& slice, const Slice::Point& point, double x, double y,
                           double flown, SlabLists& lists) const;

    const SampleArm& arm_;
    std::vector<std::vector<Streamline>> tubes_;  // sorted by dx
};

}  // namespace echolux
