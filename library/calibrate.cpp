// Calibration from arrays: mean spectra, noise, the k map from two mirrors, dispersion, roll-off.
#include <cmath>

#include "app/calibrate/calibration.h"
#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/mirrors.h"
#include "compute/indexing.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

// ---- Backgrounds, mirrors, dispersion

namespace {

// Returns a copy of a required spectrum, checked to be finite.
std::vector<double> spectrum(const double* values, std::int64_t samples, const char* name) {
    required(values, name);
    const std::span<const double> numbers = numbers_argument(values, index(samples), name);
    return {numbers.begin(), numbers.end()};
}

// Accepts finite, non-negative lengths in um or nm.
double length(double number, const char* name) {
    if (!std::isfinite(number) || number < 0) throw Error(ErrorCode::bad_setting, "is not a length", name);
    return number;
}

MirrorPair pair_of(const echolux_mirrors& given) {
    constexpr std::int64_t max_samples = std::int64_t{1} << 24;  // longer than any spectrum
    if (given.samples < 1 || given.samples > max_samples) throw BadArgument("is not a number of samples", "samples");
    MirrorPair pair;
    pair.mirrors = {spectrum(given.mirror_1, given.samples, "mirror_1"),
                    spectrum(given.mirror_2, given.samples, "mirror_2")};
    pair.background = spectrum(given.background, given.samples, "background");
    if (given.dark != nullptr) pair.dark = spectrum(given.dark, given.samples, "dark");
    pair.sides = given.opposite_sides != 0 ? MirrorSides::opposite : MirrorSides::same;
    pair.k_falls = given.k_falls != 0;
    pair.displacement_um = length(given.displacement_um, "displacement_um");
    pair.centre_wavelength_nm = length(given.centre_wavelength_nm, "centre_wavelength_nm");
    return pair;
}

// Fields left at 0 keep the default of the search.
DispersionSearch search_of(const echolux_dispersion_search& given, const echolux_device* device) {
    constexpr double max_rad = 10'000;  // far beyond the dispersion of any sample arm
    DispersionSearch search;
    if (!(given.range_rad >= 0) || given.range_rad > max_rad) throw BadArgument("is not a range", "range_rad");
    if (given.lines < 0) throw BadArgument("cannot be negative", "lines");
    if (given.range_rad > 0) search.range_rad = given.range_rad;
    if (given.lines > 0) search.lines = given.lines;
    search.depth_begin = given.depth_begin;
    search.depth_end = given.depth_end;
    search.line_begin = given.line_begin;
    search.line_end = given.line_end;
    search.processor = backend_of(device);
    return search;
}

}  // namespace

echolux_status echolux_mean_spectrum(const echolux_scan* scan, const echolux_block* block, double* mean, size_t samples,
                                     echolux_error* error) {
    return guarded(error, [&] {
        // host_block_of() adapts the spec to the size of the block.
        ReconstructionSpec spec = checked_handle(scan, "scan").scan.spec(1);
        const Block lines = host_block_of(block, spec);
        if (static_cast<std::int64_t>(samples) != spec.geometry.samples) {
            throw BadArgument("are not those of the scan", "samples", std::to_string(spec.geometry.samples));
        }
        SpectrumSurvey survey(spec.format, spec.geometry);
        survey.add(lines, {0, lines_of(lines, spec.geometry)});
        copy_numbers_out(survey.mean(), &required(mean, "mean"), samples, nullptr);
    });
}

echolux_status echolux_measure_noise_floor(const echolux_scan* scan, const echolux_block* block, double* db,
                                           echolux_error* error) {
    return guarded(error, [&] {
        ReconstructionSpec spec = checked_handle(scan, "scan").scan.spec(1);
        const Block lines = host_block_of(block, spec);
        required(db, "db") = noise_floor_for_recipe(spec, lines);
    });
}

echolux_status echolux_noise_profile(const echolux_scan* scan, const echolux_block* block, double* amplitude,
                                     size_t capacity, size_t* count, echolux_error* error) {
    return guarded(error, [&] {
        ReconstructionSpec spec = checked_handle(scan, "scan").scan.spec(1);
        const Block lines = host_block_of(block, spec);
        MeanProfile profile(spec);
        profile.add(lines);
        copy_numbers_out(profile.amplitude(), amplitude, capacity, count);
    });
}

