// Operation `render`: renders a picture or a movie of a volume, and probes what is seen at pixels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/jobs/render_job.h"
#include "app/movie/movie_job.h"
#include "app/open/show_opened.h"
#include "app/operations/operation.h"
#include "app/settings/settings_book.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;
using Pixel = std::pair<std::int64_t, std::int64_t>;

enum class ChannelBits { eight, sixteen };
enum class Encoder { automatic, software };

constexpr std::string_view of_movies = "Movie";

// Only "pixel" is set if nothing is visible there.
Json json_of(const Pixel& pixel, const std::optional<Probe>& probe) {
    Json json{{"pixel", pixel}};
    if (!probe) return json;
    json.update({{"value", probe->value},
                 {"unit", probe->unit},
                 {"voxel", probe->voxel},
                 {"index", probe->index},
                 {"place", probe->place_um},
                 {"normal", probe->normal},
                 {"distance", probe->distance_um},
                 {"length_unit", probe->has_spacing ? "um" : "voxels"}});
    return json;
}

std::string triple(const std::array<double, 3>& numbers, int decimals) {
    return fmt::format("({:.{}f}, {:.{}f}, {:.{}f})", numbers[0], decimals, numbers[1], decimals, numbers[2], decimals);
}

// Positions are in the order depth, A-scans, B-scans.
std::string text_of(const Pixel& pixel, const std::optional<Probe>& probe) {
    std::string text = fmt::format("pixel {},{}: ", pixel.first, pixel.second);
    if (!probe) return text + "nothing is visible";
    const char* unit = probe->has_spacing ? "um" : "voxels";
    text += fmt::format("value {:.6g}{}{} in voxel ({}, {}, {})\n", probe->value, probe->unit.empty() ? "" : " ",
                        probe->unit, probe->voxel[0], probe->voxel[1], probe->voxel[2]);
    text += fmt::format("  at voxel {} = {} {} from the middle of the first (depth, A-scans, B-scans)\n",
                        triple(probe->index, 2), triple(probe->place_um, 2), unit);
    return text +
           fmt::format("  normal {}, {:.6g} {} from the eye", triple(probe->normal, 3), probe->distance_um, unit);
}

// Ending of a movie in memory.
std::string ending_of(MovieCodec codec) {
    switch (codec) {
        case MovieCodec::vp9: return ".webm";
        case MovieCodec::prores: return ".mov";
        case MovieCodec::gif: return ".gif";
        case MovieCodec::webp: return ".webp";
        case MovieCodec::png:
            throw Error(ErrorCode::bad_setting, "a series of pictures cannot be kept in memory", "codec",
                        "name its files as `movie`");
        default: return ".mp4";
    }
}

// Names in the key frames of a file. An unreadable file is reported when it is used.
void add_files_of_key_frames(const std::filesystem::path& path, FileNames& files) {
    files.push_back(path);
    const auto add = [&](const TomlEntry& entry) {
        const auto* name = std::get_if<std::string>(&entry.value);
        if (name == nullptr) return;
        for (const Field<View>& field : describe<View>())
            if (field.name == entry.name && is_file_name(field, *name, "")) files.emplace_back(*name);
    };
    try {
        for (const std::vector<TomlEntry>& table : toml_tables(path, "key")) std::ranges::for_each(table, add);
    } catch (const Error&) {
    }
}

// The base has the arguments of a movie.
struct Render : MovieSpec {
    VolumeInput input, flow, channel;
    ChannelBits bits = ChannelBits::eight;
    std::vector<double> probe;  // x, y, x, y ...
    std::string size, device, view_file, keyframes;
    double at_s = 0;
    MovieCodec codec = MovieCodec::automatic;
    double crf = -1;
    Encoder encoder = Encoder::automatic;
    OperationOutput output, save_transfer, movie;
    View view;

    std::vector<Pixel> pixels;
    RenderedFile rendered;
    std::optional<MovieResult> made;  // instead of a picture

    static void describe(OperationParts<Render>& parts);
    static void describe_inputs(OperationParts<Render>& parts);
    static void describe_outputs(OperationParts<Render>& parts);
    static void describe_movies(OperationParts<Render>& parts);
    static void describe_results(OperationParts<Render>& parts);

    void run(Context& context) {
        context.warn(unused_settings_of_view(context));
        if (movie.is_wanted()) return make_movie(context);
        if (!output.is_wanted() && save_transfer.file.empty() && probe.empty()) {
            throw Error(ErrorCode::bad_setting, "nothing to do", "output",
                        "name a picture as `output`, a pixel as `probe`, or a `movie`");
        }
        draw(context);
    }

