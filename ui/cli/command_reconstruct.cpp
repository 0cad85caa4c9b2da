// `echolux reconstruct scan.toml -o VOLUME | B-SCAN.png --b-scan N | EN-FACE.png --en-face Z0:Z1`: reconstructs spectra
// into a volume, a series or a picture.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/reconstruct_job.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/image_format.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct ReconstructOptions {
    std::string scan, output, flow, repeats, volume, blocks, b_scan, en_face, range;
    BackendChoice backend;
    bool overwrites = false;
    std::vector<std::string> assignments;
};

Interval interval(const std::string& text, const char* option) {
    const auto [begin, end] = parsed_interval(text, option);
    return {begin, end};
}

// Without --volume, the first volume is reconstructed; `--volume all` leaves job.volume unset.
ReconstructJob job_from(const ReconstructOptions& options) {
    ReconstructJob job;
    const bool makes_picture = !options.b_scan.empty() || !options.en_face.empty();
    job.scan = options.scan;
    job.output = output_named(options.output, makes_picture ? ".png" : ".npy");
    job.overwrites = options.overwrites;
    job.flow = options.flow;
    job.repeats = options.repeats;
    job.settings = options.assignments;
    job.backend = options.backend;
    if (options.volume.empty())
        job.volume = 0;
    else if (options.volume != "all")
        job.volume = parsed_number(options.volume, "--volume", "a number, or all");
    if (!options.blocks.empty()) job.b_scans = interval(options.blocks, "--blocks");
    if (!options.b_scan.empty()) job.b_scan = parsed_number(options.b_scan, "--b-scan", "a whole number");
    if (!options.en_face.empty()) job.en_face = interval(options.en_face, "--en-face");
    if (!options.range.empty()) {
        const auto [black, white] = parsed_range(options.range, "--range");
        job.gray = GrayRange{black, white};
    }
    return job;
}

void reconstruct(const ReconstructOptions& options) {
    TerminalProgress progress;
    const ReconstructedFiles done = run(job_from(options), progress);
    print_warnings(done.warnings);
    const double rate = static_cast<double>(done.stats.a_scans) / done.stats.seconds / 1e3;
    close_with("{}: {} in {:.2f} s, {:.0f} k A-scans/s\n", done.stats.backend, counted(done.stats.a_scans, "A-scans"),
               done.stats.seconds, rate);
    if (options.volume.empty() && done.volumes > 1)
        close_with("volume 0 of {}; --volume all makes a series of all of them\n", done.volumes);
    for (const auto& file : done.files) close_with("{}\n", file.string());
    give({{"files", names_of(done.files)},
          {"backend", done.stats.backend},
          {"a_scans", done.stats.a_scans},
          {"seconds", done.stats.seconds},
          {"volumes_in_scan", done.volumes},
          {"warnings", lines_of(done.warnings)}});
}

}  // namespace

void add_reconstruct(CLI::App& program) {
    auto options = std::make_shared<ReconstructOptions>();
    CLI::App* command = program.add_subcommand("reconstruct", "Reconstruct volumes, B-scans or en-face pictures");
    command->add_option("SCAN", options->scan, "scan TOML, or a raw file that describes itself (SD01RAW2)")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "volume to write; the ending decides the format: " + endings_written() +
                         "; *.png with --b-scan or --en-face; - for standard output, as NumPy or PNG")
        ->required()
        ->type_name("FILE");
    command->add_option("--flow", options->flow, "also write the flow of flow.method, as velocities or contrast")
        ->type_name("VOLUME");
    command
        ->add_option("--repeats", options->repeats,
                     "also write where the repeats of each B-scan lay, and which were left out, as flow.align found")
        ->type_name("FILE.csv");
    command->add_option("--volume", options->volume, "volume, counted from 0, or all as one series [0]")
        ->type_name("N|all");
    command->add_option("--blocks", options->blocks, "only B-scans A to B-1; parts are bit-identical to the whole")
        ->type_name("A:B");
    command->add_option("--b-scan", options->b_scan, "write a picture of this B-scan")->type_name("N");
    command->add_option("--en-face", options->en_face, "write a picture of the mean over depth rows Z0 to Z1-1")
        ->type_name("Z0:Z1");
    command->add_option("--range", options->range, "values shown as black and white [0.3 and 99.7 percentiles]")
        ->type_name("LOW:HIGH");
    add_overwrite_option(*command, options->overwrites);
    add_backend_option(*command, options->backend.backend);
    add_gpus_option(*command, options->backend);
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    Recipe recipe;
    Settings settings;
    settings.bind("recipe", recipe);
    add_setting_options(*command, settings, "recipe", "Recipe (each also as --set recipe.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { reconstruct(*options); });
}

}  // namespace echolux
