// `echolux simulate SCENE -o DIR/scan.toml`: simulates the spectra of a scene, with ground truth.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/simulate_job.h"
#include "engine/scan/settings.h"
#include "engine/simulate/simulator.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

void simulate_scene(const SimulateJob& job) {
    TerminalProgress progress;
    run(job, progress);
    close_with("{}\n", job.scan.string());
    if (!job.velocity.empty()) close_with("{}\n", job.velocity.string());
    give({{"files", names_of({job.scan, job.velocity})}});
}

}  // namespace

void add_simulate(CLI::App& program) {
    auto job = std::make_shared<SimulateJob>();
    CLI::App* command = program.add_subcommand("simulate", "Simulate a scan with known ground truth");
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    command->add_option("SCENE", job->scene, "vessel, retina, layers, capillary, mirror, or a scene of your own")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output,--out", job->scan,
                     "scan TOML to write; spectra and ground truth are written beside it")
        ->required()
        ->type_name("DIR/scan.toml");
    command
        ->add_option("--velocity", job->velocity,
                     "also write the true axial velocity, in mm/s, on the voxels of the scan's flow")
        ->type_name("VOLUME");
    add_overwrite_option(*command, job->overwrites);
    add_setting_options(*command, settings, "simulation", "Simulation", job->settings, {"scene"});
    add_set_option(*command, job->settings);
    command->callback([job] { simulate_scene(*job); });
}

}  // namespace echolux
