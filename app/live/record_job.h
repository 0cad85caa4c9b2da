// Job of `echolux record`: records all blocks of a source to a new scan and optionally writes volumes. Nothing is
// drawn.
#pragma once

#include "app/live/session_run.h"

namespace echolux {

struct RecordJob : AcquisitionJob {
    RecordJob() { task = "record"; }
};

// Throws Error{bad_setting, bad_file, device, out_of_memory, output}. Stopping by the user is not an error. `on_event`
// receives events on the calling thread as they occur.
LiveReport run(const RecordJob& job, Progress& progress, const EventCallback& on_event = {});

}  // namespace echolux
