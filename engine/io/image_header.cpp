#include "engine/io/image_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"

namespace echolux {

// ---- stored voxels --------------------------------------------------------------------------------------------------

namespace {

template <class From, class To>
std::vector<std::byte> cast(const std::vector<std::byte>& stored) {
    const std::size_t count = stored.size() / sizeof(From);
    std::vector<std::byte> result(count * sizeof(To));
    for (std::size_t i = 0; i < count; ++i) {
        From from;
        std::memcpy(&from, stored.data() + i * sizeof(From), sizeof(From));
        const To to = static_cast<To>(from);
        std::memcpy(result.data() + i * sizeof(To), &to, sizeof(To));
    }
    return result;
}

std::vector<std::byte> from_halves(const std::vector<std::byte>& stored) {
    std::vector<std::byte> result(stored.size() / 2 * sizeof(float));
    for (std::size_t i = 0; i < stored.size() / 2; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, stored.data() + i * 2, 2);
        const float value = value_of_half(bits);
        std::memcpy(result.data() + i * sizeof(float), &value, sizeof(float));
    }
    return result;
}

}  // namespace

std::int64_t bytes_of(StoredType type) {
    switch (type) {
        case StoredType::u8:
        case StoredType::i8: return 1;
        case StoredType::u16:
        case StoredType::i16:
        case StoredType::f16: return 2;
        case StoredType::u32:
        case StoredType::i32:
        case StoredType::f32: return 4;
        case StoredType::u64:
        case StoredType::i64:
        case StoredType::f64:
        case StoredType::complex64: return 8;
    }
    return 0;
}

VoxelType voxel_type(StoredType type) {
    switch (type) {
        case StoredType::u8: return VoxelType::u8;
        case StoredType::u16: return VoxelType::u16;
        case StoredType::i8:
        case StoredType::i16: return VoxelType::i16;
        case StoredType::complex64: return VoxelType::complex64;
        default: return VoxelType::f32;
    }
}

StoredType stored_as(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return StoredType::u8;
        case VoxelType::u16: return StoredType::u16;
        case VoxelType::i16: return StoredType::i16;
        case VoxelType::complex64: return StoredType::complex64;
        default: return StoredType::f32;
    }
}

void swap_byte_order(StoredType type, std::span<std::byte> stored) {
    // A complex number consists of two floats, which are swapped separately.
    const auto part = index(type == StoredType::complex64 ? 4 : bytes_of(type));
    if (part == 1) return;
    for (std::size_t i = 0; i + part <= stored.size(); i += part) std::ranges::reverse(stored.subspan(i, part));
}

std::vector<std::byte> converted(StoredType type, std::vector<std::byte> stored) {
    switch (type) {
        case StoredType::i8: return cast<std::int8_t, std::int16_t>(stored);
        case StoredType::f16: return from_halves(stored);
        case StoredType::u32: return cast<std::uint32_t, float>(stored);
        case StoredType::i32: return cast<std::int32_t, float>(stored);
        case StoredType::u64: return cast<std::uint64_t, float>(stored);
        case StoredType::i64: return cast<std::int64_t, float>(stored);
        case StoredType::f64: return cast<double, float>(stored);
        default: return stored;
    }
}

double claimed_bytes(const ImageHeader& header, StoredType type) {
    double bytes = static_cast<double>(bytes_of(type)) * static_cast<double>(header.time_points);
    for (const std::int64_t size : header.size) bytes *= static_cast<double>(size);
    return bytes;
}

void check_claim(const ImageHeader& header, StoredType type, std::int64_t voxel_bytes, bool compressed,
                 const std::filesystem::path& path) {
    const double claimed = claimed_bytes(header, type);
    constexpr double best_deflate = 1032;  // maximum compression ratio of deflate
    if (claimed <= static_cast<double>(voxel_bytes) * (compressed ? best_deflate : 1)) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("ends too early: {:.0f} bytes of voxels are described, {}{} follow the header", claimed,
                            plural(voxel_bytes, "bytes"), compressed ? " (compressed)" : ""),
                path.string(), "copy the file again");
}

// ---- pose -----------------------------------------------------------------------------------------------------------

constexpr std::size_t affine_numbers = 12, grid_numbers = 6;

static bool is_near(double a, double b, double scale) {
    return std::abs(a - b) <= 1e-5 * scale;
}

// Returns the words of a text that are numbers, in order.
static std::vector<double> numbers_among_words(const std::string& text) {
    std::vector<double> numbers;
    for (const double number : numbers_of(text, " ,;x")) {
        if (std::isfinite(number)) numbers.push_back(number);
    }
    return numbers;
}

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

// Returns the letter of the side that a direction points to most; '?' for a zero or non-finite direction.
static char letter_of(const std::array<double, 3>& direction) {
    constexpr std::array<std::array<char, 2>, 3> letters{{{'L', 'R'}, {'P', 'A'}, {'S', 'I'}}};
    std::size_t nearest = 0;
    for (std::size_t axis = 1; axis < 3; ++axis) {
        if (std::abs(direction[axis]) > std::abs(direction[nearest])) nearest = axis;
    }
    const double along = direction[nearest];
    return !std::isfinite(along) || along == 0 ? '?' : letters[nearest][along > 0 ? 0 : 1];
}

std::string orientation_of(const PatientAxes& axes) {
    const std::string letters{letter_of(axes[1]), letter_of(axes[0]), letter_of(axes[2])};
    for (std::size_t i = 0; i < 3; ++i) {
        if (letters[i] == '?') return "";
        for (std::size_t j = 0; j < i; ++j) {
            if (letters[i] == letters[j] || opposite_side(letters[i]) == std::string(1, letters[j])) return "";
        }
    }
    return letters;
}

void add_orientation(ImageHeader& image, const PatientAxes& axes) {
    const bool is_ours =
        std::ranges::any_of(image.texts, [](const auto& text) { return text.first.starts_with("echolux_"); });
    if (!is_ours) add_provenance(image, "orientation", orientation_of(axes));
}

std::string opposite_side(char letter) {
    constexpr std::string_view pairs = "LRPASI";
    const std::size_t at = pairs.find(letter);
    // Neighbours in `pairs` differ in the lowest bit.
    return at == std::string_view::npos ? "" : std::string(1, pairs[at ^ 1]);
}

}  // namespace echolux
