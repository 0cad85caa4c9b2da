#include "engine/flow/plane_masks.h"

#include <algorithm>
#include <cmath>

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

// The connected piece that holds the pixel nearest to (column, row), if one is near enough.
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

std::vector<std::int32_t> rings_of(const LumenMask& lumen, const LumenMask& counted, const GridPlanes& planes,
                                   double step_um) {
    struct Edge {
        double x, y;
        int side;
    };
    const double dx = planes.spacing(planes.in[0]), dy = planes.spacing(planes.in[1]);
    std::vector<Edge> edge;  // between pixels of the lumen and others
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!lumen.at(i, j)) continue;
            const auto x = static_cast<double>(i), y = static_cast<double>(j);
            if (!lumen.at(i - 1, j)) edge.push_back({(x - 0.5) * dx, y * dy, 0});
            if (!lumen.at(i + 1, j)) edge.push_back({(x + 0.5) * dx, y * dy, 0});
            if (!lumen.at(i, j - 1)) edge.push_back({x * dx, (y - 0.5) * dy, 1});
            if (!lumen.at(i, j + 1)) edge.push_back({x * dx, (y + 0.5) * dy, 1});
        }
    }
    std::vector<std::int32_t> rings(lumen.inside.size(), nowhere);
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!counted.at(i, j)) continue;
            double square = 1e300;
            int side = 0;
            for (const Edge& one : edge) {
                const double x = one.x - static_cast<double>(i) * dx, y = one.y - static_cast<double>(j) * dy;
                if (x * x + y * y >= square) continue;
                square = x * x + y * y;
                side = one.side;
            }
            const double um = lumen.at(i, j) ? std::sqrt(square) : -std::sqrt(square);
            rings[static_cast<std::size_t>(j * lumen.width + i)] =
                2 * static_cast<std::int32_t>(std::lround(um / step_um)) + side;
        }
    }
    return rings;
}

}  // namespace echolux
