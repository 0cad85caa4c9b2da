// Operation `dewarp`: resamples a volume to a Cartesian grid in mm.
#include "engine/geometry/dewarp.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "app/operations/geometry_parts.h"
#include "app/operations/operation.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/registration/registration.h"

namespace echolux {
namespace {

struct Dewarp {
    VolumeInput input, scan;
    OperationOutput output;
    DewarpRecipe dewarp;
    BeamGeometry geometry;

    Position first;
    double inside = 0, seconds = 0;

    static void describe(OperationParts<Dewarp>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        if (volume->provenance.contains("dewarp")) {
            throw Error(ErrorCode::bad_setting, "is already dewarped", input.name(),
                        "dewarp the volume that it was made of");
        }
        KnownGeometry known = known_geometry(input, *volume, scan);
        take_arguments(context, known.beam);
        const BeamMap map = with_file_context(
            input.name(), "volume", [&] { return BeamMap(known.beam, known.scan, volume->grid, known.fast_axis); });
        const auto start = std::chrono::steady_clock::now();
        DewarpedVolume made = dewarped(*volume, map, dewarp, context.progress);
        seconds = seconds_since(start);
        first = made.first;
        inside = made.inside;
        report(context, made.volume.grid);
        note(made.volume, known.beam);
        context.write(output, std::move(made.volume));
    }

    void take_arguments(const Context& context, BeamGeometry& beam) const {
        Settings settings;
        settings.bind("geometry", beam);
        for (const std::string& assignment : context.assigned) {
            if (assignment.starts_with("geometry.")) settings.set_assignment(assignment);
        }
        if (beam == BeamGeometry()) {
            throw Error(ErrorCode::bad_setting, "its geometry is unknown, so there is nothing to correct", input.name(),
                        "name a file with a section [geometry] in `scan`, or set geometry.pivot_x_mm or another value");
        }
    }

    void report(Context& context, const VolumeGrid& grid) const {
        if (inside == 0) {
            throw Error(ErrorCode::bad_setting, "no voxel of the result is inside the scan", input.name(),
                        "check the signs and units of [geometry]");
        }
        context.say(
            fmt::format("{} x {} x {} voxels of {:.4g} x {:.4g} x {:.4g} um, {:.1f} % inside the scan, {:.2f} s",
                        grid.depth, grid.a_scans, grid.b_scans, grid.spacing_um[0], grid.spacing_um[1],
                        grid.spacing_um[2], 100 * inside, seconds));
    }

    // So that the volume is not dewarped again, and its origin is known.
    void note(Volume& volume, const BeamGeometry& beam) const {
        std::erase_if(volume.provenance, [](const auto& entry) { return entry.first.starts_with("geometry."); });
        forget_crosses(volume.provenance);
        volume.provenance["dewarp"] = section_toml("dewarp", dewarp);
        volume.provenance["dewarp.geometry"] = section_toml("geometry", beam);
        volume.provenance["dewarp.first_mm"] = fmt::format("{:.6f} {:.6f} {:.6f}", first.x_mm, first.y_mm, first.z_mm);
    }
};

void Dewarp::describe(OperationParts<Dewarp>& parts) {
    parts.info.summary = "Resample a volume to straight axes in mm";
    parts.info.examples = {"input=v.nrrd scan=scan.toml output=straight.nrrd"};
    parts.info.details =
        "Corrects field curvature, lens distortion, fan angles and the delay of galvanometers, and shows catheter "
        "scans "
        "as they are in space. The geometry is that of the input, if it is a scan, then of `scan`, then of the section "
        "geometry. Brightness is interpolated in linear intensity. Flow, angiography and labels are resampled alike. "
        "See docs/geometry.md.";
    parts.input({.name = "input", .help = "volume file or scan"}, &Dewarp::input)
        .input(geometry_files("files with sections [scan] or [geometry], such as the results of `calibrate field`, "
                              "`calibrate grid` and `calibrate galvo`; later ones have priority"),
               &Dewarp::scan)
        .output({.name = "output",
                 .help = "volume with depth along z, A-scans along x, B-scans along y; NaN outside the scan",
                 .is_required = true},
                &Dewarp::output)
        .section("dewarp", "Dewarp", &Dewarp::dewarp)
        .section("geometry", "Geometry", &Dewarp::geometry)
        .result("first_mm", "mm", "x, y and z of the first voxel",
                [](const Dewarp& one) {
                    return std::vector<double>{one.first.x_mm, one.first.y_mm, one.first.z_mm};
                })
        .result("inside", "", "share of voxels with a value", &Dewarp::inside)
        .result("seconds", "s", "time of the resampling alone", &Dewarp::seconds);
}

}  // namespace

ECHOLUX_OPERATION(dewarp, Dewarp)

}  // namespace echolux
