// A volume and one of the same place whose B-scans run across it: the pair of an x-fast and a y-fast raster.
#pragma once

#include <filesystem>

#include "app/jobs/register_job.h"

namespace echolux {

// The single one of `volumes` behind that of `file`, as if both had been scanned at once; settings.crosses becomes how
// many B-scans run across. Throws Error{bad_setting}: several volumes, a reference, a known scan protocol other than
// raster (the volume) and raster_y (`file`); when they are read, volumes of other depths, A-scans or fields.
VolumesToRegister with_across(VolumesToRegister volumes, const std::filesystem::path& file,
                              RegistrationSettings& settings);

}  // namespace echolux
