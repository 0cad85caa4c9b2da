// The inputs of a reconstruction: how samples are stored (RawFormat), how the scan was made
// (ScanGeometry), what was calibrated (Calibration) and what is wanted (Recipe). Descriptions stand in params.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/types.h"

namespace echolux {

// ---- [scan] ---------------------------------------------------------------------------------------------------------

enum class SampleFormat { u8, u16, u32, i16, f32, packed12 };  // packed12: two 12-bit samples in three bytes
enum class ByteOrder { little, big };
enum class ChannelLayout { interleaved, planar };  // planar: within a line, one channel's spectrum after the other's

struct RawFormat {
    SampleFormat sample_format = SampleFormat::u16;
    ByteOrder byte_order = ByteOrder::little;
    std::int64_t shift = 0;  // bits: right shift of integer samples (12 bits in the high end of 16: 4)
    std::int64_t bits = 0;   // significant bits after the shift; 0: all
    std::int64_t channels = 1;
    std::int64_t channel = 0;  // the one to reconstruct
    ChannelLayout channel_layout = ChannelLayout::interleaved;
    std::int64_t line_bytes = 0;  // from one line to the next; 0: no gap
};

// Of the B-scans of a volume (docs/algorithms.md, Scans).
enum class Protocol { raster, cross, four_slices, raster_cross, raster_y };
enum class FastAxis { uniform, sinusoidal, file };  // how the beam moves along the lines of an acquired B-scan

struct ScanGeometry {
    std::int64_t samples = 0;  // of one spectrum of one channel
    std::int64_t a_scans = 0;  // positions along the fast axis
    std::int64_t b_scans = 0;  // positions along the slow axis
    std::int64_t volumes = 1;
    std::int64_t a_repeats = 1;   // lines at each A-scan position, one after the other
    std::int64_t b_repeats = 1;   // B-scans at each slow position, one after the other
    bool depth_flip = false;      // object on the far side of zero delay: rows are reversed
    double spacing_a_um = 0;      // between A-scans; 0: unknown
    double spacing_b_um = 0;      // between B-scans; 0: unknown
    double refractive_index = 1;  // divides optical depth
    double line_rate_hz = 0;      // lines a second; 0: unknown
    Protocol protocol = Protocol::raster;
    std::int64_t crosses = 2;         // raster_cross: the first B-scans, which run along y
    std::int64_t flyback_lines = 0;   // after the lines of each acquired B-scan: recorded, not part of it
    std::int64_t flyback_frames = 0;  // acquired B-scans after those of each volume
    bool bidirectional = false;       // every second acquired B-scan runs backwards
    FastAxis fast_axis = FastAxis::uniform;
    double sinusoidal_part = 0.9;  // of half a period of the sine that the lines of a B-scan cover

