#include "app/movie/movie_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "app/jobs/render_job.h"
#include "app/movie/movie_encoding.h"
#include "app/open/open_volume.h"
#include "app/open/show_opened.h"
#include "app/seconds_since.h"
#include "app/settings/session_text.h"
#include "app/transfer/transfer_file.h"
#include "app/viewer/viewer.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/acquire/scan_player.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/movie_file.h"
#include "engine/io/output_rule.h"
#include "engine/io/png_file.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"
#include "engine/offline/series.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Volumes of a movie in order: a file, a series, or a scan that is reconstructed volume by volume.

namespace {

// Progress of a single volume: shows only that of the movie, but passes on cancelling.
class QuietProgress : public Progress {
  public:
    explicit QuietProgress(Progress& movie) : movie_(movie) {}
    void begin(const std::string&, std::int64_t, const std::string&) override {}
    void advance(std::int64_t) override { movie_.advance(0); }
    void end() override {}

  private:
    Progress& movie_;
};

struct MovieVolume {
    std::shared_ptr<const Volume> structure;
    std::shared_ptr<const Volume> flow{};  // of the same moment; may be null
    ScanGeometry geometry{};               // of a scan
    std::shared_ptr<const Scan> scan{};    // the reconstructed scan; null for volume files
    std::string backend{};                 // that reconstructed it
};

class MovieVolumes {
  public:
    virtual ~MovieVolumes() = default;

    virtual std::int64_t steps() const { return 1; }
    virtual double step_s() const { return 0; }  // if 0, unknown

    // Returns the volume of a step, called once per step in ascending order; steps may be skipped. std::nullopt if it
    // cannot be read, with a warning.
    virtual std::optional<MovieVolume> read(std::int64_t step, Progress& progress) = 0;

    // Warnings since the last call, one line each.
    virtual std::vector<std::string> take_warnings() = 0;
};

MovieVolume movie_volume(Volume&& structure, std::optional<Volume>&& flow, const ScanGeometry& geometry) {
    MovieVolume volume{.structure = std::make_shared<const Volume>(std::move(structure)), .geometry = geometry};
    if (flow) volume.flow = std::make_shared<const Volume>(std::move(*flow));
    return volume;
}

std::shared_ptr<const Scan> shared_copy(const std::optional<Scan>& scan) {
    return scan ? std::make_shared<const Scan>(*scan) : nullptr;
}

class OneVolume : public MovieVolumes {
  public:
    explicit OneVolume(OpenedVolume&& opened)
        : warnings_(std::move(opened.warnings)),
          volume_(movie_volume(std::move(opened.volume), std::move(opened.flow), opened.geometry)) {
        volume_.scan = shared_copy(opened.scan);
        volume_.backend = opened.stats.backend;
    }

    std::optional<MovieVolume> read(std::int64_t, Progress&) override { return volume_; }
    std::vector<std::string> take_warnings() override { return std::exchange(warnings_, {}); }

  private:
    std::vector<std::string> warnings_;
    MovieVolume volume_;
};

// Read ahead by a separate thread while earlier steps are drawn.
class SeriesVolumes : public MovieVolumes {
  public:
    explicit SeriesVolumes(const std::filesystem::path& path) : series_(path) {}

    std::int64_t steps() const override { return series_.steps(); }
    double step_s() const override { return series_.step_s(); }

    std::optional<MovieVolume> read(std::int64_t step, Progress& progress) override {
        if (series_.is_in_boxes()) return MovieVolume{.structure = series_.read(step)};  // too large to read ahead
        series_.want(step, 1, 0, steps() - 1);
        auto volume = series_.volume(step);
        while (!volume) {
            progress.advance(0);  // throws when cancelled
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            volume = series_.volume(step);
        }
        if (!*volume) return {};
        return MovieVolume{.structure = *volume};
    }

    std::vector<std::string> take_warnings() override { return series_.take_problems(); }

