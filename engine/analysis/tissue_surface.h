// The surface of whatever fills a volume from some depth on: the first axial step of averaged intensity, from above,
// that stands out from the noise, made robust by a median over the neighbouring A-scans. What lies deeper may be
// brighter, as the pigment epithelium is in a retina; that is why the first is taken and not the strongest.
#pragma once

#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// [b_scan][a_scan] in depth rows, voxel centres whole. Throws Error{bad_setting} for complex voxels, too few depth
// rows, or a volume in which nothing stands out.
std::vector<float> tissue_surface(const Volume& volume);

}  // namespace echolux
