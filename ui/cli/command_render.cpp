// Commands that draw: render makes pictures and movies, figure draws figures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "app/figure/figure_job.h"
#include "app/jobs/render_job.h"
#include "app/movie/movie_job.h"
#include "app/open/show_opened.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/scan/settings.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {

// ---- options of render that make a movie ----------------------------------------------------------------------------

namespace {

struct MovieOptions {
    std::string output;  // empty: make a picture
    std::string codec = "auto", along = "b-scans", swept = "slice", encoder = "auto";
    double crf = -1;  // negative: quality above 40 dB PSNR
    MovieSpec spec;
};

// In the order of the enumerators of MovieCodec, SweepAxis and SweptPlane.
const std::vector<std::string> codecs{"auto", "h264", "h265", "av1", "vp9", "prores", "gif", "webp", "png"};
const std::vector<std::string> axes{"depth", "a-scans", "b-scans"};
const std::vector<std::string> planes{"slice", "clip"};

// Converts a checked name to its enumerator.
template <class Choice>
Choice chosen(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<Choice>(std::ranges::find(names, name) - names.begin());
}

std::string joined(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, "|"));
}

// Rejects options of a picture that a movie cannot honour.
MovieJob movie_job_from(const RenderJob& picture, const MovieOptions& options) {
    const auto refuse = [](const char* option, const char* remedy) {
        throw Error(ErrorCode::bad_setting, "cannot be combined with --movie", option, remedy);
    };
    if (!picture.output.empty()) refuse("-o", "make the picture with a separate command");
    if (!picture.probes.empty()) refuse("--probe", "probe with a separate command");
    if (!picture.save_transfer.empty()) refuse("--save-transfer", "save it with a separate command");
    if (!picture.key_frames.empty()) refuse("--keyframes", "give the file to --path");
    MovieJob job;
    static_cast<PictureJob&>(job) = picture;
    job.spec = options.spec;
    job.spec.along = chosen<SweepAxis>(axes, options.along);
    job.spec.plane = chosen<SweptPlane>(planes, options.swept);
    job.output = options.output;
    job.codec = chosen<MovieCodec>(codecs, options.codec);
    job.crf = options.crf;
    job.may_use_hardware = options.encoder == "auto";
    return job;
}

// Adds the options in the help group "Movie"; all but --movie require it.
void add_movie_options(CLI::App& command, MovieOptions& options) {
    const char* group = "Movie";
    CLI::Option* movie =
        command
            .add_option(
                "--movie", options.output,
                "make a movie instead of a picture: .mp4 .mkv .webm .mov .gif .webp, frame_%04d.png or a folder")
            ->type_name("MOVIE.mp4")
            ->group(group);
    const auto add = [&](const char* name, auto& value, const char* type, const std::string& help) {
        return command.add_option(name, value, help)->type_name(type)->group(group)->needs(movie);
    };
    add("--path", options.spec.path, "PATH",
        "turntable, time (through the volumes of the input), sweep (of a plane) or a file of key frames, joined with + "
        "[turntable]");
    add("--frames", options.spec.frames, "N", "number of pictures [from the path or --seconds]")
        ->check(between(1, static_cast<double>(max_movie_frames)));
    add("--fps", options.spec.fps, "F", "pictures per second: 25, 29.97, 30000/1001 [30]");
    add("--seconds", options.spec.seconds, "S", "length in seconds [from --frames]")->check(positive());
    add("--sweep-along", options.along, "AXIS",
        "direction in which a sweep moves its plane: " + joined(axes) + " [b-scans]")
        ->check(one_of(axes));
    add("--sweep-plane", options.swept, "KIND",
        "what a sweep moves: slice shows the values on the plane, clip removes what is beyond it [slice]")
        ->check(one_of(planes));
    add("--step-time", options.spec.step_s, "S", "seconds between two volumes of the input [from the input]")
        ->check(positive());
    command
        .add_flag("--resume", options.spec.resumes,
                  "go on where the same command was interrupted; pictures wait in MOVIE.pictures until all are there")
        ->group(group)
        ->needs(movie);
    add("--codec", options.codec, "CODEC", joined(codecs) + " [by the ending]")->check(one_of(codecs));
    add("--crf", options.crf, "N", "quality of h264, h265, av1, vp9; lower is better, 0 is best [above 40 dB PSNR]")
        ->check(not_negative());
    add("--encoder", options.encoder, "auto|software",
        "auto uses the graphics card's encoder where there is one [auto]")
        ->check(one_of({"auto", "software"}));
}

