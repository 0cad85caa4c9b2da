#include "engine/analysis/sparse_solution.h"

#include <algorithm>

namespace echolux {

std::vector<double> sparse_solution(const std::vector<SparseRow>& rows, std::size_t unknowns, double ridge) {
    std::vector<double> x(unknowns, 0), r(unknowns, 0), step, product(unknowns);
    for (const SparseRow& row : rows) {
        for (const auto& [at, factor] : row.terms) r[at] += row.weight * factor * row.value;
    }
    step = r;
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    };
    double squares = dot(r, r);
    const double enough = 1e-20 * squares;
    const std::size_t max_rounds = std::min<std::size_t>(20 * unknowns + 100, 5000);
    for (std::size_t round = 0; round < max_rounds && squares > enough; ++round) {
        for (std::size_t i = 0; i < unknowns; ++i) product[i] = ridge * step[i];
        for (const SparseRow& row : rows) {
            double sum = 0;
            for (const auto& [at, factor] : row.terms) sum += factor * step[at];
            for (const auto& [at, factor] : row.terms) product[at] += row.weight * factor * sum;
        }
        const double length = squares / dot(step, product);
        for (std::size_t i = 0; i < unknowns; ++i) {
            x[i] += length * step[i];
            r[i] -= length * product[i];
        }
        const double before = std::exchange(squares, dot(r, r));
        for (std::size_t i = 0; i < unknowns; ++i) step[i] = r[i] + squares / before * step[i];
    }
    return x;
}

}  // namespace echolux
