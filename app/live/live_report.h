// What a live job says of itself: all figures, for programs and for people.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/live/processed_volumes.h"
#include "compute/device_work.h"
#include "engine/igtl/link_stats.h"
#include "engine/live/latency.h"
#include "engine/live/session.h"
#include "engine/live/tissue_work.h"
#include "engine/live/volume_ring.h"

namespace echolux {

struct PictureStats {
    std::int64_t pictures = 0;
    std::int64_t volumes = 0;       // that some finished picture showed whole
    std::int64_t out_of_order = 0;  // pictures that showed an older volume than the one before
    double pictures_per_s = 0;      // in the mean, while something changed
    Latency drawing;                // of a picture, from its submission to its end
};

// Where there is a display.
struct DisplayReport {
    RingStatistics ring;
    PictureStats pictures;
    std::int64_t bytes_read_back = 0;
};

// The last volumes, which a display kept, in a file.
struct KeptReport {
    std::int64_t volumes = 0;
    std::int64_t bytes_read_back = 0;  // for that alone
    std::optional<Error> problem;      // why there is no file
};

struct LiveReport {
    std::string source;
    std::string way;  // who reconstructs, how voxels get to whom; empty: nobody
    SessionStats session;
    std::optional<DisplayReport> display;
    std::vector<DeviceWork> devices;    // where several reconstruct for the display
    std::optional<TissueStats> tissue;  // where volumes were stabilised or filtered
    std::optional<RecorderStats> recorder;
    std::optional<ProcessedStats> processed;
    std::optional<KeptReport> kept;         // where they were to be written
    std::optional<igtl::LinkStats> linked;  // to programs that get the volumes
    std::vector<SessionEvent> events;
    bool was_cut_short = false;  // the user ended it before the seconds or volumes that were asked for
    std::string failure;         // why it could not go on; empty: it could
};

// Why that is not all that was asked for: nothing came, blocks or volumes are missing, a disk or a device failed.
// Nothing: it is. Where the user cut it short and nothing else is wrong, Error{cancelled}.
std::optional<Error> problem_of(const LiveReport& report);

// One JSON object, of lines; docs/live.md lists the keys.
std::string json_of(const LiveReport& report);
nlohmann::ordered_json object_of(const LiveReport& report);
nlohmann::ordered_json object_of(const RingStatistics& stats);
nlohmann::ordered_json object_of(const RecorderStats& stats);

// For people.
std::string text_of(const LiveReport& report);

}  // namespace echolux
