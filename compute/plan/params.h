// Inputs of a reconstruction: how samples are stored (RawFormat), how the scan was acquired (ScanGeometry), how it was
// calibrated (Calibration) and how to reconstruct (Recipe). Descriptions are in params.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/plan/described.h"
#include "compute/types.h"

namespace echolux {

// ---- [scan] ---------------------------------------------------------------------------------------------------------

enum class SampleFormat { u8, u16, u32, i16, f32, packed12 };  // packed12: two 12-bit samples in three bytes
enum class ByteOrder { little, big };
enum class ChannelLayout { interleaved, planar };  // planar: within a line, one channel's spectrum after another

// Storage of raw samples.
struct RawFormat {
    SampleFormat sample_format = SampleFormat::u16;
    ByteOrder byte_order = ByteOrder::little;
    std::int64_t shift = 0;  // right shift of integer samples in bits (4 if 12 bits are stored in the high end of 16)
    std::int64_t bits = 0;   // significant bits after the shift; 0: all
    std::int64_t channels = 1;
    std::int64_t channel = 0;  // the channel to reconstruct
    ChannelLayout channel_layout = ChannelLayout::interleaved;
    std::int64_t line_bytes = 0;  // distance between lines; 0: contiguous
};

// Arrangement of the B-scans of a volume (docs/algorithms.md, Scans).
enum class Protocol { raster, cross, four_slices, raster_cross, raster_y };
enum class FastAxis { uniform, sinusoidal, file };  // motion of the beam along an acquired B-scan

// Acquisition of a scan. Lines are recorded in the order [volumes][b_scans][b_repeats][a_scans][a_repeats].
struct ScanGeometry {
    std::int64_t samples = 0;  // per spectrum of one channel
    std::int64_t a_scans = 0;  // positions along the fast axis
    std::int64_t b_scans = 0;  // positions along the slow axis
    std::int64_t volumes = 1;
    std::int64_t a_repeats = 1;   // consecutive lines per A-scan position
    std::int64_t b_repeats = 1;   // consecutive B-scans per slow-axis position
    bool depth_flip = false;      // object beyond zero delay: rows are reversed
    double spacing_a_um = 0;      // between A-scans; 0: unknown
    double spacing_b_um = 0;      // between B-scans; 0: unknown
    double refractive_index = 1;  // divides optical depth
    double line_rate_hz = 0;      // lines per second; 0: unknown
    Protocol protocol = Protocol::raster;
    std::int64_t crosses = 2;         // raster_cross: number of initial B-scans along y
    std::int64_t flyback_lines = 0;   // recorded lines to discard after each acquired B-scan
    std::int64_t flyback_frames = 0;  // acquired B-scans to discard after each volume
    bool bidirectional = false;       // every second acquired B-scan runs backwards
    FastAxis fast_axis = FastAxis::uniform;
    double sinusoidal_part = 0.9;  // fraction of half a sine period covered by a B-scan

    std::int64_t lines_per_b_scan() const { return a_scans * a_repeats; }
    std::int64_t lines_per_frame() const { return lines_per_b_scan() + flyback_lines; }  // per acquired B-scan
    std::int64_t frames_per_volume() const { return b_scans * b_repeats; }               // acquired B-scans
};

// Returns the bits of one stored sample.
std::int64_t sample_bits(SampleFormat format);

// Returns the distance in bytes between consecutive lines (all channels of one sweep).
std::int64_t line_bytes(const RawFormat& format, const ScanGeometry& geometry);

// ---- [calibration] --------------------------------------------------------------------------------------------------

// Content of a dispersion file: theta, or the exponent of the correction
enum class PhaseMeaning { theta, correction };

// Empty vectors mean "not given". validate() checks the lengths.
struct Calibration {
    std::vector<double> background;   // counts [samples], recorded with the sample arm blocked
    std::vector<double> dark;         // counts [samples], recorded without light
    std::vector<double> k_positions;  // sample position of each point of the uniform k grid, k ascending or descending
    std::vector<double> wavelengths_nm;  // [samples], strictly monotone
    std::vector<double> k_polynomial;    // position = sum c_i (j / (n - 1))^i in samples
    std::vector<double> dispersion_rad;  // [points of the k grid]
    std::vector<double> mask;            // [samples], 1 for samples used by method = compressive, otherwise 0
    std::vector<double> noise_floor;     // mean amplitude of each depth bin, recorded without a sample
    // [rows][2], offset and stretch of the samples of an A-scan or B-scan on the k grid
    std::vector<double> k_jitter;
    std::vector<double> fast_axis;  // beam position at each line of a B-scan, any unit, strictly monotone
    PhaseMeaning dispersion_holds = PhaseMeaning::theta;
    double depth_pitch_um = 0;        // per bin in air without zero padding; 0: from wavelengths, or unknown
    double centre_wavelength_nm = 0;  // 0 if unknown or taken from the wavelengths

