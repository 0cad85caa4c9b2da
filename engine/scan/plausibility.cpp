#include "engine/scan/plausibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/scan/scan.h"

namespace echolux {
namespace {

struct UsualRange {
    const char* key;
    double value, low, high;  // value 0: unknown
    const char* unit;
    const char* below;  // likely unit of a number below `low`, as a hint
    const char* above;
};

void check_number(const UsualRange& usual, std::vector<std::string>& lines) {
    if (usual.value == 0 || (usual.value >= usual.low && usual.value <= usual.high)) return;
    const char* hint = usual.value < usual.low ? usual.below : usual.above;
    lines.push_back(fmt::format("{}: {:.6g} {} is unlikely, {:g} to {:g} are usual ({})", usual.key, usual.value,
                                usual.unit, usual.low, usual.high, hint));
}

// Returns the ratio of the largest to the smallest step, without the outer hundredth at each end.
double step_ratio(const std::vector<double>& numbers) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < numbers.size(); ++i) steps.push_back(std::abs(numbers[i] - numbers[i - 1]));
    if (steps.size() < 16) return 1;
    std::ranges::sort(steps);
    const std::size_t edge = steps.size() / 100;
    return steps[steps.size() - 1 - edge] / std::max(steps[edge], std::numeric_limits<double>::min());
}

void check_steps(const char* key, const std::vector<double>& numbers, std::vector<std::string>& lines) {
    constexpr double max = 30;
    const double ratio = step_ratio(numbers);
    if (ratio <= max) return;
    lines.push_back(
        fmt::format("{}: neighbouring numbers differ by up to {:.0f} times as much as others (are all of "
                    "them read, with their decimals?)",
                    key, ratio));
}

void check_k_map(const Scan& scan, std::vector<std::string>& lines) {
    constexpr double min_part = 0.4;
    const std::vector<double>& positions = scan.calibration.k_positions;
    if (positions.size() < 2) return;
    const double part = std::abs(positions.back() - positions.front()) / static_cast<double>(scan.geometry.samples - 1);
    if (part < min_part) {
        lines.push_back(
            fmt::format("calibration.k_map: positions {:.6g} to {:.6g} use {:.0f} % of the {} samples (are "
                        "they sample positions, not wavelengths or wavenumbers?)",
                        positions.front(), positions.back(), 100 * part, scan.geometry.samples));
    }
    check_steps("calibration.k_map", positions, lines);
}

void check_wavelength_file(const Scan& scan, std::vector<std::string>& lines) {
    constexpr double low = 350, high = 2500, narrowest = 0.003, widest = 0.9;
    const std::vector<double>& wavelengths = scan.calibration.wavelengths_nm;
    if (wavelengths.size() < 2) return;
    const auto [shortest, longest] = std::ranges::minmax(wavelengths);
    const double part = (longest - shortest) / (0.5 * (longest + shortest));
    if (shortest < low || longest > high) {
        lines.push_back(
            fmt::format("calibration.wavelengths: {:.6g} to {:.6g} nm are unlikely, {:g} to {:g} are usual "
                        "(are they wavelengths in nm?)",
                        shortest, longest, low, high));
    }
    if (part < narrowest || part > widest) {
        lines.push_back(
            fmt::format("calibration.wavelengths: {:.6g} to {:.6g} nm are {:.2g} % of their mean, a "
                        "bandwidth that OCT does not have (are they wavelengths in nm?)",
                        shortest, longest, 100 * part));
    }
    check_steps("calibration.wavelengths", wavelengths, lines);
}

// Returns the maximum sample value; 0: unlimited.
double max_code(const RawFormat& format) {
    if (format.sample_format == SampleFormat::f32) return 0;
    const std::int64_t stored = sample_bits(format.sample_format) - format.shift;
    const std::int64_t bits = format.bits > 0 ? std::min(format.bits, stored) : stored;
    return std::pow(2.0, static_cast<double>(std::max<std::int64_t>(1, bits))) - 1;
}

void check_spectrum(const char* key, const std::vector<double>& spectrum, const RawFormat& format,
                    std::vector<std::string>& lines) {
    const double max = max_code(format);
    if (spectrum.empty() || max == 0) return;
    const auto [low, high] = std::ranges::minmax(spectrum);
    if (high > 0 && high <= 1 && low >= 0 && max > 1) {
        lines.push_back(
            fmt::format("{}: its values are {:.3g} to {:.3g}, the samples count to {:.0f} (is it "
                        "normalised to 0..1? give counts)",
                        key, low, high, max));
    } else if (high > max || low < -max) {
        lines.push_back(
            fmt::format("{}: its values are {:.6g} to {:.6g}, the samples count to {:.0f} at most (give the "
                        "counts that are left after scan.shift and scan.bits)",
                        key, low, high, max));
    }
}

double mean_of(const std::vector<double>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

void check_spectra(const Scan& scan, std::vector<std::string>& lines) {
    const Calibration& calibration = scan.calibration;
    check_spectrum("calibration.background", calibration.background, scan.format, lines);
    check_spectrum("calibration.dark", calibration.dark, scan.format, lines);
    if (calibration.background.empty() || calibration.dark.empty()) return;
    const double light = mean_of(calibration.background), dark = mean_of(calibration.dark);
    if (light >= dark) return;
    lines.push_back(
        fmt::format("calibration.dark: its mean, {:.6g} counts, exceeds that of calibration.background, "
                    "{:.6g} (are the two files swapped?)",
                    dark, light));
}

}  // namespace

std::vector<std::string> implausible_settings(const Scan& scan) {
    std::vector<std::string> lines;
    const ScanGeometry& geometry = scan.geometry;
    const char* shorter = "is it in mm?";
    const char* longer = "is it in nm?";
    for (const UsualRange& usual : {
             UsualRange{"scan.spacing_a_um", geometry.spacing_a_um, 0.05, 2000, "um", shorter, longer},
             UsualRange{"scan.spacing_b_um", geometry.spacing_b_um, 0.05, 5000, "um", shorter, longer},
             UsualRange{"scan.line_rate_hz", geometry.line_rate_hz, 300, 5e7, "Hz", "is it in kHz?", "is it in mHz?"},
             UsualRange{"calibration.depth_pitch_um", scan.calibration.depth_pitch_um, 0.1, 200, "um", shorter, longer},
             UsualRange{"calibration.centre_wavelength_nm", scan.calibration.centre_wavelength_nm, 350, 2500, "nm",
                        "give it in nm", "is it in Angstrom?"},
         }) {
        check_number(usual, lines);
    }
    check_k_map(scan, lines);
    check_wavelength_file(scan, lines);
    check_spectra(scan, lines);
    return lines;
}

}  // namespace echolux
