#include "compute/reconstructor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "compute/flow/flow_tables.h"
#include "compute/methods/compressive.h"
#include "compute/methods/k_jitter.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/plan/tables.h"
#include "compute/plural.h"

namespace echolux {
namespace {

void require_one_two_four(std::int64_t value, const char* key) {
    require(value == 1 || value == 2 || value == 4, fmt::format("{} is not possible", value), key, "choose 1, 2 or 4");
}

void validate_geometry(const ScanGeometry& geometry) {
    require(geometry.samples >= 16, fmt::format("a spectrum of {} is too short", plural(geometry.samples, "samples")),
            "scan.samples", "give at least 16");
    require(geometry.a_scans >= 1, "there must be at least one A-scan", "scan.a_scans", "give a positive number");
    require(geometry.b_scans >= 1, "there must be at least one B-scan", "scan.b_scans", "give a positive number");
}

void validate_format(const RawFormat& format, const ScanGeometry& geometry) {
    require(format.channel < format.channels,
            fmt::format("channel {} does not exist, the file has {}", format.channel, format.channels), "scan.channel",
            "channels count from 0");
    require(format.shift < sample_bits(format.sample_format),
            fmt::format("a shift by {} removes all bits of a sample", format.shift), "scan.shift",
            fmt::format("give less than {}", sample_bits(format.sample_format)));
    const bool unsigned_samples =
        format.sample_format != SampleFormat::i16 && format.sample_format != SampleFormat::f32;
    require(format.bits == 0 || unsigned_samples, "scan.bits does not apply to i16 and f32 samples", "scan.bits",
            "give 0");
    require(format.shift == 0 || format.sample_format != SampleFormat::f32, "scan.shift does not apply to f32 samples",
            "scan.shift", "give 0");
    RawFormat packed = format;
    packed.line_bytes = 0;
    const std::int64_t min = line_bytes(packed, geometry);
    require(format.line_bytes == 0 || format.line_bytes >= min,
            fmt::format("{} cannot hold a line of {}", plural(format.line_bytes, "bytes"), plural(min, "bytes")),
            "scan.line_bytes", "set it to 0 if lines follow without a gap");
    const bool half_byte_left = format.sample_format == SampleFormat::packed12 && format.line_bytes == 0 &&
                                geometry.samples * format.channels % 2 != 0;
    require(!half_byte_left, "an odd number of packed 12-bit samples does not fill whole bytes", "scan.samples",
            "set scan.line_bytes if every line is padded to whole bytes");
}

void validate_vector(const std::vector<double>& values, std::int64_t wanted, const char* key, const char* counts) {
    constexpr double largest = 1e12;  // far above any count, far below overflow
    if (values.empty()) return;
    require(std::ssize(values) == wanted,
            fmt::format("{} where {} are expected", plural(values.size(), "values"), wanted), key,
            fmt::format("it needs one value for each of the {}", counts));
    const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !(std::abs(v) < largest); });
    require(bad == values.end(), fmt::format("value {} is not a number below 1e12", bad - values.begin()), key,
            "replace it");
}

void validate_k_map(const Calibration& calibration, std::int64_t samples) {
    const bool two_maps =
        !calibration.wavelengths_nm.empty() + !calibration.k_positions.empty() + !calibration.k_polynomial.empty() > 1;
    require(!two_maps, "k_map, wavelengths and k_polynomial exclude each other", "calibration",
            "keep the one that is right");
    validate_vector(calibration.wavelengths_nm, samples, "calibration.wavelengths", "samples");
    check_wavelengths(calibration.wavelengths_nm, "calibration.wavelengths");
    validate_vector(calibration.k_positions, samples, "calibration.k_map", "samples");
    check_k_positions(calibration.k_positions, samples, "calibration.k_map");
    if (calibration.k_polynomial.empty()) return;
    check_k_positions(k_grid(calibration, samples).positions, samples, "calibration.k_polynomial");
}

void validate_centre_wavelength(const Calibration& calibration) {
    const double nm = calibration.centre_wavelength_nm;
    if (nm == 0 || (nm >= min_wavelength_nm && nm <= max_wavelength_nm)) return;
    const std::optional<WavelengthUnit> unit = wavelength_unit_of({&nm, 1});
    const std::string hint = unit ? fmt::format("is it in {}? That is {:.6g} nm; ", unit->name, nm * unit->nm) : "";
    require(false, fmt::format("{} nm is not a wavelength of OCT", nm), "calibration.centre_wavelength_nm",
            hint + fmt::format("give {} to {} nm, or 0 if unknown", min_wavelength_nm, max_wavelength_nm));
}

