#include "app/stage/patient_sides.h"

#include <cmath>

#include "engine/io/image_header.h"
#include "render/camera.h"

namespace echolux {

const char* medical_name(char letter) {
    if (letter == 'S' || letter == 'I') return "Axial";
    return letter == 'A' || letter == 'P' ? "Coronal" : "Sagittal";
}

SideLetters letters_of(const View& section, const VolumeGrid& grid, const std::string& orientation) {
    SideLetters letters;
    if (orientation.size() != 3) return letters;
    const glm::dvec2 middle = pixel_of(section, grid, {0, 0, 0});
    for (int axis = 0; axis < 3; ++axis) {
        glm::dvec3 along(0);
        along[axis] = volume_extent(grid)[axis];
        const glm::dvec2 by = pixel_of(section, grid, along) - middle;
        const char letter = orientation[static_cast<std::size_t>(axis)];
        const std::string here(1, letter), there = opposite_side(letter);
        if (std::abs(by.x) > 1 && std::abs(by.x) > std::abs(by.y)) {
            letters.right = by.x > 0 ? here : there;
            letters.left = by.x > 0 ? there : here;
        } else if (std::abs(by.y) > 1) {
            letters.bottom = by.y > 0 ? here : there;
            letters.top = by.y > 0 ? there : here;
        }
    }
    return letters;
}

}  // namespace echolux
