#include "app/movie/movie_job.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "app/movie/movie_encoding.h"
#include "app/movie/movie_resume.h"
#include "app/movie/movie_scene.h"
#include "app/movie/shutter.h"
#include "app/open/channel_files.h"
#include "app/open/files_read.h"
#include "app/seconds_since.h"
#include "app/session/picture_record.h"
#include "app/session/session_text.h"
#include "app/transfer/transfer_file.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/build.h"
#include "engine/io/movie_file.h"
#include "engine/io/output_rule.h"
#include "engine/io/png_file.h"
#include "engine/io/regular_file.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

// Records of the pictures in a series of PNG files. Like stills, each can be opened and rendered again by itself.
class FrameTexts {
  public:
    // `job` must outlive this object. Reads the input for its fingerprint.
    FrameTexts(const MovieJob& job, const std::string& device);

    PictureTexts of(const View& view, const SceneVolume& shown) const;

  private:
    const MovieJob& job_;
    PictureRecord record_;
};

FrameTexts::FrameTexts(const MovieJob& job, const std::string& device) : job_(job) {
    note_input(record_, job);
    record_.device = device;
    if (job.flow.empty()) return;
    record_.flow = std::filesystem::absolute(job.flow).lexically_normal().string();
    record_.flow_hash = file_hash(job.flow);
}

PictureTexts FrameTexts::of(const View& view, const SceneVolume& shown) const {
    PictureRecord record = record_;
    note_channels(record, view);
    record.backend = shown.volume.backend;
    record.made_by = text_of_map(shown.volume.structure->provenance);
    note_range(record, shown.chosen);
    WhatIsOpen open{.assignments = text_of_lines(job_.settings), .step = shown.step};
    if (!job_.input.empty()) open.file = std::filesystem::absolute(job_.input).lexically_normal().string();
    return texts_of_picture(picture_session(open, record, view, shown.volume.scan.get(), job_.tissue));
}

// Some codecs require even sizes: the movie then gets one more column or row.
View sized(View view, MovieCodec codec) {
    if (!needs_even_size(codec)) return view;
    view.width += view.width % 2;
    view.height += view.height % 2;
    return view;
}

// Transfer functions named by views are read only when the name changes. A curve drawn by hand has no file and is kept.
class Transfers {
  public:
    void load(View& view) {
        if (!loaded_ || loaded_->transfer != view.transfer || loaded_->preset != view.preset ||
            loaded_->sky_picture != view.sky_picture) {
            const std::optional<View> before = std::exchange(loaded_, view);
            load_transfer(*loaded_);
            load_channels(*loaded_, before ? &*before : nullptr);
        }
        if (!view.transfer.empty()) view.transfer_curve = loaded_->transfer_curve;
        view.own_preset = loaded_->own_preset;
        load_channels(view, &*loaded_);
        for (std::size_t i = 0; i < view.channels.size(); ++i) loaded_->channels[i].volume = view.channels[i].volume;
        view.sky_read = loaded_->sky_read;
    }

  private:
    std::optional<View> loaded_;
};

MovieFormat format_of(const MovieJob& job, const MoviePlan& plan, std::int64_t pictures, std::int64_t first_picture,
                      const View& first, const std::map<std::string, std::string>& provenance) {
    MovieFormat format{.codec = job.codec,
                       .width = first.width,
                       .height = first.height,
                       .rate = plan.rate(),
                       .max_pictures = pictures,
                       .first_picture = first_picture,
                       .has_alpha = first.transparent,
                       .crf = job.crf,
                       .may_use_hardware = job.may_use_hardware,
                       .text = provenance};
    View view = first;
    Settings settings;
    settings.bind("view", view);
    format.text["view"] = settings.toml();
    format.text["movie.path"] = job.spec.path;
    if (!job.spec.key_frames.empty()) format.text["movie.key_frames"] = job.spec.key_frames;
    format.text[movie_program_key] = version;
    return format;
}

struct Frames {
    std::int64_t first = 0, end = 0;

    std::int64_t count() const { return end - first; }
};

