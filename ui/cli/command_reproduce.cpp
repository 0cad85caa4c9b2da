// `echolux reproduce PICTURE [-o AGAIN]`: renders a picture again from the settings stored in it and compares the
// pixels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/reproduce_job.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct ReproduceOptions {
    std::string picture, input, output, device;
    bool overwrites = false;
};

const char* verdict(Sameness sameness) {
    switch (sameness) {
        case Sameness::same: return "identical, bit for bit";
        case Sameness::other: return "not identical";
        case Sameness::unknown: return "the picture has no fingerprint to compare with";
    }
    return "";
}

void reproduce(const ReproduceOptions& options) {
    TerminalProgress progress;
    ReproduceJob job;
    job.picture = options.picture;
    job.input = options.input;
    job.output = output_named(options.output, std::filesystem::path(options.picture).extension().string());
    job.overwrites = options.overwrites;
    job.device.name = options.device;
    const ReproducedPicture done = run(job, progress);
    print_warnings(done.warnings);
    close_with("Vulkan on {}: {}\n{}\n", done.rendered.device, verdict(done.sameness), done.output.string());
    give({{"files", names_of({done.output})},
          {"device", done.rendered.device},
          {"same", done.sameness == Sameness::unknown ? nlohmann::ordered_json(nullptr)
                                                      : nlohmann::ordered_json(done.sameness == Sameness::same)},
          {"warnings", lines_of(done.warnings)}});
}

}  // namespace

void add_reproduce(CLI::App& program) {
    auto options = std::make_shared<ReproduceOptions>();
    CLI::App* command = program.add_subcommand("reproduce", "Make a picture again from the settings stored in it");
    command->add_option("PICTURE", options->picture, "PNG or TIFF saved by `echolux render` or the window")
        ->required()
        ->type_name("");
    command->add_option("-o,--output", options->output, "the new picture [its name with -again]")
        ->type_name("PICTURE.png|.tif");
    command->add_option("--input", options->input, "volume or scan to use [the original place]")->type_name("FILE");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    add_overwrite_option(*command, options->overwrites);
    command->callback([options] { reproduce(*options); });
}

}  // namespace echolux
