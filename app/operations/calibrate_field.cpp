// Operation `calibrate_field`: the optical-path surface of an instrument from a flat mirror.
#include <fmt/format.h>

#include "app/operations/calibrate_parts.h"
#include "app/operations/geometry_parts.h"
#include "engine/geometry/geometry_calibration.h"

namespace echolux {
namespace {

struct CalibrateField {
    VolumeInput input, scan;
    std::int64_t order = FieldCalibrationOptions().order;
    double min_snr_db = FieldCalibrationOptions().min_snr_db;
    bool keep_tilt = false;
    double min_radius_mm = FieldCalibrationOptions().min_radius_mm;
    OperationOutput output, plot;

    FieldCalibration found;

    static void describe(OperationParts<CalibrateField>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        const KnownGeometry known = known_geometry(input, *volume, scan);
        found = with_file_context(input.name(), "volume", [&] {
            return calibrated_field(*volume, known.scan, {order, min_snr_db, keep_tilt, min_radius_mm},
                                    context.progress);
        });
        context.say(fmt::format(
            "surface of {:.1f} um in air, {:.3f} rows rms off it, {:.0f} % of the A-scans, mirror {:.0f} dB "
            "above the median",
            found.span_um, found.rms_rows, 100 * found.used, found.snr_db));
        BeamGeometry geometry;
        geometry.path_um = found.path_um;
        geometry.path_origin =
            fmt::format("flat mirror {}, order {}, {:.3f} rows rms", input.name(), order, found.rms_rows);
        write_geometry(context, output, geometry);
        context.write(plot, ".png", [&](const std::filesystem::path& path) { draw(path, volume->grid); });
    }

    void draw(const std::filesystem::path& path, const VolumeGrid& grid) const {
        const std::vector<std::uint8_t> none;
        write_plot(path, {{map_panel({found.rows, none, "Mirror", "rows"}, grid, {}),
                           map_panel({found.residuals, none, "Residual", "rows"}, grid, {})}});
    }
};

void CalibrateField::describe(OperationParts<CalibrateField>& parts) {
    parts.info.command = "calibrate field";
    parts.info.may_write_nothing = true;
    parts.info.summary = "Field curvature from one volume of a flat mirror";
    parts.info.examples = {"input=mirror.nrrd output=geometry.toml plot=field.png"};
    parts.info.details =
        "Fits a polynomial in x and y to the depth of the mirror. The constant and the slopes are left out, because "
        "the "
        "mirror may be tilted. See docs/geometry.md.";
    parts
        .input({.name = "input", .help = "volume or scan of a flat mirror over the whole field"},
               &CalibrateField::input)
        .input(geometry_files("files with the section [scan], if the volume does not store it"), &CalibrateField::scan)
        .argument(integer("order", &CalibrateField::order, 2, 4, "", Effect::file, "order of the polynomial"))
        .argument(number("min_snr_db", &CalibrateField::min_snr_db, 6, 100, "dB", Effect::file,
                         "level of the mirror over the median of its A-scan, below which an A-scan does not count"))
        .argument(flag("keep_tilt", &CalibrateField::keep_tilt, Effect::file,
                       "the mirror is perpendicular to the axis: keep the constant and the slopes"))
        .argument(number("min_radius_mm", &CalibrateField::min_radius_mm, 0, 1e4, "mm", Effect::file,
                         "a surface that is curved more, and slopes by more than 10 %, is refused as that of a sphere"))
        .output(geometry_output(), &CalibrateField::output)
        .output(plot_output("also draw maps of the mirror and of the residual"), &CalibrateField::plot)
        .result("path_um", "um", "coefficients in air, x and y in mm",
                [](const CalibrateField& one) { return one.found.path_um; })
        .result("rms_rows", "rows", "residual", [](const CalibrateField& one) { return one.found.rms_rows; })
        .result("span_um", "um", "from the nearest to the deepest point of the surface, in air",
                [](const CalibrateField& one) { return one.found.span_um; })
        .result("used", "", "share of A-scans that count", [](const CalibrateField& one) { return one.found.used; })
        .result("snr_db", "dB", "median level of the mirror over the median of its A-scan",
                [](const CalibrateField& one) { return one.found.snr_db; })
        .result("tilt_x_um_per_mm", "um/mm", "slope of the mirror along x",
                [](const CalibrateField& one) { return one.found.tilt_x; })
        .result("tilt_y_um_per_mm", "um/mm", "slope of the mirror along y",
                [](const CalibrateField& one) { return one.found.tilt_y; });
}

}  // namespace

ECHOLUX_OPERATION(calibrate_field, CalibrateField)

}  // namespace echolux
