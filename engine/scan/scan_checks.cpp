#include "engine/scan/scan_checks.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "compute/calibrate/calibrate.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "compute/steps/sample.h"
#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"

namespace echolux {

namespace {

constexpr std::int64_t min_lines = 16;
constexpr std::int64_t shortest_line = 64;  // minimum line length of the search

// Returns up to `most` samples of consecutive lines.
std::vector<float> samples_of(const Scan& scan, const RawFormat& format, const Block& block, std::int64_t most) {
    const ScanGeometry& geometry = scan.geometry;
    const std::int64_t lines = std::min(lines_of(block, geometry), std::max(min_lines, most / geometry.samples));
    std::vector<float> samples;
    samples.reserve(index(lines * geometry.samples));
    LineFormat(format, geometry).with_reader([&](const auto& read) {
        for (std::int64_t line = 0; line < lines; ++line) {
            const std::byte* bytes = line_at(block, format, geometry, line);
            for (std::int64_t p = 0; p < geometry.samples; ++p) samples.push_back(static_cast<float>(read(bytes, p)));
        }
    });
    silence_the_impossible(samples);
    return samples;
}

struct LineCorrelation {
    double plain = 0;  // correlation of samples
    double fine = 0;   // correlation of their high-frequency parts
};

class Lines {
  public:
    Lines(const std::vector<float>& samples, std::int64_t max_lag)
        : plain_(samples, max_lag), fine_(fine_structure_of(samples), max_lag) {}

    LineCorrelation at(std::int64_t lag) const { return {plain_.at(lag), fine_.at(lag)}; }

    // Fringes of a mirror repeat after any whole number of periods, which reveals nothing.
    bool is_periodic_within(std::int64_t line) const {
        const double min = 0.8 * plain_.at(line);
        for (std::int64_t lag = line / 4; lag <= 3 * line / 4; ++lag) {
            if (plain_.at(lag) > min) return true;
        }
        return false;
    }

    // Returns true if fine structure agrees at this distance but not at nearby distances.
    bool has_peak_at(std::int64_t lag) const {
        constexpr double min = 0.3;
        constexpr std::int64_t beside = 5;
        return fine_.at(lag) - std::max(fine_.at(lag - beside), fine_.at(lag + beside)) > min;
    }

    // Returns the shortest length at which lines are about as similar as at the best.
    std::optional<std::int64_t> best_length(std::int64_t longest) const {
        std::int64_t best = 0;
        for (std::int64_t lag = 2 * shortest_line; lag <= longest; ++lag) {
            const bool is_better = best == 0 || fine_.at(lag) > fine_.at(best) + 0.02;
            if (is_better) best = lag;
        }
        if (best == 0 || !has_peak_at(best)) return {};
        return best;
    }

