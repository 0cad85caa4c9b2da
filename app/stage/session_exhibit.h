// Shows the volumes of a session: live from an instrument, or from a recorded scan whose settings can be changed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "app/live/volume_path.h"
#include "app/stage/exhibit.h"
#include "app/stage/kept_time.h"
#include "app/stage/staged_session.h"

namespace echolux {

class SessionExhibit : public Exhibit {
  public:
    // The session may have been shown on another renderer before. `keep_bytes`: display memory for recent volumes.
    // Throws what creating a VolumePath and starting the source throw.
    SessionExhibit(std::shared_ptr<StagedSession> session, const BackendChoice& backend, Renderer& renderer,
                   std::int64_t keep_bytes = 0);
    ~SessionExhibit() override;

    std::string name() const override { return session_->name(); }
    std::string way() const override { return way_; }

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
    void set_heights(const HeightMaps& maps) override { path_.set_heights(maps); }
    bool has_heights() const override { return path_.has_heights(); }
    Image still(const View& view) override;
    VolumeToCome begin_reading() override;

    Timeline* timeline() override { return session_->timeline(); }
    KeptTime* kept_time() override { return kept_.max_volumes() > 0 ? &kept_ : nullptr; }
    std::shared_ptr<KeptReading> begin_reading_kept(double seconds) override;
    std::vector<Interval> ready_steps() const override;
    std::vector<std::int64_t> incomplete_steps() const override { return session_->incomplete_steps(); }
    std::optional<Loading> loading() const override;
    std::optional<VolumeStamp> stamp() const override;
    std::uint64_t news() const override { return news_; }
    bool is_at_work() const override { return session_->is_at_work() || loading() || path_.looks_at_flow(); }
    std::shared_ptr<LiveSession> shared_live() override { return session_; }

  private:
    // A volume being copied to the host. Its copy must end before the path is destroyed.
    struct Reading {
        std::mutex mutex;
        std::function<std::vector<std::byte>()> voxels;
    };

    std::map<std::string, std::string> provenance_now(const ReconstructionSpec& plan) const;
    VolumeToCome guarded(ComingVolume coming);
    void note(const FollowedVolume& followed, double now_s);

    std::shared_ptr<StagedSession> session_;
    VolumePath path_;
    KeptTime kept_{path_};
    std::string way_;
    std::optional<ShownVolume> shown_;  // as of the last update
    std::uint64_t news_ = 0;
    std::map<std::size_t, FollowedPicture> pictures_;  // latest picture of each pane
    std::optional<FlowScale> flow_scale_;              // the latest
    std::optional<VolumePicture> unseen_;              // first picture of a volume, not finished yet
    std::vector<std::weak_ptr<Reading>> readings_;
    std::int64_t noted_ = -1;  // last volume for which a picture was started
};

}  // namespace echolux
