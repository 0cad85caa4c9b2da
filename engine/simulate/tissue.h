// The fixed scatterers of a scene, made in strips of one lateral column width along x. A strip is made when the first
// line needs it and dropped after the last, so memory does not grow with the scan.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/simulate/renewal.h"
#include "engine/simulate/sample_arm.h"

namespace echolux {

// Where the beam is during some lines, in the scene.
struct BeamBox {
    double x_low, x_high, y_low, y_high;
};

class Tissue {
  public:
    Tissue(const SampleArm& arm, std::uint64_t seed, const Renewal& renewal);

    // Makes what lines in the box see, drops everything else; with the phases of a step of Renewal.
    void prepare(const BeamBox& box, std::int64_t step = 0);

    // Adds what the beam at (x, y) of the box sees. `lists` is the line's own memory.
    void gather(double x, double y, SlabLists& lists) const;

  private:
    struct Strip {
        std::vector<float> x, y, u, real, imaginary;  // sorted by slab, then by column
        std::vector<std::int64_t> start;              // of [slab][column], and the end

        // Where phases change: as they are without, and the tick up to which they have.
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
    std::map<std::int64_t, Strip> strips_;  // by row
};

}  // namespace echolux
