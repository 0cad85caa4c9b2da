// Volumes of a movie, one at a time on the device, with the value range chosen by the first one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/tissue_shown.h"
#include "app/movie/movie_job.h"
#include "app/movie/movie_plan.h"
#include "app/movie/movie_volumes.h"
#include "compute/plan/describe.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "render/renderer.h"

namespace echolux {

// The volume shown by a frame.
struct SceneVolume {
    MovieVolume volume;
    std::int64_t step = 0;             // in the input
    std::optional<ValueRange> chosen;  // range set by an earlier volume; std::nullopt: by this one
};

class MovieScene {
  public:
    // `job` must outlive this object. Throws what opening and reading throw, unless at least one volume can be read.
    MovieScene(const MovieJob& job, const MoviePath& path, Progress& progress);

    Renderer& renderer() { return renderer_; }
    MovieTimePoints time_points() const { return {first_->structure->grid, volumes_->steps(), volumes_->step_s()}; }
    const std::map<std::string, std::string>& provenance() const { return first_->structure->provenance; }
    const std::vector<std::string>& warnings() const { return warnings_; }

    // Call with ascending steps. If a volume cannot be read, the previous one stays.
    void show(std::int64_t step, const View& view, Progress& progress);
    const SceneVolume& shown() const { return shown_; }

    // Returns the view with the flow range and threshold chosen by the first volume, where the view leaves them open.
    View in_first_colours(View view) const;

  private:
    void put_on(const MovieVolume& shown, const View& view, Progress& progress);
    void set_flow(const MovieVolume& shown, const View& view);
    void open_flows();
    void collect_warnings();

    const MovieJob& job_;
    TissueShown tissue_;
    Renderer renderer_;
    std::unique_ptr<MovieVolumes> volumes_;
    std::unique_ptr<SeriesFile> flows_;  // from a file with all time points; null if flow comes with the volumes or
                                         // from one file
    std::optional<MovieVolume> first_;
    std::int64_t first_step_ = 0;  // the first that could be read, or later; used for all steps before it
    std::int64_t step_ = -1;       // step requested last
    std::optional<ValueRange> chosen_;
    std::optional<FlowScale> flow_scale_;
    SceneVolume shown_;
    std::vector<std::string> warnings_;
};

}  // namespace echolux
