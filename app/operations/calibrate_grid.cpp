// Operation `calibrate_grid`: scale and distortion of the lens from a grid of dots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/operations/calibrate_parts.h"
#include "app/operations/geometry_parts.h"
#include "compute/error.h"
#include "engine/geometry/geometry_calibration.h"

namespace echolux {
namespace {

struct CalibrateGrid {
    VolumeInput input, scan;
    double pitch_mm = 0;
    bool dark = false;
    double max_scale = GridCalibrationOptions().max_scale;
    OperationOutput output, plot;

    GridCalibration found;

    static void describe(OperationParts<CalibrateGrid>& parts);

    void run(Context& context) {
        if (pitch_mm <= 0)
            throw Error(ErrorCode::bad_setting, "is missing", "pitch_mm", "give the distance of the dots in mm");
        const std::shared_ptr<const Volume> volume = context.volume(input);
        const KnownGeometry known = known_geometry(input, *volume, scan);
        found = with_file_context(input.name(), "volume", [&] {
            return calibrated_grid(*volume, known.scan, {pitch_mm, dark, max_scale}, context.progress);
        });
        context.say(fmt::format(
            "{} of {} dots count: {:.3f} A-scans and {:.3f} B-scans rms off the grid, {:.2f} A-scans with a "
            "scale alone",
            counted(), found.found, found.rms_a_scans, found.rms_b_scans, found.before_a_scans));
        BeamGeometry geometry = found.lens;
        geometry.lens_origin = fmt::format("grid of {:g} mm {}, {} dots, {:.3f} A-scans rms", pitch_mm, input.name(),
                                           counted(), found.rms_a_scans);
        write_geometry(context, output, geometry);
        context.write(plot, ".png", [&](const std::filesystem::path& path) { draw(path, volume->grid); });
    }

    std::int64_t counted() const { return std::ranges::count_if(found.dots, &GridDot::counts); }

    void draw(const std::filesystem::path& path, const VolumeGrid& grid) const {
        const std::vector<std::uint8_t> none;
        FigureCurve spots{"", {}, {}, plot_colours::blue, FigureCurve::Look::spots};
        std::vector<double> radii, off_um;
        for (const GridDot& dot : found.dots) {
            if (!dot.counts) continue;
            spots.x.push_back(pitch_mm * std::hypot(static_cast<double>(dot.column), static_cast<double>(dot.row)));
            spots.y.push_back(1000 * std::hypot(dot.off_x_mm, dot.off_y_mm));
        }
        FigurePanel panel =
            curve_panel(axis_across("Distance from the middle dot", "mm", range_with_margin(spots.x)),
                        axis_upwards("Off the grid", "um", range_with_margin(spots.y)), 1.5, "Residual");
        panel.curves.push_back(std::move(spots));
        write_plot(path, {{map_panel({found.image, none, "Dots", "counts"}, grid, {}), panel}});
    }
};

void CalibrateGrid::describe(OperationParts<CalibrateGrid>& parts) {
    parts.info.command = "calibrate grid";
    parts.info.may_write_nothing = true;
    parts.info.summary = "Scale and distortion of the lens from a grid of dots";
    parts.info.examples = {"input=dots.nrrd pitch_mm=0.25 output=geometry.toml"};
    parts.info.details =
        "Dots are found in the mean over depth and numbered from the middle outwards. Scale, radial distortion and a "
        "polynomial per axis are fitted together with the angle and position of the grid. See docs/geometry.md.";
    parts
        .input({.name = "input",
                .help = "volume or scan of a flat target with a square grid of dots, with its rows along the A-scans"},
               &CalibrateGrid::input)
        .input(geometry_files("files with the section [scan], if the volume does not store it"), &CalibrateGrid::scan)
        .argument(number("pitch_mm", &CalibrateGrid::pitch_mm, 0, 100, "mm", Effect::file,
                         "distance between the dots; required")
                      .written_as("MM"))
        .argument(flag("dark", &CalibrateGrid::dark, Effect::file, "the dots are darker than their surroundings"))
        .argument(number("max_scale", &CalibrateGrid::max_scale, 1, 1000, "", Effect::file,
                         "largest factor between the pitch and the distance of the dots by the spacing of the scan"))
        .output(geometry_output(), &CalibrateGrid::output)
        .output(plot_output("also draw the dots and their distance from the grid"), &CalibrateGrid::plot)
        .result("scale_x", "", "mm in the sample per mm of the scan",
                [](const CalibrateGrid& one) { return one.found.lens.scale_x; })
        .result("scale_y", "", "mm in the sample per mm of the scan",
                [](const CalibrateGrid& one) { return one.found.lens.scale_y; })
        .result("dots", "", "dots that count", &CalibrateGrid::counted)
        .result("rms_a_scans", "A-scans", "residual along A-scans",
                [](const CalibrateGrid& one) { return one.found.rms_a_scans; })
        .result("rms_b_scans", "B-scans", "residual across B-scans",
                [](const CalibrateGrid& one) { return one.found.rms_b_scans; })
        .result("before_a_scans", "A-scans", "residual with a scale alone",
                [](const CalibrateGrid& one) { return one.found.before_a_scans; })
        .result("angle_deg", "deg", "angle of the grid, from x towards y",
                [](const CalibrateGrid& one) { return one.found.angle_deg; });
}

}  // namespace

ECHOLUX_OPERATION(calibrate_grid, CalibrateGrid)

}  // namespace echolux
