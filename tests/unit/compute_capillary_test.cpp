// The whole chain on a simulated capillary of 200 um whose flow in ul/s is known: simulated spectra, Doppler, and the
// sum of velocities over the lumen, in both directions.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/indexing.h"
#include "engine/scan/scan.h"
#include "engine/simulate/truth.h"
#include "tests/oracle/flow_run.h"
#include "tests/unit/simulator_recording.h"

namespace echolux {
namespace {

using test::SimulatedRecording;

// Flow through the plane y = const in ul/s. The axial velocity is the velocity along y times the tube's slope at that
// position.
double lumen_flow_ul_s(double flow_ul_s) {
    Simulation simulation;
    simulation.scene = "capillary";
    simulation.samples = 512;
    simulation.a_scans = 192;
    simulation.b_scans = 6;
    simulation.flow_ul_s = flow_ul_s;
    simulation.line_rate_hz = 20'000;
    const SimulatedRecording recording(simulation);
    const Simulation s = recording.simulation();

    const Scan scan = open_scan(recording.folder() / "scan.toml");
    ReconstructionSpec spec = scan.spec(s.b_scans);
    spec.flow = {.method = FlowMethod::doppler, .window_depth = 3, .window_lines = 4, .threshold_db = -100};
    spec.recipe.noise_floor_db = -60;
    spec.recipe.quantity = Quantity::intensity;
    spec.recipe.voxel = VoxelType::f32;
    std::vector<std::uint16_t> spectra;
    for (const auto& line : recording.lines()) spectra.insert(spectra.end(), line.begin(), line.end());
    const FlowVolumes volumes = flow_of({"cpu", &plan_on_cpu}, spec, bytes_of_lines(spectra));

    const Truth truth = read_truth(recording.folder() / "truth");
    double sum = 0;
    for (std::int64_t b = 0; b < s.b_scans; ++b) {
        const Truth::Axis axis = truth.axes[index(b)];
        for (std::int64_t a = 0; a < s.a_scans; ++a) {
            for (std::int64_t z = 0; z < volumes.grid.depth; ++z) {
                const double dx = static_cast<double>(a) * s.spacing_a_um - static_cast<double>(axis.x_um);
                const double depth = volumes.grid.first_depth_um + static_cast<double>(z) * volumes.grid.spacing_um[0];
                const double dz = depth - static_cast<double>(axis.z_um);
                if (std::hypot(dx, dz) > truth.facts.tube_radius_um[0]) continue;
                const double axial_mm_s = std::arg(volumes.phasor(a, z, b)) / std::numbers::pi * volumes.grid.v_max;
                sum += axial_mm_s / static_cast<double>(axis.z_slope);
            }
        }
    }
    const double voxel_mm2 = s.spacing_a_um * volumes.grid.spacing_um[0] * 1e-6;
    return sum * voxel_mm2 / static_cast<double>(s.b_scans);
}

TEST(Capillary, LumenHoldsTrueFlowInBothDirections) {
    for (const double flow : {0.4, -0.4}) {
        const double measured = lumen_flow_ul_s(flow);
        RecordProperty(flow > 0 ? "forwards" : "backwards", std::to_string(measured));
        EXPECT_NEAR(measured / flow, 1, 0.03) << flow;
    }
}

}  // namespace
}  // namespace echolux
