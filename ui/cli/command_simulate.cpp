// `echolux simulate SCENE --out DIR/scan.toml`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "engine/acquire/simulator.h"
#include "engine/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct Options {
    std::string scene;
    std::string out;
    std::vector<std::string> assignments;
};

void simulate_scene(const Options& options) {
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    settings.set("simulation.scene", options.scene, "SCENE");
    for (const std::string& assignment : options.assignments) settings.set_assignment(assignment);
    TerminalProgress progress;
    simulate(simulation, options.out, progress);
    fmt::print("{}\n", options.out);
}

}  // namespace

void add_simulate(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("simulate", "Simulate a scan whose truth is known");
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    command->add_option("SCENE", options->scene, "mirror, layers, vessel, capillary or retina")
        ->required()
        ->type_name("");
    command->add_option("--out", options->out, "the scan's TOML file; spectra and truth go beside it")
        ->required()
        ->type_name("DIR/scan.toml");
    add_setting_options(*command, settings, "simulation", "Simulation", options->assignments, {"scene"});
    command->callback([options] { simulate_scene(*options); });
}

}  // namespace echolux
