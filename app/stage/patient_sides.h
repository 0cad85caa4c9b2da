// How a patient lies in a section: the letters of its sides, and what radiology calls it.
#pragma once

#include <string>

#include "app/stage/pane_view.h"

namespace echolux {

struct SideLetters {
    std::string left, right, top, bottom;
};

// `orientation`: as Exhibit::orientation() says. Empty letters: not known.
SideLetters letters_of(const View& section, const VolumeGrid& grid, const std::string& orientation);

// "Axial" of the section across an axis that runs to the head or the feet, "Coronal", "Sagittal".
const char* medical_name(char letter);

}  // namespace echolux
