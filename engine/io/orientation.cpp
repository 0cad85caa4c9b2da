#include "engine/io/image_header.h"

#include <algorithm>
#include <cmath>

#include "engine/io/volume_file.h"

namespace echolux {
namespace {

// Returns the letter of the side that a direction points to most; '?' for a zero or non-finite direction.
char letter_of(const std::array<double, 3>& direction) {
    constexpr std::array<std::array<char, 2>, 3> letters{{{'L', 'R'}, {'P', 'A'}, {'S', 'I'}}};
    std::size_t nearest = 0;
    for (std::size_t axis = 1; axis < 3; ++axis) {
        if (std::abs(direction[axis]) > std::abs(direction[nearest])) nearest = axis;
    }
    const double along = direction[nearest];
    return !std::isfinite(along) || along == 0 ? '?' : letters[nearest][along > 0 ? 0 : 1];
}

}  // namespace

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
