// Operation `calibrate_background`: the mean spectrum of a scan.
#include <fmt/format.h>

#include "app/operations/calibrate_parts.h"
#include "compute/plural.h"

namespace echolux {
namespace {

struct CalibrateBackground {
    VolumeInput scan;
    OperationOutput output;

    std::int64_t lines = 0;

    static void describe(OperationParts<CalibrateBackground>& parts);

    void run(Context& context) {
        const SpectrumSurvey survey = survey_of(open_scan(scan.names.front(), scan.settings), context.progress);
        lines = survey.lines();
        context.say(fmt::format("mean of {}", plural(lines, "lines")));
        write_calibration(context, output, CalibrationKind::spectrum, survey.mean(),
                          fmt::format("counts, mean of {} of {}", plural(lines, "lines"), scan.name()));
    }
};

void CalibrateBackground::describe(OperationParts<CalibrateBackground>& parts) {
    parts.info.command = "calibrate background";
    parts.info.summary = "The mean spectrum of a scan: background, dark or mirror";
    parts.info.examples = {"scan=scan.toml output=background.csv"};
    parts
        .input({.name = "scan", .help = "recorded without sample, without light, or of a mirror", .is_file = true},
               &CalibrateBackground::scan)
        .output(calibration_output<CalibrationKind::spectrum>("output", "text file with one number per line", true),
                &CalibrateBackground::output)
        .result("lines", "", "number of lines that were averaged", &CalibrateBackground::lines);
}

}  // namespace

ECHOLUX_OPERATION(calibrate_background, CalibrateBackground)

}  // namespace echolux
