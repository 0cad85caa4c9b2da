// Report of a live job: all figures, for programs and for people.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/live/processed_volumes.h"
#include "compute/reconstructor.h"
#include "engine/igtl/link.h"
#include "engine/live/session.h"
#include "engine/live/tissue_work.h"
#include "engine/live/volume_ring.h"

namespace echolux {

struct PictureStats {
    std::int64_t pictures = 0;
    std::int64_t volumes = 0;       // number shown completely in finished pictures
    std::int64_t out_of_order = 0;  // pictures that showed an older volume than the previous one
    double pictures_per_s = 0;      // mean while something changed
    Latency drawing;                // from submission to completion of a picture
};

// Only with a display.
struct DisplayReport {
    RingStatistics ring;
    PictureStats pictures;
    std::int64_t bytes_read_back = 0;
};

// File of the recent volumes that a display kept.
struct KeptReport {
    std::int64_t volumes = 0;
    std::int64_t bytes_read_back = 0;  // read back for this file
    std::optional<Error> problem;      // why there is no file
};

struct LiveReport {
    std::string source;
    std::string way;  // device that reconstructs and transfer path of voxels; empty without a display
    SessionStats session;
    std::optional<DisplayReport> display;
    std::vector<DeviceWork> devices;    // if several reconstruct for the display
    std::optional<TissueStats> tissue;  // if volumes were stabilised or filtered
    std::optional<RecorderStats> recorder;
    std::optional<ProcessedStats> processed;
    std::optional<KeptReport> kept;         // if the recent volumes were to be written
    std::optional<igtl::LinkStats> linked;  // for programs that receive volumes
    std::vector<SessionEvent> events;
    std::int64_t asked_volumes = 0;  // 0: no limit
    double asked_seconds = 0;        // 0: no limit
    bool was_cut_short = false;      // ended by the user before the requested time or number of volumes
    std::string failure;             // why it stopped early; empty if it did not
};

// Returns an error if the result is incomplete: nothing arrived, blocks or volumes are missing, or a disk or device
// failed. If the user ended it early, returns Error{cancelled}, which also reports everything else that is wrong.
// Otherwise std::nullopt.
std::optional<Error> problem_of(const LiveReport& report);

// One JSON object over several lines; docs/live.md lists the keys.
std::string json_of(const LiveReport& report);
nlohmann::ordered_json object_of(const LiveReport& report);
nlohmann::ordered_json object_of(const RingStatistics& stats);
nlohmann::ordered_json object_of(const RecorderStats& stats);

// Text for people.
std::string text_of(const LiveReport& report);

}  // namespace echolux
