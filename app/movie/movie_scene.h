// The volumes that a movie shows, one at a time on the device, in the colours that the first one chose.
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
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "render/renderer.h"

namespace echolux {

// The volume that a frame shows.
struct SceneVolume {
    MovieVolume volume;
    std::int64_t step = 0;             // of the input
    std::optional<ValueRange> chosen;  // by an earlier volume; nothing: by this one
};

class MovieScene {
  public:
    // `job` outlives it. Throws what opening and reading throw: at least one volume can be read.
    MovieScene(const MovieJob& job, const MoviePath& path, Progress& progress);

    Renderer& renderer() { return renderer_; }
    MovieTimePoints time_points() const { return {first_->structure->grid, volumes_->steps(), volumes_->step_s()}; }
    const std::map<std::string, std::string>& provenance() const { return first_->structure->provenance; }
    const std::vector<std::string>& warnings() const { return warnings_; }

    // In ascending order of steps. What cannot be read leaves the volume before it where it is.
    void show(std::int64_t step, const View& view, Progress& progress);
    const SceneVolume& shown() const { return shown_; }

    // The view with the range and threshold of flow that the first volume chose, where it leaves them open.
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
    std::unique_ptr<SeriesFile> flows_;  // of all time points, from a file; nullptr: those of the volumes, or one
    std::optional<MovieVolume> first_;
    std::int64_t first_step_ = 0;  // after the first that could be read, which stands for all before it
    std::int64_t step_ = -1;       // that was asked for
    std::optional<ValueRange> chosen_;
    std::optional<FlowScale> flow_scale_;
    SceneVolume shown_;
    std::vector<std::string> warnings_;
};

}  // namespace echolux
