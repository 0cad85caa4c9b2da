// Operation `calibrate_noise`: the noise floor over depth of a scan without a sample.
#include <fmt/format.h>

#include <cmath>

#include "app/operations/calibrate_parts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"

namespace echolux {
namespace {

enum class NoiseMean { amplitude, power };  // power: square root of the mean power

// `floor`: amplitude of each depth bin, in counts. `name`: the kind of mean.
void plot_noise(const std::filesystem::path& path, const std::vector<double>& floor, const std::string& name,
                const std::string& unit) {
    const std::vector<double> level = decibels_of(floor, 1);
    const std::int64_t begin = first_row_past_zero_delay(std::ssize(floor));
    ValueRange range = range_with_margin(std::span(level).subspan(index(begin)));
    const double min_span = std::max(6.0, range.high - range.low);  // so that a flat floor looks flat
    range = {range.low - min_span / 2, range.high + min_span / 2};
    FigurePanel panel = curve_panel(axis_across("Depth bin", "", {0, static_cast<double>(floor.size() - 1)}),
                                    axis_upwards("Level", unit, range), 2.5, "Noise floor");
    panel.curves.push_back({name, evenly(level.size(), 1), level, plot_colours::blue, FigureCurve::Look::line});
    write_plot(path, {{panel}});
}

double median_level_db(const std::vector<double>& floor, const std::filesystem::path& scan) {
    std::vector<double> levels(floor.begin() + first_row_past_zero_delay(std::ssize(floor)), floor.end());
    std::nth_element(levels.begin(), levels.begin() + std::ssize(levels) / 2, levels.end());
    const double median = levels[levels.size() / 2];
    if (median > 0) return 20 * std::log10(median);
    throw Error(
        ErrorCode::bad_file, "contains no noise", scan.string(),
        "record light without a sample; A-scans that are all alike contain no noise once their mean is removed");
}

struct CalibrateNoise {
    VolumeInput scan;
    std::optional<NoiseMean> mean;  // std::nullopt: the mean that recipe.noise_floor subtracts, or else of amplitudes
    OperationOutput output, plot;

    std::int64_t lines = 0;
    bool is_power = false;
    double level_db = 0;
    std::string unit;  // "dB of counts", or "dB" if recipe.shaping divides by the light

    static void describe(OperationParts<CalibrateNoise>& parts);

    void run(Context& context) {
        const Scan opened = open_scan(scan.names.front(), scan.settings);
        const MeanProfile profile = mean_profile(opened, opened.spec(1), context.progress);
        const bool subtracts_power = opened.recipe.noise_floor == NoiseFloor::power;
        is_power = mean.value_or(subtracts_power ? NoiseMean::power : NoiseMean::amplitude) == NoiseMean::power;
        const std::vector<double> floor = is_power ? profile.root_mean_power() : profile.amplitude();
        lines = profile.lines();
        level_db = median_level_db(floor, scan.names.front());
        unit = opened.recipe.shaping == Shaping::none ? "dB of counts" : "dB";
        const char* name = is_power ? "root mean power" : "mean amplitude";
        write_calibration(
            context, output, CalibrationKind::noise_floor, floor,
            fmt::format("{} of {} of {}, amplitude of each depth bin", name, plural(lines, "A-scans"), scan.name()));
        context.write(plot, ".png", [&](const std::filesystem::path& path) { plot_noise(path, floor, name, unit); });
        report(context);
    }

    std::string mean_name() const { return is_power ? "power" : "amplitude"; }

    // The noise level and the TOML lines that use the file.
    void report(Context& context) const {
        context.answer(
            fmt::format("# mean of {}, median over depth {:.2f} {}", plural(lines, "A-scans"), level_db, unit));
        context.answer(fmt::format("[calibration]\nnoise_floor = \"{}\"\n\n[recipe]\nnoise_floor = \"{}\"",
                                   pasted(output), mean_name()));
    }
};

void CalibrateNoise::describe(OperationParts<CalibrateNoise>& parts) {
    parts.info.command = "calibrate noise";
    parts.info.summary = "The noise floor over depth of a scan without a sample";
    parts.info.examples = {"scan=scan.toml output=noise.csv plot=noise.png"};
    parts
        .input({.name = "scan",
                .help = "recorded without a sample, with the same settings as the scans that will use it",
                .is_file = true},
               &CalibrateNoise::scan)
        .argument(optional_choice("mean", &CalibrateNoise::mean, {"amplitude", "power"},
                                  "mean amplitude, or root of the mean power [as recipe.noise_floor needs]"))
        .output(
            calibration_output<CalibrationKind::noise_floor>("output", "text file with one number per depth bin", true),
            &CalibrateNoise::output)
        .output(plot_output("also draw it over depth"), &CalibrateNoise::plot)
        .result("lines", "", "number of A-scans that were averaged", &CalibrateNoise::lines)
        .result("mean", "", "amplitude, or power: root of the mean power", &CalibrateNoise::mean_name)
        .result("level_db", "dB", "median over the depths beyond zero delay", &CalibrateNoise::level_db)
        .result("unit", "", "dB of counts, or dB if recipe.shaping divides by the light", &CalibrateNoise::unit);
}

}  // namespace

ECHOLUX_OPERATION(calibrate_noise, CalibrateNoise)

}  // namespace echolux