  private:
    Series series_;
};

class ScanVolumes : public MovieVolumes {
  public:
    explicit ScanVolumes(Scan scan) : step_s_(volume_seconds(scan)), reconstruction_(std::move(scan)) {}

    std::int64_t steps() const override { return reconstruction_.scan().geometry.volumes; }
    double step_s() const override { return step_s_; }

    std::optional<MovieVolume> read(std::int64_t step, Progress& progress) override {
        QuietProgress quiet(progress);
        FlowedVolume made = reconstruction_.run_with_flow({.volume = step}, quiet);
        MovieVolume volume =
            movie_volume(std::move(made.structure), std::move(made.flow), reconstruction_.scan().geometry);
        volume.scan = shared_copy(reconstruction_.scan());
        volume.backend = reconstruction_.stats().backend;
        return volume;
    }

    std::vector<std::string> take_warnings() override {
        std::vector<std::string> all = reconstruction_.warnings();
        std::vector<std::string> fresh(all.begin() + static_cast<std::ptrdiff_t>(reported_), all.end());
        reported_ = all.size();
        return fresh;
    }

  private:
    double step_s_;
    Reconstruction reconstruction_;
    std::size_t reported_ = 0;  // warnings
};

// Returns all volumes of a file, folder or scan if the movie goes `through_time`, otherwise only that of `source`.
// Throws what opening throws.
std::unique_ptr<MovieVolumes> movie_volumes(const VolumeSource& source, bool through_time, Progress& progress) {
    if (!through_time) return std::make_unique<OneVolume>(open_volume(source, progress));
    if (source.input.empty()) {
        throw Error(ErrorCode::bad_setting, "a live source has no time points yet", "path",
                    "record it, and make the movie from the recording");
    }
    if (!holds_volumes(source.input)) return std::make_unique<ScanVolumes>(open_scan(source.input, source.settings));
    if (source.settings.empty()) return std::make_unique<SeriesVolumes>(source.input);
    throw Error(ErrorCode::bad_setting, "has no effect on a volume file", source.settings.front(),
                "open the scan instead, or remove the setting");
}

}  // namespace

// ---- Scene: the volumes one at a time on the device, with the value range chosen by the first one.

namespace {

// The volume shown by a frame.
struct SceneVolume {
    MovieVolume volume;
    std::int64_t step = 0;             // in the input
    std::optional<ValueRange> chosen;  // range set by an earlier volume; std::nullopt: by this one
};

class MovieScene {
  public:
    // `job` must outlive this object. Throws what opening and reading throw, unless at least one volume can be read.
    MovieScene(const MovieJob& job, const MoviePath& path, Progress& progress)
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

    Renderer& renderer() { return renderer_; }
    MovieTimePoints time_points() const { return {first_->structure->grid, volumes_->steps(), volumes_->step_s()}; }
    const std::map<std::string, std::string>& provenance() const { return first_->structure->provenance; }
    const std::vector<std::string>& warnings() const { return warnings_; }

    // Call with ascending steps. If a volume cannot be read, the previous one stays.
    void show(std::int64_t step, const View& view, Progress& progress) {
        if (step == step_) return;
        step_ = step;
        const bool is_first = step < first_step_;
        const std::optional<MovieVolume> volume = is_first ? first_ : volumes_->read(step, progress);
        collect_warnings();
        if (!volume) return;
        shown_ = {*volume, is_first ? shown_.step : step, chosen_};
        put_on(*volume, view, progress);
    }
    const SceneVolume& shown() const { return shown_; }

    // Returns the view with the flow range and threshold chosen by the first volume, where the view leaves them open.
    View in_first_colours(View view) const {
        if (flow_scale_) fill_open_values(view, *flow_scale_);
        return view;
    }

