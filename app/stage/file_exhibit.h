// A volume file or a series of them on the stage. Time points are brought to the device ahead of their turn, on a
// thread of their own; the due one is shown as soon as it is there, until then the picture stays. Colours mean the same
// at all time points, as the first one that came to the device chose them. What is too large for memory is read box by
// box, and seen coarsely at first where the file has coarser levels.
#pragma once

#include <atomic>
#include <memory>

#include "app/stage/exhibit.h"
#include "engine/offline/series.h"
#include "engine/offline/steps_ahead.h"

namespace echolux {

// What outlives a graphics device.
struct StagedSeries {
    StagedSeries(const std::filesystem::path& path, const SeriesBudget& most)
        : series(path, most), timeline(series.steps(), series.step_s()), budget(most) {}

    Series series;
    Timeline timeline;
    SeriesBudget budget;
    std::optional<ValueRange> chosen{};  // by the first that came to the device
};

class FileExhibit : public Exhibit {
  public:
    // Throws as Renderer::prepare().
    FileExhibit(std::shared_ptr<StagedSeries> series, Renderer& renderer);

    std::string name() const override { return staged_->series.name(); }
    std::string way() const override { return {}; }

    std::optional<VolumeGrid> grid() const override;
    std::optional<VolumeGrid> flow_grid() const override { return {}; }
    std::string orientation() const override { return shown_ ? shown_->orientation : ""; }

    void update(double now_s) override;

    std::optional<FollowedPicture> follow(const View& view, double now_s, std::size_t pane) override;
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y) override;
    std::optional<Histogram> histogram() override;
    std::optional<PlaneHistogram> plane_histogram(const View& view) override;
    void set_heights(const HeightMaps& maps) override;
    bool has_heights() const override { return has_heights_; }
    void show_again() override;
    Image still(const View& view) override { return renderer_.render(view); }
    VolumeToCome begin_reading() override;

    Timeline* timeline() override;
    std::optional<VolumeStamp> stamp() const override;
    std::vector<Interval> ready_steps() const override { return staged_->series.ready(); }
    std::optional<Loading> loading() const override;
    std::optional<ValueRange> chosen_range() const override;
    std::vector<std::string> take_problems() override;

  private:
    // A time point on the device.
    struct OnDevice {
        std::shared_ptr<PreparedVolume> volume;
        VolumeGrid grid;
        std::string orientation;
        std::int64_t step = -1;  // below 0: a coarse one, in whose place the first comes
    };

    OnDevice on_device(const std::shared_ptr<const VoxelSource>& voxels, std::int64_t step);
    OnDevice on_device(const std::shared_ptr<const Volume>& volume, std::int64_t step);
    OnDevice first_shown();
    std::optional<OnDevice> coarse_one();
    StepsAhead::Step bring(std::int64_t step);
    bool can_bring(std::int64_t step) const;
    bool is_bad(std::int64_t step) const;
    void show(std::shared_ptr<const OnDevice> next);

    std::shared_ptr<StagedSeries> staged_;
    Renderer& renderer_;
    std::shared_ptr<const OnDevice> shown_;  // nothing: a large one that has no coarser levels
    bool has_heights_ = false;
    std::int64_t wanted_ = 0;
    int direction_ = 1;                   // in which steps are asked for
    std::atomic<double> share_read_ = 0;  // of the large one that is being brought
    std::unique_ptr<StepsAhead> ahead_;   // goes first
};

}  // namespace echolux
