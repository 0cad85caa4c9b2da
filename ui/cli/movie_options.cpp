#include "ui/cli/movie_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "compute/counted.h"
#include "compute/error.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

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
    static_cast<VolumeSource&>(job) = picture;
    job.flow = picture.flow;
    job.view = picture.view;
    job.device = picture.device;
    job.spec = options.spec;
    job.spec.along = chosen<SweepAxis>(axes, options.along);
    job.spec.plane = chosen<SweptPlane>(planes, options.swept);
    job.output = options.output;
    job.made_from = picture.made_from;
    job.overwrites = picture.overwrites;
    job.codec = chosen<MovieCodec>(codecs, options.codec);
    job.crf = options.crf;
    job.may_use_hardware = options.encoder == "auto";
    return job;
}

}  // namespace

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

void make_movie(const RenderJob& picture, const MovieOptions& options) {
    const MovieJob job = movie_job_from(picture, options);
    TerminalProgress progress;
    const MadeMovie made = run(job, progress);
    print_warnings(made.warnings);
    if (made.width != job.view.width || made.height != job.view.height) {
        close_with("{} x {} instead of {} x {}: the codec needs even sizes\n", made.width, made.height, job.view.width,
                   job.view.height);
    }
    const std::string rate = made.rate.seconds == 1 ? fmt::format("{}", made.rate.pictures)
                                                    : fmt::format("{}/{}", made.rate.pictures, made.rate.seconds);
    close_with("{} of {} x {} at {} a second: {:.3f} s{}\n", counted(made.frames, "pictures"), made.width, made.height,
               rate, static_cast<double>(made.frames) / made.rate.per_s(),
               made.time_rate > 0 ? fmt::format(", time at {:.3g}x", made.time_rate) : "");
    close_with("Vulkan on {}, encoded by {}, made in {:.1f} s\n{}\n", made.device, made.encoder, made.seconds,
               job.output.string());
    give({{"files", names_of({job.output})},
          {"device", made.device},
          {"encoder", made.encoder},
          {"pictures", made.frames},
          {"width", made.width},
          {"height", made.height},
          {"pictures_per_s", made.rate.per_s()},
          {"seconds", made.seconds},
          {"warnings", lines_of(made.warnings)}});
}

}  // namespace echolux