// Renders the movie of the view in `picture`, encodes it and prints its properties. Throws Error.
void make_movie(const RenderJob& picture, const MovieOptions& options) {
    const MovieJob job = movie_job_from(picture, options);
    TerminalProgress progress;
    const MovieResult made = run(job, progress);
    print_warnings(made.warnings);
    if (made.width != job.view.width || made.height != job.view.height) {
        close_with("{} x {} instead of {} x {}: the codec needs even sizes\n", made.width, made.height, job.view.width,
                   job.view.height);
    }
    const std::string rate = made.rate.seconds == 1 ? fmt::format("{}", made.rate.pictures)
                                                    : fmt::format("{}/{}", made.rate.pictures, made.rate.seconds);
    close_with("{} of {} x {} at {} a second: {:.3f} s{}\n", plural(made.frames, "pictures"), made.width, made.height,
               rate, static_cast<double>(made.frames) / made.rate.per_s(),
               made.time_rate > 0 ? fmt::format(", time at {:.3g}x", made.time_rate) : "");
    close_with("Vulkan on {}, encoded by {}, made in {:.1f} s\n{}\n", made.device, made.encoder, made.seconds,
               job.output.string());
    print_json({{"files", names_of({job.output})},
                {"device", made.device},
                {"encoder", made.encoder},
                {"pictures", made.frames},
                {"width", made.width},
                {"height", made.height},
                {"pictures_per_s", made.rate.per_s()},
                {"seconds", made.seconds},
                {"warnings", lines_of(made.warnings)}});
}

}  // namespace

// ---- render ---------------------------------------------------------------------------------------------------------

// `echolux render VOLUME|scan.toml -o PICTURE.png|.tif [--probe X,Y]`: renders a picture or, with --movie, a movie.

