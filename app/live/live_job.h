// The job behind `echolux live --headless`: a source, a session, pictures, a recording where it is wanted, and a report
// of all that happened.
#pragma once

#include <filesystem>

#include "app/live/session_run.h"
#include "render/device_choice.h"
#include "render/view/view.h"

namespace echolux {

struct LiveJob : SessionJob {
    DeviceChoice device;
    View view;
    Publishing publishing = Publishing::whole;
    double pictures_per_s = 60;     // at most
    std::filesystem::path picture;  // of the last volume; empty: none
    FileNames made_from;            // files besides, in which this job stood: they are inputs as well
};

// Throws Error{bad_setting, bad_file, device, out_of_memory, output}; a job that the user stops ends well.
// `heard` gets what happens as it happens, on the calling thread.
LiveReport run(const LiveJob& job, Progress& progress, const HearEvent& heard = {});

}  // namespace echolux
