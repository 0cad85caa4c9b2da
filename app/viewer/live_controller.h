// A session as the window controls it: start, stop, record, change settings, inspect single spectra. The source is an
// instrument, the simulator, a replay, or a recorded scan whose volumes are requested one by one. It outlives the
// graphics device, with source, recording, settings and position in time.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/viewer/timeline.h"
#include "compute/reconstructor.h"
#include "engine/acquire/scan_player.h"
#include "engine/live/postprocessing.h"
#include "engine/live/session.h"
#include "engine/live/volume_ring.h"
#include "engine/scan/scan.h"

namespace echolux {

class LiveFeeder;  // app/live/live_pipeline.h

// State of a live source as people see it. late: no data for 1 s; failed: the source is lost and is being started
// again.
enum class SourceState { stopped, ended, live, replay, late, failed };

class LiveController {
  public:
    // `source`: a ScanPlayer is a recorded scan, which sends the volume that its time line requests; all others are
    // live and acquire after start(). `plan`: complete spec of the source.
    LiveController(std::unique_ptr<Source> source, const ReconstructionSpec& plan);
    ~LiveController();  // completes a recording, like stop_recording()
    LiveController(const LiveController&) = delete;
    LiveController& operator=(const LiveController&) = delete;

    std::string name() const { return source_->name(); }
    const Scan& scan() const { return source_->scan(); }  // format, geometry and calibration of the source
    const SourceCapabilities& capabilities() const { return source_->capabilities(); }
    bool is_recorded() const { return player_ != nullptr; }  // a scan on disk: no start, stop and record

    bool is_running() const;
    SourceState state() const;  // of a live source
    // Both wait for the instrument, so call them in jobs. Throw Error{device, bad_file}.
    void start();
    void stop();

    // Returns the description of a recording with this name. `look`: sections [view] and [transfer] for its TOML.
    // Throws Error{bad_setting} if the session is already being recorded.
    RecordingRequest recording_of_now(const std::filesystem::path& scan_toml, const std::string& look) const;

    // Recording starts with the next volume. Both wait for the disk, so call them in jobs. Throw Error{output,
    // bad_setting}.
    void record(RecordingRequest wanted);
    RecorderStats stop_recording();
    bool is_recording() const { return is_recording_; }

    // Applies recipe, flow and calibration of `scan`, which are prepared in the background. Throws Error{bad_setting}
    // for invalid settings; nothing changes then.
    void change(const Scan& scan);

    // Returns the settings in use, once, if later ones turned out to be invalid. Call periodically.
    std::optional<Scan> take_refusal();

    // Sets the processing of volumes before they are shown, effective with the next volume. Throws Error{bad_setting}.
    void set_tissue(const LiveTissue& tissue);
    const TissueLog* tissue_log() const;  // of the display; nullptr without one

    LiveStats stats() const { return session_.stats(); }
    RingStatistics ring() const;
    std::vector<DeviceWork> devices() const;  // reconstructing devices, up to the last volume
    std::vector<LiveEvent> take_events();

    // The B-scan that the user looks at; it is reprocessed first.
    void look_at(std::int64_t b_scan) { session_.look_at(b_scan); }

    // Returns the newest unprocessed block, shared with other users; std::nullopt before the first, or if it is on a
    // GPU.
    std::optional<Block> newest_block() const { return session_.newest_block(); }

    // ---- for the view source

    const ReconstructionSpec& plan() const { return asked_.back().plan; }  // latest requested; complete() may be needed

    // Fills in what a changed plan leaves open: the noise floor. Can be called from any thread.
    void complete(ReconstructionSpec& plan) const;

    // Shows the current volume on the new display. A recorded scan that never ran is started; a live source waits for
    // start(). Throws Error{device, bad_file}.
    void attach(LiveFeeder& display);
    void detach();

    // Live: the source is running. Recorded scan: other settings are being prepared.
    bool is_at_work() const;

    // Requests the volume of the time line from the scan.
    void update(double now_s);

    // Returns true if the volume of the scan cannot be read, so do not wait for it.
    bool has_failed(std::int64_t step) const { return player_ != nullptr && player_->has_failed(step); }

    // note_drawn(): a picture of `volume` was started. note_seen(): one was finished.
    void note_drawn(std::int64_t volume, double now_s);
    void note_seen(std::int64_t volume) { session_.shown(volume); }

    Timeline* timeline() { return timeline_ ? &*timeline_ : nullptr; }  // for scans of several volumes
    std::int64_t step_of(std::int64_t volume) const;                    // within the scan; unchanged for live sources
    std::vector<std::int64_t> incomplete_steps() const {                // volumes of the scan with missing B-scans
        return player_ == nullptr ? std::vector<std::int64_t>() : incomplete_volumes(player_->scan().missing);
    }

  private:
    // Requested settings with the number that the display assigned to them.
    struct PlanRequest {
        ReconstructionSpec plan;
        Scan scan;
        std::uint64_t number = 0;
    };

    void begin_to_show();
    void change_to(PlanRequest& asked);

    std::unique_ptr<Source> source_;
    ScanPlayer* player_;             // the source, if it is a recorded scan
    const double first_floor_db_;    // noise floor of the first plan
    std::deque<PlanRequest> asked_;  // the settings in use, followed by newer requests
    std::optional<Timeline> timeline_;
    std::int64_t asked_for_ = 0;  // volume of the scan
    std::int64_t changes_ = 0;    // changes of settings that became active, for scans whose volumes are not kept
    bool has_run_ = false;
    std::mutex starting_;              // serialises start and stop
    std::filesystem::path recording_;  // latest; used only by the serialised start and stop of recordings
    std::atomic<bool> is_recording_ = false;
    LiveFeeder* display_ = nullptr;
    LiveTissue tissue_;
    Session session_;  // last, so that it is destroyed first
};

}  // namespace echolux
