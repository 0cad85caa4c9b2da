#include "engine/flow/plane_masks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace echolux {

LumenMask mask_in(const std::vector<std::uint8_t>& inside, const GridPlanes& planes, std::int64_t number) {
    LumenMask mask{planes.width(), planes.height(), {}};
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) mask.inside.push_back(inside[planes.voxel(number, i, j)]);
    }
    return mask;
}

std::vector<float> values_in(const std::vector<float>& all, const GridPlanes& planes, std::int64_t number) {
    std::vector<float> values;
    for (std::int64_t j = 0; j < planes.height(); ++j) {
        for (std::int64_t i = 0; i < planes.width(); ++i) values.push_back(all[planes.voxel(number, i, j)]);
    }
    return values;
}

LumenMask piece_near(const LumenMask& mask, double column, double row, double reach) {
    LumenMask piece{mask.width, mask.height, std::vector<std::uint8_t>(mask.inside.size())};
    std::int64_t best = -1;
    double best_square = reach * reach;
    for (std::int64_t k = 0; k < std::ssize(mask.inside); ++k) {
        if (mask.inside[static_cast<std::size_t>(k)] == 0) continue;
        const double square = std::pow(static_cast<double>(k % mask.width) - column, 2) +
                              std::pow(static_cast<double>(k / mask.width) - row, 2);
        if (square > best_square) continue;
        best = k;
        best_square = square;
    }
    std::vector<std::int64_t> open;
    if (best >= 0) open.push_back(best);
    while (!open.empty()) {
        const std::int64_t i = open.back() % mask.width, j = open.back() / mask.width;
        open.pop_back();
        for (std::int64_t y = j - 1; y <= j + 1; ++y) {
            for (std::int64_t x = i - 1; x <= i + 1; ++x) {
                if (!mask.at(x, y)) continue;
                auto& mark = piece.inside[static_cast<std::size_t>(y * mask.width + x)];
                if (mark == 0) open.push_back(y * mask.width + x);
                mark = 1;
            }
        }
    }
    return piece;
}

LumenCentre centre_of(const LumenMask& mask, const std::vector<float>& velocities, double sign) {
    LumenCentre centre;
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            if (!mask.at(i, j)) continue;
            const double weight =
                std::max(0.0, sign * static_cast<double>(velocities[static_cast<std::size_t>(j * mask.width + i)]));
            centre.column += weight * static_cast<double>(i);
            centre.row += weight * static_cast<double>(j);
            centre.sum += weight;
        }
    }
    if (centre.sum > 0) {
        centre.column /= centre.sum;
        centre.row /= centre.sum;
    }
    return centre;
}

void keep_faster(LumenMask& lumen, const std::vector<float>& velocities, double sign) {
    // The 95th percentile stands for the maximum because it is robust to outliers.
    constexpr double rim_share = 0.1, of_all = 0.95;
    std::vector<double> speeds;
    for (std::size_t k = 0; k < velocities.size(); ++k) {
        if (lumen.inside[k] != 0) speeds.push_back(sign * static_cast<double>(velocities[k]));
    }
    const auto high = speeds.begin() + static_cast<std::ptrdiff_t>(of_all * static_cast<double>(speeds.size()));
    std::nth_element(speeds.begin(), high, speeds.end());
    const double least = std::max(0.0, rim_share * *high);
    for (std::size_t k = 0; k < velocities.size(); ++k) {
        if (sign * static_cast<double>(velocities[k]) < least) lumen.inside[k] = 0;
    }
}