namespace {

using Json = nlohmann::ordered_json;

// Shared by pictures and figures.
struct DrawingOptions {
    std::string input, output, size, device, view_file;
    std::int64_t volume = 0;
    bool overwrites = false;
    std::vector<std::string> assignments;
};

// Sets what all drawings share. Assignments of sections in `settings` and of [view] configure the drawing, all others
// the reconstruction.
template <class Job>
void set_drawing(const DrawingOptions& options, Settings& settings, Job& job) {
    job.input = input_named(options.input, ".npy");
    job.output = output_named(options.output, ".png");
    job.overwrites = options.overwrites;
    job.made_from = {options.view_file};
    job.part.volume = options.volume;
    job.device.name = options.device;
    settings.bind("view", job.view);
    if (!options.view_file.empty()) settings.read_toml(options.view_file);
    job.settings = set_own(settings, options.assignments);
    if (options.size.empty()) return;
    const auto [width, height] = parsed_size(options.size, "--size");
    settings.set("view.width", std::to_string(width), "--size");
    settings.set("view.height", std::to_string(height), "--size");
}

struct RenderOptions : DrawingOptions {
    std::string flow, key_frames, save_transfer;
    double at_s = 0;
    std::int64_t bits = 8;
    std::vector<std::string> probes, channels;
    MovieOptions movie;
};

RenderJob job_from(const RenderOptions& options) {
    RenderJob job;
    Settings settings;
    set_drawing(options, settings, job);
    job.flow = options.flow;
    job.bits = options.bits == 16 ? PictureBits::sixteen : PictureBits::eight;
    job.key_frames = options.key_frames;
    job.at_s = options.at_s;
    job.save_transfer = options.save_transfer;
    for (const std::string& channel : options.channels) add_channel(job.view, channel);
    for (const std::string& pixel : options.probes) job.probes.push_back(parsed_pixel(pixel, "--probe"));
    const bool has_file = !job.output.empty() || !job.save_transfer.empty() || !options.movie.output.empty();
    if (!has_file && job.probes.empty()) {
        throw UsageError("nothing to do", "-o",
                         "name a picture with -o, a pixel with --probe X,Y, or a movie with --movie");
    }
    return job;
}

std::string triple(const std::array<double, 3>& numbers, int decimals) {
    return fmt::format("({:.{}f}, {:.{}f}, {:.{}f})", numbers[0], decimals, numbers[1], decimals, numbers[2], decimals);
}

// Only "pixel" is set if nothing is visible there.
Json json_of(const std::pair<std::int64_t, std::int64_t>& pixel, const std::optional<Probe>& probe) {
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

// Positions are in the order depth, A-scans, B-scans.
void print_probe(const std::string& pixel, const std::optional<Probe>& probe) {
    answer("pixel {}: ", pixel);
    if (!probe) {
        answer("nothing is visible\n");
        return;
    }
    answer("value {:.6g}{}{} in voxel ({}, {}, {})\n", probe->value, probe->unit.empty() ? "" : " ", probe->unit,
           probe->voxel[0], probe->voxel[1], probe->voxel[2]);
    const char* unit = probe->has_spacing ? "um" : "voxels";
    answer("  at voxel {} = {} {} from the middle of the first (depth, A-scans, B-scans)\n", triple(probe->index, 2),
           triple(probe->place_um, 2), unit);
    answer("  normal {}, {:.6g} {} from the eye\n", triple(probe->normal, 3), probe->distance_um, unit);
}

// Key frames may set any other setting of the view, so that they decide what has an effect.
std::vector<std::string> unused_settings(View view, const RenderOptions& options) {
    const bool has_key_frames = !options.key_frames.empty() || std::filesystem::exists(options.movie.spec.path);
    if (has_key_frames) return {};
    Settings settings;
    settings.bind("view", view);
    return unused_settings(settings, options.assignments);
}

void render(const RenderOptions& options) {
    const RenderJob job = job_from(options);
    const std::vector<std::string> unused = unused_settings(job.view, options);
    print_warnings(unused);
    if (!options.movie.output.empty()) return make_movie(job, options.movie);
    TerminalProgress progress;
    RenderedFile done = run(job, progress);
    print_warnings(done.warnings);
    done.warnings.insert(done.warnings.begin(), unused.begin(), unused.end());
    if (!done.stats.backend.empty()) {
        close_with("{}: {} in {:.2f} s\n", done.stats.backend, plural(done.stats.a_scans, "A-scans"),
                   done.stats.seconds);
    }
    if (done.pages.needed > 0) {
        close_with("the volume exceeds one texture of {}: {} of {} visible pages in full resolution, {} coarse\n",
                   done.device, done.pages.needed - done.pages.coarse, done.pages.needed, done.pages.coarse);
    }
    for (std::size_t i = 0; i < done.probes.size(); ++i) print_probe(options.probes[i], done.probes[i]);
    Json probes = Json::array();
    for (std::size_t i = 0; i < done.probes.size(); ++i) probes.push_back(json_of(job.probes[i], done.probes[i]));
    print_json({{"files", names_of({job.output, job.save_transfer})},
                {"device", done.device},
                {"seconds", done.seconds},
                {"probes", probes},
                {"warnings", lines_of(done.warnings)}});
    if (job.output.empty()) return;
    close_with("Vulkan on {}: picture in {:.0f} ms\n{}\n", done.device, done.seconds * 1e3, job.output.string());
}

}  // namespace

void add_render(CLI::App& program) {
    auto options = std::make_shared<RenderOptions>();
    CLI::App* command = program.add_subcommand("render", "Ray-cast a volume or scan into a picture");
    command
        ->add_option("INPUT", options->input,
                     "scan, or volume of any format that `echolux convert` reads; - for standard input")
        ->required()
        ->type_name("");
    command->add_option("--flow", options->flow, "velocities or phasors of the same voxels, shown in colour")
        ->type_name("VOLUME");
    command
        ->add_option("--channel", options->channels,
                     "volume of the same voxels that is seen together with the first, and its curve: a preset, labels, "
                     "or a file of a transfer function or of labels; up to three")
        ->type_name("VOLUME[:CURVE]")
        ->take_all()
        ->allow_extra_args(false);
    command
        ->add_option("-o,--output", options->output,
                     "picture to write; optional with --probe; - for standard output, as PNG")
        ->type_name("PICTURE.png|.tif");
    command->add_option("--bits", options->bits, "bits per channel of the picture [8]")
        ->type_name("8|16")
        ->check(one_of({"8", "16"}));
    command
        ->add_option("--probe", options->probes,
                     "print value, position and normal of what is seen at a pixel, counted from the left and top; may "
                     "be repeated")
        ->type_name("X,Y")
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("--size", options->size, "size of the picture [1024x1024]")->type_name("WxH");
    command->add_option("--volume", options->volume, "volume of a scan, counted from 0 [0]")->type_name("N");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    command->add_option("--view", options->view_file, "a file with a section [view]; options override it")
        ->type_name("FILE.toml");
    CLI::Option* key_frames =
        command
            ->add_option("--keyframes", options->key_frames, "key frames: a file of tables [[key]] that move the view")
            ->type_name("FILE.toml");
    command->add_option("--at", options->at_s, "time within the key frames [0]")
        ->type_name("SECONDS")
        ->needs(key_frames);
    command->add_option("--save-transfer", options->save_transfer, "also write the transfer function in use")
        ->type_name("FILE.toml");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->overwrites);
    add_movie_options(*command, options->movie);
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    View view;
    Settings settings;
    settings.bind("view", view);
    add_setting_options(*command, settings, "view", "View (each also as --set view.KEY=VALUE)", options->assignments,
                        {"width", "height"});
    command->callback([options] { render(*options); });
}

// ---- figure ---------------------------------------------------------------------------------------------------------

// `echolux figure VOLUME|scan.toml -o FIGURE.pdf|.svg|.png [--layout volume+bscan+enface]` draws a figure. With
// --a-scan or --psf it writes a table: -o TABLE.csv

