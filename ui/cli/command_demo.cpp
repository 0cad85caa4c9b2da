// `echolux demo [--out DIR]`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/jobs/demo_job.h"
#include "ui/cli/commands.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct Options {
    std::string out = "out/demo";
    std::string device;
};

void demonstrate(const Options& options) {
    TerminalProgress progress;
    DemoJob job;
    job.folder = options.out;
    job.device.name = options.device;
    for (const DemoLine& line : run(job, progress)) fmt::print("{:<22} {}\n", line.what, line.result);
}

}  // namespace

void add_demo(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("demo", "Simulate, reconstruct and ray-cast a living 4-D scan");
    command->add_option("--out", options->out, "output folder [out/demo]")->type_name("DIR");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    command->callback([options] { demonstrate(*options); });
}

}  // namespace echolux
