#include "compute/methods/spreading_kernel.h"

#include <cmath>
#include <numbers>

namespace echolux {
namespace {

using std::numbers::pi;

double square(double x) {
    return x * x;
}

// (beta / pi)^2 of the Kaiser-Bessel kernel.
double kaiser_bessel_square(const NufftRecipe& recipe) {
    return square(static_cast<double>(recipe.width) / recipe.oversampling * (recipe.oversampling - 0.5)) - 0.8;
}

// beta of exp(beta (sqrt(1 - x^2) - 1)), tuned for R = 2 (A. Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci.
// Comput. 41, C479 (2019)).
double exponential_beta(const NufftRecipe& recipe) {
    const auto width = static_cast<double>(recipe.width);
    if (recipe.oversampling != 2) return 0.97 * pi * width * (1 - 1 / (2 * recipe.oversampling));
    switch (recipe.width) {
        case 2: return 2.20 * width;
        case 3: return 2.26 * width;
        case 4: return 2.38 * width;
        default: return 2.30 * width;
    }
}

double shape_of(const NufftRecipe& recipe) {
    const double r = recipe.oversampling;
    switch (recipe.kernel) {
        case GridKernel::gaussian: return 2 * pi * (r - 0.5) / (r * static_cast<double>(recipe.width));
        case GridKernel::kaiser_bessel: return pi * std::sqrt(kaiser_bessel_square(recipe));
        case GridKernel::exponential: break;
    }
    return exponential_beta(recipe);
}

// sinh(sqrt(s)) / sqrt(s), also for negative s.
double sinhc_of_root(double s) {
    const double root = std::sqrt(std::abs(s));
    if (root < 1e-6) return 1;
    return s > 0 ? std::sinh(root) / root : std::sin(root) / root;
}

}  // namespace

SpreadingKernel::SpreadingKernel(const NufftRecipe& recipe)
    : kernel_(recipe.kernel), width_(static_cast<double>(recipe.width)), shape_(shape_of(recipe)) {}

double SpreadingKernel::at(double distance) const {
    const double under_root = 1 - square(2 * distance / width_);
    if (under_root < 0) return 0;
    switch (kernel_) {
        case GridKernel::gaussian: return std::exp(-shape_ * square(distance));
        case GridKernel::kaiser_bessel: return std::cyl_bessel_i(0, shape_ * std::sqrt(under_root)) / width_;
        case GridKernel::exponential: break;
    }
    return std::exp(shape_ * (std::sqrt(under_root) - 1));
}

double SpreadingKernel::transform(double cycles) const {
    switch (kernel_) {
        case GridKernel::gaussian: return std::sqrt(pi / shape_) * std::exp(-square(pi * cycles) / shape_);
        case GridKernel::kaiser_bessel: return sinhc_of_root(square(shape_) - square(pi * width_ * cycles));
        case GridKernel::exponential: break;
    }
    // No closed form: integrate with the trapezoidal rule over the angle a, d = W/2 sin(a), which resolves the steep
    // ends of the kernel.
    constexpr int steps = 200;
    double sum = 0;
    for (int i = -steps; i <= steps; ++i) {
        const double angle = pi / 2 * i / steps;
        const double distance = width_ / 2 * std::sin(angle);
        sum += at(distance) * std::cos(2 * pi * distance * cycles) * std::cos(angle);
    }
    return sum * width_ / 2 * pi / 2 / steps;
}

std::int64_t finer_grid(const NufftRecipe& recipe, std::int64_t transform) {
    const auto min = static_cast<std::int64_t>(std::ceil(recipe.oversampling * static_cast<double>(transform)));
    return min + min % 2;
}

}  // namespace echolux
