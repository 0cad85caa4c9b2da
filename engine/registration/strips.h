// Strips of B-scans against those of a reference: candidates for each by coarse correlation, the most likely path
// through them by dynamic programming, and its place to a fraction of a sample by direct sums.
#pragma once

#include <vector>

#include "engine/registration/registration.h"

namespace echolux {

struct StripPlace {
    double z = 0, x = 0, y = 0;
    double quality = -1;        // normalised cross-correlation; below 0: no strip of the reference to compare with
    double ratio = 0;           // of the coarse peak to the second one
    int past = 0;               // 1, -1: behind it, before it there is no strip of the reference to compare with
    bool is_at_border = false;  // at the end of a range of shifts: the best place may lie beyond it
};

// Of rows `first_y` .. `last_y` (offsets) of the reference. `told` advances by one for each B-scan of `moving`.
std::vector<StripPlace> match_strips(const RowFeatures& reference, const RowFeatures& moving, std::int64_t first_y,
                                     std::int64_t last_y, const RegistrationSettings& settings, Progress& told);

// What the estimates say of themselves: reasons, saccades. `rows` is how many the reference has; `chance` the
// correlation that noise reaches by chance. `max_apart`: samples from the median of the rows around, beyond which a
// place is not believed.
std::vector<RowShift> judged(const std::vector<StripPlace>& places, const RowFeatures& moving, std::int64_t rows,
                             double chance, double max_apart, const RegistrationSettings& settings);

inline constexpr double max_apart_on_a_path = 2;

}  // namespace echolux
