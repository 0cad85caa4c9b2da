#include "app/jobs/simulate_job.h"

#include <filesystem>
#include <utility>

#include "compute/error.h"
#include "engine/io/output_rule.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/simulate/simulator.h"
#include "engine/simulate/truth.h"

namespace echolux {
namespace {

// Written on the voxels of the scan's flow, where repeats are combined to one position.
void write_velocity(const SimulateJob& job) {
    Scan scan = open_scan(job.scan);
    if (scan.geometry.a_repeats * scan.geometry.b_repeats > 1) scan.recipe.average = Average::power;
    const Reconstruction reconstruction(std::move(scan));
    const Truth truth = read_truth(job.scan.parent_path() / "truth");
    write_volume(job.velocity, true_flow(truth, reconstruction.grid({})));
}

}  // namespace

void run(const SimulateJob& job, Progress& progress) {
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    settings.set("simulation.scene", job.scene, "SCENE");
    for (const std::string& assignment : job.settings) settings.set_assignment(assignment);
    std::vector<Output> outputs = outputs_of_simulation(job.scan);
    outputs.push_back({job.velocity, is_own_volume});
    check_outputs(outputs, {simulation.motion_file}, job.overwrites);
    if (!job.velocity.empty()) check_volume_name(job.velocity, VoxelType::f32);
    simulate(simulation, job.scan, progress);
    if (!job.velocity.empty()) write_velocity(job);
}

}  // namespace echolux
