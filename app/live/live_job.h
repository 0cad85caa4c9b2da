// The jobs behind `echolux live --headless` and `echolux record`: a source, a session, pictures where they are wanted,
// a recording where it is wanted, and a report of all that happened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/live/picture_loop.h"
#include "app/live/processed_volumes.h"
#include "compute/backend.h"
#include "engine/acquire/source.h"
#include "engine/live/session.h"
#include "engine/progress.h"
#include "render/device_choice.h"
#include "render/view/view.h"

namespace echolux {

struct LiveJob {
    SourceWanted source;
    BackendChoice backend;
    DeviceChoice device;
    View view;
    Publishing publishing = Publishing::whole;
    bool displays = true;             // false: nothing is reconstructed
    double pictures_per_s = 60;       // at most
    double seconds = 0;               // 0: until the source ends, or the user
    std::int64_t volumes = 0;         // that are acquired; 0: as many as come
    std::filesystem::path picture;    // of the last volume; empty: none
    std::filesystem::path record;     // the recording's TOML; empty: none
    bool overwrites = false;          // an earlier recording
    std::filesystem::path processed;  // folder for processed volumes; empty: none
};

struct LiveReport {
    std::string source;
    std::string way;  // who reconstructs, how voxels get to whom; empty: nobody
    SessionStats session;
    RingStatistics ring;
    PictureStats pictures;
    std::optional<RecorderStats> recorder;
    std::optional<ProcessedStats> processed;
    std::int64_t bytes_read_back = 0;
    std::vector<SessionEvent> events;
};

// Throws Error{bad_setting, bad_file, device, out_of_memory, output}; a job that the user stops ends well.
// `heard` gets what happens as it happens, on the calling thread.
LiveReport run(const LiveJob& job, Progress& progress, const std::function<void(const SessionEvent&)>& heard = {});

// One JSON object, of lines; docs/live.md lists the keys.
std::string json_of(const LiveReport& report);

// For people.
std::string text_of(const LiveReport& report);

}  // namespace echolux
