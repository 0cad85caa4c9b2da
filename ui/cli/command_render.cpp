// `echolux render VOLUME|scan.toml -o PICTURE.png|.tif [--probe X,Y]`: renders a picture or, with --movie, a movie.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/render_job.h"
#include "app/open/channel_files.h"
#include "app/session/unused_view_settings.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/movie_options.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

struct RenderOptions {
    std::string input, flow, output, size, device, view_file, key_frames, save_transfer;
    double at_s = 0;
    std::int64_t volume = 0, bits = 8;
    bool overwrites = false;
    std::vector<std::string> assignments, probes, channels;
    MovieOptions movie;
};

// `view.*` settings configure the picture; all other settings configure the reconstruction.
RenderJob job_from(const RenderOptions& options) {
    RenderJob job;
    job.input = input_named(options.input, ".npy");
    job.flow = options.flow;
    job.output = output_named(options.output, ".png");
    job.overwrites = options.overwrites;
    job.made_from = {options.view_file};
    job.bits = options.bits == 16 ? PictureBits::sixteen : PictureBits::eight;
    job.part.volume = options.volume;
    job.device.name = options.device;
    Settings settings;
    settings.bind("view", job.view);
    if (!options.view_file.empty()) settings.read_toml(options.view_file);
    job.key_frames = options.key_frames;
    job.at_s = options.at_s;
    job.save_transfer = options.save_transfer;
    for (const std::string& assignment : options.assignments) {
        if (assignment.starts_with("view."))
            settings.set_assignment(assignment);
        else
            job.settings.push_back(assignment);
    }
    for (const std::string& channel : options.channels) add_channel(job.view, channel);
    if (!options.size.empty()) {
        const auto [width, height] = parsed_size(options.size, "--size");
        settings.set("view.width", std::to_string(width), "--size");
        settings.set("view.height", std::to_string(height), "--size");
    }
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

void render(const RenderOptions& options) {
    const RenderJob job = job_from(options);
    const std::vector<std::string> unused = unused_settings(job.view, options.assignments);
    print_warnings(unused);
    if (!options.movie.output.empty()) return make_movie(job, options.movie);
    TerminalProgress progress;
    RenderedFile done = run(job, progress);
    print_warnings(done.warnings);
    done.warnings.insert(done.warnings.begin(), unused.begin(), unused.end());
    if (!done.stats.backend.empty()) {
        close_with("{}: {} in {:.2f} s\n", done.stats.backend, counted(done.stats.a_scans, "A-scans"),
                   done.stats.seconds);
    }
    if (done.pages.needed > 0) {
        close_with("the volume exceeds one texture of {}: {} of {} visible pages in full resolution, {} coarse\n",
                   done.device, done.pages.needed - done.pages.coarse, done.pages.needed, done.pages.coarse);
    }
    for (std::size_t i = 0; i < done.probes.size(); ++i) print_probe(options.probes[i], done.probes[i]);
    Json probes = Json::array();
    for (std::size_t i = 0; i < done.probes.size(); ++i) probes.push_back(json_of(job.probes[i], done.probes[i]));
    give({{"files", names_of({job.output, job.save_transfer})},
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

}  // namespace echolux
