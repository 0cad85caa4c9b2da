// Planes of a volume perpendicular to one of its axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "compute/types.h"

namespace echolux {

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

}  // namespace echolux
