#include "ui/app/demo_job.h"

#include <fmt/format.h>

#include <chrono>

#include "engine/acquire/simulator.h"
#include "engine/acquire/truth.h"
#include "engine/figures.h"
#include "engine/io/png_file.h"
#include "engine/reconstruction.h"
#include "render/offscreen.h"
#include "ui/app/picture_of.h"

namespace echolux {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Simulation living_scan() {
    Simulation simulation;
    simulation.scene = Scene::vessel;
    simulation.a_scans = 192;
    simulation.b_scans = 128;
    simulation.volumes = 4;
    return simulation;
}

}  // namespace

std::vector<DemoLine> run(const DemoJob& job, Progress& progress) {
    const std::filesystem::path scan_file = job.folder / "scan" / "scan.toml";
    const Simulation simulation = living_scan();
    const auto start = Clock::now();
    simulate(simulation, scan_file, progress);
    const double simulated = seconds_since(start);
    Renderer renderer(job.device);
    Reconstruction reconstruction(open_scan(scan_file));
    for (std::int64_t v = 0; v < simulation.volumes; ++v) {
        const Volume volume = reconstruction.run({v, 0, 0}, progress);
        write_volume(job.folder / fmt::format("volume_t{}.nrrd", v), volume);
        renderer.set_volume(volume.grid, volume.voxels.data());
        write_png(job.folder / fmt::format("volume_t{}.png", v), picture_of(renderer.render(View{})));
        write_png(job.folder / fmt::format("b-scan_t{}.png", v), gray_picture(b_scan_figure(volume, 64)));
        write_png(job.folder / fmt::format("en-face_t{}.png", v), gray_picture(en_face_figure(volume, 40, 120)));
    }
    return {{"simulated", fmt::format("{} s", simulated)}, {"device", renderer.device_name()}};
}

}  // namespace echolux