namespace {

// A side of a lumen pixel whose neighbour is outside the lumen.
struct RimSide {
    double x, y;  // its centre, in um
    int side;     // left or right (0), above or below (1)
};

// Returns the sides of the lumen's rim. `dx`, `dy` are the pixel size in um.
std::vector<RimSide> rim_of(const LumenMask& lumen, double dx, double dy) {
    std::vector<RimSide> rim;
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!lumen.at(i, j)) continue;
            const auto x = static_cast<double>(i), y = static_cast<double>(j);
            if (!lumen.at(i - 1, j)) rim.push_back({(x - 0.5) * dx, y * dy, 0});
            if (!lumen.at(i + 1, j)) rim.push_back({(x + 0.5) * dx, y * dy, 0});
            if (!lumen.at(i, j - 1)) rim.push_back({x * dx, (y - 0.5) * dy, 1});
            if (!lumen.at(i, j + 1)) rim.push_back({x * dx, (y + 0.5) * dy, 1});
        }
    }
    return rim;
}

// Finds the nearest rim side row by row, and stops at rows further away than the best side.
class NearestSide {
  public:
    NearestSide(const LumenMask& lumen, double dx, double dy) : rim_(rim_of(lumen, dx, dy)), dy_(dy) {
        rows_.resize(static_cast<std::size_t>(2 * lumen.height + 1));  // half a pixel apart
        for (std::size_t k = 0; k < rim_.size(); ++k) rows_[row_of(rim_[k].y)].push_back(k);
        for (auto& row : rows_) std::ranges::stable_sort(row, {}, [&](std::size_t k) { return rim_[k].x; });
    }

    // Returns the squared distance in um^2 and the side; the first of equally near sides. {1e300, 0} if the rim is
    // empty.
    std::pair<double, int> square_and_side(double x, double y) const {
        Found best;
        const auto middle = static_cast<std::int64_t>(row_of(y));
        for (std::int64_t away = 0; away < std::ssize(rows_); ++away) {
            const double rows_um = 0.5 * static_cast<double>(away) * dy_;
            if (rows_um * rows_um > best.square) break;
            look_in(middle - away, x, y, best);
            if (away > 0) look_in(middle + away, x, y, best);
        }
        return {best.square, best.index < rim_.size() ? rim_[best.index].side : 0};
    }

  private:
    struct Found {
        double square = 1e300;
        std::size_t index = std::numeric_limits<std::size_t>::max();
    };

    std::size_t row_of(double y) const { return static_cast<std::size_t>(std::lround(2 * y / dy_) + 1); }

    // Searches outwards from x in one row of sides.
    void look_in(std::int64_t number, double x, double y, Found& best) const {
        if (number < 0 || number >= std::ssize(rows_)) return;
        const std::vector<std::size_t>& row = rows_[static_cast<std::size_t>(number)];
        const auto here = std::ranges::lower_bound(row, x, {}, [&](std::size_t k) { return rim_[k].x; });
        const auto is_further = [&](std::size_t k) {
            const double across = rim_[k].x - x, up = rim_[k].y - y;
            const double square = across * across + up * up;
            if (square > best.square) return true;
            if (square < best.square || k < best.index) best = {square, k};
            return false;
        };
        for (auto k = here; k != row.end() && !is_further(*k); ++k) {
        }
        for (auto k = here; k != row.begin() && !is_further(*std::prev(k)); --k) {
        }
    }

    std::vector<RimSide> rim_;
    double dy_;
    std::vector<std::vector<std::size_t>> rows_;  // indices into rim_, sorted by x
};

}  // namespace

std::vector<std::int32_t> rings_of(const LumenMask& lumen, const LumenMask& counted, const GridPlanes& planes,
                                   double step_um) {
    const double dx = planes.spacing(planes.in[0]), dy = planes.spacing(planes.in[1]);
    const NearestSide nearest(lumen, dx, dy);
    std::vector<std::int32_t> rings(lumen.inside.size(), nowhere);
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!counted.at(i, j)) continue;
            const auto [square, side] =
                nearest.square_and_side(static_cast<double>(i) * dx, static_cast<double>(j) * dy);
            const double um = lumen.at(i, j) ? std::sqrt(square) : -std::sqrt(square);
            rings[static_cast<std::size_t>(j * lumen.width + i)] =
                2 * static_cast<std::int32_t>(std::lround(um / step_um)) + side;
        }
    }
    return rings;
}

}  // namespace echolux
