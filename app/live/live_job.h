// Job of `echolux live --headless`: a source, a session, pictures, an optional recording, and a report.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "app/live/session_run.h"
#include "app/session/tissue_settings.h"
#include "engine/igtl/link.h"
#include "render/device_choice.h"
#include "render/view/view.h"

namespace echolux {

class LiveSteering;  // app/live/live_steering.h

// Answers a request of a program that receives volumes of the session. It runs on a thread that must not be blocked.
// Returns the answer, or an empty string for none.
using AnswerProgram = std::function<std::string(LiveSteering& session, const igtl::Request& request)>;

struct LiveJob : SessionJob {
    DeviceChoice device;
    View view;
    Publishing publishing = Publishing::whole;
    double pictures_per_s = 60;            // upper limit
    std::filesystem::path picture;         // picture of the last volume; empty: none
    std::filesystem::path kept;            // series of the recent volumes, of source.keep_gb; empty: none
    TissueSettings tissue;                 // processing of volumes before they are shown
    std::filesystem::path shifts;          // table of the B-scans of stabilised volumes; empty: none
    std::optional<igtl::LinkWanted> link;  // sends volumes to programs by OpenIGTLink
    AnswerProgram answer_program;          // answers their requests; empty: not answered
    FileNames made_from;                   // further input files from which this job was read
};

// Throws Error{bad_setting, bad_file, device, out_of_memory, output}. Stopping by the user is not an error. `heard`
// receives events on the calling thread as they occur.
LiveReport run(const LiveJob& job, Progress& progress, const HearEvent& heard = {});

}  // namespace echolux