Frames frames_of(const MovieSpec& spec, const MoviePlan& plan) {
    if (spec.first == 0 && spec.end == 0) return {0, plan.frames()};
    if (0 <= spec.first && spec.first < spec.end && spec.end <= plan.frames()) return {spec.first, spec.end};
    throw Error(ErrorCode::bad_setting, fmt::format("pictures {} to {} are not in the movie", spec.first, spec.end),
                "movie", fmt::format("it has {}", counted(plan.frames(), "pictures")));
}

// Reads a picture that was drawn earlier and checks its size.
Image drawn_image(const std::filesystem::path& path, const View& view) {
    Picture picture = read_png(path);
    if (picture.width != view.width || picture.height != view.height || picture.channels != 4) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("is a picture of {} x {} pixels, the movie has {} x {}", picture.width, picture.height,
                                view.width, view.height),
                    path.string(), "draw it for this movie");
    }
    return {.width = picture.width, .height = picture.height, .pixels = std::move(picture.pixels)};
}

void take(const MovieJob& job, const Frames& frames, const View& view, MovieEncoding& encoding, Progress& progress) {
    const SeriesName series(job.drawn);
    for (std::int64_t frame = frames.first; frame < frames.end; ++frame) {
        encoding.add([path = series.of(frame), view] { return drawn_image(path, view); });
        progress.advance(1);
    }
}

// Returns the picture of `view`, or the mean of the pictures drawn while the shutter is open.
std::function<Image()> exposed(const View& view, std::int64_t frame, const MoviePlan& plan, MovieScene& stage,
                               Transfers& transfers, Progress& progress) {
    const auto begin = [&](const View& shown) {
        return stage.renderer().begin(shown, {}, [&progress] { progress.advance(0); });
    };
    const std::vector<double> moments = moments_of_exposure(view);
    if (moments.size() == 1) return begin(view);
    auto exposure = std::make_shared<Exposure>();
    std::function<Image()> coming;
    for (std::size_t i = 0; i < moments.size(); ++i) {
        View part = plan.view(frame, moments[i]);
        part.width = view.width;
        part.height = view.height;
        transfers.load(part);
        std::function<Image()> next =
            begin(part_of_exposure(stage.in_first_colours(std::move(part)), i, moments.size()));
        if (coming) exposure->add(coming());  // overlaps with drawing the next one
        coming = std::move(next);
    }
    return [exposure, coming] {
        exposure->add(coming());
        return exposure->image();
    };
}

void draw(const MovieJob& job, const MoviePlan& plan, const Frames& frames, MovieScene& stage, MovieEncoding& encoding,
          MovieCodec codec, Progress& progress) {
    Transfers transfers;
    std::optional<FrameTexts> texts;
    if (codec == MovieCodec::png) texts.emplace(job, stage.renderer().device_name());
    if (frames.first > 0) {  // colours are those chosen by the first picture of the movie
        View view = sized(plan.view(0), codec);
        transfers.load(view);
        stage.show(plan.step(0), view, progress);
    }
    for (std::int64_t frame = frames.first; frame < frames.end; ++frame) {
        View view = sized(plan.view(frame), codec);
        transfers.load(view);
        if (view.width != sized(job.view, codec).width || view.height != sized(job.view, codec).height) {
            throw Error(ErrorCode::bad_setting, "the size of a movie cannot change along its path",
                        "view.width, view.height", "leave them out of the key frames");
        }
        stage.show(plan.step(frame), view, progress);
        view = stage.in_first_colours(std::move(view));
        auto text = texts ? texts->of(view, stage.shown()) : PictureTexts{};
        encoding.add(exposed(view, frame, plan, stage, transfers, progress), std::move(text));
        progress.advance(1);
    }
}

// The outputs of a PNG series are all files that match its name.
std::vector<Output> outputs_of(const MovieJob& job, MovieCodec codec) {
    if (codec != MovieCodec::png) return {{job.output, is_own_movie}};
    const SeriesName series(job.output);
    std::vector<Output> pictures;
    std::error_code none;
    for (std::int64_t i = 0; i == 0 || std::filesystem::exists(series.of(i), none); ++i) {
        pictures.push_back({series.of(i), is_own_picture});
    }
    return pictures;
}

