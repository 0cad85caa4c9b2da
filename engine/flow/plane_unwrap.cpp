#include "engine/flow/plane_unwrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

}  // namespace echolux
