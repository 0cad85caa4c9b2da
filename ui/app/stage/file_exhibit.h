// A volume file or a series of them on the stage. The due time point is shown as soon as it has been read; until then
// the picture stays. Colours mean the same at all time points, as the first one that was shown chose them.
#pragma once

#include <memory>
#include <set>

#include "engine/series.h"
#include "ui/app/stage/exhibit.h"

namespace echolux {

// What outlives a graphics device.
struct StagedSeries {
    StagedSeries(const std::filesystem::path& path, const SeriesBudget& budget)
        : series(path, budget), timeline(series.steps(), series.step_s()) {}

    Series series;
    Timeline timeline;
};

class FileExhibit : public Exhibit {
  public:
    // Throws as Renderer::set_volume().
    FileExhibit(std::shared_ptr<StagedSeries> series, Renderer& renderer);

    std::string name() const override { return staged_->series.name(); }
    std::string way() const override { return {}; }

    std::optional<VolumeGrid> grid() const override { return shown_->grid; }
    std::optional<VolumeGrid> flow_grid() const override { return {}; }

    void update(double now_s) override;

    std::optional<FollowedPicture> follow(const View& view, double now_s, std::size_t pane) override;
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y) override;
    std::optional<Histogram> histogram() override { return renderer_.histogram(); }
    void set_heights(const HeightMaps& maps) override;
    bool has_heights() const override { return has_heights_; }
    Image still(const View& view) override { return renderer_.render(view); }
    std::optional<Volume> volume() override { return *shown_; }

    Timeline* timeline() override;
    std::vector<Interval> ready_steps() const override { return staged_->series.ready(); }
    std::vector<std::string> take_problems() override;

  private:
    bool is_there(std::int64_t step) const;
    std::shared_ptr<const VoxelSource> voxels() const;
    void show(std::int64_t step);

    std::shared_ptr<StagedSeries> staged_;
    Renderer& renderer_;
    std::shared_ptr<const Volume> shown_;  // on the device
    std::int64_t step_ = 0;                // of that
    bool has_heights_ = false;
    std::int64_t wanted_ = 0;
    int direction_ = 1;               // in which steps are asked for
    std::set<std::int64_t> refused_;  // that the device does not take
    std::vector<std::string> problems_;
};

}  // namespace echolux
