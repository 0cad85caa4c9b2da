// The surface of tissue that extends from some depth to the end of the volume: the first axial step of averaged
// intensity, from the top, that exceeds the noise. A median over neighbouring A-scans makes it robust. The first step
// is used and not the strongest one, because deeper tissue may be brighter, like the pigment epithelium in a retina.
#pragma once

#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// Returns [b_scan][a_scan] in depth rows, voxel centres at integers. Throws Error{bad_setting} for complex voxels, too
// few depth rows, or a volume without signal above the noise.
std::vector<float> tissue_surface(const Volume& volume);

}  // namespace echolux
