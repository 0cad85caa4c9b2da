// Matches strips of B-scans to those of a reference: finds candidates for each strip by coarse correlation, chooses the
// most likely path through them by dynamic programming, and refines each position to a fraction of a sample by direct
// sums.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "compute/tissue_on_gpu.h"
#include "engine/registration/registration.h"

namespace echolux {

// Position of a strip in the reference, in samples of the grid.
struct StripPlace {
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
using FindPlace = std::function<StripPlace(std::int64_t row, const StripCorrelation& correlation)>;

// Correlations of a moving volume with a reference, on one processor.
class StripPairs {
  public:
    virtual ~StripPairs() = default;

    // Returns the coarse strips with their norms. `half` is half the strip's width in B-scans.
    virtual StripRows coarse_strips(std::int64_t half) const = 0;

    // Returns the peaks of coarse correlations, [row][y]; those of strips that do not exist are undefined. Progress
    // advances per B-scan.
    virtual std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& told) = 0;

    // Calls `find` for the wanted rows and stores the results in `places`; does not change the others.
    virtual void find(std::int64_t half, const std::vector<bool>& wanted, const FindPlace& find,
                      std::vector<StripPlace>& places) = 0;
};

// Keeps references to the features.
std::unique_ptr<StripPairs> pairs_on_cpu(const RowFeatures& reference, const RowFeatures& moving);

// Finds the position of each strip, at offsets of `first_y` to `last_y` B-scans in the reference. `depth` and `a_scans`
// are the size of the compared planes. Progress advances by 1 per B-scan of the moving volume.
std::vector<StripPlace> match_strips(StripPairs& pairs, std::int64_t depth, std::int64_t a_scans, std::int64_t first_y,
                                     std::int64_t last_y, const RegistrationSettings& settings, Progress& told);

// Converts positions to row shifts and judges them: sets reasons and saccades. `norms` are those of the moving B-scans,
// `rows` is the number of B-scans of the reference, and `chance` the correlation that noise reaches. Rows more than
// `max_apart` samples from the median of their neighbours are rejected.
std::vector<RowShift> judged(const std::vector<StripPlace>& places, const std::vector<float>& norms, std::int64_t rows,
                             double chance, double max_apart, const RegistrationSettings& settings);

inline constexpr double max_apart_on_a_path = 2;

// Registration of volumes in GPU memory, on top of compute/tissue_on_gpu.h.

// GPU counterparts of tissue_band() and row_features().
Interval tissue_band_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, std::int64_t margin);
std::shared_ptr<FeaturesOnGpu> features_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, Interval band);

// Returns the strip correlations of two volumes. Keeps references to the arguments.
std::unique_ptr<StripPairs> pairs_on_gpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference,
                                         const FeaturesOnGpu& moving);

}  // namespace echolux
