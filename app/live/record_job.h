// The job behind `echolux record`: every block of a source as a scan, and volumes besides where they are wanted.
// Nothing is drawn.
#pragma once

#include "app/live/session_run.h"

namespace echolux {

struct RecordJob : SessionJob {
    RecordJob() { task = "record"; }
};

// Throws Error{bad_setting, bad_file, device, out_of_memory, output}; a job that the user stops ends well.
// `heard` gets what happens as it happens, on the calling thread.
LiveReport run(const RecordJob& job, Progress& progress, const HearEvent& heard = {});

}  // namespace echolux