    bool operator==(const Calibration&) const = default;
};

// ---- [recipe] -------------------------------------------------------------------------------------------------------

enum class Background { automatic, none, stored, frame_mean, running, median, rolling };
enum class FixedPattern { none, median, minimum_variance };
enum class Resample { none, nearest, linear, linear_wavelength, catmull_rom, lagrange3, spline, nufft, nudft };
enum class Method { plain, defr, compressive };  // plain: one transform; the others search for the depth profile
enum class Window { rect, hann, hamming, blackman, blackman_harris, tukey, gaussian };
enum class Shaping { none, gaussian, hann };
enum class Average { none, magnitude, power, complex };
enum class NoiseFloor { none, amplitude, power };
enum class Quantity { db, intensity, amplitude, complex };
enum class Levels { noise_floor, fixed, frame };
enum class Precision { exact, fast };  // fast: half precision on a GPU, if a kernel supports it

// Reconstruction settings, in the order of processing.
struct Recipe {
    Method method = Method::plain;
    Background background = Background::automatic;    // subtracted from each spectrum
    double running_alpha = 0.1;                       // weight of the latest B-scan in the running background
    std::int64_t rolling_width = 64;                  // samples on either side averaged by the rolling background
    FixedPattern fixed_pattern = FixedPattern::none;  // removal of fixed lines in depth over a B-scan
    std::int64_t fixed_pattern_segments = 8;          // candidate segments per B-scan for minimum_variance

    std::int64_t upsample = 1;                // factor for the spectrum: 1, 2, 4
    bool upsample_pad = false;                // first pad both sides to a power of two (at least 2048)
    Resample resample = Resample::lagrange3;  // method for the uniform k grid

    Window window = Window::hann;      // on the k grid
    double tukey_alpha = 0.5;          // tapered fraction of the Tukey window
    double gaussian_sigma = 0.15;      // sigma of the Gaussian window, as a fraction of the spectrum
    Shaping shaping = Shaping::none;   // target of the source spectrum; replaces the window
    double shaping_fwhm = 0.5;         // FWHM of the Gaussian target, as a fraction of the spectrum
    double shaping_floor = 0.05;       // fraction of the source's max below which gain is limited
    std::int64_t shaping_smooth = 15;  // width in samples of the mean that smooths the source spectrum

    bool dispersion = true;  // apply the dispersion file and the coefficients below
    double a2_rad = 0;       // quadratic phase at the band edge
    double a3_rad = 0;       // cubic phase at the band edge
    double gdd_fs2 = 0;      // group delay dispersion
    double tod_fs3 = 0;      // third-order dispersion

    std::int64_t zero_padding = 1;  // factor for the transform's length: 1, 2, 4
    std::int64_t depth_begin = 0;   // bins, counted without zero padding, like depth_end
    std::int64_t depth_end = 0;     // first bin not kept; 0: the end

    Average average = Average::none;            // how repeats are combined; none keeps every line
    NoiseFloor noise_floor = NoiseFloor::none;  // how the calibrated noise floor is subtracted
    Quantity quantity = Quantity::db;           // physical quantity of a voxel
    VoxelType voxel = VoxelType::f32;
    Levels levels = Levels::noise_floor;  // reference for dB, low and high
    double low = -5;                      // value of the lowest code of u8, u16, i16 in dB or counts
    double high = 45;                     // value of the highest code
    double noise_floor_db = 0;            // level of 0 dB; 0: measured from the first volume, then frozen