  private:
    void put_on(const MovieVolume& shown, const View& view, Progress& progress) {
        std::shared_ptr<const Volume> volume = shown.structure;
        if (tissue_.changes_volumes()) {
            QuietProgress quiet(progress);
            volume = std::make_shared<const Volume>(tissue_.of(*volume, quiet));
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
        // Flow belongs to the raw voxels: it does not fit volumes whose voxels have moved.
        if (view.flatten.empty() && !tissue_.changes_volumes()) set_flow(shown, view);
    }
    void set_flow(const MovieVolume& shown, const View& view) {
        const auto flow = flows_                ? std::make_shared<const Volume>(flows_->read(shown_.step))
                          : job_.flow_in_memory ? job_.flow_in_memory
                          : job_.flow.empty()   ? shown.flow
                                                : std::make_shared<const Volume>(read_volume(job_.flow));
        if (flow != nullptr) renderer_.set_flow(flow->grid, flow->voxels.data());
        if (flow != nullptr && !flow_scale_) flow_scale_ = renderer_.flow_scale(view);
    }
    void open_flows() {
        flows_ = std::make_unique<SeriesFile>(job_.flow);
        if (flows_->time_points() == volumes_->steps()) return;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {}, and the structure has {}: each needs its own flow",
                                plural(flows_->time_points(), "time points"), volumes_->steps()),
                    "flow", "give the flow of the same volumes, or leave it out");
    }
    void collect_warnings() {
        for (std::string& line : volumes_->take_warnings()) warnings_.push_back(std::move(line));
    }

    const MovieJob& job_;
    SourcePostprocessor tissue_;
    Renderer renderer_;
    std::unique_ptr<MovieVolumes> volumes_;
    // From a file with all time points; null if flow comes with the volumes or from one file.
    std::unique_ptr<SeriesFile> flows_;
    std::optional<MovieVolume> first_;
    std::int64_t first_step_ = 0;  // the first that could be read, or later; used for all steps before it
    std::int64_t step_ = -1;       // step requested last
    std::optional<ValueRange> chosen_;
    std::optional<FlowScale> flow_scale_;
    SceneVolume shown_;
    std::vector<std::string> warnings_;
};
}  // namespace

// ---- Continuing after an interruption

constexpr std::int64_t views_noted = 64;  // at equal distances within a movie
constexpr std::uintmax_t longest_note = 1 << 20;

static std::string hash_of_text(const std::string& text) {
    Fingerprint fingerprint;
    fingerprint.add(std::as_bytes(std::span(text)));
    return fingerprint.text();
}

static std::string file_line(const char* name, const std::filesystem::path& path) {
    return path.empty() ? "" : fmt::format("{} = {} {}\n", name, path.filename().string(), file_hash(path));
}

std::filesystem::path kept_pictures(const MovieJob& job) {
    if (movie_codec(job.output, job.codec) == MovieCodec::png) return job.output;
    return std::filesystem::path(job.output.string() + ".pictures") / "picture_%06d.png";
}

std::filesystem::path note_of(const std::filesystem::path& series) {
    const SeriesName name(series);
    return name.folder / (name.before + "unfinished.txt");
}

// Everything that determines the bits of the pictures: views, input, processing, device, program.
static std::string note_text(const MovieJob& job, const MoviePlan& plan, const std::string& device) {
    std::string views;
    const std::int64_t frames = plan.frames();
    for (std::int64_t i = 0; i < std::min(views_noted, frames); ++i) {
        View view = plan.view(i * frames / std::min(views_noted, frames));
        Settings settings;
        settings.bind("view", view);
        views += settings.toml();
    }
    std::string text = fmt::format("pictures of an unfinished movie\nEcholux {}\n{}\n", version, device);
    text += file_line("input", job.input) + file_line("flow", job.flow);
    for (const std::string& setting : job.settings) text += setting + "\n";
    TissueSettings tissue = job.tissue;
    Settings of_tissue;
    bind(of_tissue, tissue);
    text += of_tissue.toml();
    text += file_line("sky", job.view.sky_picture) + file_line("transfer", job.view.transfer);
    return text + fmt::format("{}, {} from {}, views {}\n", plural(frames, "pictures"), job.spec.path, job.part.volume,
                              hash_of_text(views));
}