    FileNames further_files() const {
        FileNames files;
        add_files_of_view(shown_view(), files);
        if (!keyframes.empty()) add_files_of_key_frames(keyframes, files);
        std::error_code problem;
        if (std::filesystem::exists(path, problem)) add_files_of_key_frames(path, files);
        std::istringstream parts(path);
        for (std::string part; std::getline(parts, part, '+');)
            if (part.ends_with(".toml")) add_files_of_key_frames(part, files);
        return files;
    }

    View shown_view() const {
        View shown = view;
        for (const std::string& text : channel.names) add_channel(shown, text);
        set_size(shown, size);
        return shown;
    }

    // Key frames may set any other setting of the view, so that they decide what has an effect.
    std::vector<std::string> unused_settings_of_view(const Context& context) const {
        std::error_code problem;
        if (!keyframes.empty() || std::filesystem::exists(path, problem)) return {};
        Settings settings;
        View shown = shown_view();
        settings.bind("view", shown);
        return unused_settings(settings, context.assigned);
    }

    void set_picture(PictureJob& job, const Context& context) const {
        static_cast<VolumeSource&>(job) = source_of(input);
        if (flow.is_in_memory())
            job.flow_in_memory = flow.held.front();
        else if (flow.is_given())
            job.flow = flow.names.front();
        job.view = shown_view();
        job.device.name = device;
        job.made_from = {view_file};
        job.overwrites = context.overwrites;
    }

    std::vector<Pixel> probed_pixels() const {
        std::vector<Pixel> all;
        for (std::size_t i = 0; i + 1 < probe.size(); i += 2)
            all.emplace_back(static_cast<std::int64_t>(probe[i]), static_cast<std::int64_t>(probe[i + 1]));
        const auto is_whole = [](double number) { return number == std::floor(number); };
        if (probe.size() % 2 == 0 && std::ranges::all_of(probe, is_whole)) return all;
        throw Error(ErrorCode::bad_setting, "expected whole numbers in pairs", "probe",
                    "write X,Y in pixels from the left and the top, e.g. 320,200");
    }

    void draw(Context& context) {
        RenderJob job;
        set_picture(job, context);
        job.bits = bits == ChannelBits::sixteen ? PictureBits::sixteen : PictureBits::eight;
        job.probes = pixels = probed_pixels();
        job.key_frames = keyframes;
        job.at_s = at_s;
        job.save_transfer = save_transfer.file;
        const auto to_file = [&](const std::filesystem::path& path) {
            job.output = path;
            rendered = echolux::run(job, context.progress);
        };
        if (output.is_wanted())
            context.write(output, ".png", to_file);
        else
            to_file({});
        if (!job.save_transfer.empty()) context.files.push_back(job.save_transfer);
        context.warn(rendered.warnings);
        report_picture(context);
    }

    void report_picture(Context& context) const {
        const ReconstructionStats& stats = rendered.stats;
        if (!stats.backend.empty())
            context.say(
                fmt::format("{}: {} in {:.2f} s", stats.backend, plural(stats.a_scans, "A-scans"), stats.seconds));
        const PageCoverage& pages = rendered.pages;
        if (pages.needed > 0) {
            context.say(fmt::format(
                "the volume exceeds one texture of {}: {} of {} visible pages in full resolution, {} coarse",
                rendered.device, pages.needed - pages.coarse, pages.needed, pages.coarse));
        }
        for (std::size_t i = 0; i < pixels.size(); ++i) context.answer(text_of(pixels[i], rendered.probes[i]));
        if (output.is_wanted())
            context.say(fmt::format("Vulkan on {}: picture in {:.0f} ms", rendered.device, rendered.seconds * 1e3));
    }

    // Rejects what belongs to a picture. One that is only kept in memory gives way.
    void check_movie() {
        const auto refuse = [](bool is_given, const char* key, const char* remedy) {
            if (is_given) throw Error(ErrorCode::bad_setting, "cannot be combined with `movie`", key, remedy);
        };
        refuse(!output.file.empty(), "output", "make the picture separately");
        refuse(!probe.empty(), "probe", "probe separately");
        refuse(!save_transfer.file.empty(), "save_transfer", "save it separately");
        refuse(!keyframes.empty(), "keyframes", "name the file as `path`");
        output.is_kept = false;
    }

