#include "ui/app/simulate_job.h"

#include "engine/acquire/simulator.h"
#include "engine/settings.h"

namespace echolux {

void run(const SimulateJob& job, Progress& progress) {
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    settings.set("simulation.scene", job.scene, "SCENE");
    for (const std::string& assignment : job.settings) settings.set_assignment(assignment);
    simulate(simulation, job.scan, progress);
}

}  // namespace echolux
