// Least squares with many unknowns, of which each equation has few: positions of tiles, angles of A-scans.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace echolux {

// One equation: the sum of factor * unknown is close to `value`.
struct SparseRow {
    std::vector<std::pair<std::size_t, double>> terms;  // unknown, factor
    double value = 0, weight = 1;
};

// Minimises the weighted squares of all equations and `ridge` times those of the unknowns, by conjugate gradients
// (M. R. Hestenes, E. Stiefel, 1952).
std::vector<double> sparse_solution(const std::vector<SparseRow>& rows, std::size_t unknowns, double ridge);

}  // namespace echolux
