// Shows the volumes of a session: live from an instrument, or from a recorded scan whose settings can be changed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "engine/acquire/scan_player.h"
#include "engine/live/session.h"

namespace echolux {

// ---- Transfer of recent volumes to a waiting thread. The drawing thread starts copying one volume whenever the
// previous one has been taken, so at most two are in memory and pictures never wait.

class RecentReader {
  public:
    // The kept volumes stay unchanged for the lifetime of this object.
    RecentReader(RecentSeries series, std::shared_ptr<const RecentHold> hold)
        : series_(std::move(series)), hold_(std::move(hold)) {}

    const RecentSeries& series() const { return series_; }
    const RecentHold& hold() const { return *hold_; }

    // ---- drawing thread; never waits
    std::optional<std::uint64_t> wanted() const;  // serial of the volume to copy now
    void bring(PendingVolume coming);
    void fail(const Error& error);  // the waiting thread receives the error

    // ---- waiting thread: returns the next volume's voxels. Throws Error{device, cancelled, out_of_memory}.
    std::vector<std::byte> next(Progress& progress);

  private:
    RecentSeries series_;
    std::shared_ptr<const RecentHold> hold_;
    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    std::size_t begun_ = 0;
    PendingVolume coming_;
    std::optional<Error> error_;
};

// ---- Navigation in the recent volumes of a live display: pause, step, resume, and save to a file. Used by the drawing
// thread.

class RecentTimeline {
  public:
    // Converts a copy in progress to the form that the waiting thread receives.
    using Bring = std::function<PendingVolume(VolumeDownload)>;

    explicit RecentTimeline(LiveDisplay& display) : display_(display) {}  // `display` must outlive this object
    ~RecentTimeline();
    RecentTimeline(const RecentTimeline&) = delete;
    RecentTimeline& operator=(const RecentTimeline&) = delete;

    // Call once per picture.
    void update(const Bring& bring);

    const std::vector<RecentVolume>& volumes() const { return now_.volumes; }  // oldest first
    std::int64_t max_volumes() const { return now_.max_volumes; }              // capacity; 0: none are kept
    double seconds() const;                                                    // from the first to the last

    bool is_paused() const { return now_.shown.has_value(); }
    std::int64_t step() const;  // index of the volume shown; the last if not paused; -1 if there is none
    double ago_s() const;       // time between it and the last one

    void pause();
    void resume();
    void go_to(std::int64_t step);     // pauses; clamped to the valid range
    void step_by(std::int64_t steps);  // pauses; clamped to the valid range

    // Holds the volumes of the last `seconds` (0: all) for the lifetime of the result. nullptr if there are none.
    // `provenance` describes the settings used recently, numbered `plan`.
    std::shared_ptr<RecentReader> read(double seconds, std::map<std::string, std::string> provenance,
                                       std::uint64_t plan);

  private:
    void serve(RecentReader& reading, const Bring& bring);

    LiveDisplay& display_;
    RecentVolumes now_;
    std::vector<std::weak_ptr<RecentReader>> readings_;
};

// ---- A session and everything that outlives a graphics device: source, recording, settings, position in time. Live
// sources acquire after start(). A recorded scan sends the volume that its time line requests.

class LiveController : public LiveControl {
  public:
    // `source`: a ScanPlayer is a recorded scan; all others are live. `plan`: complete spec of the source.
    LiveController(std::unique_ptr<Source> source, const ReconstructionSpec& plan);
    ~LiveController() override;  // completes a recording, like stop_recording()

    // ---- for the view source

    std::string name() const { return source_->name(); }
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

    // ---- LiveControl

    const Scan& scan() const override { return source_->scan(); }
    const SourceCapabilities& capabilities() const override { return source_->capabilities(); }
    bool is_recorded() const override { return player_ != nullptr; }

    bool is_running() const override;
    void start() override;
    void stop() override;

    RecordingRequest recording_of_now(const std::filesystem::path& scan_toml, const std::string& look) const override;
    void record(RecordingRequest wanted) override;
    RecorderStats stop_recording() override;
    bool is_recording() const override { return is_recording_; }

    void change(const Scan& scan) override;
    std::optional<Scan> take_refusal() override;

    void set_tissue(const LiveTissue& tissue) override;
    const TissueLog* tissue_log() const override;

    LiveStats stats() const override { return session_.stats(); }
    RingStatistics ring() const override;
    std::vector<DeviceWork> devices() const override;
    std::vector<LiveEvent> take_events() override;

    void look_at(std::int64_t b_scan) override { session_.look_at(b_scan); }
    std::optional<Block> newest_block() const override { return session_.newest_block(); }

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

// ---- View source

class LiveSource : public ViewSource {
  public:
    // The session may have been shown on another renderer before. `keep_bytes`: display memory for recent volumes.
    // Throws what creating a LivePipeline and starting the source throw.
    LiveSource(std::shared_ptr<LiveController> session, const BackendChoice& backend, Renderer& renderer,
               std::int64_t keep_bytes = 0);
    ~LiveSource() override;

    std::string name() const override { return session_->name(); }
    std::string backend_description() const override { return backend_description_; }

    std::optional<VolumeGrid> grid() const override;
    std::optional<VolumeGrid> flow_grid() const override;
    bool has_planes() const override;

    void update(double now_s) override;

    // While a new ring has no volume yet, the last picture stays.
    std::optional<FollowedPicture> follow(const View& view, double now_s, std::size_t pane) override;
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y) override;
    std::optional<Histogram> histogram() override;
    std::optional<PlaneHistogram> plane_histogram(const View& view) override;
    std::optional<FlowScale> flow_scale(const View& view) override;
    void set_heights(const HeightMaps& maps) override { path_.display.set_heights(maps); }
    bool has_heights() const override { return path_.display.has_heights(); }
    Image still(const View& view) override;
    PendingVolume begin_reading() override;

    Timeline* timeline() override { return session_->timeline(); }
    RecentTimeline* recent_timeline() override { return kept_.max_volumes() > 0 ? &kept_ : nullptr; }
    std::shared_ptr<RecentReader> begin_reading_recent(double seconds) override;
    std::vector<Interval> ready_steps() const override;
    std::vector<std::int64_t> incomplete_steps() const override { return session_->incomplete_steps(); }
    std::optional<Loading> loading() const override;
    std::optional<VolumeStamp> stamp() const override;
    std::uint64_t news() const override { return news_; }
    bool is_at_work() const override { return session_->is_at_work() || loading() || path_.display.looks_at_flow(); }
    std::shared_ptr<LiveControl> shared_live() override { return session_; }

  private:
    // A volume being copied to the host. Its copy must end before the path is destroyed.
    struct Reading {
        std::mutex mutex;
        std::function<std::vector<std::byte>()> voxels;
    };

    std::map<std::string, std::string> provenance_now(const ReconstructionSpec& plan) const;
    PendingVolume guarded(VolumeDownload coming);
    void note(const FollowedVolume& followed, double now_s);

    std::shared_ptr<LiveController> session_;
    LivePipeline path_;
    RecentTimeline kept_{path_.display};
    std::string backend_description_;
    std::optional<DisplayState> shown_;  // as of the last update
    std::uint64_t news_ = 0;
    std::map<std::size_t, FollowedPicture> pictures_;  // latest picture of each pane
    std::optional<FlowScale> flow_scale_;              // the latest
    std::optional<LivePicture> unseen_;                // first picture of a volume, not finished yet
    std::vector<std::weak_ptr<Reading>> readings_;
    std::int64_t noted_ = -1;  // last volume for which a picture was started
};

}  // namespace echolux