    Precision precision = Precision::exact;
};

// ---- [nufft] --------------------------------------------------------------------------------------------------------

enum class GridKernel { gaussian, kaiser_bessel, exponential };  // exponential: of a semicircle, as in FINUFFT

struct NufftRecipe {  // for recipe.resample = nufft
    GridKernel kernel = GridKernel::kaiser_bessel;
    double oversampling = 2;  // R: points of the finer grid per point of the k grid
    std::int64_t width = 3;   // W: points of the finer grid covered by a sample
};

// ---- [defr] ---------------------------------------------------------------------------------------------------------

struct DefrRecipe {                 // for recipe.method = defr
    std::int64_t iterations = 10;   // with 0, dispersion compensation only
    double delta = 0.5;             // each iteration finds peaks above gamma + delta (1 - gamma) of the strongest
    double threshold = 0;           // relative to the strongest peak; replaces that limit if not 0
    bool residual = true;           // add the residual after the last iteration
    bool double_precision = false;  // for the search
};

// ---- [compressive] --------------------------------------------------------------------------------------------------

enum class SensingTransform { nufft, exact, fft };
enum class SensingMask { all, uniform, variable, file };
enum class StepRule { clamped, safeguarded, monotone };

struct CompressiveRecipe {                                 // for recipe.method = compressive
    SensingTransform transform = SensingTransform::nufft;  // between depth and samples
    SensingMask mask = SensingMask::all;                   // selects the samples to use
    double share = 0.3;                                    // fraction of samples kept by a random mask
    std::int64_t seed = 1;                                 // for random masks
    std::int64_t iterations = 15;                          // fixed count, without early stopping
    double tau_relative = 0.01;                            // relative to the largest amplitude of the first guess
    double tau = 0;                                        // counts; replaces tau_relative if not 0
    bool continuation = false;  // tau falls from a large value to its final one over the first iterations
    StepRule step = StepRule::clamped;
    double min_step = 0.1;  // lower limit of the curvature of a step
};

// ---- [flow] ---------------------------------------------------------------------------------------------------------

// Quantity computed from the repeats at a position, or from neighbouring lines (docs/algorithms.md, Flow).
enum class FlowMethod {
    none,
    doppler,           // phasor of the mean phase step; its angle is proportional to the axial velocity
    power_doppler,     // dB of the moving part
    speckle_variance,  // this and all below are angiography and need repeats
    decorrelation,
    omag,
    cdv,
    correlation,
    phase_variance,
    complex_decorrelation
};

// Settings of flow.
struct FlowRecipe {
    FlowMethod method = FlowMethod::none;
    std::int64_t window_depth = 3;       // bins over which phase steps are averaged as complex numbers
    std::int64_t window_lines = 4;       // A-scans over which they are averaged
    double threshold_db = 10;            // min mean power above the noise for flow to be reported
    bool bulk_motion = false;            // remove the phase step of the whole line before averaging
    bool invert = false;                 // velocities towards zero delay are positive
    bool unwrap = false;                 // store velocities beyond v_max, as numbers rather than phasors
    double angle_deg = 0;                // between flow and beam; above 0: absolute velocity along the flow
    std::int64_t sub_bands = 1;          // sub-bands of the spectrum, for decorrelation
    std::int64_t correlation_reach = 2;  // pixels on either side, for correlation
    bool align = false;                  // align the repeats of a B-scan before comparison
    std::int64_t align_depth = 12;       // max shift of a repeat in bins
    std::int64_t align_lines = 8;        // max shift of a repeat in A-scans
    double min_match = 0.5;              // min coherence with the other repeats; lower ones are excluded
    double significance = 3;             // threshold in standard deviations of static tissue, for complex_decorrelation
};

// ---- all of it ------------------------------------------------------------------------------------------------------

// Settings of the reconstruction, which may change while spectra stream.
struct RecipeSections {
    Recipe recipe;
    FlowRecipe flow;
    NufftRecipe nufft;
    DefrRecipe defr;
    CompressiveRecipe compressive;
};

// Spectra and their reconstruction.
struct ReconstructionInputs : RecipeSections {
    RawFormat format;
    ScanGeometry geometry;
    Calibration calibration;
};

// The complete input of a reconstructor.
struct ReconstructionSpec : ReconstructionInputs {
    std::int64_t block_b_scans = 1;  // max B-scan positions per block
};

// Returns whether one plan serves both specs. The number of volumes is ignored, unless every line of all volumes has
// its own calibration.
bool is_same_plan(const ReconstructionSpec& a, const ReconstructionSpec& b);

}  // namespace echolux
