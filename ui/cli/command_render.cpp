// `echolux render VOLUME|scan.toml -o PICTURE.png|.tif [--probe X,Y]`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/jobs/render_job.h"
#include "compute/error.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/movie_options.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct Options {
    std::string input, flow, output, size, device, view_file, key_frames, save_transfer;
    double at_s = 0;
    std::int64_t volume = 0, bits = 8;
    std::vector<std::string> assignments, probes;
    MovieOptions movie;
};

// `--set view.…` and the view's own options shape the picture, every other setting the reconstruction.
RenderJob job_from(const Options& options) {
    RenderJob job;
    job.input = options.input;
    job.flow = options.flow;
    job.output = options.output;
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
    if (!options.size.empty()) {
        const auto [width, height] = parsed_size(options.size, "--size");
        settings.set("view.width", std::to_string(width), "--size");
        settings.set("view.height", std::to_string(height), "--size");
    }
    for (const std::string& pixel : options.probes) job.probes.push_back(parsed_pixel(pixel, "--probe"));
    if (job.output.empty() && job.probes.empty() && options.movie.output.empty()) {
        throw Error(ErrorCode::bad_setting, "nothing to do", "-o",
                    "name a picture, a pixel by --probe X,Y, or a movie by --movie");
    }
    return job;
}

std::string triple(const std::array<double, 3>& numbers, int decimals) {
    return fmt::format("({:.{}f}, {:.{}f}, {:.{}f})", numbers[0], decimals, numbers[1], decimals, numbers[2], decimals);
}

void print_probe(const std::string& pixel, const std::optional<Probe>& probe) {
    fmt::print("pixel {}: ", pixel);
    if (!probe) {
        fmt::print("nothing is seen\n");
        return;
    }
    fmt::print("value {:.6g}{}{} in voxel ({}, {}, {})\n", probe->value, probe->unit.empty() ? "" : " ", probe->unit,
               probe->voxel[0], probe->voxel[1], probe->voxel[2]);
    const char* unit = probe->has_spacing ? "um" : "voxels";
    fmt::print("  at {} voxels = {} {} from the middle of the first (depth, A-scans, B-scans)\n",
               triple(probe->index, 2), triple(probe->place_um, 2), unit);
    fmt::print("  normal {}, {:.6g} {} from the eye\n", triple(probe->normal, 3), probe->distance_um, unit);
}

void render(const Options& options) {
    if (!options.movie.output.empty()) return make_movie(job_from(options), options.movie);
    TerminalProgress progress;
    const RenderedFile done = run(job_from(options), progress);
    print_warnings(done.warnings);
    if (!done.stats.backend.empty()) {
        fmt::print("{}: {} A-scans in {:.2f} s\n", done.stats.backend, done.stats.a_scans, done.stats.seconds);
    }
    if (done.pages.needed > 0) {
        fmt::print("larger than one texture of {}: {} of {} visible pages in full, {} from the coarse level\n",
                   done.device, done.pages.needed - done.pages.coarse, done.pages.needed, done.pages.coarse);
    }
    for (std::size_t i = 0; i < done.probes.size(); ++i) print_probe(options.probes[i], done.probes[i]);
    if (options.output.empty()) return;
    fmt::print("Vulkan on {}: picture in {:.0f} ms\n{}\n", done.device, done.seconds * 1e3, options.output);
}

}  // namespace

void add_render(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("render", "Ray-cast a volume or scan into a picture");
    command->add_option("INPUT", options->input, "scan, or volume of any format that `echolux convert` reads")
        ->required()
        ->type_name("");
    command
        ->add_option("--flow", options->flow, "velocities (or phasors) of the same voxels, coloured over the picture")
        ->type_name("VOLUME");
    command->add_option("-o,--output", options->output, "the picture; may be left out with --probe")
        ->type_name("PICTURE.png|.tif");
    command->add_option("--bits", options->bits, "of a channel of the picture [8]")
        ->type_name("8|16")
        ->check(CLI::IsMember({8, 16}));
    command
        ->add_option(
            "--probe", options->probes,
            "what is seen at a pixel of the picture, from its left and top: value, place, normal; may be repeated")
        ->type_name("X,Y")
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("--size", options->size, "of the picture [1024x1024]")->type_name("WxH");
    command->add_option("--volume", options->volume, "which volume of a scan, counted from 0 [0]")->type_name("N");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    command->add_option("--view", options->view_file, "a file with a section [view]; options given besides go first")
        ->type_name("FILE.toml");
    CLI::Option* key_frames =
        command->add_option("--keyframes", options->key_frames, "a file of tables [[key]] that moves the view")
            ->type_name("FILE.toml");
    command->add_option("--at", options->at_s, "the moment of that [0]")->type_name("SECONDS")->needs(key_frames);
    command->add_option("--save-transfer", options->save_transfer, "also writes the transfer function in use")
        ->type_name("FILE.toml");
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
