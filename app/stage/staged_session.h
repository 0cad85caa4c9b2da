// A session on the stage, and all that outlives a graphics device: the source, its recording, settings, the place in
// time. Live sources acquire when they are started; a recorded scan sends the volume that its time line asks for.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "app/live/display_switch.h"
#include "app/live/volume_feeder.h"
#include "app/stage/live_session.h"
#include "app/stage/timeline.h"
#include "engine/acquire/scan_player.h"
#include "engine/live/session.h"

namespace echolux {

class StagedSession : public LiveSession {
  public:
    // `source`: a ScanPlayer is a recorded scan, all else is live. `plan`: as the source says, complete.
    StagedSession(std::unique_ptr<Source> source, const ReconstructionSpec& plan);
    ~StagedSession() override;  // what is recorded is whole, as after stop_recording()

    // ---- for who shows it

    std::string name() const { return source_->name(); }
    const ReconstructionSpec& plan() const { return asked_.back().plan; }  // that is wanted; may be open after a change

    // Fills in what a changed plan leaves open: the noise floor. From any thread.
    void complete(ReconstructionSpec& plan) const;

    // What is there is shown on the new display; a recorded scan that never ran is started, a live source waits for
    // start(). Throws Error{device, bad_file}.
    void attach(VolumeFeeder& display);
    void detach();

    // Live: it runs. A recorded scan: other settings are being made ready.
    bool is_at_work() const;

    // What the time line asks for is asked of the scan.
    void update(double now_s);

    // The volume of the scan cannot be read: nobody need wait for it.
    bool has_failed(std::int64_t step) const { return player_ != nullptr && player_->has_failed(step); }

    // A picture of `volume` has been begun; one has been finished.
    void note_drawn(std::int64_t volume, double now_s);
    void note_seen(std::int64_t volume) { session_.shown(volume); }

    Timeline* timeline() { return timeline_ ? &*timeline_ : nullptr; }  // of scans of several volumes
    std::int64_t step_of(std::int64_t volume) const;                    // of the scan; as it is where it is live

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
    // Settings that were asked for, and the number by which the display knows them.
    struct Asked {
        ReconstructionSpec plan;
        Scan scan;
        std::uint64_t number = 0;
    };

    void begin_to_show();
    void change_to(Asked& asked);

    std::unique_ptr<Source> source_;
    ScanPlayer* player_;           // the source, where it is a recorded scan
    const double first_floor_db_;  // noise floor of the first plan
    std::deque<Asked> asked_;      // the settings in use, and those asked for since
    std::optional<Timeline> timeline_;
    std::int64_t asked_for_ = 0;  // volume of the scan
    std::int64_t changes_ = 0;    // of settings that came into use, for a scan whose volumes are not kept
    bool has_run_ = false;
    std::mutex starting_;              // starts and stops one at a time
    std::filesystem::path recording_;  // the last one; of whoever starts and stops recordings, one at a time
    std::atomic<bool> is_recording_ = false;
    VolumeFeeder* display_ = nullptr;
    LiveTissue tissue_;
    DisplaySwitch to_display_;
    Session session_;  // goes first
};

}  // namespace echolux
