// Patient orientation in a section: the letters of its sides, and the radiological name of the plane.
#pragma once

#include <string>

#include "app/stage/pane_view.h"

namespace echolux {

struct SideLetters {
    std::string left, right, top, bottom;
};

// `orientation` as returned by Exhibit::orientation(). Letters are empty if unknown.
SideLetters letters_of(const View& section, const VolumeGrid& grid, const std::string& orientation);

// "Axial" for the section perpendicular to the head-foot axis, "Coronal", "Sagittal".
const char* medical_name(char letter);

}  // namespace echolux