    std::int64_t lines_per_b_scan() const { return a_scans * a_repeats; }
    std::int64_t lines_per_frame() const { return lines_per_b_scan() + flyback_lines; }  // of an acquired B-scan
    std::int64_t frames_per_volume() const { return b_scans * b_repeats; }               // acquired B-scans
};

std::int64_t sample_bits(SampleFormat format);

// Bytes from one line (all channels of one sweep) to the next.
std::int64_t line_bytes(const RawFormat& format, const ScanGeometry& geometry);

// ---- [calibration] --------------------------------------------------------------------------------------------------

enum class PhaseMeaning { theta, correction };  // of a dispersion file: theta, or the exponent to multiply by

// Vectors are empty when not given. Lengths are checked by validate().
struct Calibration {
    std::vector<double> background;   // counts [samples], sample arm blocked
    std::vector<double> dark;         // counts [samples], no light
    std::vector<double> k_positions;  // sample position of each point of the uniform k grid, k ascending or descending
    std::vector<double> wavelengths_nm;  // [samples], strictly monotone
    std::vector<double> k_polynomial;    // position = sum c_i (j / (n - 1))^i in samples
    std::vector<double> dispersion_rad;  // one for each point of the k grid
    std::vector<double> mask;            // 1: this sample is used by method = compressive, 0: it is not [samples]
    std::vector<double> noise_floor;     // mean amplitude of each depth bin, recorded without a sample
    std::vector<double> k_jitter;        // offset, stretch of each A-scan's or B-scan's samples on the k grid [rows][2]
    std::vector<double> fast_axis;       // where the beam is at each line of a B-scan, any unit, strictly monotone
    PhaseMeaning dispersion_holds = PhaseMeaning::theta;
    double depth_pitch_um = 0;        // of one bin in air without zero padding; 0: from wavelengths, or unknown
    double centre_wavelength_nm = 0;  // 0: from wavelengths, or unknown
};

// ---- [recipe] -------------------------------------------------------------------------------------------------------

enum class Background { automatic, none, stored, frame_mean, running, median, rolling };
enum class FixedPattern { none, median, minimum_variance };
enum class Resample { none, nearest, linear, linear_wavelength, catmull_rom, lagrange3, spline, nufft, nudft };
enum class Method { plain, defr, compressive };  // from a spectrum to depth: by one transform, or by a search
enum class Window { rect, hann, hamming, blackman, blackman_harris, tukey, gaussian };
enum class Shaping { none, gaussian, hann };
enum class Average { none, magnitude, power, complex };
enum class NoiseFloor { none, amplitude, power };
enum class Quantity { db, intensity, amplitude, complex };
enum class Levels { noise_floor, fixed, frame };
enum class Precision { exact, fast };  // fast: half precision on a GPU, where a kernel has it

struct Recipe {
    Method method = Method::plain;
    Background background = Background::automatic;    // subtracted from each spectrum
    double running_alpha = 0.1;                       // weight of the newest B-scan in the running background
    std::int64_t rolling_width = 64;                  // samples on either side that the rolling background averages
    FixedPattern fixed_pattern = FixedPattern::none;  // removed in depth over a B-scan
    std::int64_t fixed_pattern_segments = 8;          // of a B-scan, among which minimum_variance chooses

    std::int64_t upsample = 1;                // of the spectrum: 1, 2, 4
    bool upsample_pad = false;                // first pad both sides to a power of two (at least 2048)
    Resample resample = Resample::lagrange3;  // to the uniform k grid

    Window window = Window::hann;      // on the k grid
    double tukey_alpha = 0.5;          // tapered fraction of the Tukey window
    double gaussian_sigma = 0.15;      // of the Gaussian window, as a fraction of the spectrum
    Shaping shaping = Shaping::none;   // target of the source spectrum; it replaces the window
    double shaping_fwhm = 0.5;         // of the Gaussian target, as a fraction of the spectrum
    double shaping_floor = 0.05;       // of the source's maximum: what is below is not amplified further
    std::int64_t shaping_smooth = 15;  // samples of the mean that smooths the source spectrum

    bool dispersion = true;  // the file of the calibration and what follows are applied
    double a2_rad = 0;       // quadratic phase at the band edge
    double a3_rad = 0;       // cubic phase at the band edge
    double gdd_fs2 = 0;      // group delay dispersion
    double tod_fs3 = 0;      // third-order dispersion

    std::int64_t zero_padding = 1;  // factor of the transform's length: 1, 2, 4
    std::int64_t depth_begin = 0;   // bins, counted without zero padding, as depth_end
    std::int64_t depth_end = 0;     // first bin that is not kept; 0: the end

    Average average = Average::none;            // how repeats are joined; none: every line is kept
    NoiseFloor noise_floor = NoiseFloor::none;  // of the calibration: what it is subtracted from
    Quantity quantity = Quantity::db;           // what a voxel holds
    VoxelType voxel = VoxelType::f32;
    Levels levels = Levels::noise_floor;  // what dB, low and high count from
    double low = -5;                      // value of the lowest code of u8, u16, i16: dB or counts
    double high = 45;                     // of the highest
    double noise_floor_db = 0;            // counts as 0 dB; 0: measured from the first volume, then frozen

