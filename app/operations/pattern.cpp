// Operation `pattern`: waveforms for two galvanometers that scan a protocol.
#include <fmt/format.h>

#include "app/operations/operation.h"
#include "compute/plural.h"
#include "engine/io/output_rule.h"
#include "engine/scan/waveforms.h"

namespace echolux {
namespace {

struct Pattern {
    ScanGeometry scan;
    Galvo galvo;
    OperationOutput output;

    std::int64_t samples = 0, flyback_lines = 0, flyback_frames = 0;
    double sample_rate_hz = 0, dead_share = 0, return_ms = 0, volumes_per_s = 0;

    static void describe(OperationParts<Pattern>& parts);

    void run(Context& context) {
        check_size();
        const Waveforms made = galvo_waveforms(scan, galvo, {}, &context.progress);
        samples = std::ssize(made.x_volts);
        sample_rate_hz = made.sample_rate_hz;
        flyback_lines = made.flyback_lines;
        flyback_frames = made.flyback_frames;
        dead_share = made.dead_share;
        return_ms = made.longest_return_s * 1000;
        volumes_per_s = sample_rate_hz / static_cast<double>(samples);
        context.say(fmt::format("{} at {:g} Hz, {:.3g} volumes/s, {:.1f} % of the time for returns",
                                plural(samples, "samples"), sample_rate_hz, volumes_per_s, 100 * dead_share));
        context.say(
            fmt::format("in the scan file: flyback_lines = {}, flyback_frames = {}", flyback_lines, flyback_frames));
        const bool is_numpy = output.file.extension() == ".npy";
        context.write(output, is_numpy ? waveforms_npy(made) : waveforms_csv(made));
    }

    void check_size() const {
        const auto refuse_none = [](const char* key) {
            throw Error(ErrorCode::bad_setting, "is 0", key, "set the number of positions");
        };
        if (scan.a_scans < 1) refuse_none("scan.a_scans");
        if (scan.b_scans < 1) refuse_none("scan.b_scans");
        const auto refuse_unknown = [](const char* key) {
            throw Error(ErrorCode::bad_setting, "is unknown", key, "set the distance in the field in um");
        };
        if (scan.spacing_a_um <= 0) refuse_unknown("scan.spacing_a_um");
        if (scan.spacing_b_um <= 0 && scan.b_scans > 1 && scan.protocol != Protocol::cross)
            refuse_unknown("scan.spacing_b_um");
        if (scan.fast_axis == FastAxis::file) {
            throw Error(ErrorCode::bad_setting, "waveforms cannot follow measured positions", "scan.fast_axis",
                        "choose uniform or sinusoidal");
        }
    }
};

void Pattern::describe(OperationParts<Pattern>& parts) {
    parts.info.summary = "Waveforms for galvanometers within their limits";
    parts.info.examples = {
        "scan.a_scans=512 scan.b_scans=256 scan.spacing_a_um=10 scan.spacing_b_um=10 scan.line_rate_hz=100000 "
        "output=waveforms.csv"};
    parts.info.details =
        "One volume of voltages for x and y, to be repeated. Returns between B-scans are the shortest that the limits "
        "of velocity, acceleration and jerk allow, in whole lines. With a_repeats the beam moves steadily. See "
        "docs/waveforms.md.";
    parts
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "CSV with time_s, x_V, y_V and line (1 while a line is acquired), or an array of NumPy "
                         "[samples, 3] with x_V, y_V and line",
                 .is_required = true,
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, waveforms_heading); },
                 .endings = {".csv", ".npy"}},
                &Pattern::output)
        .section("scan", "Scan", &Pattern::scan)
        .without({"samples", "volumes", "depth_flip", "refractive_index"})
        .section("galvo", "Galvanometers", &Pattern::galvo)
        .result("samples", "", "samples of each waveform", &Pattern::samples)
        .result("sample_rate_hz", "Hz", "voltages per second", &Pattern::sample_rate_hz)
        .result("volumes_per_s", "1/s", "volumes per second", &Pattern::volumes_per_s)
        .result("flyback_lines", "", "for scan.flyback_lines of the recording", &Pattern::flyback_lines)
        .result("flyback_frames", "", "for scan.flyback_frames of the recording", &Pattern::flyback_frames)
        .result("dead_share", "", "share of the time in which the beam returns", &Pattern::dead_share)
        .result("return_ms", "ms", "shortest possible return of a B-scan", &Pattern::return_ms);
}

}  // namespace

ECHOLUX_OPERATION(pattern, Pattern)

}  // namespace echolux
