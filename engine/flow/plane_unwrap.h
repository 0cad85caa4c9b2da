// Velocities beyond v_max in one plane through a vessel: they turn over to the other sign, and back. Blood is at rest
// at the wall, so from there inwards each velocity is the one, of those that look the same, nearest to its neighbours'.
#pragma once

#include <cstdint>
#include <vector>

namespace echolux {

// A plane of a lumen: 1 within, [height][width].
struct LumenMask {
    std::int64_t width = 0, height = 0;
    std::vector<std::uint8_t> inside{};

    bool at(std::int64_t i, std::int64_t j) const {
        return i >= 0 && j >= 0 && i < width && j < height && inside[static_cast<std::size_t>(j * width + i)] != 0;
    }
    std::int64_t area() const;
    bool touches_edge() const;  // the lumen goes on beyond the plane
};

// What is enclosed belongs to it.
void fill_holes(LumenMask& mask);

// So many pixels around it, as an ellipse.
LumenMask widened(const LumenMask& mask, double columns, double rows);

// The pixels of the lumen, those at its rim before those further in.
std::vector<std::int64_t> from_rim(const LumenMask& mask);

struct PlaneVelocities {
    double unwrapped = 0;  // share of the lumen that was beyond v_max
    double torn = 0;       // share of neighbouring pixels that still differ by more than half of v_max
    double unknown = 0;    // share of the lumen that had no velocity, and got its neighbours' mean
};

// Within the lumen, in the order of from_rim(); `v_max` 0: unknown, nothing turns over. Values of 0 are unknown: they
// get the mean of those around.
PlaneVelocities unwrap_plane(std::vector<float>& velocities, const LumenMask& mask,
                             const std::vector<std::int64_t>& order, double v_max);

}  // namespace echolux
