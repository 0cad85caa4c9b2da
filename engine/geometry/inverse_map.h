// Places of the voxels of a Cartesian grid, in samples of a scanned volume.
//
// The inverse of a BeamMap takes arc tangents and Newton's method per voxel. It is smooth almost everywhere, so it is
// evaluated at nodes 8 voxels apart, 16 along depth, and interpolated by cubic polynomials (Lagrange). Each cell
// between nodes is checked at 5 columns in the middle of its depth. Cells that are off by more than `close` samples
// there, or that contain places without a beam, are evaluated voxel by voxel: turns of a catheter, its axis,
// galvanometers that settle.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/geometry/beam_map.h"

namespace echolux {

// A Cartesian grid in mm. Depth is z, or y of a catheter; A-scans are x; B-scans are y, or z of a catheter.
struct Lattice {
    Position first;
    std::array<std::int64_t, 3> count{};  // depth, A-scans, B-scans
    std::array<double, 3> step_mm{};
    bool is_polar = false;

    Position at(double depth, double a_scan, double b_scan) const {
        const double along_depth = depth * step_mm[0], along_a = a_scan * step_mm[1], along_b = b_scan * step_mm[2];
        if (is_polar) return {first.x_mm + along_a, first.y_mm + along_depth, first.z_mm + along_b};
        return {first.x_mm + along_a, first.y_mm + along_b, first.z_mm + along_depth};
    }
};

// Places of the voxels of one column; NaN where no beam passes. `odd` is empty if A-scans of all B-scans are alike.
struct ColumnSamples {
    std::vector<float> row, even, odd, b_scan;

    WarpedSample operator[](std::size_t z) const {
        return {row[z], {even[z], odd.empty() ? even[z] : odd[z]}, b_scan[z]};
    }
};

class InverseMap {
  public:
    static constexpr double close = 0.01;  // samples

    // Keeps references to both.
    InverseMap(const BeamMap& map, const Lattice& lattice);

    // Finds the places of a column, within 2 `close` of BeamMap::sample(). Thread-safe.
    void find(std::int64_t a_scan, std::int64_t b_scan, ColumnSamples& places) const;

    // Share of the cells that are evaluated voxel by voxel.
    double exact_share() const;

  private:
    // Nodes along one axis.
    struct Axis {
        std::int64_t cells = 0;
        double step = 1;  // voxels per cell

        Axis(std::int64_t count, std::int64_t most);  // `most`: voxels per cell
        std::int64_t nodes() const { return cells + 1; }
        std::int64_t cell(double voxel) const;
        // First of four nodes around a cell, and the weights of all four.
        std::int64_t first_node(std::int64_t cell) const;
        std::array<float, 4> weights(double voxel) const;
    };
    using Parts = std::array<float, 4>;  // row, A-scan in even and in odd B-scans, B-scan

    Parts exact(double z, double a_scan, double b_scan) const;
    void fill_nodes();
    void check_cells();
    void mix_nodes(double a_scan, double b_scan, std::vector<float>& nodes) const;
    void find_exactly(std::int64_t begin, std::int64_t end, std::int64_t a_scan, std::int64_t b_scan,
                      ColumnSamples& places) const;
    void find_straight(std::int64_t a_scan, std::int64_t b_scan, ColumnSamples& places) const;

    const BeamMap& map_;
    const Lattice& lattice_;
    Axis depth_, along_, across_;
    std::vector<float> nodes_;                // per node of B-scans and A-scans: four parts, along depth
    std::vector<std::uint8_t> is_exact_;      // per cell, along depth first
    std::array<std::vector<float>, 4> taps_;  // weights of four nodes along depth, per voxel
    std::vector<std::int64_t> starts_;        // first voxel of each cell along depth, and the end
};

}  // namespace echolux
