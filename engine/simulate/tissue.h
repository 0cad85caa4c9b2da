// The fixed scatterers of a scene, made in strips of one lateral column width along x. A strip is made when the first
// line needs it and dropped after the last, so memory does not grow with the scan.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/simulate/sample_arm.h"

namespace echolux {

// Where the beam is during some lines, in the scene.
struct BeamBox {
    double x_low, x_high, y_low, y_high;
};

class Tissue {
  public:
    Tissue(const SampleArm& arm, std::uint64_t seed);

    // Makes what lines in the box see, drops everything else.
    void prepare(const BeamBox& box);

    // Adds what the beam at (x, y) of the box sees. `lists` is the line's own memory.
    void gather(double x, double y, SlabLists& lists) const;

  private:
    struct Strip {
        std::vector<float> x, y, u, real, imaginary;  // sorted by slab, then by column
        std::vector<std::int64_t> start;              // of [slab][column], and the end
    };

    Strip strip(std::int64_t row) const;
    std::int64_t column_of(double x) const;

    const SampleArm& arm_;
    std::uint64_t seed_;
    std::int64_t first_column_ = 0;
    std::int64_t columns_ = 0;
    std::map<std::int64_t, Strip> strips_;  // by row
};

}  // namespace echolux
