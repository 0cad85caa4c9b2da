// Operation `simulate`: simulates the spectra of a scene and writes an ordinary scan with its ground truth.
#include "engine/simulate/simulator.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/operations/operation.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/scan.h"
#include "engine/simulate/device_picture.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/truth.h"

namespace echolux {
namespace {

// Returns the flow on the voxels of the scan's flow, where repeats are combined to one position.
Volume velocities_of(const std::filesystem::path& scan_toml) {
    Scan scan = open_scan(scan_toml);
    if (scan.geometry.a_repeats * scan.geometry.b_repeats > 1) scan.recipe.average = Average::power;
    const Reconstruction reconstruction(std::move(scan));
    return true_flow(read_truth(scan_toml.parent_path() / "truth"), reconstruction.grid({}));
}

// Returns the first volume as a device stores it, the mean of its b_repeats.
Volume picture_of(const std::filesystem::path& scan_toml, const DevicePicture& device, Progress& progress) {
    Scan scan = open_scan(scan_toml);
    scan.recipe.quantity = Quantity::intensity;
    if (scan.geometry.a_repeats * scan.geometry.b_repeats > 1) scan.recipe.average = Average::power;
    return device_picture(Reconstruction(std::move(scan)).run({}, progress), device);
}

struct Simulate {
    Simulation simulation;
    BeamGeometry geometry;
    DeviceCode code = DevicePicture().code;
    double cut = DevicePicture().cut, range_db = DevicePicture().range_db;
    OperationOutput output, velocity, picture;

    static void describe(OperationParts<Simulate>& parts);

    void run(Context& context) {
        std::vector<Output> outputs = outputs_of_simulation(output.file);
        for (const OperationOutput* volume : {&velocity, &picture}) outputs.push_back({volume->file, is_own_volume});
        check_outputs(outputs, {simulation.motion_file}, context.overwrites);
        context.write(output, ".toml", [&](const std::filesystem::path& scan_toml) {
            simulate(simulation, geometry, scan_toml, context.progress);
        });
        if (velocity.is_wanted()) context.write(velocity, velocities_of(output.file));
        if (picture.is_wanted())
            context.write(picture, picture_of(output.file, {code, cut, range_db}, context.progress));
    }
};

// The setting simulation.scene as an argument.
Field<Simulate> scene_argument() {
    const Field<Simulation>& scene = *std::ranges::find(echolux::describe<Simulation>(), "scene", &FieldText::name);
    Field<Simulate> field{scene, {}, {}, {}};
    field.help = "a scene of the list (docs/simulator.md) or of your own";
    field.get = [get = scene.get](const Simulate& one) { return get(one.simulation); };
    field.set = [set = scene.set](Simulate& one, const Value& value) { set(one.simulation, value); };
    return field;
}

void Simulate::describe(OperationParts<Simulate>& parts) {
    parts.info.summary = "Simulate a scan with known ground truth";
    parts.info.examples = {
        "scene=layers output=scan/scan.toml",
        "scene=vessel output=scan/scan.toml simulation.a_scans=256 simulation.b_scans=64 simulation.b_repeats=2"};
    parts.info.details =
        "Spectra are computed without Fourier transforms or interpolation, so that they test these steps of the "
        "reconstruction. See docs/simulator.md.";
    parts.info.first_argument = "scene";
    parts.argument(scene_argument())
        .output({.name = "output",
                 .kind = OutputKind::file,
                 .help = "scan TOML to write; spectra and ground truth are written beside it",
                 .is_required = true,
                 .placeholder = "DIR/scan.toml",
                 .alias = "out",
                 .endings = {".toml"},
                 .is_file = true,
                 .is_checked_by_run = true},
                &Simulate::output)
        .output({.name = "velocity",
                 .help = "also write the true axial velocity, in mm/s, on the voxels of the scan's flow"},
                &Simulate::velocity)
        .output({.name = "picture",
                 .help = "also write the first volume as a clinical device stores it: mean of `b_repeats`, noise "
                         "subtracted, background cut, brightness compressed"},
                &Simulate::picture)
        .argument(choice("code", &Simulate::code, {"linear", "fourth-root", "log"}, Effect::file,
                         "brightness of `picture`: reflectivity, its fourth root, or its logarithm in 8 bits"))
        .argument(number("cut", &Simulate::cut, 0, 1000, "", Effect::file,
                         "`picture`: darker voxels become 0, as a multiple of the noise floor; 0: no cut"))
        .argument(number("range_db", &Simulate::range_db, 1, 200, "dB", Effect::file,
                         "`picture` with code = log: range of the 255 codes"))
        .section("simulation", "Simulation", &Simulate::simulation)
        .section("geometry", "Geometry", &Simulate::geometry)
        .without({"refractive_index", "path_origin", "lens_origin", "galvo_origin", "pivot_x_mm", "pivot_y_mm", "polar",
                  "rotation_deg", "turns_backwards", "zero_radius_um", "pullback_um"});
}

}  // namespace

ECHOLUX_OPERATION(simulate, Simulate)

}  // namespace echolux
