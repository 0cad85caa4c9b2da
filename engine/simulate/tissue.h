// Fixed scatterers of a scene, generated in strips one lateral column wide in y. A strip is generated when the first
// line needs it and dropped after the last, so memory does not grow with the scan.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/simulate/renewal.h"
#include "engine/simulate/sample_arm.h"

namespace echolux {

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

}  // namespace echolux