// Returns whether the phase changes by less than pi per point of the k grid. A faster phase blurs beyond the whole
// depth range. Phases in files may be wrapped.
bool is_resolved(const std::vector<double>& phase) {
    using std::numbers::pi;
    const auto [low, high] = std::ranges::minmax(phase);
    if (high - low <= 2 * pi * (1 + 1e-6)) return true;
    for (std::size_t j = 1; j < phase.size(); ++j) {
        if (!(std::abs(phase[j] - phase[j - 1]) < pi)) return false;
    }
    return true;
}

void validate_dispersion(const ReconstructionSpec& spec) {
    if (!spec.recipe.dispersion) return;
    const std::int64_t samples = spec.geometry.samples;
    const std::vector<double>& file = spec.calibration.dispersion_rad;
    require(file.empty() || is_resolved(file),
            "the phase changes by more than half a turn between neighbouring points of the k grid",
            "calibration.dispersion", "use rad");
    Calibration without_file = spec.calibration;
    without_file.dispersion_rad.clear();
    const std::vector<double> theta = dispersion_phase(spec.recipe, without_file, k_grid(spec.calibration, samples));
    const Recipe& recipe = spec.recipe;
    const char* key = recipe.a2_rad != 0    ? "recipe.a2_rad"
                      : recipe.a3_rad != 0  ? "recipe.a3_rad"
                      : recipe.gdd_fs2 != 0 ? "recipe.gdd_fs2"
                                            : "recipe.tod_fs3";
    require(theta.empty() || is_resolved(theta),
            fmt::format("{:.4g} rad at the edge of the spectrum are more than {} can resolve",
                        std::max(std::abs(theta.front()), std::abs(theta.back())), plural(samples, "samples")),
            key,
            fmt::format("the limit for a2_rad is {:.0f} rad", std::numbers::pi * static_cast<double>(samples) / 4));
}

void validate_k_jitter(const ReconstructionSpec& spec) {
    if (spec.calibration.k_jitter.empty()) return;
    check_k_jitter(spec.calibration.k_jitter, spec.geometry, "calibration.k_jitter");
    require(spec.recipe.method == Method::plain && spec.recipe.resample == Resample::nufft,
            "only the NUFFT supports a k grid per line", "calibration.k_jitter",
            "set recipe.resample = nufft and recipe.method = plain, or remove the file");
}

void validate_calibration(const ReconstructionSpec& spec) {
    const std::int64_t samples = spec.geometry.samples;
    const Calibration& calibration = spec.calibration;
    validate_vector(calibration.background, samples, "calibration.background", "samples");
    validate_vector(calibration.dark, samples, "calibration.dark", "samples");
    validate_vector(calibration.dispersion_rad, samples, "calibration.dispersion", "points of the k grid");
    validate_k_map(calibration, samples);
    validate_centre_wavelength(calibration);
    validate_k_jitter(spec);
    const Lengths lengths = lengths_of(spec.geometry, spec.recipe);
    validate_vector(calibration.noise_floor, lengths.bins, "calibration.noise_floor", "depth bins");
}

void validate_fast_axis(const ScanGeometry& geometry, const Calibration& calibration) {
    if (geometry.fast_axis == FastAxis::uniform) return;
    require(geometry.a_repeats == 1,
            "a nonuniform fast axis is interpolated between neighbouring lines, which repeats do not allow",
            "scan.a_repeats", "set it to 1, or use fast_axis = uniform");
    require(geometry.a_scans >= 2, "a single A-scan has no axis", "scan.fast_axis", "choose uniform");
    if (geometry.fast_axis != FastAxis::file) return;
    require(!calibration.fast_axis.empty(), "the curve of the fast axis is missing", "scan.fast_axis",
            "name a file in calibration.fast_axis or choose uniform or sinusoidal");
    validate_vector(calibration.fast_axis, geometry.a_scans, "calibration.fast_axis", "lines of a B-scan");
    require_monotone(calibration.fast_axis, "calibration.fast_axis");
}

