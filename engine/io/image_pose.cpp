#include "engine/io/image_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/io/regular_file.h"

namespace echolux {
namespace {

constexpr std::size_t affine_numbers = 12, grid_numbers = 6;

bool is_near(double a, double b, double scale) {
    return std::abs(a - b) <= 1e-5 * scale;
}

// Returns the words of a text that are numbers, in order.
std::vector<double> numbers_among_words(const std::string& text) {
    std::vector<double> numbers;
    for (const double number : numbers_of(text, " ,;x")) {
        if (std::isfinite(number)) numbers.push_back(number);
    }
    return numbers;
}

}  // namespace

double ImagePose::spacing(std::size_t axis) const {
    const auto& step = steps.at(axis);
    return std::hypot(step[0], step[1], step[2]);
}

bool ImagePose::is_straight() const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (!is_near(steps.at(axis).at(axis), spacing(axis), spacing(axis))) return false;
    }
    return true;
}

bool ImagePose::is_close_to(const ImagePose& other) const {
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (!is_near(steps.at(axis).at(i), other.steps.at(axis).at(i), spacing(axis))) return false;
        }
        const double scale = std::abs(origin.at(i)) + spacing(0) + spacing(1) + spacing(2);
        if (!is_near(origin.at(i), other.origin.at(i), scale)) return false;
    }
    return true;
}

bool is_valid(const ImagePose& pose) {
    const auto& [a, b, c] = pose.steps;
    const double volume =
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    const double product = pose.spacing(0) * pose.spacing(1) * pose.spacing(2);
    const bool has_origin = std::ranges::all_of(pose.origin, [](double number) { return std::isfinite(number); });
    return has_origin && std::isfinite(product) && product > 0 && std::abs(volume) > 1e-6 * product;
}

std::string affine_text(const ImagePose& pose, const PosedGrid& grid) {
    std::string text;
    for (std::size_t row = 0; row < 3; ++row) {
        text += fmt::format("{} {} {} {}{}", pose.steps[0].at(row), pose.steps[1].at(row), pose.steps[2].at(row),
                            pose.origin.at(row), row < 2 ? "; " : " LPS mm, of ");
    }
    text += fmt::format("{} x {} x {} voxels of {} x {} x {} mm", grid.size[0], grid.size[1], grid.size[2],
                        grid.spacing_mm[0], grid.spacing_mm[1], grid.spacing_mm[2]);
    return pose.nifti_code == 1 ? text : text + fmt::format(", NIfTI code {}", pose.nifti_code);
}

std::optional<ImagePose> pose_in(const std::string& text, const PosedGrid& grid) {
    const std::vector<double> numbers = numbers_among_words(text);
    constexpr std::size_t needed = affine_numbers + grid_numbers;
    if (text.find(" LPS mm, of ") == std::string::npos || numbers.size() < needed || numbers.size() > needed + 1)
        return {};
    ImagePose pose;
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t axis = 0; axis < 3; ++axis) pose.steps.at(axis).at(row) = numbers[4 * row + axis];
        pose.origin.at(row) = numbers[4 * row + 3];
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double size = numbers[affine_numbers + axis], spacing = numbers[affine_numbers + 3 + axis];
        if (size != static_cast<double>(grid.size.at(axis))) return {};
        if (!is_near(spacing, grid.spacing_mm.at(axis), spacing)) return {};
    }
    if (numbers.size() > needed) pose.nifti_code = static_cast<int>(std::clamp(numbers[needed], 0.0, 5.0));
    if (!is_valid(pose)) return {};
    return pose;
}

}  // namespace echolux
