#include "engine/validation/resampling_methods.h"

#include <cmath>
#include <numbers>

namespace echolux {
namespace {

using std::numbers::pi;

double sinc(double x) {
    return x == 0 ? 1 : std::sin(pi * x) / (pi * x);
}

double square(double x) {
    return x * x;
}

// Responses of the interpolations to a fringe of f cycles per sample (docs/algorithms.md 3.1).
double of_nearest(double f) {
    return sinc(f);
}

double of_linear(double f) {
    return square(sinc(f));
}

// Closed form for R. G. Keys, IEEE Trans. Acoust. Speech Signal Process. 29, 1153 (1981), a = -1/2.
double of_catmull_rom(double f) {
    if (f == 0) return 1;
    const double first = square(sinc(f)) - sinc(2 * f);
    return (3 * first - (3 * square(sinc(2 * f)) - 2 * sinc(2 * f) - sinc(4 * f))) / square(pi * f);
}

double of_lagrange3(double f) {
    return square(square(sinc(f))) * (1 + square(2 * pi * f) / 6);
}

double of_spline(double f) {
    return 3 * square(square(sinc(f))) / (2 + std::cos(2 * pi * f));
}

double exactly(double) {
    return 1;
}

}  // namespace

void ResamplingMethod::choose_in(Recipe& recipe) const {
    recipe.resample = resample;
    recipe.upsample = upsample;
}

const std::vector<ResamplingMethod>& resampling_methods() {
    static const std::vector<ResamplingMethod> methods{
        {"nearest", Resample::nearest, 1, of_nearest, {-42.2, -32.5, -26.7, -22.7, -21.2}},
        {"linear", Resample::linear, 1, of_linear, {-73.4, -53.1, -40.1, -31.6, -28.1}},
        {"Catmull-Rom", Resample::catmull_rom, 1, of_catmull_rom, {-98.7, -67.4, -48.6, -37.0, -32.2}},
        {"Lagrange-3", Resample::lagrange3, 1, of_lagrange3, {-114.9, -76.0, -52.1, -38.1, -32.8}},
        {"spline", Resample::spline, 1, of_spline, {-117.6, -92.9, -66.2, -48.0, -40.2}},
        {"up-sampled by 2, linear", Resample::linear, 2, of_linear, {-88.8, -66.6, -56.2, -49.0, -45.7}},
        {"up-sampled by 4, linear", Resample::linear, 4, of_linear, {-102, -78.9, -69.6, -61.5, -57.7}},
        {"up-sampled by 2, Lagrange-3", Resample::lagrange3, 2, of_lagrange3, {-107, -101, -79.0, -65.3, -59.3}},
        {"NUFFT", Resample::nufft, 1, exactly, {}},
        {"exact NUDFT", Resample::nudft, 1, exactly, {-118, -119, -117, -116, -115}},
    };
    return methods;
}

std::vector<ResamplingMethod> axial_methods() {
    const std::vector<ResamplingMethod>& all = resampling_methods();
    return {all[1], all[3], all[4], all[5], all[8], all[9]};
}

}  // namespace echolux