void validate_background(const ReconstructionSpec& spec) {
    const Background background = chosen_background(spec.recipe, spec.calibration);
    require(background != Background::stored || !spec.calibration.background.empty(), "no background is given",
            "recipe.background", "name a file in calibration.background or choose frame_mean");
    const bool needs_lines =
        background == Background::frame_mean || background == Background::running || background == Background::median;
    require(!needs_lines || spec.geometry.lines_per_b_scan() > 1,
            "the mean of a B-scan of one A-scan is that A-scan: subtracting it leaves nothing", "recipe.background",
            "choose stored, rolling or none");
    require(background != Background::rolling || spec.recipe.rolling_width <= spec.geometry.samples,
            fmt::format("{} is longer than the spectrum", spec.recipe.rolling_width), "recipe.rolling_width",
            fmt::format("give at most {}", spec.geometry.samples));
    require(spec.recipe.fixed_pattern == FixedPattern::none || spec.geometry.lines_per_b_scan() > 1,
            "the pattern of a B-scan of one A-scan is that A-scan: subtracting it leaves nothing",
            "recipe.fixed_pattern", "choose none");
    const bool segments_fit = spec.recipe.fixed_pattern != FixedPattern::minimum_variance ||
                              spec.recipe.fixed_pattern_segments * 2 <= spec.geometry.lines_per_b_scan();
    require(segments_fit, "segments of fewer than two A-scans have no variance", "recipe.fixed_pattern_segments",
            fmt::format("give at most {}", spec.geometry.lines_per_b_scan() / 2));
}

void validate_spectrum(const ReconstructionSpec& spec) {
    const Recipe& recipe = spec.recipe;
    require_one_two_four(recipe.upsample, "recipe.upsample");
    require_one_two_four(recipe.zero_padding, "recipe.zero_padding");
    require(recipe.resample != Resample::linear_wavelength || !spec.calibration.wavelengths_nm.empty(),
            "linear_wavelength needs the wavelength of each sample", "recipe.resample",
            "name a file in calibration.wavelengths or choose linear");
    const bool interpolates = recipe.resample != Resample::nudft && recipe.resample != Resample::nufft;
    const std::string name = std::get<std::string>(value_of(recipe, "resample"));
    require(interpolates || recipe.upsample == 1, name + " does not interpolate: there is nothing to up-sample for",
            "recipe.upsample", "choose 1");
    require(interpolates || !recipe.upsample_pad, name + " does not interpolate: there is nothing to pad for",
            "recipe.upsample_pad", "choose false");
    require(recipe.shaping == Shaping::none || !spec.calibration.background.empty(),
            "shaping needs the source spectrum", "recipe.shaping", "name a file in calibration.background");
    const bool physical = recipe.gdd_fs2 != 0 || recipe.tod_fs3 != 0;
    require(!physical || k_grid(spec.calibration, spec.geometry.samples).k_max_per_um > 0,
            "femtoseconds need the absolute scale of k", recipe.gdd_fs2 != 0 ? "recipe.gdd_fs2" : "recipe.tod_fs3",
            "set calibration.wavelengths, or depth_pitch_um and centre_wavelength_nm, or use a2_rad and a3_rad");
    validate_dispersion(spec);
}

void validate_defr(const ReconstructionSpec& spec) {
    const Recipe& recipe = spec.recipe;
    if (recipe.method != Method::defr) return;
    const bool on_grid = recipe.resample != Resample::nudft && recipe.resample != Resample::nufft;
    require(on_grid, "defr works on a uniform k grid", "recipe.resample", "choose linear, lagrange3 or spline");
    require(recipe.zero_padding == 1, "defr iterates on the points of the k grid: there is nothing to pad",
            "recipe.zero_padding", "choose 1");
    require(spec.flow.sub_bands == 1 || spec.flow.method == FlowMethod::none, "sub-bands need the method plain",
            "flow.sub_bands", "choose 1");
    const std::vector<double> theta =
        dispersion_phase(recipe, spec.calibration, k_grid(spec.calibration, spec.geometry.samples));
    const bool disperses = std::ranges::any_of(theta, [](double phase) { return phase != 0; });
    require(disperses, "full range needs dispersion: only dispersion distinguishes the two sides of zero delay",
            recipe.dispersion ? "recipe.a2_rad" : "recipe.dispersion",
            recipe.dispersion
                ? "set a2_rad, a3_rad or calibration.dispersion, or search for them with `calibrate dispersion`"
                : "set it to true");
}

