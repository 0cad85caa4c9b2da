// `echolux demo [-o DIR]`: simulates, reconstructs and renders a small 4-D scan.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/demo_job.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {
namespace {

struct DemoOptions {
    std::string out = "out/demo";
    std::string device;
    bool overwrites = false;
};

void demonstrate(const DemoOptions& options) {
    TerminalProgress progress;  // an interrupt takes the time to remove the files
    DemoJob job;
    job.folder = options.out;
    job.device.name = options.device;
    job.overwrites = options.overwrites;
    nlohmann::ordered_json results;
    for (const DemoLine& line : run(job, progress)) {
        close_with("{:<22} {}\n", line.what, line.result);
        results[line.what] = line.result;
    }
    print_json({{"folder", options.out}, {"results", results}});
}

}  // namespace

void add_demo(CLI::App& program) {
    auto options = std::make_shared<DemoOptions>();
    CLI::App* command =
        program.add_subcommand("demo", "Simulate, reconstruct and render a 4-D scan of tissue with flowing blood");
    command->footer(examples_text({"echolux demo", "echolux demo -o folder"}));
    command->add_option("-o,--output,--out", options->out, "output folder [out/demo]")->type_name("DIR");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    add_overwrite_option(*command, options->overwrites);
    command->callback([options] { demonstrate(*options); });
}

}  // namespace echolux
