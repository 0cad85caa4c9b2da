// Which way a patient lies in a volume: letters as radiology has them, towards the left (L) or right (R), the back
// (P: posterior) or front (A: anterior), the head (S: superior) or feet (I: inferior).
#pragma once

#include <array>
#include <string>

#include "engine/io/image_header.h"

namespace echolux {

// Where columns, rows and slices of a file run to, in the patient's coordinates: x to the left, y to the back, z to the
// head (LPS, as DICOM has them). Any length.
using PatientAxes = std::array<std::array<double, 3>, 3>;

// One letter each for growing depth (rows), A-scans (columns), B-scans (slices): "PLS". Empty: an axis has no
// direction, or two run the same way.
std::string orientation_of(const PatientAxes& axes);

// Notes it as provenance of a foreign file under "orientation"; files of ours know nothing of patients.
void add_orientation(ImageHeader& image, const PatientAxes& axes);

// "L" of "R"; "" of all else.
std::string opposite_side(char letter);

}  // namespace echolux
