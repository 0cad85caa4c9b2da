#include "compute/calibrate/least_value.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echolux {
namespace {

// Minimizes a unimodal function in low .. high.
double golden_section(const std::function<double(double)>& f, double low, double high) {
    constexpr double share = 1 / std::numbers::phi;
    constexpr int steps = 13;
    double left = high - share * (high - low), right = low + share * (high - low);
    double at_left = f(left), at_right = f(right);
    for (int step = 0; step < steps; ++step) {
        if (at_left < at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - share * (high - low);
            at_left = f(left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + share * (high - low);
            at_right = f(right);
        }
    }
    return at_left < at_right ? left : right;
}

}  // namespace

double min_along(const ValuesAt& f, double centre, double range) {
    constexpr int half = 20;             // grid points on either side
    std::vector<double> places{centre};  // first, so that it wins ties
    for (int i = -half; i <= half; ++i) {
        if (i != 0) places.push_back(centre + range * i / half);
    }
    const std::vector<double> values = f(places);
    const double best =
        places[static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin())];
    const auto at = [&](double place) { return f({place}).front(); };
    return golden_section(at, best - range / half, best + range / half);
}

Minimum min_nearby(const std::function<double(double, double)>& f, const std::array<double, 2>& start, double step) {
    int calls = 0;
    const auto valued = [&](double x, double y) {
        ++calls;
        return Minimum{{x, y}, f(x, y)};
    };
    const auto better = [](const Minimum& a, const Minimum& b) { return a.value < b.value; };
    std::array<Minimum, 3> corners{valued(start[0], start[1]), valued(start[0] + step, start[1]),
                                   valued(start[0], start[1] + step)};
    while (true) {
        std::sort(corners.begin(), corners.end(), better);
        const auto& [best, middle, worst] = corners;
        const double size =
            std::max(std::abs(worst.place[0] - best.place[0]) + std::abs(middle.place[0] - best.place[0]),
                     std::abs(worst.place[1] - best.place[1]) + std::abs(middle.place[1] - best.place[1]));
        if (size < 1e-4 * step || calls > 120) return best;
        // Extrapolates from the worst corner through the centre of the other two
        const auto beyond = [&](double share) {
            const double x = (best.place[0] + middle.place[0]) / 2, y = (best.place[1] + middle.place[1]) / 2;
            return valued(x + share * (x - worst.place[0]), y + share * (y - worst.place[1]));
        };
        const Minimum reflected = beyond(1);
        if (better(reflected, best)) {
            corners[2] = std::min(reflected, beyond(2), better);
        } else if (better(reflected, middle)) {
            corners[2] = reflected;
        } else if (const Minimum inside = beyond(better(reflected, worst) ? 0.5 : -0.5);
                   better(inside, std::min(reflected, worst, better))) {
            corners[2] = inside;
        } else {
            for (Minimum* corner : {&corners[1], &corners[2]}) {
                *corner =
                    valued((corner->place[0] + corners[0].place[0]) / 2, (corner->place[1] + corners[0].place[1]) / 2);
            }
        }
    }
}

}  // namespace echolux