void check_names(const MovieJob& job, MovieCodec codec) {
    FileNames inputs = files_read(job);
    inputs.insert(inputs.end(), {job.flow, job.spec.path});
    add_files_of_view(job.view, inputs);
    inputs.insert(inputs.end(), job.made_from.begin(), job.made_from.end());
    check_outputs(outputs_of(job, codec), inputs, job.overwrites);
}

// Returns the same error, with the part of the movie that was completed.
Error told(const Error& error, const MovieJob& job, const MovieEncoding& encoding, std::int64_t frames) {
    const std::int64_t made = encoding.pictures();
    const std::string kept =
        made > 0 ? fmt::format("{} of {} are in {}", made, counted(frames, "pictures"), job.output.string())
                 : "nothing was written";
    const std::string problem = error.code() == ErrorCode::cancelled ? "cancelled" : error.problem();
    return {error.code(), fmt::format("{}: {}", problem, kept),
            error.code() == ErrorCode::cancelled ? "movie" : error.where(), error.remedy()};
}

// Keeps what has been encoded and drops the queue. Errors are ignored, because the original error matters more.
void end_early(MovieEncoding& encoding) {
    encoding.drop_waiting();
    try {
        encoding.finish();
    } catch (const Error&) {
    }
}

MadeMovie make(const MovieJob& job, Progress& progress) {
    const MovieCodec codec = movie_codec(job.output, job.codec);
    check_names(job, codec);
    View start = sized(job.view, codec);
    load_transfer(start);
    load_channels(start);
    check_view(start);
    MovieScene stage(job, movie_path(job.spec.path, job.spec.key_frames), progress);
    const MoviePlan plan(job.spec, start, stage.time_points());
    Frames frames = frames_of(job.spec, plan);
    std::int64_t already = 0;
    if (job.spec.resumes) {
        const std::string note = note_text(job, plan, stage.renderer().device_name());
        already = first_missing(job.output, note, frames.count());
        frames.first += already;
    }
    const MovieFormat format = format_of(job, plan, frames.count(), already, plan.view(0), stage.provenance());
    MovieEncoding encoding(create_movie(job.output, format));
    const auto begun = std::chrono::steady_clock::now();
    progress.begin("movie", frames.count(), "frames");
    try {
        if (job.drawn.empty())
            draw(job, plan, frames, stage, encoding, codec, progress);
        else
            take(job, frames, start, encoding, progress);
        encoding.finish();
    } catch (const Error& error) {
        end_early(encoding);
        throw told(error, job, encoding, frames.count());
    }
    progress.end();
    return {.device = stage.renderer().device_name(),
            .encoder = encoding.encoder(),
            .frames = already + frames.count(),
            .rate = plan.rate(),
            .width = start.width,
            .height = start.height,
            .time_rate = plan.time_rate(),
            .warnings = stage.warnings(),
            .seconds = seconds_since(begun),
            .encoding_s = encoding.busy_s()};
}

// Pictures are drawn in the size required by the codec.
MadeMovie make_in_two_steps(const MovieJob& job, Progress& progress) {
    MovieJob drawing = job, coding = job;
    drawing.output = coding.drawn = kept_pictures(job);
    drawing.view = sized(job.view, movie_codec(job.output, job.codec));
    drawing.codec = MovieCodec::png;
    coding.spec.resumes = false;
    const MadeMovie drawn = make(drawing, progress);
    MadeMovie made = make(coding, progress);
    made.seconds += drawn.seconds;
    remove_kept(coding.drawn, true);
    return made;
}

}  // namespace

MadeMovie run(const MovieJob& job, Progress& progress) {
    if (!job.spec.resumes) return make(job, progress);
    const MovieCodec codec = movie_codec(job.output, job.codec);
    check_names(job, codec);
    if (codec != MovieCodec::png) return make_in_two_steps(job, progress);
    MadeMovie made = make(job, progress);
    remove_kept(job.output, false);
    return made;
}

}  // namespace echolux
