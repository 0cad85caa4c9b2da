// `echolux simulate SCENE --out DIR/scan.toml`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/jobs/simulate_job.h"
#include "engine/scan/settings.h"
#include "engine/simulate/simulator.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

void simulate_scene(const SimulateJob& job) {
    TerminalProgress progress;
    run(job, progress);
    fmt::print("{}\n", job.scan.string());
}

}  // namespace

void add_simulate(CLI::App& program) {
    auto job = std::make_shared<SimulateJob>();
    CLI::App* command = program.add_subcommand("simulate", "Simulate a scan whose truth is known");
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    command->add_option("SCENE", job->scene, "vessel, retina, layers, capillary, mirror, or one of your own")
        ->required()
        ->type_name("");
    command->add_option("--out", job->scan, "the scan's TOML file; spectra and truth go beside it")
        ->required()
        ->type_name("DIR/scan.toml");
    command
        ->add_option("--velocity", job->velocity,
                     "also write the true axial velocity, in mm/s, on the voxels of the scan's flow")
        ->type_name("VOLUME");
    add_setting_options(*command, settings, "simulation", "Simulation", job->settings, {"scene"});
    add_set_option(*command, job->settings);
    command->callback([job] { simulate_scene(*job); });
}

}  // namespace echolux
