// Completes what a live source leaves open: measures its noise floor, and describes a recording of it.
#pragma once

#include <filesystem>

#include "compute/plan/params.h"
#include "engine/acquire/source.h"
#include "engine/live/recorder.h"
#include "engine/progress.h"

namespace echolux {

// Returns the source's spec. If the recipe leaves the noise floor open, it is measured from the first block: the source
// is started, given at most 10 s, and stopped. `progress` is only used for cancelling. Throws what the source throws
// and Error{bad_setting, cancelled}.
ReconstructionSpec live_plan(Source& source, Progress& progress);

// Returns all parameters of a recording of the source to `scan_toml`, except its expected size.
RecordingWanted recording_of(const Source& source, const std::filesystem::path& scan_toml);

}  // namespace echolux