namespace {

struct FigureOptions : DrawingOptions {
    std::string layout, en_face, a_scan, rows;
    StoredAs stored_as = StoredAs::automatic;
    std::optional<std::int64_t> b_scan;
    bool from_surface = false, psf = false;
};

bool makes_table(const FigureOptions& options) {
    return options.psf || !options.a_scan.empty();
}

// Returns the layout that the options imply. Without any, a B-scan is drawn beside an en-face projection.
std::string layout_of(const FigureOptions& options) {
    if (!options.layout.empty()) return options.layout;
    const bool has_en_face = !options.en_face.empty() || options.from_surface;
    if (options.b_scan) return has_en_face ? "bscan+enface" : "bscan";
    return has_en_face ? "enface" : "bscan+enface";
}

FigureJob figure_from(const FigureOptions& options) {
    FigureJob job;
    job.stored_as = options.stored_as;
    job.content.layout = parsed_layout(layout_of(options));
    job.content.b_scan = options.b_scan;
    job.content.from_surface = options.from_surface;
    if (!options.en_face.empty()) {
        const auto [begin, end] = parsed_interval(options.en_face, "--en-face");
        job.content.en_face = {begin, end};
    }
    Settings settings;
    settings.bind("figure", job.style);
    set_drawing(options, settings, job);
    return job;
}

TableJob table_from(const FigureOptions& options) {
    if (options.psf && !options.a_scan.empty()) {
        throw Error(ErrorCode::bad_setting, "a table holds one A-scan, or the strongest echoes of all", "--psf",
                    "leave out --a-scan or --psf");
    }
    TableJob job;
    job.input = input_named(options.input, ".npy");
    job.output = output_named(options.output, ".csv", false);
    job.overwrites = options.overwrites;
    job.stored_as = options.stored_as;
    job.part.volume = options.volume;
    job.settings = options.assignments;
    if (!options.a_scan.empty()) {
        job.a_scan = parsed_pixel(options.a_scan, "--a-scan", "X,Y: A-scan and B-scan, counted from 0, e.g. 120,64");
    }
    job.b_scan = options.b_scan;
    if (!options.rows.empty()) {
        const auto [begin, end] = parsed_interval(options.rows, "--rows");
        job.rows = {begin, end};
    }
    return job;
}

void figure(const FigureOptions& options) {
    TerminalProgress progress;
    const auto draw = [&](const auto& job) {
        const std::vector<std::string> warnings = run(job, progress);
        print_warnings(warnings);
        close_with("{}\n", job.output.string());
        print_json({{"files", names_of({job.output})}, {"warnings", lines_of(warnings)}});
    };
    if (makes_table(options))
        draw(table_from(options));
    else
        draw(figure_from(options));
}

void add_contents(CLI::App& command, FigureOptions& options) {
    command
        .add_option(
            "--layout", options.layout,
            "parts, side by side with + and below each other with /: volume+bscan/enface [as the options below imply]")
        ->type_name("volume+bscan+enface");
    command.add_option("--b-scan", options.b_scan, "B-scan to show, counted from 0 [the middle one]")->type_name("N");
    command.add_option("--en-face", options.en_face, "en-face mean over these depth rows [all]")->type_name("Z0:Z1");
    command.add_flag("--from-surface", options.from_surface, "count those rows from the surface of the tissue");
    command.add_option("--a-scan", options.a_scan, "one A-scan as a table: A-scan and B-scan, counted from 0")
        ->type_name("X,Y");
    command.add_flag("--psf", options.psf,
                     "depth, height, width and side lobe of the strongest echo of each A-scan as a table");
    command.add_option("--rows", options.rows, "depth rows in which --psf searches [all]")->type_name("Z0:Z1");
}

}  // namespace

void add_figure(CLI::App& program) {
    auto options = std::make_shared<FigureOptions>();
    CLI::App* command = program.add_subcommand("figure", "B-scans and projections with axes, or tables of A-scans");
    command->add_option("INPUT", options->input, "volume file or scan; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "a figure, or, with --a-scan or --psf, a table; - for standard output")
        ->required()
        ->type_name("FILE.pdf|.svg|.png|.csv");
    add_data_folder_option(*command);
    add_stored_as_option(*command, options->stored_as);
    add_overwrite_option(*command, options->overwrites);
    add_contents(*command, *options);
    command->add_option("--volume", options->volume, "volume of a scan or series, counted from 0 [0]")->type_name("N");
    command->add_option("--view", options->view_file, "a file with a section [view], for the part `volume`")
        ->type_name("FILE.toml");
    command->add_option("--size", options->size, "size of the part `volume` in pixels [1024x1024]")->type_name("WxH");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    FigureStyle style;
    Settings settings;
    settings.bind("figure", style);
    add_setting_options(*command, settings, "figure", "Looks (each also as --set figure.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { figure(*options); });
}

}  // namespace echolux