echolux_status echolux_calibrate_mirrors(const echolux_mirrors* mirrors, echolux_mirrors_found* found,
                                         echolux_error* error) {
    return guarded(error, [&] {
        const MirrorPair pair = pair_of(copy_in(mirrors, "mirrors"));
        // `found` is also input: it contains pointers to the caller's arrays, which may be NULL.
        echolux_mirrors_found out = copy_in(found, "found");
        const MirrorCalibration made = calibrated_by_mirrors(pair);
        if (out.k_positions != nullptr) std::ranges::copy(made.k_positions, out.k_positions);
        if (out.dispersion_rad != nullptr) std::ranges::copy(made.dispersion_rad, out.dispersion_rad);
        out.a2_rad = made.a2_rad;
        out.a3_rad = made.a3_rad;
        out.depth_pitch_um = made.depth_pitch_um;
        std::ranges::copy(made.bin, out.bin);
        std::ranges::copy(made.fwhm_before, out.fwhm_before);
        std::ranges::copy(made.fwhm, out.fwhm);
        copy_out(found, out, "found");
    });
}

echolux_status echolux_search_dispersion(const echolux_scan* scan, const echolux_block* block,
                                         const echolux_dispersion_search* search, const echolux_device* device,
                                         echolux_dispersion_found* found, echolux_error* error) {
    return guarded(error, [&] {
        ReconstructionSpec spec = checked_handle(scan, "scan").scan.spec(1);
        const Block lines = host_block_of(block, spec);
        const echolux_dispersion_search wanted = copy_in_or_default(search, "search");
        // Check the result struct before a search that may take minutes.
        require_size(required(found, "found"), "found");
        const DispersionSearch all = search_of(wanted, device);
        CallerProgress progress(wanted.progress, wanted.user);
        const DispersionResult made = searched_dispersion(spec, lines, all, progress);
        echolux_dispersion_found out{};
        out.a2_rad = made.a2_rad;
        out.a3_rad = made.a3_rad;
        out.entropy_before = made.entropy_before;
        out.entropy = made.entropy;
        out.is_sharp = is_sharp(made, all.range_rad) ? 1 : 0;
        copy_out(found, out, "found");
    });
}

// ---- Mirrors at several depths: their readings, and the roll-off of the signal with depth.

constexpr std::int64_t max_bins = std::int64_t{1} << 24;  // more than any transform has

static std::vector<double> vector_of(const double* values, std::size_t count, const char* name) {
    const std::span<const double> numbers = numbers_argument(values, count, name);
    return {numbers.begin(), numbers.end()};
}

// Averages the power of the lines with the dispersion signs that mirror_at_depth() tries.
static MirrorAtDepth mirror_in(ReconstructionSpec spec, const Block& lines, const std::vector<double>& background,
                               const DepthWindow& window) {
    return mirror_at_depth(spec, background, "block", window, [&](const ReconstructionSpec& wanted) {
        MeanProfile profile(wanted);
        profile.add(lines);
        return profile;
    });
}

echolux_status echolux_read_mirror(const echolux_scan* scan, const echolux_block* block, const double* background,
                                   int64_t depth_begin, int64_t depth_end, echolux_mirror_reading* reading,
                                   echolux_error* error) {
    return guarded(error, [&] {
        ReconstructionSpec spec = checked_handle(scan, "scan").scan.spec(1);
        const Block lines = host_block_of(block, spec);
        if (depth_begin < 0 || depth_end < 0 || (depth_end > 0 && depth_end <= depth_begin))
            throw BadArgument("is not a range of depth bins", "depth_begin");
        std::vector<double> without;
        if (background != nullptr) {
            without = vector_of(background, index(spec.geometry.samples), "background");
        }
        // Check the result struct before the work.
        require_size(required(reading, "reading"), "reading");
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
        copy_out(reading, out, "reading");
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
        copy_out(found, out, "found");
    });
}
