// B-scans as clinical devices store them: without the noise floor, with a cut background, in compressed brightness.
// Devices also average looks: b_repeats with renewal_s and recipe.average = power do so.
#pragma once

#include "engine/io/volume_file.h"

namespace echolux {

// linear: reflectivity; fourth_root: of it; log: 8 bits over range_db.
enum class DeviceCode { linear, fourth_root, log };

struct DevicePicture {
    DeviceCode code = DeviceCode::fourth_root;
    double cut = 1.2;      // darker voxels become 0, as a multiple of the noise floor, which is subtracted; 0: no cut
    double range_db = 50;  // log: range of the 255 codes
};

// Returns the picture of a volume of intensities, brightest at 1 or 255. The brightest are the upper 0.1 %; the noise
// floor is the darkest mean of eight rows. The quantity is left out, as in files of devices. Throws
// Error{bad_setting} for other quantities and fewer than 16 rows.
Volume device_picture(const Volume& volume, const DevicePicture& device);

}  // namespace echolux