// Returns the first missing picture. A picture gets its name when it is complete, so all before it are whole. Without a
// note, writes it and returns the first picture. Throws Error{output} if the note belongs to another movie.
static std::int64_t first_missing(const std::filesystem::path& series, const std::string& note, std::int64_t pictures) {
    const std::filesystem::path path = note_of(series);
    std::error_code none;
    if (!std::filesystem::exists(path, none)) {
        const SeriesName name(series);
        std::filesystem::create_directories(name.folder.empty() ? "." : name.folder, none);
        write_text(path, note);
        return 0;
    }
    if (whole_file(path, longest_note, "is not the record of an interrupted movie") != note) {
        throw Error(ErrorCode::output, "records a different interrupted movie", path.string(),
                    "delete it, or choose another name");
    }
    const SeriesName name(series);
    std::int64_t first = 0;
    while (first < pictures && std::filesystem::exists(name.of(first), none)) ++first;
    return first;
}

// Removes the note and, with `with_pictures`, the pictures, and their folder if it is then empty.
static void remove_kept(const std::filesystem::path& series, bool with_pictures) {
    std::error_code none;
    std::filesystem::remove(note_of(series), none);
    if (!with_pictures) return;
    const SeriesName name(series);
    for (std::int64_t i = 0; std::filesystem::remove(name.of(i), none); ++i) {
    }
    std::filesystem::remove(name.folder, none);  // only if empty
}

// ---- Job

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
    OpenDocument open{.assignments = text_of_lines(job_.settings), .step = shown.step};
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
                "movie", fmt::format("it has {}", plural(plan.frames(), "pictures")));
}

// Reads a picture that was drawn earlier and checks its size.
Image drawn_image(const std::filesystem::path& path, const View& view) {
    Picture picture = read_png(path);
    if (picture.width != view.width || picture.height != view.height || picture.channels != 4) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("is a picture of {} x {} pixels, the movie has {} x {}", picture.width, picture.height,
                                view.width, view.height),
                    path.string(), "render it at the size of the movie");
    }
    return {.width = picture.width, .height = picture.height, .pixels = std::move(picture.pixels)};
}

// Encodes pictures that were drawn before. They are read on the thread of `encoding`.
void encode_drawn(const MovieJob& job, const Frames& frames, const View& view, MovieEncoding& encoding,
                  Progress& progress) {
    const SeriesName series(job.drawn);
    for (std::int64_t frame = frames.first; frame < frames.end; ++frame) {
        encoding.add([path = series.of(frame), view] { return drawn_image(path, view); });
        progress.advance(1);
    }
}

// Returns the picture of `view`, or the mean of the pictures drawn while the shutter is open.
std::function<Image()> exposed(const View& view, std::int64_t frame, const MoviePlan& plan, MovieScene& scene,
                               Transfers& transfers, Progress& progress) {
    const auto begin = [&](const View& shown) {
        return scene.renderer().begin(shown, {}, [&progress] { progress.advance(0); });
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
            begin(part_of_exposure(scene.in_first_colours(std::move(part)), i, moments.size()));
        if (coming) exposure->add(coming());  // overlaps with drawing the next one
        coming = std::move(next);
    }
    return [exposure, coming] {
        exposure->add(coming());
        return exposure->image();
    };
}