    void make_movie(Context& context) {
        check_movie();
        MovieJob job;
        set_picture(job, context);
        job.spec = *this;
        job.codec = codec;
        job.crf = crf;
        job.may_use_hardware = encoder == Encoder::automatic;
        job.may_be_smaller = size.empty() && has_default_size(view, context.assigned);
        context.write(movie, movie.is_kept ? ending_of(codec) : "", [&](const std::filesystem::path& path) {
            job.output = path;
            made = echolux::run(job, context.progress);
        });
        context.warn(made->warnings);
        report_movie(context, job.view);
    }

    void report_movie(Context& context, const View& wanted) const {
        const bool is_rounded = made->width - wanted.width == 1 || made->height - wanted.height == 1;
        if (is_rounded) {
            context.say(fmt::format("{} x {} instead of {} x {}: the codec needs even sizes", made->width, made->height,
                                    wanted.width, wanted.height));
        }
        const std::string rate = made->rate.seconds == 1
                                     ? fmt::format("{}", made->rate.pictures)
                                     : fmt::format("{}/{}", made->rate.pictures, made->rate.seconds);
        context.say(fmt::format("{} of {} x {} at {} a second: {:.3f} s{}", plural(made->frames, "pictures"),
                                made->width, made->height, rate, static_cast<double>(made->frames) / made->rate.per_s(),
                                made->time_rate > 0 ? fmt::format(", time at {:.3g}x", made->time_rate) : ""));
        context.say(
            fmt::format("Vulkan on {}, encoded by {}, made in {:.1f} s", made->device, made->encoder, made->seconds));
    }

    std::optional<std::shared_ptr<const Json>> probes() const {
        if (made) return {};
        auto list = std::make_shared<Json>(Json::array());
        for (std::size_t i = 0; i < rendered.probes.size(); ++i)
            list->push_back(json_of(pixels[i], rendered.probes[i]));
        return list;
    }
};

void Render::describe(OperationParts<Render>& parts) {
    constexpr Effect effect = Effect::file;
    using R = Render;
    parts.info.summary = "Render a volume or scan into a picture or movie";
    parts.info.examples = {"input=v.nrrd output=picture.png",
                           "input=v.nrrd output=mip.png view.mode=mip size=1920x1080", "input=v.nrrd movie=turn.mp4"};
    parts.info.details =
        "Also makes movies, and reports the visible value and position at pixels. In memory, a picture is a PNG "
        "and a movie MP4, unless `codec` has another format. See docs/rendering.md and docs/movies.md.";
    parts.info.joined_argument = "path";
    describe_inputs(parts);
    describe_outputs(parts);
    parts.argument(choice("bits", &R::bits, {"8", "16"}, effect, "bits per channel of the picture"))
        .argument(
            numbers("probe", &R::probe, 0, 1e6, "", effect,
                    "print value, position and normal of the visible point at a pixel, counted from the left and top; "
                    "may be repeated")
                .repeated()
                .written_as("X,Y"))
        .argument(text("size", &R::size, effect, "size of the picture [1024x1024]").written_as("WxH"))
        .argument(text("device", &R::device, effect, "part of the Vulkan device's name [the fastest kind]")
                      .written_as("NAME"))
        .preset_argument(text("view", &R::view_file, effect, "a file with a section [view]; other settings override it")
                             .written_as("FILE.toml")
                             .file({".toml"}),
                         [](const R& one, Settings& settings) {
                             if (!one.view_file.empty()) settings.read_toml(one.view_file);
                         })
        .argument(text("keyframes", &R::keyframes, effect, "key frames: a file of tables [[key]] that move the view")
                      .written_as("FILE.toml")
                      .file({".toml"}))
        .argument(number("at_s", &R::at_s, -1e9, 1e9, "s", effect, "time within the key frames").written_as("SECONDS"))
        .needs("at_s", "keyframes");
    describe_movies(parts);
    parts.section("view", "View", &R::view).without({"width", "height"});
    describe_results(parts);
}

void Render::describe_inputs(OperationParts<Render>& parts) {
    parts
        .input({.name = "input", .help = "scan, or volume of any format that `convert` reads", .has_stored_as = false},
               &Render::input)
        .input({.name = "flow",
                .help = "velocities or phasors of the same voxels, shown in colour",
                .is_required = false,
                .takes_scans = false,
                .placeholder = "VOLUME"},
               &Render::flow)
        .input({.name = "channel",
                .help = "volume of the same voxels to overlay, and its curve: a preset, "
                        "labels, or a file of a transfer function or of labels; up to three",
                .is_required = false,
                .takes_many = true,
                .takes_scans = false,
                .is_file = true,
                .placeholder = "VOLUME[:CURVE]"},
               &Render::channel);
}

