// The moving scatterers of a scene. A tube is filled with streamlines, each with the speed that laminar flow has at its
// distance from the axis, and along each, scatterers follow one another without end: number c passes the place
// (c + jitter(c)) * pitch + distance flown. So nothing is stored, inflow never repeats, and any moment can be computed
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/acquire/sample_arm.h"

namespace echolux {

class Blood {
  public:
    Blood(const SampleArm& arm, std::uint64_t seed);

    // The streamlines as one B-scan meets them: place of each at y, amplitude of its scatterers.
    struct Section {
        struct Point {
            double x, z, amplitude;
        };
        double y = 0;
        std::vector<std::vector<Point>> tubes;
    };
    Section section(double y) const;

    // Adds what the beam at (x, section.y) sees of the blood at the time `time_s`.
    void gather(const Section& section, double x, double time_s, SlabLists& lists) const;

  private:
    struct Streamline {
        double dx, dz;  // from the axis
        double speed;   // um/s
        std::uint64_t key;
    };

    void gather_streamline(const Streamline& line, const Tube& tube, const Section& section,
                           const Section::Point& point, double x, double flow_time_s, SlabLists& lists) const;

    const SampleArm& arm_;
    std::vector<std::vector<Streamline>> tubes_;  // sorted by dx
};

}  // namespace echolux
