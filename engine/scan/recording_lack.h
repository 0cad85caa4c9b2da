// Text about the data that a recording lacks, shown first by all that open it.
#pragma once

#include <string>

#include "engine/scan/recording_notes.h"

namespace echolux {

// Returns "recording was not finished: 2 blocks missing" or "recording is incomplete: ..." with all counts. Empty if
// nothing is missing or the scan is not a recording.
std::string lack_of(const RecordingNotes& notes);

}  // namespace echolux
