// Descriptions of all parameters of a scan, its calibration and its recipe.
#include "compute/plan/params.h"

#include "compute/plan/describe.h"

namespace echolux {
namespace {

constexpr std::int64_t max_samples = std::int64_t{1} << 20;  // per spectrum; no instrument approaches this
constexpr std::int64_t max_lines = std::int64_t{1} << 24;

}  // namespace

std::int64_t sample_bits(SampleFormat format) {
    switch (format) {
        case SampleFormat::u8: return 8;
        case SampleFormat::u16:
        case SampleFormat::i16: return 16;
        case SampleFormat::u32:
        case SampleFormat::f32: return 32;
        case SampleFormat::packed12: return 12;
    }
    return 0;
}

std::int64_t line_bytes(const RawFormat& format, const ScanGeometry& geometry) {
    if (format.line_bytes > 0) return format.line_bytes;
    return (geometry.samples * format.channels * sample_bits(format.sample_format) + 7) / 8;
}

template <>
const std::vector<Field<RawFormat>>& describe<RawFormat>() {
    using S = RawFormat;
    constexpr Effect effect = Effect::file;
    static const std::vector<Field<S>> fields{
        choice("sample_format", &S::sample_format, {"u8", "u16", "u32", "i16", "f32", "packed12"}, effect,
               "storage format of a sample; packed12 stores two 12-bit samples in three bytes"),
        choice("byte_order", &S::byte_order, {"little", "big"}, effect, "byte order of multi-byte samples"),
        integer("shift", &S::shift, 0, 31, "bits", effect,
                "right shift of integer samples; 4 for 12 bits in the high end of 16"),
        integer("bits", &S::bits, 0, 32, "bits", effect,
                "significant bits after the shift, higher ones are masked off; 0 keeps all")
            .special(0, "all"),
        integer("channels", &S::channels, 1, 64, "", effect, "interferometric channels in the file"),
        integer("channel", &S::channel, 0, 63, "", effect, "channel to reconstruct, counted from 0"),
        choice("channel_layout", &S::channel_layout, {"interleaved", "planar"}, effect,
               "interleaved: sample by sample; planar: within a line, one channel's spectrum after the other's"),
        integer("line_bytes", &S::line_bytes, 0, std::int64_t{1} << 32, "bytes", effect,
                "distance from one line to the next; 0 when lines follow without a gap")
            .special(0, "no gap"),
    };
    return fields;
}

template <>
const std::vector<Field<ScanGeometry>>& describe<ScanGeometry>() {
    using S = ScanGeometry;
    constexpr Effect effect = Effect::file;
    static const std::vector<Field<S>> fields{
        integer("samples", &S::samples, 0, max_samples, "", effect, "samples of one spectrum of one channel"),
        integer("a_scans", &S::a_scans, 0, max_lines, "", effect, "A-scan positions per B-scan"),
        integer("b_scans", &S::b_scans, 0, max_lines, "", effect, "B-scan positions per volume"),
        integer("volumes", &S::volumes, 1, max_lines, "", effect, "number of volumes in the file"),
        integer("a_repeats", &S::a_repeats, 1, 4096, "", effect, "lines at each A-scan position (MB scans)"),
        integer("b_repeats", &S::b_repeats, 1, 4096, "", effect, "B-scans at each position (BM scans)"),
        flag("depth_flip", &S::depth_flip, effect,
             "the object is beyond zero delay: depth rows are written in reverse"),
        number("spacing_a_um", &S::spacing_a_um, 0, 1e6, "um", effect, "distance between A-scans; 0: unknown")
            .special(0, "unknown")
            .soft(0, 100),
        number("spacing_b_um", &S::spacing_b_um, 0, 1e6, "um", effect, "distance between B-scans; 0: unknown")
            .special(0, "unknown")
            .soft(0, 100),
        number("refractive_index", &S::refractive_index, 1, 5, "", effect,
               "refractive index that divides optical depth; 1: depth in air")
            .soft(1, 2),
        number("line_rate_hz", &S::line_rate_hz, 0, 1e9, "Hz", effect, "lines per second; 0: unknown")
            .special(0, "unknown")
            .soft(1000, 2e6),
        choice("protocol", &S::protocol, {"raster", "cross", "four_slices", "raster_cross", "raster_y"}, effect,
               "arrangement of the B-scans of a volume: parallel; two crossing at right angles; three parallel and one "
               "crossing; a raster preceded by crossing B-scans; a raster whose B-scans run along y"),
        integer("crosses", &S::crosses, 1, 64, "B-scans", effect,
                "protocol raster_cross: number of crossing B-scans before the raster"),
        integer("flyback_lines", &S::flyback_lines, 0, max_lines, "", effect,
                "flyback lines after each acquired B-scan: recorded, but not part of it"),
        integer("flyback_frames", &S::flyback_frames, 0, max_lines, "", effect,
                "flyback B-scans after each volume: recorded, but not part of it"),
        flag("bidirectional", &S::bidirectional, effect,
             "bidirectional scan: every second acquired B-scan runs backwards"),
        choice("fast_axis", &S::fast_axis, {"uniform", "sinusoidal", "file"}, effect,
               "how the beam moves along a B-scan: evenly, as a sine (resonant scanner), or as calibration.fast_axis"),
        number("sinusoidal_part", &S::sinusoidal_part, 0.01, 1, "", effect,
               "fraction of half a period of the sine that the lines of a B-scan cover"),
    };
    return fields;
}

template <>
const std::vector<Field<Calibration>>& describe<Calibration>() {
    using S = Calibration;
    static const Fields<S> fields{
        choice("dispersion_holds", &S::dispersion_holds, {"theta", "correction"}, Effect::table,
               "content of the dispersion file: the phase theta of the sample arm, or the correction exp(+i phase)")
            .in("Dispersion")
            .called("file holds")
            .only_while("recipe.dispersion", {"true"}),
        numbers("k_polynomial", &S::k_polynomial, -1e9, 1e9, "samples", Effect::table,
                "k map as a polynomial: position = sum c_i (j/(n-1))^i")
            .in("Spectrum"),
        number("depth_pitch_um", &S::depth_pitch_um, 0, 1e4, "um", Effect::plan,
               "depth of one bin in air, without zero padding; 0: from the wavelengths, or unknown")
            .special(0, "auto")
            .soft(0, 50)
            .in("Depth"),
        number("centre_wavelength_nm", &S::centre_wavelength_nm, 0, 1e5, "nm", Effect::table,
               "centre wavelength; 0: from the wavelengths, or unknown")
            .special(0, "auto")
            .soft(400, 1700),
    };
    return fields.list();
}

template <>
const std::vector<Field<Recipe>>& describe<Recipe>() {
    using S = Recipe;
    constexpr Effect table = Effect::table;
    constexpr Effect plan = Effect::plan;
    constexpr double any = 1e12;
    static const Fields<S> fields{
        choice("method", &S::method, {"plain", "defr", "compressive"}, plan,
               "plain: one transform; defr: full-range OCT, mirror image removed by dispersion encoding; compressive: "
               "compressed sensing, sparsest A-scan consistent with a subset of samples")
            .in("Method"),
        choice("background", &S::background, {"auto", "none", "stored", "frame_mean", "running", "median", "rolling"},
               plan, "background subtracted from each spectrum; auto: stored if a background is given, else frame_mean")
            .in("Background"),
        number("running_alpha", &S::running_alpha, 1e-6, 1, "", table,
               "weight of the newest B-scan in the running background")
            .only_while("recipe.background", {"running"}),
        integer("rolling_width", &S::rolling_width, 1, max_samples, "samples", plan,
                "background = rolling subtracts the mean over this many samples on either side")
            .soft(1, 1024)
            .only_while("recipe.background", {"rolling"}),
        choice("fixed_pattern", &S::fixed_pattern, {"none", "median", "minimum_variance"}, plan,
               "removal of fixed-pattern lines over a whole B-scan: complex median, or the mean of the segment with "
               "the smallest variance"),
        integer("fixed_pattern_segments", &S::fixed_pattern_segments, 2, 4096, "", plan,
                "segments of a B-scan among which minimum_variance chooses")
            .soft(2, 64)
            .only_while("recipe.fixed_pattern", {"minimum_variance"}),
        integer("upsample", &S::upsample, 1, 4, "", plan, "spectral up-sampling by zero padding: 1, 2 or 4")
            .only({1, 2, 4})
            .in("Spectrum"),
        flag("upsample_pad", &S::upsample_pad, plan,
             "pad the spectrum on both sides to a power of two, at least 2048, before up-sampling")
            .unless("recipe.upsample", {"1"}),
        choice(
            "resample", &S::resample,
            {"none", "nearest", "linear", "linear_wavelength", "catmull_rom", "lagrange3", "spline", "nufft", "nudft"},
            plan,
            "interpolation to uniform k; nufft and nudft transform the nonuniform samples directly: to the accuracy of "
            "[nufft], and exactly"),
        choice("window", &S::window, {"rect", "hann", "hamming", "blackman", "blackman_harris", "tukey", "gaussian"},
               table, "window on the uniform k grid")
            .only_while("recipe.shaping", {"none"}),
        number("tukey_alpha", &S::tukey_alpha, 0, 1, "", table, "tapered fraction of the Tukey window")
            .only_while("recipe.window", {"tukey"}),
        number("gaussian_sigma", &S::gaussian_sigma, 0.01, 1, "", table,
               "sigma of the Gaussian window as a fraction of the spectrum")
            .only_while("recipe.window", {"gaussian"}),
        choice("shaping", &S::shaping, {"none", "gaussian", "hann"}, table,
               "reshape the source spectrum (background - dark) to this target, which then replaces the window"),
        number("shaping_fwhm", &S::shaping_fwhm, 0.01, 10, "", table,
               "FWHM of the Gaussian target as a fraction of the spectrum")
            .soft(0.05, 2)
            .only_while("recipe.shaping", {"gaussian"}),
        number("shaping_floor", &S::shaping_floor, 1e-6, 1, "", table,
               "source levels below this fraction of the maximum are not amplified further")
            .unless("recipe.shaping", {"none"}),
        integer("shaping_smooth", &S::shaping_smooth, 1, 1023, "samples", table,
                "width of the mean that smooths the source spectrum")
            .soft(1, 127)
            .unless("recipe.shaping", {"none"}),
        flag("dispersion", &S::dispersion, plan, "apply the dispersion file and the coefficients")
            .in("Dispersion")
            .called("compensate"),
        number("a2_rad", &S::a2_rad, -1e5, 1e5, "rad", table,
               "second-order dispersion: phase at the edge of the spectrum")
            .soft(-100, 100)
            .found_by("dispersion")
            .only_while("recipe.dispersion", {"true"}),
        number("a3_rad", &S::a3_rad, -1e5, 1e5, "rad", table,
               "third-order dispersion: phase at the edge of the spectrum")
            .soft(-50, 50)
            .only_while("recipe.dispersion", {"true"}),
        number("gdd_fs2", &S::gdd_fs2, -1e9, 1e9, "fs^2", table,
               "group delay dispersion; needs wavelengths or the absolute scale")
            .soft(-50000, 50000)
            .only_while("recipe.dispersion", {"true"}),
        number("tod_fs3", &S::tod_fs3, -1e12, 1e12, "fs^3", table,
               "third-order dispersion; needs wavelengths or the absolute scale")
            .soft(-1e6, 1e6)
            .only_while("recipe.dispersion", {"true"}),
        integer("zero_padding", &S::zero_padding, 1, 4, "", plan, "FFT zero-padding factor: 1, 2 or 4")
            .only({1, 2, 4})
            .in("Depth"),
        integer("depth_begin", &S::depth_begin, 0, max_samples * 8, "bins", plan,
                "start of the depth range; zero padding does not change the numbers"),
        integer("depth_end", &S::depth_end, 0, max_samples * 8, "bins", plan,
                "end of the depth range (exclusive); 0: full range; zero padding does not change the numbers")
            .special(0, "end"),
        choice("average", &S::average, {"none", "magnitude", "power", "complex"}, plan,
               "averaging of a_repeats and b_repeats; none keeps every line")
            .in("Method")
            .found_by("mean repeats"),
        choice("noise_floor", &S::noise_floor, {"none", "amplitude", "power"}, plan,
               "subtract the calibrated noise floor from the amplitude, or its square from the power")
            .in("Levels")
            .called("subtract floor"),
        choice("quantity", &S::quantity, {"db", "intensity", "amplitude", "complex"}, plan, "voxel quantity"),
        choice("voxel", &S::voxel, {"u8", "u16", "i16", "f16", "f32", "complex64"}, plan,
               "voxel type; f16 is for display only; quantity = complex is always complex64"),
        choice(
            "levels", &S::levels, {"noise_floor", "fixed", "frame"}, plan,
            "noise_floor: dB, low and high are relative to the measured noise floor; fixed: absolute; frame: from the "
            "minimum to the maximum of each B-scan"),
        number("low", &S::low, -any, any, "dB or counts", table, "value of the lowest u8/u16 code")
            .soft(-20, 60)
            .only_while("recipe.voxel", {"u8", "u16", "i16"}),
        number("high", &S::high, -any, any, "dB or counts", table, "value of the highest u8/u16 code")
            .soft(0, 100)
            .only_while("recipe.voxel", {"u8", "u16", "i16"}),
        number("noise_floor_db", &S::noise_floor_db, -1000, 1000, "dB", table,
               "level that counts as 0 dB; 0: measured from the first volume, then frozen")
            .special(0, "measured")
            .soft(0, 120),
        choice(
            "precision", &S::precision, {"exact", "fast"}, plan,
            "fast: structure in half precision on a GPU, for spectra of 512, 1024 ... 8192 samples in u16 or packed12 "
            "(the NUFFT: u16; full range: integers of up to 16 bits); adds noise 62 dB below the power of the "
            "line. Flow, complex voxels and everything on the CPU keep single precision"),
    };
    return fields.list();
}

template <>
const std::vector<Field<NufftRecipe>>& describe<NufftRecipe>() {
    using S = NufftRecipe;
    constexpr Effect plan = Effect::plan;
    static const Fields<S> fields =
        Fields<S>{
            choice(
                "kernel", &S::kernel, {"gaussian", "kaiser_bessel", "exponential"}, plan,
                "kernel that spreads a sample over the finer grid; exponential: the exponential of a semicircle, as in "
                "FINUFFT")
                .in("Method"),
            number("oversampling", &S::oversampling, 1.25, 4, "", plan,
                   "R: points of the finer grid for each point of the k grid; accuracy grows with it"),
            integer("width", &S::width, 2, 12, "points", plan, "W: points of the finer grid that a sample spreads to"),
        }
            .only_while("recipe.resample", {"nufft"})
            .or_while("compressive.transform", {"nufft"});
    return fields.list();
}

template <>
const std::vector<Field<DefrRecipe>>& describe<DefrRecipe>() {
    using S = DefrRecipe;
    constexpr Effect plan = Effect::plan;
    static const Fields<S> fields =
        Fields<S>{
            integer("iterations", &S::iterations, 0, 100, "", plan,
                    "number of iterations, each of which finds the strongest peaks and removes their mirror images; 0: "
                    "dispersion compensation only")
                .in("Method"),
            number(
                "delta", &S::delta, 0, 1, "", plan,
                "1: one peak at a time; 0: all peaks above the strongest possible mirror image of the strongest peak"),
            number("threshold", &S::threshold, 0, 1, "", plan,
                   "min amplitude of a peak, as a fraction of the strongest; 0: gamma + delta (1 - gamma)"),
            flag("residual", &S::residual, plan, "add the residual of the last iteration: noise and weak peaks"),
            flag("double_precision", &S::double_precision, plan,
                 "iterate in double precision, which takes twice as long"),
        }
            .only_while("recipe.method", {"defr"});
    return fields.list();
}

template <>
const std::vector<Field<CompressiveRecipe>>& describe<CompressiveRecipe>() {
    using S = CompressiveRecipe;
    constexpr Effect plan = Effect::plan;
    static const Fields<S> fields =
        Fields<S>{
            choice(
                "transform", &S::transform, {"nufft", "exact", "fft"}, plan,
                "transform between depth and samples: that of [nufft], an exact matrix, or an FFT of samples resampled "
                "to uniform k")
                .in("Method"),
            choice("mask", &S::mask, {"all", "uniform", "variable", "file"}, plan,
                   "samples used: all; a random part; more where the source (calibration.background) is bright; "
                   "calibration.mask"),
            number("share", &S::share, 0.01, 1, "", plan, "fraction of the samples that a random mask keeps")
                .only_while("compressive.mask", {"uniform", "variable"}),
            integer("seed", &S::seed, 0, max_samples, "", plan, "seed of the random mask")
                .only_while("compressive.mask", {"uniform", "variable"}),
            integer("iterations", &S::iterations, 1, 1000, "", plan,
                    "number of iterations; all of them are run, so the time does not depend on the data"),
            number("tau_relative", &S::tau_relative, 0, 1, "", plan,
                   "min amplitude of a reflector, as a fraction of the strongest amplitude of the first estimate; 1: "
                   "keeps nothing"),
            number("tau", &S::tau, 0, 1e12, "counts", plan,
                   "the same threshold as an absolute amplitude; 0: use tau_relative"),
            flag("continuation", &S::continuation, plan,
                 "tau decreases to its value over the first 60 % of the iterations"),
            choice("step", &S::step, {"clamped", "safeguarded", "monotone"}, plan,
                   "Barzilai-Borwein step length: clamped by min_step; safeguarded: no worse than the last five; "
                   "monotone: never worse"),
            number("min_step", &S::min_step, 1e-6, 1e6, "", plan, "min curvature from which a step is computed"),
        }
            .only_while("recipe.method", {"compressive"});
    return fields.list();
}

template <>
const std::vector<Field<FlowRecipe>>& describe<FlowRecipe>() {
    using S = FlowRecipe;
    constexpr Effect table = Effect::table;
    constexpr Effect plan = Effect::plan;
    static const Fields<S> fields{
        choice("method", &S::method,
               {"none", "doppler", "power_doppler", "speckle_variance", "decorrelation", "omag", "cdv", "correlation",
                "phase_variance", "complex_decorrelation"},
               plan, "quantity computed from repeats, or from neighbouring lines if there are no repeats")
            .in("Flow")
            .found_by("doppler velocity octa angiography blood perfusion variance decorrelation"),
        integer("window_depth", &S::window_depth, 1, 32, "bins", plan,
                "depth bins that doppler, power_doppler, cdv and complex_decorrelation average")
            .only_while("flow.method", {"doppler", "power_doppler", "cdv", "complex_decorrelation"}),
        integer("window_lines", &S::window_lines, 1, 64, "", plan,
                "A-scans that doppler, power_doppler and complex_decorrelation average")
            .only_while("flow.method", {"doppler", "power_doppler", "complex_decorrelation"}),
        number("threshold_db", &S::threshold_db, -100, 200, "dB", table, "min mean power above the noise to show flow")
            .soft(-10, 50)
            .unless("flow.method", {"none"}),
        flag("bulk_motion", &S::bulk_motion, plan,
             "remove the phase step of the whole line before averaging; omag and phase_variance always do")
            .only_while("flow.method", {"doppler", "power_doppler"}),
        flag("invert", &S::invert, table, "velocities towards zero delay are positive")
            .only_while("flow.method", {"doppler"}),
        flag("unwrap", &S::unwrap, plan,
             "unwrap velocities beyond the Nyquist velocity, stored as numbers instead of phasors")
            .only_while("flow.method", {"doppler"}),
        number("angle_deg", &S::angle_deg, 0, 89, "deg", table,
               "angle between flow and beam: velocities along the flow; 0: axial velocities")
            .special(0, "axial")
            .only_while("flow.method", {"doppler"}),
        integer("sub_bands", &S::sub_bands, 1, 16, "", plan,
                "Gaussian sub-bands of the spectrum whose decorrelations are averaged")
            .only_while("flow.method", {"decorrelation"}),
        integer("correlation_reach", &S::correlation_reach, 1, 8, "", plan,
                "correlation: pixels on either side in depth and along the B-scan")
            .only_while("flow.method", {"correlation"}),
        flag("align", &S::align, plan,
             "angiography: align the repeats of a B-scan to fractions of a voxel in depth and along the B-scan, and "
             "remove the phase of bulk motion, before comparing them")
            .unless("flow.method", {"none"})
            .unless("flow.method", {"doppler", "power_doppler"})
            .or_while("flow.align", {"true"}),
        integer("align_depth", &S::align_depth, 0, 64, "bins", plan, "max shift in depth between repeats")
            .only_while("flow.align", {"true"}),
        integer("align_lines", &S::align_lines, 0, 64, "A-scans", plan, "max shift along the B-scan")
            .only_while("flow.align", {"true"}),
        number("min_match", &S::min_match, 0, 1, "", table,
               "min coherence of an aligned repeat with the others, from 0 to 1; repeats below it are discarded")
            .only_while("flow.align", {"true"}),
        number("significance", &S::significance, 0, 20, "", table,
               "complex_decorrelation: standard deviations by which flow must exceed the noise of static tissue of the "
               "same brightness; 0: show all above threshold_db")
            .only_while("flow.method", {"complex_decorrelation"}),
    };
    return fields.list();
}

bool is_same_plan(const ReconstructionSpec& a, const ReconstructionSpec& b) {
    ScanGeometry geometry = b.geometry;
    if (a.calibration.k_jitter.empty()) geometry.volumes = a.geometry.volumes;
    return a.block_b_scans == b.block_b_scans && has_same_settings(a.geometry, geometry) &&
           has_same_settings(a.format, b.format) && has_same_settings(a.recipe, b.recipe) &&
           has_same_settings(a.flow, b.flow) && has_same_settings(a.nufft, b.nufft) &&
           has_same_settings(a.defr, b.defr) && has_same_settings(a.compressive, b.compressive) &&
           a.calibration == b.calibration;
}

}  // namespace echolux
