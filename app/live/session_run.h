// A session without a window, for `echolux live` and `echolux record`: runs it with an optional recording from start to
// end, writes volumes to files, reports events, and collects figures.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/plan/describe_stats.h"
#include "compute/plan/params.h"
#include "compute/reconstructor.h"
#include "engine/acquire/source.h"
#include "engine/igtl/link.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"
#include "engine/live/postprocessing.h"
#include "engine/live/recorder.h"
#include "engine/live/session.h"
#include "engine/live/volume_ring.h"
#include "engine/progress.h"

namespace echolux {

// ---- Source: measures its noise floor if the recipe leaves it open, and describes a recording of it.

// Returns the source's spec. If the recipe leaves the noise floor open, it is measured from the first block: the source
// is started, given at most 10 s, and stopped. `progress` is only used for cancelling. Throws what the source throws
// and Error{bad_setting, cancelled}.
ReconstructionSpec live_plan(Source& source, Progress& progress);

// Returns all parameters of a recording of the source to `scan_toml`, except its expected size.
RecordingRequest recording_of(const Source& source, const std::filesystem::path& scan_toml);

// ---- Files of all volumes, written by a separate thread. For volumes on a graphics device, the drawing thread starts
// the copy and this thread waits for it. If the disk is too slow, volumes are skipped and counted.

struct ProcessedStats {
    std::int64_t volumes = 0;   // written
    std::int64_t left_out = 0;  // skipped because the disk was too slow
    std::int64_t bytes = 0;
    double read_back_s = 0;  // time spent waiting for voxels; pictures never wait
    double write_s = 0;
    std::optional<Error> problem;  // error that ended writing
};
template <>
const std::vector<Stat<ProcessedStats>>& describe_stats<ProcessedStats>();

class ProcessedVolumes {
  public:
    // Writes volume_000000.nrrd ... to `folder`, which is created. Throws Error{output}.
    explicit ProcessedVolumes(std::filesystem::path folder);
    ~ProcessedVolumes();  // writes all queued volumes

    // Returns true if there is room for another volume, so reading it back is worthwhile.
    bool has_room() const;

    // `voxels` returns the voxels and may wait. This function never waits.
    void add(std::int64_t number, const VolumeGrid& grid, std::function<std::vector<std::byte>()> voxels,
             std::map<std::string, std::string> provenance = {});

    // Counts one volume that was not even read back.
    void leave_out();

    // Writes all queued volumes and ends the thread.
    ProcessedStats finish();

  private:
    static constexpr std::size_t max_waiting = 4;  // volumes in host memory that the disk has not accepted yet

    struct Waiting {
        std::int64_t number;
        VolumeGrid grid;
        std::function<std::vector<std::byte>()> voxels;
        std::map<std::string, std::string> provenance;  // processing steps after reconstruction
    };

    void work();
    void write(Waiting waiting);

