// Shows the volumes of a session: live from an instrument, or from a recorded scan whose settings can be changed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "app/viewer/live_controller.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"

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

    bool has_planes() const override;

    // While a new ring has no volume yet, the last picture stays.
    std::optional<PanePicture> follow(const View& view, double now_s, std::size_t pane) override;
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y) override;
    std::optional<Histogram> histogram() override;
    std::optional<PlaneHistogram> plane_histogram(const View& view) override;
    std::optional<FlowScale> flow_scale(const View& view) override;
    void set_heights(const HeightMaps& maps) override { path_.display.set_heights(maps); }
    bool has_heights() const override { return path_.display.has_heights(); }
    Image still(const View& view) override;
    PendingVolume begin_reading_own() override;

    Timeline* timeline() override { return session_->timeline(); }
    RecentTimeline* recent_timeline() override { return kept_.max_volumes() > 0 ? &kept_ : nullptr; }
    std::shared_ptr<RecentReader> begin_reading_recent(double seconds) override;
    std::vector<Interval> ready_steps() const override;
    std::vector<std::int64_t> incomplete_steps() const override { return session_->incomplete_steps(); }
    std::optional<Loading> loading() const override;
    std::optional<VolumeStamp> stamp() const override;
    bool is_at_work() const override {
        return ViewSource::is_at_work() || session_->is_at_work() || renderer_.looks_at_flow();
    }
    std::shared_ptr<LiveController> shared_live() override { return session_; }

  protected:
    std::optional<VolumeGrid> own_grid() const override;
    std::optional<VolumeGrid> own_flow_grid() const override;
    void update_own(double now_s) override;

  private:
    // A volume being copied to the host. Its copy must end before the path is destroyed.
    struct Reading {
        std::mutex mutex;
        std::function<std::vector<std::byte>()> voxels;
    };

    std::map<std::string, std::string> provenance_now(const ReconstructionSpec& plan) const;
    PendingVolume guarded(VolumeDownload coming);
    void note(const PaneContent& followed, double now_s);

    std::shared_ptr<LiveController> session_;
    LivePipeline path_;
    RecentTimeline kept_{path_.display};
    std::string backend_description_;
    std::optional<DisplayState> shown_;            // as of the last update
    std::map<std::size_t, PanePicture> pictures_;  // latest picture of each pane
    std::optional<FlowScale> flow_scale_;          // the latest
    std::optional<LivePicture> unseen_;            // first picture of a volume, not finished yet
    std::vector<std::weak_ptr<Reading>> readings_;
    std::int64_t noted_ = -1;  // last volume for which a picture was started
};

}  // namespace echolux
