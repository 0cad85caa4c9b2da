// A volume file or a series of volume files. Time points are loaded to the device in advance on a separate thread. The
// due one is shown as soon as it is loaded; until then the previous picture stays. All time points use the value range
// of the first one loaded. Volumes too large for memory are read box by box, and shown from a coarser level first if
// the file has one.
#pragma once

#include <atomic>
#include <memory>

#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "engine/offline/series.h"
#include "render/slots/voxel_source.h"

namespace echolux {

// State that survives a lost graphics device.
struct OpenSeries {
    OpenSeries(const std::filesystem::path& path, const SeriesBudget& most)
        : series(path, most), timeline(series.steps(), series.step_s()), budget(most) {}

    Series series;
    Timeline timeline;
    SeriesBudget budget;
    std::optional<ValueRange> chosen{};  // determined by the first time point loaded
};

class FileSource : public ViewSource {
  public:
    // Throws like Renderer::prepare().
    FileSource(std::shared_ptr<OpenSeries> series, Renderer& renderer);

    std::string name() const override { return series_state_->series.name(); }
    std::string backend_description() const override { return {}; }

    std::string orientation() const override { return shown_ ? shown_->orientation : ""; }

    std::optional<PanePicture> follow(const View& view, double now_s, std::size_t pane) override;
    void set_heights(const HeightMaps& maps) override;
    bool has_heights() const override { return has_heights_; }
    PendingVolume begin_reading_own() override;

    Timeline* timeline() override;
    std::optional<VolumeStamp> stamp() const override;
    std::vector<Interval> ready_steps() const override { return series_state_->series.ready(); }
    std::optional<Loading> loading() const override;
    std::optional<ValueRange> chosen_range() const override;
    std::vector<std::string> take_problems() override;

  protected:
    std::optional<VolumeGrid> own_grid() const override;
    void update_own(double now_s) override;
    void show_again() override;

  private:
    // A time point on the device.
    struct OnDevice {
        std::shared_ptr<PreparedVolume> volume;
        VolumeGrid grid;
        std::string orientation;
        std::int64_t step = -1;  // negative: a coarse version shown before the first step
    };

    OnDevice on_device(const std::shared_ptr<const VoxelSource>& voxels, std::int64_t step);
    OnDevice on_device(const std::shared_ptr<const Volume>& volume, std::int64_t step);
    OnDevice first_shown();
    std::optional<OnDevice> coarse_one();
    StepsAhead::Step bring(std::int64_t step);
    bool can_bring(std::int64_t step) const;
    bool is_bad(std::int64_t step) const;
    void show(std::shared_ptr<const OnDevice> next);

    std::shared_ptr<OpenSeries> series_state_;
    std::shared_ptr<const OnDevice> shown_;  // null: a large volume without coarser levels
    bool has_heights_ = false;
    std::int64_t wanted_ = 0;
    int direction_ = 1;                   // order in which steps are loaded
    std::atomic<double> share_read_ = 0;  // of the large volume being loaded
    std::unique_ptr<StepsAhead> ahead_;   // last, so that its thread ends first
};

}  // namespace echolux