    Precision precision = Precision::exact;
};

// ---- [nufft] --------------------------------------------------------------------------------------------------------

enum class GridKernel { gaussian, kaiser_bessel, exponential };  // exponential: of a semicircle, FINUFFT's

struct NufftRecipe {  // for recipe.resample = nufft
    GridKernel kernel = GridKernel::kaiser_bessel;
    double oversampling = 2;  // R: points of the finer grid for each of the k grid
    std::int64_t width = 3;   // W: points of the finer grid that a sample spreads to
};

// ---- [defr] ---------------------------------------------------------------------------------------------------------

struct DefrRecipe {                 // for recipe.method = defr
    std::int64_t iterations = 10;   // 0: dispersion compensation alone
    double delta = 0.5;             // peaks above gamma + delta (1 - gamma) of the strongest are found at a time
    double threshold = 0;           // part of the strongest; this instead, where it is not 0
    bool residual = true;           // add the residual after the last iteration
    bool double_precision = false;  // of the search
};

// ---- [compressive] --------------------------------------------------------------------------------------------------

enum class SensingTransform { nufft, exact, fft };
enum class SensingMask { all, uniform, variable, file };
enum class StepRule { clamped, safeguarded, monotone };

struct CompressiveRecipe {                                 // for recipe.method = compressive
    SensingTransform transform = SensingTransform::nufft;  // between depth and samples
    SensingMask mask = SensingMask::all;                   // which samples are used
    double share = 0.3;                                    // of the samples that a random mask leaves
    std::int64_t seed = 1;                                 // of a random mask
    std::int64_t iterations = 15;                          // always as many
    double tau_relative = 0.01;                            // of the largest amplitude of the first guess
    double tau = 0;                                        // counts; this instead, where it is not 0
    bool continuation = false;  // tau falls from a large value to that over the first iterations
    StepRule step = StepRule::clamped;
    double min_step = 0.1;  // least curvature that a step believes in
};

// ---- [flow] ---------------------------------------------------------------------------------------------------------

// What is computed of the repeats of a position, or of neighbouring lines (docs/algorithms.md, Flow).
enum class FlowMethod {
    none,
    doppler,           // phasor of the mean phase step: its angle is the axial velocity
    power_doppler,     // dB of what moves
    speckle_variance,  // from here on angiography, of repeats
    decorrelation,
    omag,
    cdv,
    correlation,
    phase_variance,
    complex_decorrelation
};

struct FlowRecipe {
    FlowMethod method = FlowMethod::none;
    std::int64_t window_depth = 3;       // bins over which phase steps are averaged, as complex numbers
    std::int64_t window_lines = 4;       // A-scans over which they are
    double threshold_db = 10;            // minimum mean power above the noise (dB) for flow to be reported
    bool bulk_motion = false;            // its phase step is removed from each line before averaging
    bool invert = false;                 // velocities towards zero delay are positive
    bool unwrap = false;                 // velocities beyond v_max, as numbers instead of phasors
    double angle_deg = 0;                // between flow and beam; above 0: the absolute velocity
    std::int64_t sub_bands = 1;          // of the spectrum, for decorrelation
    std::int64_t correlation_reach = 2;  // pixels around each, for correlation
    bool align = false;                  // repeats of a B-scan are laid over one another before they are compared
    std::int64_t align_depth = 12;       // bins by which a repeat may be shifted
    std::int64_t align_lines = 8;        // A-scans by which it may be
    double min_match = 0.5;              // coherence with the others below which a repeat is left out
    double significance = 3;             // standard deviations of static tissue, for complex_decorrelation
};

// ---- all of it ------------------------------------------------------------------------------------------------------

// What is asked of a reconstructor.
struct ReconstructionSpec {
    RawFormat format;
    ScanGeometry geometry;
    Calibration calibration;
    Recipe recipe;
    FlowRecipe flow;
    NufftRecipe nufft;
    DefrRecipe defr;
    CompressiveRecipe compressive;
    std::int64_t block_b_scans = 1;  // most B-scan positions in one block
};

}  // namespace echolux
