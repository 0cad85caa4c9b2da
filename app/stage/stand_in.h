// What stands on the stage, or a volume that was made of it (filtered, stabilised) in its place: of the same size, at
// the same place, and gone as soon as something else is shown. Files are never touched, and whoever looks on sees the
// same exhibit all the time. Flow is not shown with such a volume: it belongs to the one that was reconstructed.
#pragma once

#include <future>

#include "app/stage/exhibit.h"

namespace echolux {

class StandIn : public Exhibit {
  public:
    StandIn(std::unique_ptr<Exhibit> own, Renderer& renderer);

    // `volume`: made of what is shown now, with as many voxels along each edge. It is brought to the device beside the
    // pictures and shown when it is there; what fails is one of take_problems().
    void show_instead(std::shared_ptr<const Volume> volume);
    void show_own();

    // What was asked for last; nullptr: the own volume.
    const std::shared_ptr<const Volume>& instead() const { return wanted_; }
    bool is_instead() const { return shown_ != nullptr; }  // seen now
    bool is_coming() const { return coming_.valid(); }

    // Of the own volume, whatever is shown in its place.
    VolumeToCome begin_reading_own() { return own_->begin_reading(); }
    // Another text whenever the own volume is another one.
    std::string own_mark() const;

    std::string name() const override { return own_->name(); }
    std::string way() const override { return own_->way(); }
    std::optional<VolumeGrid> grid() const override;
    std::optional<VolumeGrid> flow_grid() const override;
    std::string orientation() const override { return own_->orientation(); }
    bool has_planes() const override { return own_->has_planes(); }

    void update(double now_s) override;

    std::optional<FollowedPicture> follow(const View& view, double now_s, std::size_t pane) override;
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y) override;
    std::optional<Histogram> histogram() override;
    std::optional<PlaneHistogram> plane_histogram(const View& view) override;
    std::optional<FlowScale> flow_scale(const View& view) override;
    void set_heights(const HeightMaps& maps) override { own_->set_heights(maps); }
    bool has_heights() const override { return own_->has_heights(); }
    Image still(const View& view) override;
    VolumeToCome begin_reading() override;

    Timeline* timeline() override { return own_->timeline(); }
    KeptTime* kept_time() override { return own_->kept_time(); }
    std::shared_ptr<KeptReading> begin_reading_kept(double seconds) override {
        return own_->begin_reading_kept(seconds);
    }
    std::vector<Interval> ready_steps() const override { return own_->ready_steps(); }
    std::optional<Loading> loading() const override { return own_->loading(); }
    std::optional<VolumeStamp> stamp() const override { return own_->stamp(); }
    std::uint64_t news() const override { return own_->news() + news_; }
    bool is_at_work() const override { return own_->is_at_work() || coming_.valid(); }
    std::optional<ValueRange> chosen_range() const override { return own_->chosen_range(); }
    std::vector<std::string> take_problems() override;
    std::shared_ptr<LiveSession> shared_live() override { return own_->shared_live(); }

  private:
    struct OnDevice {
        std::shared_ptr<const Volume> volume;
        std::shared_ptr<PreparedVolume> prepared;
    };

    void begin_bringing();
    void take_what_came();

    std::unique_ptr<Exhibit> own_;
    Renderer& renderer_;
    std::shared_ptr<const Volume> wanted_, bringing_;
    std::string wanted_for_;           // own_mark() that it was made of
    std::shared_ptr<OnDevice> shown_;  // nullptr: the own volume
    std::uint64_t news_ = 0;
    std::vector<std::string> problems_;
    std::future<OnDevice> coming_;  // goes first: it uses the renderer
};

}  // namespace echolux
