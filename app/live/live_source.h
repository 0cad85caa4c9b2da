// What a live source leaves open: its noise floor is measured, and a recording of it is described.
#pragma once

#include <filesystem>

#include "compute/plan/params.h"
#include "engine/acquire/source.h"
#include "engine/live/recorder.h"
#include "engine/progress.h"

namespace echolux {

// What the source says, with the noise floor measured from its first block where the recipe leaves it open: the source
// is started for that, waited for at most 10 s, and stopped. `progress` is only asked whether to go on. Throws what the
// source throws, Error{bad_setting, cancelled}.
ReconstructionSpec live_plan(Source& source, Progress& progress);

// All that a recording of the source to `scan_toml` needs to know but how much is expected.
RecordingWanted recording_of(const Source& source, const std::filesystem::path& scan_toml);

}  // namespace echolux
