// Unwraps velocities beyond v_max in one plane of a vessel, where they change sign. Blood is at rest at the wall. From
// there inwards, each velocity is shifted by the multiple of 2 v_max that brings it closest to its neighbours.
#pragma once

#include <cstdint>
#include <vector>

namespace echolux {

// Mask of a lumen in a plane: 1 inside, [height][width].
struct LumenMask {
    std::int64_t width = 0, height = 0;
    std::vector<std::uint8_t> inside{};

    // Pixels outside the plane are outside the lumen.
    bool at(std::int64_t i, std::int64_t j) const {
        return i >= 0 && j >= 0 && i < width && j < height && inside[static_cast<std::size_t>(j * width + i)] != 0;
    }
    // Number of pixels inside.
    std::int64_t area() const;
    bool touches_edge() const;  // the lumen continues outside the plane
};

// Adds enclosed holes to the mask.
void fill_holes(LumenMask& mask);

// Dilates the mask by an ellipse with these half-axes in pixels.
LumenMask widened(const LumenMask& mask, double columns, double rows);

// Returns the pixels of the lumen ordered from the rim inwards.
std::vector<std::int64_t> from_rim(const LumenMask& mask);

struct PlaneVelocities {
    double unwrapped = 0;  // share of the lumen that was beyond v_max
    double torn = 0;       // share of neighbouring pixels that still differ by more than v_max / 2
    double unknown = 0;    // share of the lumen without a velocity, replaced by the mean of neighbours
};

// Unwraps velocities of the lumen in place, in the order of from_rim(). `v_max` 0: unknown, nothing is unwrapped.
// Velocities of 0 are unknown and replaced by the mean of known neighbours.
PlaneVelocities unwrap_plane(std::vector<float>& velocities, const LumenMask& mask,
                             const std::vector<std::int64_t>& order, double v_max);

}  // namespace echolux
