// Strips of B-scans against those of a reference: candidates for each by coarse correlation, the most likely path
// through them by dynamic programming, and its place to a fraction of a sample by direct sums.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "compute/registration.h"
#include "engine/registration/registration.h"

namespace echolux {

struct StripPlace {
    double z = 0, x = 0, y = 0;
    double quality = -1;        // normalised cross-correlation; below 0: no strip of the reference to compare with
    double ratio = 0;           // of the coarse peak to the second one
    int past = 0;               // 1, -1: behind it, before it there is no strip of the reference to compare with
    bool is_at_border = false;  // at the end of a range of shifts: the best place may lie beyond it
};

// The correlation of the strip about a row with the one `y` B-scans further on in the reference, shifted by z and x;
// -1: there is no such strip.
using StripCorrelation = std::function<float(std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x)>;

// The place of a row, by correlations.
using FindPlace = std::function<StripPlace(std::int64_t row, const StripCorrelation& correlation)>;

// Features of a moving volume and of a reference, where a processor has them.
class StripPairs {
  public:
    virtual ~StripPairs() = default;

    virtual StripRows coarse_strips(std::int64_t half) const = 0;

    // Of coarse correlations, [row][y]; those of strips that are not there say nothing. Progress by B-scans.
    virtual std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& told) = 0;

    // Of the rows that are wanted; others are left as they are.
    virtual void find(std::int64_t half, const std::vector<bool>& wanted, const FindPlace& find,
                      std::vector<StripPlace>& places) = 0;
};

std::unique_ptr<StripPairs> pairs_on_cpu(const RowFeatures& reference, const RowFeatures& moving);

// `depth`, `a_scans`: of the planes that are compared. Offsets of `first_y` .. `last_y` B-scans in the reference.
// `told` advances by one for each B-scan of the moving volume.
std::vector<StripPlace> match_strips(StripPairs& pairs, std::int64_t depth, std::int64_t a_scans, std::int64_t first_y,
                                     std::int64_t last_y, const RegistrationSettings& settings, Progress& told);

// What the estimates say of themselves: reasons, saccades. `norms`: of the moving B-scans. `rows` is how many the
// reference has; `chance` the correlation that noise reaches by chance. `max_apart`: samples from the median of the
// rows around, beyond which a place is not believed.
std::vector<RowShift> judged(const std::vector<StripPlace>& places, const std::vector<float>& norms, std::int64_t rows,
                             double chance, double max_apart, const RegistrationSettings& settings);

inline constexpr double max_apart_on_a_path = 2;

}  // namespace echolux
