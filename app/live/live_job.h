// The job behind `echolux live --headless`: a source, a session, pictures, a recording where it is wanted, and a report
// of all that happened.
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

// What a program asks of a session that it gets the volumes of; on a thread that may not be held up. What is returned
// is the answer; empty: there is none.
using AnswerProgram = std::function<std::string(LiveSteering& session, const igtl::Request& request)>;

struct LiveJob : SessionJob {
    DeviceChoice device;
    View view;
    Publishing publishing = Publishing::whole;
    double pictures_per_s = 60;            // at most
    std::filesystem::path picture;         // of the last volume; empty: none
    std::filesystem::path kept;            // series of the last volumes, of source.keep_gb; empty: none
    TissueSettings tissue;                 // what is done to volumes before they are shown
    std::filesystem::path shifts;          // table of the B-scans of stabilised volumes; empty: none
    std::optional<igtl::LinkWanted> link;  // to programs that get the volumes, by OpenIGTLink
    AnswerProgram answer_program;          // their requests; empty: nothing is answered
    FileNames made_from;                   // files besides, in which this job stood: they are inputs as well
};

// Throws Error{bad_setting, bad_file, device, out_of_memory, output}; a job that the user stops ends well.
// `heard` gets what happens as it happens, on the calling thread.
LiveReport run(const LiveJob& job, Progress& progress, const HearEvent& heard = {});

}  // namespace echolux
