// Filters against speckle, for volumes that are shown or exported; recordings never change (docs/filters.md). All work
// on linear power, where the mean of speckle is what the tissue reflects.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/chosen_processor.h"
#include "compute/plan/describe.h"
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
    std::int64_t search_depth = 11, search_a_scans = 11, search_b_scans = 7;  // voxels, odd
    std::int64_t patch = 5;                                                   // voxels along each edge, odd
    double strength = 0.1;
    std::int64_t median_size = 5;
    double sigma = 2;
    double range_db = 4;
    StoredAs stored_as = StoredAs::automatic;
};

// Throws Error{bad_setting}: a value out of its range, an even width.
void check_filter(const SpeckleFilter& filter);

// `power`: [b_scan][a_scan][depth], linear, 0 or more. The same bits for any number of threads.
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                            Progress& progress);

// On the processor that is asked for, whose results differ by less than 1e-5 of the values.
struct FilteredPower {
    std::vector<float> power;
    ProcessorUsed used;
};
FilteredPower filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                       const BackendChoice& choice, Progress& progress);

// What filters work by. `margin`: log_margin() of the power, all that the power decides.
SpeckleTables tables_of(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter);
SpeckleTables tables_of(const Size3& size, const SpeckleFilter& filter, float margin);

// One file each. Non-local means weighted by likelihoods of speckle (C. Cuartas-Velez et al., Biomed. Opt. Express 9,
// 3354, 2018; C.-A. Deledalle et al., IEEE TIP 18, 2661, 2009).
NonLocalMeansTables non_local_means_tables(const Size3& size, const SpeckleFilter& filter, float margin);
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const NonLocalMeansTables& tables,
                            Progress& progress);

// The median of a cube, divided by the median of speckle of mean 1.
MedianTables median_tables(const SpeckleFilter& filter);
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const MedianTables& tables,
                            Progress& progress);

// Weights fall with distance and with the difference in dB of a smoothed volume (C. Tomasi, R. Manduchi, ICCV 1998).
BilateralTables bilateral_tables(const Size3& size, const SpeckleFilter& filter, float margin);
std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const BilateralTables& tables,
                            Progress& progress);

// A small share of the brightest power, added inside logarithms so that voxels of nothing do not decide.
float log_margin(const std::vector<float>& power);

}  // namespace echolux
