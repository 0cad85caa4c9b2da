// Orientation of the patient in a volume, in the letters of radiology: left (L), right (R), back (P: posterior), front
// (A: anterior), head (S: superior), feet (I: inferior).
#pragma once

#include <array>
#include <string>

#include "engine/io/image_header.h"

namespace echolux {

// Directions of columns, rows and slices of a file in the patient's coordinates: x to the left, y to the back, z to the
// head (LPS, as in DICOM). The vectors may have any length.
using PatientAxes = decltype(ImagePose::steps);

// Returns the directions of increasing depth (rows), A-scans (columns) and B-scans (slices) as letters, e.g. "PLS".
// Returns "" if an axis has no direction or two axes are parallel.
std::string orientation_of(const PatientAxes& axes);

// Records the orientation of a foreign file as its provenance text "orientation". Does nothing for our own files, which
// have no patient coordinates.
void add_orientation(ImageHeader& image, const PatientAxes& axes);

// Returns the opposite letter: "L" for 'R'. Returns "" for other characters.
std::string opposite_side(char letter);

}  // namespace echolux