void draw(const MovieJob& job, const MoviePlan& plan, const Frames& frames, MovieScene& scene, MovieEncoding& encoding,
          MovieCodec codec, Progress& progress) {
    Transfers transfers;
    std::optional<FrameTexts> texts;
    if (codec == MovieCodec::png) texts.emplace(job, scene.renderer().device_name());
    if (frames.first > 0) {  // colours are those chosen by the first picture of the movie
        View view = sized(plan.view(0), codec);
        transfers.load(view);
        scene.show(plan.step(0), view, progress);
    }
    const View first = sized(plan.view(0), codec);
    for (std::int64_t frame = frames.first; frame < frames.end; ++frame) {
        View view = sized(plan.view(frame), codec);
        transfers.load(view);
        if (view.width != first.width || view.height != first.height) {
            throw Error(ErrorCode::bad_setting, "the size of a movie cannot change along its path",
                        "view.width, view.height", "leave them out of the key frames");
        }
        scene.show(plan.step(frame), view, progress);
        view = scene.in_first_colours(std::move(view));
        auto text = texts ? texts->of(view, scene.shown()) : PictureTexts{};
        encoding.add(exposed(view, frame, plan, scene, transfers, progress), std::move(text));
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
Error with_resume_advice(const Error& error, const MovieJob& job, const MovieEncoding& encoding, std::int64_t frames) {
    const std::int64_t made = encoding.pictures();
    const std::string kept =
        made > 0 ? fmt::format("{} of {} are in {}", made, plural(frames, "pictures"), job.output.string())
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

MovieResult make(const MovieJob& job, Progress& progress) {
    const MovieCodec codec = movie_codec(job.output, job.codec);
    check_names(job, codec);
    View start = sized(job.view, codec);
    load_transfer(start);
    load_channels(start);
    check_view(start);
    MovieScene scene(job, movie_path(job.spec.path, job.spec.key_frames), progress);
    std::vector<std::string> warnings;
    if (job.may_be_smaller && scene.renderer().is_software()) {
        start.width = start.height = software_movie_edge;
        warnings.push_back(
            fmt::format("a movie of {0} x {0} pixels, because software Vulkan is slow: `size` sets another size",
                        software_movie_edge));
    }
    const MoviePlan plan(job.spec, start, scene.time_points());
    Frames frames = frames_of(job.spec, plan);
    std::int64_t already = 0;
    if (job.spec.resumes) {
        const std::string note = note_text(job, plan, scene.renderer().device_name());
        already = first_missing(job.output, note, frames.count());
        frames.first += already;
    }
    const MovieFormat format = format_of(job, plan, frames.count(), already, plan.view(0), scene.provenance());
    MovieEncoding encoding(create_movie(job.output, format));
    const auto begun = std::chrono::steady_clock::now();
    progress.begin("movie", frames.count(), "frames");
    try {
        if (job.drawn.empty())
            draw(job, plan, frames, scene, encoding, codec, progress);
        else
            encode_drawn(job, frames, start, encoding, progress);
        encoding.finish();
    } catch (const Error& error) {
        end_early(encoding);
        throw with_resume_advice(error, job, encoding, frames.count());
    }
    progress.end();
    warnings.insert(warnings.end(), scene.warnings().begin(), scene.warnings().end());
    return {.device = scene.renderer().device_name(),
            .encoder = encoding.encoder(),
            .frames = already + frames.count(),
            .rate = plan.rate(),
            .width = start.width,
            .height = start.height,
            .time_rate = plan.time_rate(),
            .warnings = std::move(warnings),
            .seconds = seconds_since(begun),
            .encoding_s = encoding.busy_s()};
}

// Codecs cannot continue a file that was cut off, so the pictures of a movie that may be continued are kept as PNG
// until the movie is complete. They are drawn in the size required by the codec.
MovieResult make_in_two_steps(const MovieJob& job, Progress& progress) {
    MovieJob drawing = job, coding = job;
    drawing.output = coding.drawn = kept_pictures(job);
    drawing.view = sized(job.view, movie_codec(job.output, job.codec));
    drawing.codec = MovieCodec::png;
    coding.spec.resumes = false;
    const MovieResult drawn = make(drawing, progress);
    MovieResult made = make(coding, progress);
    made.seconds += drawn.seconds;
    remove_kept(coding.drawn, true);
    return made;
}

}  // namespace

MovieResult run(const MovieJob& job, Progress& progress) {
    if (!job.spec.resumes) return make(job, progress);
    const MovieCodec codec = movie_codec(job.output, job.codec);
    check_names(job, codec);
    if (codec != MovieCodec::png) return make_in_two_steps(job, progress);
    MovieResult made = make(job, progress);
    remove_kept(job.output, false);
    return made;
}

}  // namespace echolux
