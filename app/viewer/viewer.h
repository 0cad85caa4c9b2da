// The renderer and what it shows: nothing (the start page) or one view source. Both are recreated if the graphics
// device is lost.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/backend.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/offline/series.h"
#include "engine/progress.h"
#include "render/gpu_device.h"
#include "render/renderer.h"

namespace echolux {

// ---- Derived volumes: shows a view source, or instead of it a volume derived from it (filtered, stabilised) with the
// same size and position. The derived volume is discarded as soon as something else is shown. Files are never changed.
// Flow is not shown with a derived volume, because it belongs to the original.

class DerivedVolumeView : public ViewSource {
  public:
    DerivedVolumeView(std::unique_ptr<ViewSource> own, Renderer& renderer);

    // `volume`: derived from what is shown now, with the same number of voxels along each edge. It is transferred to
    // the device in the background and then shown. Errors are returned by take_problems().
    void show_instead(std::shared_ptr<const Volume> volume);
    void show_own();

    // The latest request; nullptr: the original volume.
    const std::shared_ptr<const Volume>& instead() const { return wanted_; }
    bool is_instead() const { return shown_ != nullptr; }  // shown now
    bool is_coming() const { return coming_.valid(); }

    // Reads the original volume, even while a derived one is shown.
    PendingVolume begin_reading_own() { return own_->begin_reading(); }
    // Identifies the original volume; changes when it does.
    std::string own_mark() const;

    std::string name() const override { return own_->name(); }
    std::string backend_description() const override { return own_->backend_description(); }
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
    PendingVolume begin_reading() override;

    Timeline* timeline() override { return own_->timeline(); }
    RecentTimeline* recent_timeline() override { return own_->recent_timeline(); }
    std::shared_ptr<RecentReader> begin_reading_recent(double seconds) override {
        return own_->begin_reading_recent(seconds);
    }
    std::vector<Interval> ready_steps() const override { return own_->ready_steps(); }
    std::optional<Loading> loading() const override { return own_->loading(); }
    std::optional<VolumeStamp> stamp() const override { return own_->stamp(); }
    std::uint64_t news() const override { return own_->news() + news_; }
    bool is_at_work() const override { return own_->is_at_work() || coming_.valid(); }
    std::optional<ValueRange> chosen_range() const override { return own_->chosen_range(); }
    std::vector<std::string> take_problems() override;
    std::shared_ptr<LiveControl> shared_live() override { return own_->shared_live(); }

  private:
    struct OnDevice {
        std::shared_ptr<const Volume> volume;
        std::shared_ptr<PreparedVolume> prepared;
    };

    void begin_bringing();
    void receive_results();

    std::unique_ptr<ViewSource> own_;
    Renderer& renderer_;
    std::shared_ptr<const Volume> wanted_, bringing_;
    std::string wanted_for_;           // own_mark() of the volume it was derived from
    std::shared_ptr<OnDevice> shown_;  // nullptr: the original volume
    std::uint64_t news_ = 0;
    std::vector<std::string> problems_;
    std::future<OnDevice> coming_;  // last: it uses the renderer
};

// ---- Renderer and view source

// Creates a view source on the renderer; called again after a lost device.
using ViewSourceFactory = std::function<std::unique_ptr<ViewSource>(Renderer&)>;

class Viewer {
  public:
    // Throws Error{device}.
    Viewer(GpuDevice device, BackendChoice backend);
    ~Viewer();

    Renderer& renderer() { return *renderer_; }                 // must exist
    bool has_renderer() const { return renderer_ != nullptr; }  // false after revive() failed; it may be called again
    const BackendChoice& backend() const { return backend_; }

    ViewSource* view_source() { return view_source_.get(); }
    DerivedVolumeView* derived_view() { return view_source_.get(); }  // the view source as a DerivedVolumeView

    // Replaces what was shown. The old view source is destroyed first, since memory may not hold both, so it is gone
    // even if this throws.
    void show(ViewSourceFactory make);
    void clear();

    // Call after Error{device}: creates a new renderer with the view source. Everything that uses the old renderer
    // (screens) must have been released. Throws Error{device} if it fails.
    void revive();

  private:
    GpuDevice device_;
    BackendChoice backend_;
    std::unique_ptr<Renderer> renderer_;
    ViewSourceFactory make_;
    std::unique_ptr<DerivedVolumeView> view_source_;  // destroyed before the renderer
};

// ---- Opening of files and sources as view sources. The slow part (reading, simulating, connecting) runs in these
// functions, in a job. The returned function only creates the view source on the renderer.

// Returns true for volumes (a file, a folder or pattern of time points), false for spectra.
bool holds_volumes(const std::filesystem::path& path);

// Opens one volume file, a 4-D file, a folder of volume files (time points sorted by name) or a scan TOML. Throws
// Error{bad_file, bad_setting, out_of_memory, cancelled}.
ViewSourceFactory open_source_view(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                                   const BackendChoice& backend, const SeriesBudget& budget, Progress& progress);

// Opens a live source. It starts when it is shown.
ViewSourceFactory open_live_source(const SourceRequest& source, const BackendChoice& backend, Progress& progress);

}  // namespace echolux
