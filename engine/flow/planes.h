// Planes of a volume perpendicular to one of its axes: phases unwrapped in them, and masks of vessels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/types.h"

namespace echolux {

// Planes of a volume perpendicular to one of its axes.

// Axes in memory order: 0 depth, 1 A-scans, 2 B-scans.
struct GridPlanes {
    int across = 2;               // the axis normal to the planes
    std::array<int, 2> in{1, 0};  // the axes within a plane: column, row
    std::array<std::int64_t, 3> size{};
    std::array<std::int64_t, 3> stride{};
    std::array<double, 3> spacing_um{};

    GridPlanes(const VolumeGrid& grid, int axis)
        : across(axis), size{grid.depth, grid.a_scans, grid.b_scans}, stride{1, grid.depth, grid.depth * grid.a_scans},
          spacing_um(grid.spacing_um) {
        constexpr std::array<std::array<int, 2>, 3> others{{{1, 2}, {2, 0}, {1, 0}}};
        in = others.at(static_cast<std::size_t>(axis));
    }

    // Number of planes, and their size in pixels.
    std::int64_t count() const { return of(size, across); }
    std::int64_t width() const { return of(size, in[0]); }
    std::int64_t height() const { return of(size, in[1]); }
    double spacing(int axis) const { return of(spacing_um, axis); }
    // Area of a pixel of a plane, in um^2.
    double pixel_um2() const { return of(spacing_um, in[0]) * of(spacing_um, in[1]); }

    // Index of pixel (i, j) of a plane in the volume.
    std::size_t voxel(std::int64_t plane, std::int64_t i, std::int64_t j) const {
        return static_cast<std::size_t>(plane * of(stride, across) + i * of(stride, in[0]) + j * of(stride, in[1]));
    }

  private:
    template <class T>
    static T of(const std::array<T, 3>& three, int axis) {
        return three.at(static_cast<std::size_t>(axis));
    }
};

// Unwraps velocities beyond v_max in one plane of a vessel, where they change sign. Blood is at rest at the wall. From
// there inwards, each velocity is shifted by the multiple of 2 v_max that brings it closest to its neighbours.

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

// Extracts a plane's part of the lumen and of velocities, and measures it.

// Return plane `number` of a volume of marks or of values, [height][width].
LumenMask mask_in(const std::vector<std::uint8_t>& inside, const GridPlanes& planes, std::int64_t number);
std::vector<float> values_in(const std::vector<float>& all, const GridPlanes& planes, std::int64_t number);

// Returns the connected piece that contains the pixel nearest to (column, row); empty if the nearest is more than
// `reach` pixels away.
LumenMask piece_near(const LumenMask& mask, double column, double row, double reach);

// Centre of a lumen in pixels, weighted by velocities of the given sign. `sum` is the total weight.
struct LumenCentre {
    double column = 0, row = 0, sum = 0;
};
// Returns the ring of each counted pixel of the lumen: twice the number of steps of `step_um` from its edge, negative
// outside. Pixels whose nearest edge is above or below get 1 more, because beams and windows are wider than deep. Other
// pixels are `nowhere`.
constexpr std::int32_t nowhere = -1'000'000;
std::vector<std::int32_t> rings_of(const LumenMask& lumen, const LumenMask& counted, const GridPlanes& planes,
                                   double step_um);

// Removes pixels that are slow compared with the fastest, and those that flow the other way.
void keep_faster(LumenMask& lumen, const std::vector<float>& velocities, double sign);

// Returns the velocity-weighted centre of the mask.
LumenCentre centre_of(const LumenMask& mask, const std::vector<float>& velocities, double sign);

}  // namespace echolux