void validate_mask(const ReconstructionSpec& spec) {
    if (spec.recipe.method != Method::compressive) return;
    const std::vector<double>& mask = spec.calibration.mask;
    const SensingMask chosen = spec.compressive.mask;
    require(chosen != SensingMask::file || !mask.empty(), "no mask is given", "compressive.mask",
            "name a file in calibration.mask or choose uniform");
    require(chosen != SensingMask::variable || !spec.calibration.background.empty(),
            "a variable mask follows the brightness of the source, which is not known", "compressive.mask",
            "name a file in calibration.background or choose uniform");
    validate_vector(mask, spec.geometry.samples, "calibration.mask", "samples");
    const bool is_mask = std::ranges::all_of(mask, [](double value) { return value == 0 || value == 1; });
    require(is_mask, "contains values other than 0 and 1", "calibration.mask", "1: the sample is used, 0: it is not");
    require(mask.empty() || std::ranges::any_of(mask, [](double value) { return value == 1; }), "selects no sample",
            "calibration.mask", "1: the sample is used, 0: it is not");
}

void validate_compressive(const ReconstructionSpec& spec) {
    const Recipe& recipe = spec.recipe;
    if (recipe.method != Method::compressive) return;
    require(recipe.zero_padding == 1, "compressed sensing places reflectors at the depth bins: there is nothing to pad",
            "recipe.zero_padding", "choose 1");
    require(recipe.shaping == Shaping::none, "compressed sensing uses the samples as they are", "recipe.shaping",
            "choose none");
    const bool on_grid = recipe.resample != Resample::nudft && recipe.resample != Resample::nufft;
    require(spec.compressive.transform != SensingTransform::fft || on_grid, "this transform works on a uniform k grid",
            "recipe.resample", "choose lagrange3 or spline, or compressive.transform = nufft");
    require(spec.flow.sub_bands == 1 || spec.flow.method == FlowMethod::none, "sub-bands need the method plain",
            "flow.sub_bands", "choose 1");
    const auto elements = std::ssize(sensed_samples(spec)) * spec.geometry.samples / 2;
    require(spec.compressive.transform != SensingTransform::exact || elements <= max_nudft_elements,
            fmt::format("a matrix of {} elements is too large", elements), "compressive.transform", "choose nufft");
}

// Checks the source spectrum for methods that use it: shaping, variable masks and full range.
void validate_source(const ReconstructionSpec& spec) {
    const bool is_known = !spec.calibration.background.empty();
    const bool looks = (spec.recipe.method == Method::defr && is_known) || spec.recipe.shaping != Shaping::none ||
                       (spec.recipe.method == Method::compressive && spec.compressive.mask == SensingMask::variable);
    if (!looks) return;
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    const std::vector<double> source = source_on_grid(spec.recipe, spec.calibration, grid);
    const bool light = std::accumulate(source.begin(), source.end(), 0.0) > 0;
    require(light, "background minus dark contains no light", "calibration.background",
            "record it with the reference arm open, and check that it is not swapped with calibration.dark");
}

void validate_depth(const ReconstructionSpec& spec) {
    const Recipe& recipe = spec.recipe;
    const std::int64_t bins = lengths_of(spec.geometry, recipe).bins;
    const std::int64_t unpadded = bins / recipe.zero_padding;
    require(recipe.depth_end <= unpadded,
            fmt::format("{} is beyond the last of {}", recipe.depth_end, plural(unpadded, "depth bins")),
            "recipe.depth_end", fmt::format("give at most {}, or 0 for all", unpadded));
    const DepthRange kept = kept_depth(recipe, bins);
    require(kept.begin < kept.end, fmt::format("no depth bin is left from {} on", recipe.depth_begin),
            "recipe.depth_begin",
            fmt::format("there are {}, see also recipe.depth_end", plural(unpadded, "depth bins")));
    const std::int64_t max_bins = max_nudft_elements / spec.geometry.samples;
    require(!uses_nudft(spec) || kept.end - kept.begin <= max_bins,
            fmt::format("a matrix of {} of {} is too large", plural(kept.end - kept.begin, "depth bins"),
                        plural(spec.geometry.samples, "samples")),
            "recipe.resample",
            fmt::format("keep at most {} by recipe.depth_begin, depth_end and zero_padding, or choose spline",
                        plural(max_bins, "bins")));
}