    std::filesystem::path folder_;
    mutable std::mutex mutex_;
    std::condition_variable comes_;
    std::deque<Waiting> waiting_;
    bool ends_ = false;
    ProcessedStats stats_;
    std::thread thread_;
};

// ---- File of the volumes kept by a display or session, as one series: the last seconds of a live source, saved after
// the event.

struct RecentSeries {
    std::vector<RecentVolume> volumes;  // oldest first
    VolumeGrid grid;                    // of each volume
    std::map<std::string, std::string> provenance;
    std::uint64_t plan = 0;  // number of the settings in `provenance`
};

// Returns those of `volumes` (oldest first) from the last `seconds`; 0: all.
std::vector<RecentVolume> last_of(const std::vector<RecentVolume>& volumes, double seconds);

// Writes the series. `voxels` returns the voxels of one volume after another and may wait. Time counts from the first
// volume. Provenance holds the time of acquisition, and the number of volumes started with other settings. Throws
// Error{output, cancelled} and what `voxels` throws; then no file is left.
void write_recent(const std::filesystem::path& path, const RecentSeries& series,
                  const std::function<std::vector<std::byte>()>& voxels, Progress& progress);

// ---- Report: all figures, for programs and for people.

struct PictureStats {
    std::int64_t pictures = 0;
    std::int64_t volumes = 0;       // number shown completely in finished pictures
    std::int64_t out_of_order = 0;  // pictures that showed an older volume than the previous one
    double pictures_per_s = 0;      // mean while something changed
    Latency drawing;                // from submission to completion of a picture
};
template <>
const std::vector<Stat<PictureStats>>& describe_stats<PictureStats>();

// Only with a display.
struct DisplayReport {
    RingStatistics ring;
    PictureStats pictures;
    std::int64_t bytes_read_back = 0;
};
template <>
const std::vector<Stat<DisplayReport>>& describe_stats<DisplayReport>();

// File of the recent volumes that a display kept.
struct RecentVolumesReport {
    std::int64_t volumes = 0;
    std::int64_t bytes_read_back = 0;  // read back for this file
    std::optional<Error> problem;      // why there is no file
};
template <>
const std::vector<Stat<RecentVolumesReport>>& describe_stats<RecentVolumesReport>();

struct LiveReport {
    std::string source;
    std::string backend_description;  // device that reconstructs and transfer path of voxels; empty without a display
    LiveStats session;
    std::optional<DisplayReport> display;
    std::vector<DeviceWork> devices;    // if several reconstruct for the display
    std::optional<TissueStats> tissue;  // if volumes were stabilised or filtered
    std::optional<RecorderStats> recorder;
    std::optional<ProcessedStats> processed;
    std::optional<RecentVolumesReport> kept;  // if the recent volumes were to be written
    std::optional<igtl::LinkStats> linked;    // for programs that receive volumes
    std::vector<LiveEvent> events;
    std::int64_t asked_volumes = 0;  // 0: no limit
    double asked_seconds = 0;        // 0: no limit
    bool was_cut_short = false;      // ended by the user before the requested time or number of volumes
    std::string failure;             // why it stopped early; empty if it did not
};
template <>
const std::vector<Stat<LiveReport>>& describe_stats<LiveReport>();

// Returns an error if the result is incomplete: nothing arrived, blocks or volumes are missing, or a disk or device
// failed. If the user ended it early, returns Error{cancelled}, which also reports everything else that is wrong.
// Otherwise std::nullopt.
std::optional<Error> problem_of(const LiveReport& report);

// One JSON object over several lines; docs/statistics.md lists the keys.
std::string json_of(const LiveReport& report);
nlohmann::ordered_json object_of(const LiveReport& report);

// Sets `key` of a JSON object, such as "arrived.lost_blocks", unless the value is absent.
void set_value(nlohmann::ordered_json& object, std::string_view key, const StatValue& value);

// Returns described statistics as a JSON object.
template <class S, class Json = nlohmann::ordered_json>
Json stats_object(const S& stats) {
    Json object = Json::object();
    for (const Stat<S>& stat : describe_stats<S>()) set_value(object, stat.key, stat.get(stats));
    return object;
}

// Returns the table of docs/statistics.md.
std::string statistics_table();

// Text for people.
std::string text_of(const LiveReport& report);

// ---- Running a session

struct AcquisitionJob {
    std::string task = "live";  // task name in progress messages
    SourceRequest source;
    BackendChoice backend;
    double seconds = 0;                            // if 0, until the source or the user ends it
    std::int64_t volumes = 0;                      // number to acquire; 0: no limit
    std::filesystem::path record;                  // TOML file of the recording; empty: none
    std::vector<std::filesystem::path> stripes{};  // folders on further disks for it
    bool overwrites = false;                       // replaces an earlier recording and other results
    std::filesystem::path processed;               // folder for processed volumes; empty: none
    std::filesystem::path report;                  // file to which the caller writes the report; empty: none
};

using EventCallback = std::function<void(const LiveEvent&)>;

// Opens the job's source. `progress` reports simulation before the first block.
std::unique_ptr<Source> opened_source(const AcquisitionJob& job, Progress& progress);

// Checks all outputs before the source is opened: the recording, the volumes, the report, and `more`. Throws
// Error{output, bad_setting}.
void check_session_outputs(const AcquisitionJob& job, std::vector<Output> more = {}, FileNames made_from = {});

// Runs until the job is complete, `run_error` returns an error, or the user stops it, which is not an error. Results
// are stored in `report`.
void run_session(const AcquisitionJob& job, Source& source, Session& session, LiveReport& report, Progress& progress,
                 const EventCallback& on_event, const std::function<std::optional<std::string>()>& run_error = {});

}  // namespace echolux
