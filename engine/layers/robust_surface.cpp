#include "engine/layers/robust_surface.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/parallel_for.h"

namespace echolux {
namespace {

constexpr std::size_t terms = 6;  // 1, x, y, x^2, x y, y^2
constexpr int iterations = 8;
constexpr double least_pivot = 1e-6;

using Terms = std::array<double, terms>;

// Weighted sums of products, solved by elimination without exchange: the matrix is positive. Terms that the places
// cannot tell apart (one row of B-scans has no y) are 0.
class NormalEquations {
  public:
    void add(const Terms& place, double value, double weight) {
        for (std::size_t i = 0; i < terms; ++i) {
            for (std::size_t j = 0; j < terms; ++j) matrix_[i][j] += weight * place[i] * place[j];
            right_[i] += weight * place[i] * value;
        }
    }

    Terms solved() {
        std::array<bool, terms> is_known{};
        for (std::size_t i = 0; i < terms; ++i) {
            is_known[i] = matrix_[i][i] > least_pivot;
            if (!is_known[i]) continue;
            for (std::size_t row = i + 1; row < terms; ++row) {
                const double factor = matrix_[row][i] / matrix_[i][i];
                for (std::size_t j = i; j < terms; ++j) matrix_[row][j] -= factor * matrix_[i][j];
                right_[row] -= factor * right_[i];
            }
        }
        Terms solution{};
        for (std::size_t i = terms; i-- > 0;) {
            if (!is_known[i]) continue;
            double sum = right_[i];
            for (std::size_t j = i + 1; j < terms; ++j) sum -= matrix_[i][j] * solution[j];
            solution[i] = sum / matrix_[i][i];
        }
        return solution;
    }

  private:
    std::array<Terms, terms> matrix_{};
    Terms right_{};
};

struct Neighbour {
    Terms place;
    double value;
};

double at(const Terms& surface, const Terms& place) {
    double sum = 0;
    for (std::size_t i = 0; i < terms; ++i) sum += surface[i] * place[i];
    return sum;
}

// Where the surface of most neighbours passes the middle of them.
double fitted(const std::vector<Neighbour>& neighbours, double limit) {
    Terms surface{};
    for (int i = 0; i < iterations; ++i) {
        NormalEquations equations;
        for (const Neighbour& one : neighbours) {
            const double off = std::abs(one.value - at(surface, one.place)) / limit;
            // First all count alike, then by their distance, at last hardly any that is further off than the limit.
            const double weight = i == 0               ? 1
                                  : i < iterations / 2 ? 1 / std::max(off, 0.2)
                                                       : 1 / (1 + off * off * off * off);
            equations.add(one.place, one.value, weight);
        }
        surface = equations.solved();
    }
    return surface[0];
}

}  // namespace

std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit) {
    std::vector<float> out = map;
    parallel_for(0, size.b_scans, [&](std::int64_t b) {
        std::vector<Neighbour> neighbours;
        for (std::int64_t a = 0; a < size.a_scans; ++a) {
            neighbours.clear();
            for (std::int64_t y = std::max<std::int64_t>(0, b - reach); y <= std::min(size.b_scans - 1, b + reach);
                 ++y) {
                for (std::int64_t x = std::max<std::int64_t>(0, a - reach); x <= std::min(size.a_scans - 1, a + reach);
                     ++x) {
                    const auto dx = static_cast<double>(x - a), dy = static_cast<double>(y - b);
                    neighbours.push_back({{1, dx, dy, dx * dx, dx * dy, dy * dy},
                                          static_cast<double>(map[static_cast<std::size_t>(y * size.a_scans + x)])});
                }
            }
            float& value = out[static_cast<std::size_t>(b * size.a_scans + a)];
            const double surface = fitted(neighbours, limit);
            if (std::abs(surface - static_cast<double>(value)) > limit) value = static_cast<float>(surface);
        }
    });
    return out;
}

}  // namespace echolux
