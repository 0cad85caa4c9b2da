// Operation `calibrate_galvo`: the delay of a galvanometer from a bidirectional scan.
#include <fmt/format.h>

#include "app/operations/calibrate_parts.h"
#include "app/operations/geometry_parts.h"
#include "engine/geometry/geometry_calibration.h"

namespace echolux {
namespace {

struct CalibrateGalvo {
    VolumeInput input, scan;
    std::int64_t max_a_scans = GalvoCalibrationOptions().max_a_scans;
    OperationOutput output, plot;

    GalvoCalibration found;

    static void describe(OperationParts<CalibrateGalvo>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        const KnownGeometry known = known_geometry(input, *volume, scan);
        found = with_file_context(input.name(), "volume", [&] {
            return calibrated_galvo(*volume, known.scan, {max_a_scans}, context.progress);
        });
        context.say(fmt::format("{} is {:.3f} +- {:.3f} A-scans late, {:.2f} us; directions correlate by {:.2f}",
                                axis(), found.delay_a_scans, found.error_a_scans, found.delay_us, found.correlation));
        BeamGeometry geometry;
        (found.is_y ? geometry.delay_y_us : geometry.delay_x_us) = found.delay_us;
        geometry.galvo_origin =
            fmt::format("bidirectional scan {}, {:.3f} A-scans standard error", input.name(), found.error_a_scans);
        write_geometry(context, output, geometry);
        context.write(plot, ".png", [&](const std::filesystem::path& path) { draw(path); });
    }

    std::string axis() const { return found.is_y ? "y" : "x"; }

    void draw(const std::filesystem::path& path) const {
        FigurePanel panel =
            curve_panel(axis_across("Distance of the directions", "A-scans", range_with_margin(found.shifts)),
                        axis_upwards("Correlation", "", range_with_margin(found.correlations)), 2.5, "Both directions");
        panel.curves.push_back({"", found.shifts, found.correlations, plot_colours::blue, FigureCurve::Look::line});
        write_plot(path, {{panel}});
    }
};

void CalibrateGalvo::describe(OperationParts<CalibrateGalvo>& parts) {
    parts.info.command = "calibrate galvo";
    parts.info.may_write_nothing = true;
    parts.info.summary = "Delay of a galvanometer from a bidirectional scan";
    parts.info.examples = {"input=both.nrrd scan=scan.toml output=geometry.toml"};
    parts.info.details =
        "Neighbouring B-scans pass the same tissue in opposite directions and are apart by twice the delay. See "
        "docs/geometry.md.";
    parts
        .input({.name = "input",
                .help = "bidirectional volume or scan of a target that does not move, with B-scans close together"},
               &CalibrateGalvo::input)
        .input(geometry_files("files with the section [scan], if the volume does not store it"), &CalibrateGalvo::scan)
        .argument(integer("max_a_scans", &CalibrateGalvo::max_a_scans, 4, 1024, "A-scans", Effect::file,
                          "largest distance between the directions"))
        .output(geometry_output(), &CalibrateGalvo::output)
        .output(plot_output("also draw the correlation over the distance"), &CalibrateGalvo::plot)
        .result("axis", "", "x, or y in scans along y", &CalibrateGalvo::axis)
        .result("delay_us", "us", "time by which the beam is late",
                [](const CalibrateGalvo& one) { return one.found.delay_us; })
        .result("delay_a_scans", "A-scans", "the same in periods of an A-scan",
                [](const CalibrateGalvo& one) { return one.found.delay_a_scans; })
        .result("error_a_scans", "A-scans", "standard error",
                [](const CalibrateGalvo& one) { return one.found.error_a_scans; })
        .result("correlation", "", "of both directions at this delay",
                [](const CalibrateGalvo& one) { return one.found.correlation; });
}

}  // namespace

ECHOLUX_OPERATION(calibrate_galvo, CalibrateGalvo)

}  // namespace echolux
