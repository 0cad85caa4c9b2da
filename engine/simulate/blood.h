// Moving scatterers of a scene. A tube is filled with streamlines, each with the speed of laminar flow at its distance
// from the axis. Scatterers follow one another along a streamline without end: number c is at (c + jitter(c)) * pitch +
// distance flown. Nothing is stored, the inflow never repeats, and any moment can be computed independently.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/simulate/sample_arm.h"

namespace echolux {

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
