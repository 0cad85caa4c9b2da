// Mirrors at several depths: their readings, and the roll-off of the signal with depth.
#include <cmath>

#include "compute/calibrate/mirrors.h"
#include "library/call.h"
#include "library/convert.h"

using namespace echolux;
using namespace echolux::library;

namespace {

constexpr std::int64_t max_bins = std::int64_t{1} << 24;

std::vector<double> vector_of(const double* values, std::size_t count, const char* name) {
    const std::span<const double> numbers = numbers_argument(values, count, name);
    return {numbers.begin(), numbers.end()};
}

// Averages the power of the lines with the dispersion signs that mirror_at_depth() tries.
MirrorAtDepth mirror_in(ReconstructionSpec spec, const Block& lines, const std::vector<double>& background,
                        const DepthWindow& window) {
    return mirror_at_depth(spec, background, "block", window, [&](const ReconstructionSpec& wanted) {
        MeanProfile profile(wanted);
        profile.add(lines);
        return profile;
    });
}

}  // namespace

echolux_status echolux_read_mirror(const echolux_scan* scan, const echolux_block* block, const double* background,
                                   int64_t depth_begin, int64_t depth_end, echolux_mirror_reading* reading,
                                   echolux_error* error) {
    return guarded(error, [&] {
        ReconstructionSpec spec = live_handle(scan, "scan").scan.spec(1);
        const Block lines = host_block_of(block, spec);
        if (depth_begin < 0 || depth_end < 0 || (depth_end > 0 && depth_end <= depth_begin))
            throw BadArgument("is not a range of depth bins", "depth_begin");
        std::vector<double> without;
        if (background != nullptr) {
            without = vector_of(background, static_cast<std::size_t>(spec.geometry.samples), "background");
        }
        // Check the result struct before the work.
        known_size(required(reading, "reading"), "reading");
        const MirrorAtDepth seen = mirror_in(spec, lines, without, {depth_begin, depth_end});
        echolux_mirror_reading out{};
        out.bin = seen.reading.bin;
        out.bin_um = seen.bin_um;
        out.level_db = seen.reading.level_db;
        out.snr_db = seen.reading.snr_db;
        out.fwhm_bins = seen.reading.fwhm_bins;
        out.lines = seen.lines;
        out.bins = seen.bins;
        out.is_opposite = seen.is_opposite ? 1 : 0;
        give(reading, out, "reading");
    });
}

echolux_status echolux_fit_roll_off(const double* depth_bins, const double* levels_db, size_t count, int64_t bins,
                                    echolux_roll_off* found, echolux_error* error) {
    return guarded(error, [&] {
        if (bins < 1 || bins > max_bins) throw BadArgument("is not a number of depth bins", "bins");
        std::vector<double> shares = vector_of(depth_bins, count, "depth_bins");
        // The fit uses depths as shares of the range, where the roll-off has a standard form.
        for (double& share : shares) share /= static_cast<double>(bins);
        const FallOff fit = fitted_fall_off(shares, vector_of(levels_db, count, "levels_db"));
        echolux_roll_off out{};
        out.at_zero_db = fit.at_zero_db;
        out.resolution = fit.resolution;
        out.rms_db = fit.rms_db;
        out.six_db_bin = fit.share_at_loss(6).value_or(0) * static_cast<double>(bins);
        give(found, out, "found");
    });
}
