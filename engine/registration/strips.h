// Matches strips of B-scans to those of a reference: finds candidates for each strip by coarse correlation, chooses the
// most likely path through them by dynamic programming, and refines each position to a fraction of a sample by direct
// sums.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "compute/fft/fft.h"
#include "compute/steps/registration.h"
#include "compute/tissue_on_gpu.h"
#include "engine/registration/registration.h"

namespace echolux {

// Position of a strip in the reference, in samples of the grid.
struct StripPosition {
    double z = 0, x = 0, y = 0;
    double quality = -1;        // normalized cross-correlation; below 0: the reference has no strip to compare with
    double ratio = 0;           // coarse peak to the second peak
    int past = 0;               // the reference has no strip after (1) or before (-1) this position
    bool is_at_border = false;  // at the end of the search range: the best position may be outside
};

// Returns the correlation of the strip around `row` with the strip `y` B-scans further in the reference, shifted by z
// and x; -1 if that strip does not exist.
using StripCorrelation = std::function<float(std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x)>;

// Returns the position of a row found by means of `correlation`.
using StripSearch = std::function<StripPosition(std::int64_t row, const StripCorrelation& correlation)>;

// Correlations of a moving volume with a reference, on one processor.
class StripPairs {
  public:
    virtual ~StripPairs() = default;

    // Returns the coarse strips with their norms. `half` is half the strip's width in B-scans.
    virtual StripRows coarse_strips(std::int64_t half) const = 0;

    // Returns the peaks of coarse correlations, [row][y]; those of strips that do not exist are undefined. Progress
    // advances per B-scan.
    virtual std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& progress) = 0;

    // Calls `find` for the wanted rows and stores the results in `places`; does not change the others.
    virtual void find(std::int64_t half, const std::vector<bool>& wanted, const StripSearch& find,
                      std::vector<StripPosition>& places) = 0;
};

// Keeps references to the features.
std::unique_ptr<StripPairs> pairs_on_cpu(const RowFeatures& reference, const RowFeatures& moving);

// Finds the position of each strip, at offsets of `first_y` to `last_y` B-scans in the reference. `depth` and `a_scans`
// are the size of the compared planes. Progress advances by 1 per B-scan of the moving volume.
std::vector<StripPosition> match_strips(StripPairs& pairs, std::int64_t depth, std::int64_t a_scans,
                                        std::int64_t first_y, std::int64_t last_y, const RegistrationSettings& settings,
                                        Progress& progress);

// Converts positions to row shifts and judges them: sets reasons and saccades. `norms` are those of the moving B-scans,
// `rows` is the number of B-scans of the reference, and `chance` the correlation that noise reaches. Rows more than
// `max_apart` samples from the median of their neighbours are rejected.
std::vector<RowShift> judged(const std::vector<StripPosition>& places, const std::vector<float>& norms,
                             std::int64_t rows, double chance, double max_apart, const RegistrationSettings& settings);

inline constexpr double max_apart_on_a_path = 2;

// ---- Registration of volumes in GPU memory, on top of compute/tissue_on_gpu.h.

// GPU counterparts of tissue_band() and row_features().
Interval tissue_band_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, std::int64_t margin);
std::shared_ptr<FeaturesOnGpu> features_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, Interval band);

// Returns the strip correlations of two volumes. Keeps references to the arguments.
std::unique_ptr<StripPairs> pairs_on_gpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference,
                                         const FeaturesOnGpu& moving);

// ---- Features of B-scans on the CPU, and parameters and tables of RowFeatures that both backends share.

inline constexpr std::int64_t coarse_times = 4;  // fine samples per coarse sample, in depth and A-scans
// Number of running means that approximate the Gaussian of the high-pass filter.
inline constexpr int slow_means = 3;

// Returns the weights that smooth power in depth and along A-scans, centred on the sample.
std::vector<float> smoothing_weights();

// Returns the half width of the running mean, in samples.
std::int64_t slow_mean_half();

// Every `step`-th item, `count` of them.
struct Samples {
    std::int64_t count, step;
};

// Returns the voxels that are sampled to estimate a volume's brightness.
Samples samples_of(std::int64_t voxels);

// Returns the logarithm's floor from sampled power. Throws Error{bad_setting} if no sample is positive.
LogFeature log_feature(std::vector<float> samples);

// Returns the A-scans that are sampled to find the band of tissue; band_of_lines() finds the band, extended by
// `margin`.
Samples lines_of_band(const VolumeGrid& grid);
Interval band_of_lines(const std::vector<float>& lines, std::int64_t depth, std::int64_t margin);

// Sets the norms of B-scans without signal to 0.
void silence(std::vector<float>& norms);

// ---- Cross-correlation of B-scans. Coarse samples are correlated over all shifts of a range by Fourier transforms.
// Fine samples are correlated at single shifts by direct sums. Results of Fourier libraries differ in the last bits,
// whereas sums in a fixed order do not; therefore final values use direct sums only.

// Fourier transforms of planes [a_scan][depth], zero-padded by the range of shifts. Use an object from one thread at a
// time.
class PlaneTransform {
  public:
    using Spectrum = std::vector<std::complex<float>>;  // [depth frequency][lateral frequency]

    PlaneTransform(std::int64_t depth, std::int64_t a_scans, std::int64_t max_z, std::int64_t max_x);

    // Returns the spectrum of a plane.
    Spectrum forward(const float* plane);

    // Writes the cross-correlation, the inverse transform of a conj(b), to shift_map().cells() values of `map`.
    void correlate(const Spectrum& a, const Spectrum& b, float* map);

    // Layout of the maps that correlate() writes.
    ShiftMap shift_map() const { return {static_cast<std::int32_t>(max_z_), static_cast<std::int32_t>(max_x_)}; }

  private:
    std::int64_t depth_, a_scans_, max_z_, max_x_;
    std::int64_t long_z_, long_x_, bins_z_;
    Fft z_forward_, z_inverse_, x_forward_, x_inverse_;
    std::vector<std::complex<float>> columns_;  // [shift or A-scan][depth frequency]
    Spectrum cross_;
};

// Returns the peak of a map and the second one apart from it. `at` returns the correlation of a cell.
template <class At>
CoarsePeak peak_of(const ShiftMap& map, const At& at) {
    float value = -1, second = -1;
    std::int32_t best = 0;
    for (std::int32_t cell = 0; cell < map.cells(); ++cell) {
        if (at(cell) <= value) continue;
        value = at(cell);
        best = cell;
    }
    for (std::int32_t cell = 0; cell < map.cells(); ++cell) {
        if (at(cell) > second && map.is_apart(cell, best)) second = at(cell);
    }
    return map.peak(at, best, value, second);
}

// Returns the sum of a(r + s) b(r) over all r inside both planes. Uses a fixed set of partial sums, so that the result
// does not depend on the machine.
float overlap_product(const float* a, const float* b, std::int64_t depth, std::int64_t a_scans, std::int64_t shift_z,
                      std::int64_t shift_x);

}  // namespace echolux
