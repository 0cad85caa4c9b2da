#include "engine/flow/planes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace echolux {
namespace {

constexpr std::int64_t reach = 2;  // half width of the neighbourhood in pixels

// Offset to one of the four neighbours of a pixel.
struct Step {
    std::int64_t i, j;
};
constexpr Step beside[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

// Calls use(pixel) for the lumen pixels around (i, j).
template <class Use>
void around(const LumenMask& mask, std::int64_t i, std::int64_t j, const Use& use) {
    for (std::int64_t y = j - reach; y <= j + reach; ++y) {
        for (std::int64_t x = i - reach; x <= i + reach; ++x) {
            if (mask.at(x, y)) use(static_cast<std::size_t>(y * mask.width + x));
        }
    }
}

// Returns the share of neighbouring pixels that differ by more than v_max / 2.
double torn_share(const std::vector<float>& velocities, const LumenMask& mask, double v_max) {
    std::int64_t pairs = 0, torn = 0;
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            if (!mask.at(i, j)) continue;
            const auto here = static_cast<std::size_t>(j * mask.width + i);
            for (const Step& step : {Step{1, 0}, Step{0, 1}}) {
                if (!mask.at(i + step.i, j + step.j)) continue;
                const auto there = static_cast<std::size_t>((j + step.j) * mask.width + i + step.i);
                ++pairs;
                if (static_cast<double>(std::abs(velocities[here] - velocities[there])) > v_max / 2) ++torn;
            }
        }
    }
    return pairs == 0 ? 0 : static_cast<double>(torn) / static_cast<double>(pairs);
}

}  // namespace

std::int64_t LumenMask::area() const {
    return std::accumulate(inside.begin(), inside.end(), std::int64_t{0});
}

bool LumenMask::touches_edge() const {
    for (std::int64_t i = 0; i < width; ++i) {
        if (at(i, 0) || at(i, height - 1)) return true;
    }
    for (std::int64_t j = 0; j < height; ++j) {
        if (at(0, j) || at(width - 1, j)) return true;
    }
    return false;
}

void fill_holes(LumenMask& mask) {
    std::vector<std::uint8_t> outside(mask.inside.size());
    std::vector<Step> open;
    // Flood fill from the border of the plane; the lumen is everything that it does not reach.
    const auto enter = [&](std::int64_t i, std::int64_t j) {
        if (i < 0 || j < 0 || i >= mask.width || j >= mask.height || mask.at(i, j)) return;
        auto& seen = outside[static_cast<std::size_t>(j * mask.width + i)];
        if (seen == 0) open.push_back({i, j});
        seen = 1;
    };
    for (std::int64_t i = 0; i < mask.width; ++i) enter(i, 0), enter(i, mask.height - 1);
    for (std::int64_t j = 0; j < mask.height; ++j) enter(0, j), enter(mask.width - 1, j);
    while (!open.empty()) {
        const Step here = open.back();
        open.pop_back();
        for (const Step& step : beside) enter(here.i + step.i, here.j + step.j);
    }
    for (std::size_t k = 0; k < outside.size(); ++k) mask.inside[k] = outside[k] == 0 ? 1 : 0;
}

LumenMask widened(const LumenMask& mask, double columns, double rows) {
    LumenMask wide = mask;
    const auto di = static_cast<std::int64_t>(columns), dj = static_cast<std::int64_t>(rows);
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            const bool is_rim =
                mask.at(i, j) && !(mask.at(i - 1, j) && mask.at(i + 1, j) && mask.at(i, j - 1) && mask.at(i, j + 1));
            if (!is_rim) continue;
            for (std::int64_t y = std::max<std::int64_t>(0, j - dj); y <= std::min(mask.height - 1, j + dj); ++y) {
                for (std::int64_t x = std::max<std::int64_t>(0, i - di); x <= std::min(mask.width - 1, i + di); ++x) {
                    const double u = static_cast<double>(x - i) / std::max(columns, 1e-9);
                    const double v = static_cast<double>(y - j) / std::max(rows, 1e-9);
                    if (u * u + v * v <= 1) wide.inside[static_cast<std::size_t>(y * mask.width + x)] = 1;
                }
            }
        }
    }
    return wide;
}

std::vector<std::int64_t> from_rim(const LumenMask& mask) {
    std::vector<std::int64_t> order;
    std::vector<std::uint8_t> taken(mask.inside.size());
    const auto take = [&](std::int64_t i, std::int64_t j) {
        const std::int64_t pixel = j * mask.width + i;
        if (!mask.at(i, j) || taken[static_cast<std::size_t>(pixel)] != 0) return;
        taken[static_cast<std::size_t>(pixel)] = 1;
        order.push_back(pixel);
    };
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            for (const Step& step : beside) {
                if (!mask.at(i + step.i, j + step.j)) take(i, j);
            }
        }
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::int64_t i = order[next] % mask.width, j = order[next] / mask.width;
        for (const Step& step : beside) take(i + step.i, j + step.j);
    }
    return order;
}

PlaneVelocities unwrap_plane(std::vector<float>& velocities, const LumenMask& mask,
                             const std::vector<std::int64_t>& order, double v_max) {
    PlaneVelocities result;
    std::vector<std::uint8_t> known(velocities.size());
    std::int64_t turned = 0, missing = 0;
    for (const std::int64_t pixel : order) {
        const auto here = static_cast<std::size_t>(pixel);
        if (velocities[here] == 0) continue;
        double sum = 0, count = 0;
        around(mask, pixel % mask.width, pixel / mask.width, [&](std::size_t k) {
            if (known[k] == 0) return;
            sum += static_cast<double>(velocities[k]);
            count += 1;
        });
        known[here] = 1;
        if (v_max <= 0 || count == 0) continue;
        const double turns = std::round((sum / count - static_cast<double>(velocities[here])) / (2 * v_max));
        velocities[here] += static_cast<float>(turns * 2 * v_max);
        if (turns != 0) ++turned;
    }
    // Fill pixels without a velocity from their neighbours.
    for (const std::int64_t pixel : order) {
        const auto here = static_cast<std::size_t>(pixel);
        if (known[here] != 0) continue;
        ++missing;
        double sum = 0, count = 0;
        around(mask, pixel % mask.width, pixel / mask.width, [&](std::size_t k) {
            if (known[k] == 0) return;
            sum += static_cast<double>(velocities[k]);
            count += 1;
        });
        if (count > 0) velocities[here] = static_cast<float>(sum / count);
    }
    const auto all = static_cast<double>(std::max<std::size_t>(order.size(), 1));
    result.unwrapped = static_cast<double>(turned) / all;
    result.unknown = static_cast<double>(missing) / all;
    if (v_max > 0) result.torn = torn_share(velocities, mask, v_max);
    return result;
}

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
