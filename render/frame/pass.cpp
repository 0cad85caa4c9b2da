// Distribution of passes within pixels and steps: a low-discrepancy sequence in the plane (M. Roberts, "The
// unreasonable effectiveness of quasirandom sequences", 2018) over the pixel, and multiples of the golden ratio over
// the step along the ray.
#include <cmath>

#include "render/frame/parts.h"

namespace echolux {
namespace {

// Inverses of the golden ratio and of the plastic number, the root of x^3 = x + 1.
constexpr double golden = 0.6180339887498949;
constexpr double plastic = 0.7548776662466927;

double fraction(double x) {
    return x - std::floor(x);
}

}  // namespace

shared::PassFrame pass_frame(const Pass& pass) {
    const auto number = static_cast<double>(pass.number);
    const glm::dvec4 spot(fraction(0.5 + number * plastic), fraction(0.5 + number * plastic * plastic), pass.pitch, 0);
    return {glm::vec4(spot), glm::vec4(glm::dvec4(1 / (number + 1), fraction(number * golden), 0, 0))};
}

}  // namespace echolux
