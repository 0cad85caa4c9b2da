// A session and everything that outlives a graphics device: source, recording, settings, position in time. Live sources
// acquire after start(). A recorded scan sends the volume that its time line requests.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "app/live/display_switch.h"
#include "app/live/volume_feeder.h"
#include "app/stage/live_session.h"
#include "app/stage/timeline.h"
#include "engine/acquire/scan_player.h"
#include "engine/live/session.h"

namespace echolux {

class StagedSession : public LiveSession {
  public:
    // `source`: a ScanPlayer is a recorded scan; all others are live. `plan`: complete spec of the source.
    StagedSession(std::unique_ptr<Source> source, const ReconstructionSpec& plan);
    ~StagedSession() override;  // completes a recording, like stop_recording()

    // ---- for the exhibit

    std::string name() const { return source_->name(); }
    const ReconstructionSpec& plan() const { return asked_.back().plan; }  // latest requested; complete() may be needed

    // Fills in what a changed plan leaves open: the noise floor. Can be called from any thread.
    void complete(ReconstructionSpec& plan) const;

    // Shows the current volume on the new display. A recorded scan that never ran is started; a live source waits for
    // start(). Throws Error{device, bad_file}.
    void attach(VolumeFeeder& display);
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

    // ---- LiveSession

    const Scan& scan() const override { return source_->scan(); }
    const SourceCapabilities& capabilities() const override { return source_->capabilities(); }
    bool is_recorded() const override { return player_ != nullptr; }

    bool is_running() const override;
    void start() override;
    void stop() override;

    RecordingWanted recording_of_now(const std::filesystem::path& scan_toml, const std::string& look) const override;
    void record(RecordingWanted wanted) override;
    RecorderStats stop_recording() override;
    bool is_recording() const override { return is_recording_; }

    void change(const Scan& scan) override;
    std::optional<Scan> take_refusal() override;

    void set_tissue(const LiveTissue& tissue) override;
    const TissueLog* tissue_log() const override;

    SessionStats stats() const override { return session_.stats(); }
    RingStatistics ring() const override;
    std::vector<DeviceWork> devices() const override;
    std::vector<SessionEvent> take_events() override;

    void look_at(std::int64_t b_scan) override { session_.look_at(b_scan); }
    std::optional<Block> newest_block() const override { return session_.newest_block(); }

  private:
    // Requested settings with the number that the display assigned to them.
    struct Asked {
        ReconstructionSpec plan;
        Scan scan;
        std::uint64_t number = 0;
    };

    void begin_to_show();
    void change_to(Asked& asked);

    std::unique_ptr<Source> source_;
    ScanPlayer* player_;           // the source, if it is a recorded scan
    const double first_floor_db_;  // noise floor of the first plan
    std::deque<Asked> asked_;      // the settings in use, followed by newer requests
    std::optional<Timeline> timeline_;
    std::int64_t asked_for_ = 0;  // volume of the scan
    std::int64_t changes_ = 0;    // changes of settings that became active, for scans whose volumes are not kept
    bool has_run_ = false;
    std::mutex starting_;              // serialises start and stop
    std::filesystem::path recording_;  // latest; used only by the serialised start and stop of recordings
    std::atomic<bool> is_recording_ = false;
    VolumeFeeder* display_ = nullptr;
    LiveTissue tissue_;
    DisplaySwitch to_display_;
    Session session_;  // last, so that it is destroyed first
};

}  // namespace echolux
