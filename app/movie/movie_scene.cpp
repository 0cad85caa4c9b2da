#include "app/movie/movie_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/open/channel_files.h"
#include "app/open/height_maps.h"
#include "app/open/scan_poses.h"
#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {

MovieScene::MovieScene(const MovieJob& job, const MoviePath& path, Progress& progress)
    : job_(job), tissue_(job.tissue, job), renderer_(job.device),
      volumes_(movie_volumes(job, path.goes_through_time, progress)), chosen_(job.chosen) {
    if (!job.flow.empty() && path.goes_through_time) open_flows();
    for (first_step_ = 0; first_step_ < volumes_->steps() && !first_; ++first_step_) {
        first_ = volumes_->read(first_step_, progress);
        collect_warnings();
    }
    if (!first_) {
        throw Error(ErrorCode::bad_file, "no volume can be read", job.input.string(),
                    warnings_.empty() ? "" : warnings_.back());
    }
    shown_.step = path.goes_through_time ? first_step_ - 1 : job.part.volume;
}

void MovieScene::open_flows() {
    flows_ = std::make_unique<SeriesFile>(job_.flow);
    if (flows_->time_points() == volumes_->steps()) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("has {}, and the structure has {}: each needs its own flow",
                            counted(flows_->time_points(), "time points"), volumes_->steps()),
                "flow", "give the flow of the same volumes, or leave it out");
}

void MovieScene::show(std::int64_t step, const View& view, Progress& progress) {
    if (step == step_) return;
    step_ = step;
    const bool is_first = step < first_step_;
    const std::optional<MovieVolume> volume = is_first ? first_ : volumes_->read(step, progress);
    collect_warnings();
    if (!volume) return;
    shown_ = {*volume, is_first ? shown_.step : step, chosen_};
    put_on(*volume, view, progress);
}

void MovieScene::put_on(const MovieVolume& shown, const View& view, Progress& progress) {
    std::shared_ptr<const Volume> volume = shown.structure;
    if (tissue_.changes_volumes()) {
        Unheard unheard(progress);
        volume = std::make_shared<const Volume>(tissue_.of(*volume, unheard));
    }
    HeightMaps heights;
    if (!view.flatten.empty() || !view.top_from.empty() || !view.bottom_from.empty()) {
        const auto prepared = std::make_shared<Volume>(*volume);  // flattening changes it
        heights = prepared_heights(view, *prepared);
        volume = prepared;
    }
    check_channels_of(view, volume->grid, job_.input.string());
    renderer_.set_poses(poses_of(shown.geometry, volume->grid.b_scans));
    const auto prepared = renderer_.prepare(voxels_in_memory(volume->grid, volume->voxels.data(), volume), chosen_);
    if (!chosen_) chosen_ = fixed_range(*prepared);
    renderer_.show(prepared);
    renderer_.set_heights(heights);
    if (view.flatten.empty() && !tissue_.changes_volumes()) set_flow(shown, view);
}

void MovieScene::set_flow(const MovieVolume& shown, const View& view) {
    const auto flow = flows_              ? std::make_shared<const Volume>(flows_->read(shown_.step))
                      : job_.flow.empty() ? shown.flow
                                          : std::make_shared<const Volume>(read_volume(job_.flow));
    if (flow != nullptr) renderer_.set_flow(flow->grid, flow->voxels.data());
    if (flow != nullptr && !flow_scale_) flow_scale_ = renderer_.flow_scale(view);
}

View MovieScene::in_first_colours(View view) const {
    if (flow_scale_) leave_nothing_open(view, *flow_scale_);
    return view;
}

void MovieScene::collect_warnings() {
    for (std::string& line : volumes_->take_warnings()) warnings_.push_back(std::move(line));
}

}  // namespace echolux