void Render::describe_outputs(OperationParts<Render>& parts) {
    parts
        .output({.name = "output",
                 .kind = OutputKind::figure,
                 .help = "picture to write; optional with `probe`",
                 .placeholder = "PICTURE.png|.tif",
                 .is_checked_by_run = true},
                &Render::output)
        .output({.name = "save_transfer",
                 .kind = OutputKind::file,
                 .help = "also write the transfer function in use",
                 .placeholder = "FILE.toml",
                 .endings = {".toml"},
                 .is_file = true,
                 .is_checked_by_run = true},
                &Render::save_transfer)
        .output({.name = "movie",
                 .kind = OutputKind::file,
                 .help = "make a movie instead of a picture: .mp4 .mkv .webm .mov .gif .webp, frame_%04d.png or a "
                         "folder",
                 .group = of_movies,
                 .placeholder = "MOVIE.mp4",
                 .endings = {".mp4", ".mkv", ".webm", ".mov", ".gif", ".webp"},
                 .is_checked_by_run = true},
                &Render::movie);
}

void Render::describe_movies(OperationParts<Render>& parts) {
    constexpr Effect effect = Effect::file;
    constexpr double longest_s = 1e9;
    using R = Render;
    const auto add = [&](Field<R>&& field) {
        parts.needs(field.name, "movie").argument(std::move(field).in(of_movies));
    };
    add(text<R>("path", &R::path, effect,
                "turntable, time (through the volumes of the input), sweep (of a plane) or a file of key frames, "
                "joined with +")
            .written_as("PATH")
            .file({".toml"}));
    add(integer<R>("frames", &R::frames, 1, max_movie_frames, "", effect, "number of pictures")
            .special(0, "from the path or `seconds`")
            .written_as("N"));
    add(text<R>("fps", &R::fps, effect, "pictures per second: 25, 29.97, 30000/1001 [30]").written_as("F"));
    add(number<R>("seconds", &R::seconds, 0, longest_s, "", effect, "length in seconds")
            .special(0, "from `frames`")
            .written_as("S"));
    add(choice<R, SweepAxis>("sweep_along", &R::along, {"depth", "a-scans", "b-scans"}, effect,
                             "direction in which a sweep moves its plane"));
    add(choice<R, SweptPlane>(
        "sweep_plane", &R::plane, {"slice", "clip"}, effect,
        "what a sweep moves: slice shows the values on the plane, clip removes what is beyond it"));
    add(number<R>("step_time_s", &R::step_s, 0, longest_s, "s", effect, "seconds between two volumes of the input")
            .special(0, "from the input")
            .written_as("S"));
    add(flag<R>("resume", &R::resumes, effect,
                "continue where the same run was interrupted; pictures wait in MOVIE.pictures until all are there"));
    add(choice("codec", &R::codec, {"auto", "h264", "h265", "av1", "vp9", "prores", "gif", "webp", "png"}, effect,
               "codec; auto: by the ending"));
    add(number("crf", &R::crf, -1, 1000, "", effect, "quality of h264, h265, av1, vp9; lower is better, 0 is best")
            .special(-1, "above 40 dB PSNR")
            .written_as("N"));
    add(choice("encoder", &R::encoder, {"auto", "software"}, effect,
               "auto uses the encoder of the graphics card, if it has one"));
}

void Render::describe_results(OperationParts<Render>& parts) {
    const auto add = [&](std::string_view name, std::string_view unit, std::string_view help, auto of) {
        parts.result(name, unit, help,
                     [of](const Render& one) { return one.made ? std::optional(of(*one.made)) : std::nullopt; });
    };
    using M = MovieResult;
    parts.result("device", "", "Vulkan device that rendered",
                 [](const Render& one) { return one.made ? one.made->device : one.rendered.device; });
    add("encoder", "", "encoder of the movie", [](const M& one) { return one.encoder; });
    add("pictures", "", "number of pictures of the movie", [](const M& one) { return one.frames; });
    add("width", "", "width of the movie in pixels", [](const M& one) { return one.width; });
    add("height", "", "height of the movie in pixels", [](const M& one) { return one.height; });
    add("pictures_per_s", "1/s", "rate of the movie", [](const M& one) { return one.rate.per_s(); });
    parts
        .result("seconds", "s", "time of rendering, with the first volume already on the device",
                [](const Render& one) { return one.made ? one.made->seconds : one.rendered.seconds; })
        .result("probes", "", "visible point at each pixel of `probe`", &Render::probes);
}

}  // namespace

ECHOLUX_OPERATION(render, Render)

}  // namespace echolux
