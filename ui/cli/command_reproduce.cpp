// `echolux reproduce PICTURE [-o AGAIN]`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/jobs/reproduce_job.h"
#include "ui/cli/commands.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct Options {
    std::string picture, input, output, device;
};

const char* verdict(Sameness sameness) {
    switch (sameness) {
        case Sameness::same: return "identical, bit for bit";
        case Sameness::other: return "not identical";
        case Sameness::unknown: return "the picture has no fingerprint to compare with";
    }
    return "";
}

void reproduce(const Options& options) {
    TerminalProgress progress;
    ReproduceJob job{options.picture, options.input, options.output, {}};
    job.device.name = options.device;
    const ReproducedPicture done = run(job, progress);
    print_warnings(done.warnings);
    fmt::print("Vulkan on {}: {}\n{}\n", done.rendered.device, verdict(done.sameness), done.output.string());
}

}  // namespace

void add_reproduce(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("reproduce", "Make a picture again from the settings stored in it");
    command->add_option("PICTURE", options->picture, "PNG or TIFF saved by `echolux render` or the window")
        ->required()
        ->type_name("");
    command->add_option("-o,--output", options->output, "the new picture [its name with -again]")
        ->type_name("PICTURE.png|.tif");
    command->add_option("--input", options->input, "volume or scan to use [the original place]")->type_name("FILE");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    command->callback([options] { reproduce(*options); });
}

}  // namespace echolux
