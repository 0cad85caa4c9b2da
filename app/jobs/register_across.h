// A volume and a second one of the same position whose B-scans run across it: an x-fast and a y-fast raster.
#pragma once

#include <filesystem>

#include "app/jobs/register_job.h"

namespace echolux {

// Places the volume of `file` in front of the single one of `volumes`, as if both had been scanned at once.
// settings.crosses becomes its number of B-scans. Throws Error{bad_setting} if there are several volumes or a
// reference, or if the known scan protocol is not raster (the volume) or raster_y (`file`). On reading, also if depths,
// A-scans or fields differ.
VolumesToRegister with_across(VolumesToRegister volumes, const std::filesystem::path& file,
                              RegistrationSettings& settings);

}  // namespace echolux
