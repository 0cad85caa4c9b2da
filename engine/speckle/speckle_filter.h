// Speckle filters for displayed or exported volumes; recordings never change (docs/filters.md). All filters work on
// linear power, where the mean of speckle is the reflectivity of the tissue.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/backend.h"
#include "compute/plan/described.h"
#include "compute/speckle.h"
#include "engine/analysis/intensity.h"
#include "engine/progress.h"

namespace echolux {

enum class FilterMethod { nlm, median, bilateral };
enum class StoredAs { automatic, db, intensity, amplitude };

// Section [filter] of the settings; described in speckle_filter.cpp.
struct SpeckleFilter {
    FilterMethod method = FilterMethod::nlm;
    double looks = 1;
    std::int64_t search_depth = 11, search_a_scans = 11, search_b_scans = 7;  // in voxels, odd
    std::int64_t patch = 5;                                                   // edge in voxels, odd
    double strength = 0.1;
    std::int64_t median_size = 5;
    double sigma = 2;
    double range_db = 4;
    StoredAs stored_as = StoredAs::automatic;
};

// Throws Error{bad_setting} for a value out of range or an even width.
void check_filter(const SpeckleFilter& filter);

// Returns the filtered power. `power` is [b_scan][a_scan][depth], linear, 0 or more. The result does not depend on the
// number of threads.
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                            Progress& progress);

// Filters on the requested processor. Results of processors differ by less than 1e-5 of the values.
struct FilteredPower {
    std::vector<float> power;
    ProcessorUsed used;
};
FilteredPower filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                       const BackendChoice& choice, Progress& progress);

// Return the tables of a filter. `margin` is log_margin() of the power, the only value that depends on it.
SpeckleTables tables_of(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter);
SpeckleTables tables_of(const Size3& size, const SpeckleFilter& filter, float margin);

// The filters, one file each. Non-local means with weights from the likelihood of speckle (C. Cuartas-Velez et al.,
// Biomed. Opt. Express 9, 3354, 2018; C.-A. Deledalle et al., IEEE TIP 18, 2661, 2009).
NonLocalMeansTables non_local_means_tables(const Size3& size, const SpeckleFilter& filter, float margin);
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const NonLocalMeansTables& tables,
                            Progress& progress);

// Median of a cube, divided by the median of speckle of mean 1.
MedianTables median_tables(const SpeckleFilter& filter);
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const MedianTables& tables,
                            Progress& progress);

// Bilateral filter: weights fall with distance and with the difference in dB of a smoothed volume (C. Tomasi, R.
// Manduchi, ICCV 1998).
BilateralTables bilateral_tables(const Size3& size, const SpeckleFilter& filter, float margin);
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const BilateralTables& tables,
                            Progress& progress);

// Returns a small share of the brightest power. It is added inside logarithms so that empty voxels do not dominate.
float log_margin(const std::vector<float>& power);

}  // namespace echolux
