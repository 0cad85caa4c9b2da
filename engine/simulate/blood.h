// The moving scatterers of a scene. A tube is filled with streamlines, each with the speed that laminar flow has at its
// distance from the axis, and along each, scatterers follow one another without end: number c passes the place
// (c + jitter(c)) * pitch + distance flown. So nothing is stored, inflow never repeats, and any moment can be computed
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/simulate/sample_arm.h"

namespace echolux {

class Blood {
  public:
    Blood(const SampleArm& arm, std::uint64_t seed);

    // A tube where the beam meets it: slopes, and place and amplitude at y of the streamlines that matter.
    struct Slice {
        struct Point {
            double x, z, amplitude;
        };
        double x_slope = 0;
        double z_slope = 0;
        std::size_t first = 0;  // streamline, of the tube's
        std::vector<Point> points;
    };
    struct Section {
        double y = 0;
        std::vector<Slice> tubes;
    };
    Section section(double y, double x_low, double x_high) const;

    // Adds what the beam at (x, section.y), x within the section, sees of the blood at the time `time_s`.
    void gather(const Section& section, double x, double time_s, SlabLists& lists) const;

  private:
    struct Streamline {
        double dx, dz;  // from the axis
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
