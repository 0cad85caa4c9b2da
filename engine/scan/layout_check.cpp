#include "engine/scan/layout_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "compute/calibrate/recording_statistics.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"
#include "engine/io/raw_guess.h"
#include "engine/io/raw_likeness.h"

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

struct Alike {
    double plain = 0;  // correlation of samples
    double fine = 0;   // correlation of their high-frequency parts
};

class Lines {
  public:
    explicit Lines(const std::vector<float>& samples) : plain_(samples), fine_(fine_structure_of(samples)) {}

    Alike at(std::int64_t lag) const { return {plain_.at(lag), fine_.at(lag)}; }

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
std::optional<std::int64_t> shorter_line(const Lines& lines, std::int64_t samples, const Alike& stated) {
    if (stated.plain < 0.5) return {};
    for (const std::int64_t part : {8, 6, 5, 4, 3, 2}) {
        const std::int64_t line = samples / part;
        if (samples % part != 0 || line < shortest_line) continue;
        const Alike alike = lines.at(line);
        const bool is_as_good = 1 - alike.plain <= 1.3 * (1 - stated.plain) + 1e-3 && alike.fine >= 0.8 * stated.fine;
        if (is_as_good && !lines.is_periodic_within(line)) return line;
    }
    return {};
}

// Detects parts of a long line read as lines.
std::optional<std::int64_t> longer_line(const Lines& lines, std::int64_t samples, std::int64_t all,
                                        const Alike& stated) {
    constexpr double clearly = 0.3, min = 0.6;
    for (const std::int64_t factor : {2, 3, 4, 5, 6, 8}) {
        const std::int64_t line = factor * samples;
        if (4 * line > all) break;
        const Alike alike = lines.at(line);
        if (alike.plain > min && alike.plain > stated.plain + clearly && alike.fine >= stated.fine) return line;
    }
    return {};
}

// Detects lines of another length, which need not be a multiple.
std::optional<std::int64_t> other_line(const Scan& scan, const Block& block, const Alike& stated) {
    constexpr std::int64_t enough = 1 << 16, longest = 8192;
    constexpr double max_stated = 0.3;
    if (stated.plain > max_stated || stated.fine > max_stated) return {};
    const std::vector<float> samples = samples_of(scan, scan.format, block, enough);
    return Lines(samples).best_length(std::min(longest, std::ssize(samples) / 4));
}

std::optional<std::string> length_doubt(const Scan& scan, const Block& block) {
    constexpr std::int64_t enough = 1 << 18;
    const std::int64_t samples = scan.geometry.samples;
    const std::vector<float> counts = samples_of(scan, scan.format, block, enough);
    const Lines lines(counts);
    const Alike stated = lines.at(samples);
    std::optional<std::int64_t> found = shorter_line(lines, samples, stated);
    if (!found) found = longer_line(lines, samples, std::ssize(counts), stated);
    if (!found) found = other_line(scan, block, stated);
    if (!found || *found == samples) return {};
    return fmt::format(
        "scan.samples: lines of {} samples look alike (correlation {:.2f}), those of {} do not fit as "
        "well ({:.2f}) (check scan.samples, a_scans and b_scans; `guess` proposes a layout)",
        *found, lines.at(*found).plain, samples, stated.plain);
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

}  // namespace echolux
