#include "ui/app/movie/movie_job.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "engine/settings.h"
#include "engine/version.h"
#include "ui/app/height_maps.h"
#include "ui/app/movie/movie_encoding.h"
#include "ui/app/scan_poses.h"
#include "ui/app/seconds_since.h"
#include "ui/app/transfer_file.h"

namespace echolux {
namespace {

// Some codecs take even sizes only: such a movie has a column or a row more.
View sized(View view, MovieCodec codec) {
    if (!needs_even_size(codec)) return view;
    view.width += view.width % 2;
    view.height += view.height % 2;
    return view;
}

// Views name transfer functions in files: each is read once. A curve that was drawn by hand has no file, and stays.
class Transfers {
  public:
    void load(View& view) {
        if (view.transfer.empty()) return;
        if (!loaded_ || loaded_->transfer != view.transfer) {
            load_transfer(view);
            loaded_ = view;
        }
        view.transfer_curve = loaded_->transfer_curve;
    }

  private:
    std::optional<View> loaded_;
};

// The volumes, one at a time on the device.
class FilmSet {
  public:
    FilmSet(const MovieJob& job, const MoviePath& path, Progress& progress)
        : job_(job), renderer_(job.device), volumes_(movie_volumes(job, path.goes_through_time, progress)) {
        if (!job.flow.empty() && path.goes_through_time)
            throw Error(ErrorCode::bad_setting, "one volume of flow cannot go through time", "--flow", "leave it out");
        for (first_step_ = 0; first_step_ < volumes_->steps() && !first_; ++first_step_) {
            first_ = volumes_->read(first_step_, progress);
            collect_warnings();
        }
        if (!first_) {
            throw Error(ErrorCode::bad_file, "no volume can be read", job.input.string(),
                        warnings_.empty() ? "" : warnings_.back());
        }
    }

    Renderer& renderer() { return renderer_; }
    FilmedVolumes filmed() const { return {first_->structure->grid, volumes_->steps(), volumes_->step_s()}; }
    const std::map<std::string, std::string>& provenance() const { return first_->structure->provenance; }
    const std::vector<std::string>& warnings() const { return warnings_; }

    // What cannot be read leaves the volume before it where it is.
    void show(std::int64_t step, const View& view, Progress& progress) {
        if (step == step_) return;
        const bool is_first = step_ < 0;
        step_ = step;
        const std::optional<FilmedVolume> volume = step < first_step_ ? first_ : volumes_->read(step, progress);
        collect_warnings();
        if (volume) put_on(*volume, view, is_first);
    }

  private:
    void put_on(const FilmedVolume& filmed, const View& view, bool is_first) {
        std::shared_ptr<const Volume> volume = filmed.structure;
        HeightMaps heights;
        if (!view.flatten.empty() || !view.top_from.empty() || !view.bottom_from.empty()) {
            const auto prepared = std::make_shared<Volume>(*volume);  // flattening changes it
            heights = prepared_heights(view, *prepared);
            volume = prepared;
        }
        renderer_.set_poses(poses_of(filmed.geometry, volume->grid.b_scans));
        if (is_first || renderer_.is_in_pages())
            renderer_.set_volume(voxels_in_memory(volume->grid, volume->voxels.data(), volume));
        else
            renderer_.next_volume(volume->grid, volume->voxels.data());
        renderer_.set_heights(heights);
        if (view.flatten.empty()) set_flow(filmed);
    }

    void set_flow(const FilmedVolume& filmed) {
        const auto flow = job_.flow.empty() ? filmed.flow : std::make_shared<const Volume>(read_volume(job_.flow));
        if (flow != nullptr) renderer_.set_flow(flow->grid, flow->voxels.data());
    }

    void collect_warnings() {
        for (std::string& line : volumes_->take_warnings()) warnings_.push_back(std::move(line));
    }

    const MovieJob& job_;
    Renderer renderer_;
    std::unique_ptr<MovieVolumes> volumes_;
    std::optional<FilmedVolume> first_;
    std::int64_t first_step_ = 0;  // after the first that could be read, which stands for all before it
    std::vector<std::string> warnings_;
    std::int64_t step_ = -1;
};

MovieFormat format_of(const MovieJob& job, const MoviePlan& plan, const View& first,
                      const std::map<std::string, std::string>& provenance) {
    MovieFormat format{.codec = job.codec,
                       .width = first.width,
                       .height = first.height,
                       .rate = plan.rate(),
                       .most_pictures = plan.frames(),
                       .has_alpha = first.transparent,
                       .crf = job.crf,
                       .may_use_hardware = job.may_use_hardware,
                       .text = provenance};
    View view = first;
    Settings settings;
    settings.bind("view", view);
    format.text["view"] = settings.toml();
    format.text["movie.path"] = job.wanted.path;
    format.text["movie.program"] = version;
    return format;
}

void draw(const MovieJob& job, const MoviePlan& plan, FilmSet& stage, MovieEncoding& encoding, MovieCodec codec,
          Progress& progress) {
    Transfers transfers;
    for (std::int64_t frame = 0; frame < plan.frames(); ++frame) {
        View view = sized(plan.view(frame), codec);
        transfers.load(view);
        if (view.width != sized(job.view, codec).width || view.height != sized(job.view, codec).height) {
            throw Error(ErrorCode::bad_setting, "the size of a movie cannot change on its way",
                        "view.width, view.height", "leave them out of the key frames");
        }
        stage.show(plan.step(frame), view, progress);
        encoding.add(stage.renderer().begin(view));
        progress.advance(1);
    }
}

// The same error, that also says what there is in spite of it.
Error told(const Error& error, const MovieJob& job, const MovieEncoding& encoding, std::int64_t frames) {
    const std::int64_t made = encoding.pictures();
    const std::string kept = made > 0 ? fmt::format("{} of {} pictures are in {}", made, frames, job.output.string())
                                      : "nothing was written";
    const std::string problem = error.code() == ErrorCode::cancelled ? "cancelled" : error.problem();
    return {error.code(), fmt::format("{}: {}", problem, kept),
            error.code() == ErrorCode::cancelled ? "movie" : error.where(), error.remedy()};
}

// What was handed over is kept; how that ends matters less than why it had to.
void end_early(MovieEncoding& encoding) {
    try {
        encoding.finish();
    } catch (const Error&) {
    }
}

}  // namespace

MadeMovie run(const MovieJob& job, Progress& progress) {
    const MovieCodec codec = movie_codec(job.output, job.codec);
    const View start = sized(job.view, codec);
    check_view(start);
    FilmSet stage(job, movie_path(job.wanted.path), progress);
    const MoviePlan plan(job.wanted, start, stage.filmed());
    MovieEncoding encoding(create_movie(job.output, format_of(job, plan, plan.view(0), stage.provenance())));
    const auto begun = std::chrono::steady_clock::now();
    progress.begin("movie", plan.frames(), "frames");
    try {
        draw(job, plan, stage, encoding, codec, progress);
        encoding.finish();
    } catch (const Error& error) {
        end_early(encoding);
        throw told(error, job, encoding, plan.frames());
    }
    progress.end();
    return {.device = stage.renderer().device_name(),
            .encoder = encoding.encoder(),
            .frames = plan.frames(),
            .rate = plan.rate(),
            .width = start.width,
            .height = start.height,
            .time_rate = plan.time_rate(),
            .warnings = stage.warnings(),
            .seconds = seconds_since(begun),
            .encoding_s = encoding.busy_s()};
}

}  // namespace echolux