  private:
    Autocorrelation plain_, fine_;
};

// Detects several short lines read as one.
std::optional<std::int64_t> shorter_line(const Lines& lines, std::int64_t samples, const LineCorrelation& stated) {
    if (stated.plain < 0.5) return {};
    for (const std::int64_t part : {8, 6, 5, 4, 3, 2}) {
        const std::int64_t line = samples / part;
        if (samples % part != 0 || line < shortest_line) continue;
        const LineCorrelation alike = lines.at(line);
        const bool is_as_good = 1 - alike.plain <= 1.3 * (1 - stated.plain) + 1e-3 && alike.fine >= 0.8 * stated.fine;
        if (is_as_good && !lines.is_periodic_within(line)) return line;
    }
    return {};
}

// Detects parts of a long line read as lines.
std::optional<std::int64_t> longer_line(const Lines& lines, std::int64_t samples, std::int64_t all,
                                        const LineCorrelation& stated) {
    constexpr double clearly = 0.3, min = 0.6;
    for (const std::int64_t factor : {2, 3, 4, 5, 6, 8}) {
        const std::int64_t line = factor * samples;
        if (4 * line > all) break;
        const LineCorrelation alike = lines.at(line);
        if (alike.plain > min && alike.plain > stated.plain + clearly && alike.fine >= stated.fine) return line;
    }
    return {};
}

// Detects lines of another length, which need not be a multiple.
std::optional<std::int64_t> other_line(const Scan& scan, const Block& block, const LineCorrelation& stated) {
    constexpr std::int64_t enough = 1 << 16, longest = 8192;
    constexpr double max_stated = 0.3;
    if (stated.plain > max_stated || stated.fine > max_stated) return {};
    const std::vector<float> samples = samples_of(scan, scan.format, block, enough);
    return Lines(samples, longest).best_length(std::min(longest, std::ssize(samples) / 4));
}

std::optional<std::string> length_doubt(const Scan& scan, const Block& block) {
    constexpr std::int64_t enough = 1 << 18;
    const std::int64_t samples = scan.geometry.samples;
    const std::vector<float> counts = samples_of(scan, scan.format, block, enough);
    const Lines lines(counts, samples);
    const LineCorrelation stated = lines.at(samples);
    std::optional<std::int64_t> found = shorter_line(lines, samples, stated);
    if (!found) found = longer_line(lines, samples, std::ssize(counts), stated);
    if (!found) found = other_line(scan, block, stated);
    if (!found || *found == samples) return {};
    return fmt::format(
        "scan.samples: lines of {} look alike (correlation {:.2f}), those of {} do not fit as "
        "well ({:.2f}) (check scan.samples, a_scans and b_scans; `guess` proposes a layout)",
        plural(*found, "samples"), lines.at(*found).plain, samples, stated.plain);
}

std::optional<std::string> order_doubt(const Scan& scan, const Block& block) {
    constexpr std::int64_t enough = 1 << 16;
    constexpr double clearly = 0.4;
    if (sample_bits(scan.format.sample_format) < 16) return {};
    RawFormat swapped = scan.format;
    swapped.byte_order = scan.format.byte_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    const double as_stated = Autocorrelation(samples_of(scan, scan.format, block, enough)).at(1);
    const double otherwise = Autocorrelation(samples_of(scan, swapped, block, enough)).at(1);
    if (otherwise < as_stated + clearly) return {};
    const char* order = swapped.byte_order == ByteOrder::big ? "big" : "little";
    return fmt::format(
        "scan.byte_order: neighbouring samples are smooth as {}-endian (correlation {:.2f}), not as "
        "stated ({:.2f}) (set scan.byte_order = {})",
        order, otherwise, as_stated, order);
}

}  // namespace

std::vector<std::string> layout_doubts(const Scan& scan, const Block& block) {
    if (lines_of(block, scan.geometry) < min_lines || scan.geometry.samples < shortest_line) return {};
    if (const auto doubt = order_doubt(scan, block)) return {*doubt};  // wrong samples would invalidate the lengths
    if (const auto doubt = length_doubt(scan, block)) return {*doubt};
    return {};
}

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
            fmt::format("calibration.k_map: positions {:.6g} to {:.6g} use {:.0f} % of the line, {} (are "
                        "they sample positions, not wavelengths or wavenumbers?)",
                        positions.front(), positions.back(), 100 * part, plural(scan.geometry.samples, "samples")));
    }
    check_steps("calibration.k_map", positions, lines);
}

void check_wavelength_file(const Scan& scan, std::vector<std::string>& lines) {
    constexpr double low = 350, high = 2500;           // nm
    constexpr double narrowest = 0.003, widest = 0.9;  // bandwidth relative to the mean wavelength
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
        lines.push_back(fmt::format(
            "{}: its values are {:.3g} to {:.3g}, the samples count to {:.0f} (is it normalised to 0..1? use counts)",
            key, low, high, max));
    } else if (high > max || low < -max) {
        lines.push_back(
            fmt::format("{}: its values are {:.6g} to {:.6g}, the samples count to {:.0f} at most (use the counts "
                        "after scan.shift and scan.bits)",
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
                        "use nm", "is it in Angstrom?"},
         }) {
        check_number(usual, lines);
    }
    check_k_map(scan, lines);
    check_wavelength_file(scan, lines);
    check_spectra(scan, lines);
    return lines;
}

}  // namespace echolux