void validate_voxels(const ReconstructionSpec& spec) {
    const Recipe& recipe = spec.recipe;
    require(recipe.voxel != VoxelType::i16, "reconstruction does not write i16", "recipe.voxel",
            "choose u8, u16 or f32");
    require(recipe.voxel != VoxelType::complex64 || recipe.quantity == Quantity::complex,
            "only quantity = complex is stored as complex64", "recipe.voxel", "choose u8, u16 or f32");
    require(recipe.high > recipe.low, fmt::format("{} is not above low = {}", recipe.high, recipe.low), "recipe.high",
            "give a range of positive width");
    require(recipe.noise_floor == NoiseFloor::none || !spec.calibration.noise_floor.empty(), "no noise floor is given",
            "recipe.noise_floor", "name a file in calibration.noise_floor");
    const bool complex = recipe.quantity == Quantity::complex;
    require(!complex || recipe.noise_floor == NoiseFloor::none, "a complex amplitude has no noise floor to subtract",
            "recipe.noise_floor", "choose none");
    require(!complex || recipe.average == Average::none || recipe.average == Average::complex,
            "complex voxels can only be averaged as complex values", "recipe.average", "choose none or complex");
}

}  // namespace

void validate(const ReconstructionSpec& spec) {
    check(spec.format, "scan");
    check(spec.geometry, "scan");
    check(spec.calibration, "calibration");
    check(spec.recipe, "recipe");
    check(spec.flow, "flow");
    check(spec.nufft, "nufft");
    check(spec.defr, "defr");
    check(spec.compressive, "compressive");
    validate_geometry(spec.geometry);
    validate_format(spec.format, spec.geometry);
    validate_spectrum(spec);
    validate_calibration(spec);
    validate_fast_axis(spec.geometry, spec.calibration);
    validate_mask(spec);
    validate_source(spec);
    validate_defr(spec);
    validate_compressive(spec);
    validate_background(spec);
    validate_depth(spec);
    validate_voxels(spec);
    validate_flow(spec);
    require(spec.block_b_scans >= 1, "a block must hold at least one B-scan", "block", "give a positive number");
}

VolumeGrid planned_grid(const ReconstructionSpec& spec) {
    validate(spec);
    const Recipe& recipe = spec.recipe;
    const ScanGeometry& geometry = spec.geometry;
    const Lengths lengths = lengths_of(geometry, recipe);
    const DepthRange kept = kept_depth(recipe, lengths.bins);
    const bool joined = recipe.average != Average::none;
    const std::int64_t a_side_by_side = joined ? 1 : geometry.a_repeats;
    const std::int64_t b_side_by_side = joined ? 1 : geometry.b_repeats;
    const double pitch = k_grid(spec.calibration, geometry.samples).depth_pitch_um /
                         static_cast<double>(recipe.zero_padding) / geometry.refractive_index;
    VolumeGrid grid;
    grid.depth = kept.end - kept.begin;
    grid.a_scans = geometry.a_scans * a_side_by_side;
    grid.b_scans = geometry.b_scans * b_side_by_side;
    grid.spacing_um = {pitch, geometry.spacing_a_um / static_cast<double>(a_side_by_side),
                       geometry.spacing_b_um / static_cast<double>(b_side_by_side)};
    const std::int64_t first = kept.begin - lengths.zero_delay, last = kept.end - 1 - lengths.zero_delay;
    grid.first_depth_um = pitch * static_cast<double>(geometry.depth_flip ? -last : first);
    grid.type = recipe.quantity == Quantity::complex ? VoxelType::complex64 : recipe.voxel;
    grid.quantity = std::get<std::string>(value_of(recipe, "quantity"));
    const bool db = recipe.quantity == Quantity::db;
    grid.unit = !db ? "counts" : recipe.levels == Levels::noise_floor ? "dB above noise floor" : "dB";
    const bool codes = grid.type == VoxelType::u8 || grid.type == VoxelType::u16;
    if (codes && recipe.levels == Levels::frame) {
        grid.unit = "of each B-scan's range";
        grid.scale = grid.type == VoxelType::u8 ? 1.0 / 255 : 1.0 / 65535;
    } else if (codes) {
        grid.scale = (recipe.high - recipe.low) / (grid.type == VoxelType::u8 ? 255 : 65535);
        grid.offset = recipe.low;
    }
    return grid;
}

}  // namespace echolux
