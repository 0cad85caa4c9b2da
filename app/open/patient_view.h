// Standard views of a patient, for volumes with a known orientation.
#pragma once

#include <glm/vec3.hpp>
#include <optional>
#include <string>

#include "engine/io/volume_file.h"
#include "render/view/view.h"

namespace echolux {

// Unit vector towards a side of the patient ('A'), or std::nullopt. `orientation`: three letters, the sides towards
// which depth, A-scans and B-scans run.
std::optional<glm::dvec3> towards_side(char side, const std::string& orientation);

// Angles of the standard views of a patient: from the front (A), back (P), left (L) and right (R) with the head at the
// top, from the head and the feet with the front at the top. std::nullopt without a known orientation, and for a free
// view. Mirrored voxels keep the direction and the top.
std::optional<Angles> patient_angles(Look look, const std::string& orientation);

// Replaces a named direction by these angles if the orientation of the volume is known, as the window does.
void face_patient(View& view, const Volume& volume);

}  // namespace echolux
