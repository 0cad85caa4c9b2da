// Speckle filters for displayed or exported volumes; recordings never change (docs/filters.md). All filters work on
// linear power, where the mean of speckle is the reflectivity of the tissue.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/backend.h"
#include "compute/plan/described.h"
#include "compute/speckle.h"
#include "engine/analysis/intensity.h"
#include "engine/analysis/stored_brightness.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

enum class FilterMethod { nlm, median, bilateral };

// Section [filter] of the settings; described in speckle_filter.cpp.
struct SpeckleFilter {
    FilterMethod method = FilterMethod::nlm;
    double looks = 1;
    std::int64_t search_depth = 11, search_a_scans = 11, search_b_scans = 7;  // in voxels, odd
    std::int64_t patch = 5;                                                   // edge in voxels, odd
    double strength = 0.1;
    bool blend = true;  // of single B-scans, see speckle_filter.cpp
    std::int64_t median_size = 5;
    double sigma = 2;
    double range_db = 4;
    StoredAs stored_as = StoredAs::automatic;

    bool operator==(const SpeckleFilter&) const = default;
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
    SelectedBackend used;
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

// ---- Speckle filters for volumes as stored in files: converts codes to linear power and power back to the same codes.

// Returns linear power, 0 or more; NaN becomes 0. Throws Error{bad_setting} for complex voxels, flow, and volumes
// without a quantity, unless `stored_as` gives it.
std::vector<float> power_of(const Volume& volume, StoredAs stored_as);

// stored_power() returns how codes of the volume encode power, and throws as power_of() does. power_of_codes() returns
// the power of every code of an integer type, indexed by its bits; empty for other types.
StoredPower stored_power(const VolumeGrid& grid, StoredAs stored_as);
std::vector<float> power_of_codes(const StoredPower& stored, VoxelType type);

// Replaces the volume's power, in its own quantity and codes. NaN voxels stay NaN.
void set_power(Volume& volume, StoredAs stored_as, const std::vector<float>& power);

// Filters the volume in place. Throws as power_of() and filtered() do.
SelectedBackend filter_volume(Volume& volume, const SpeckleFilter& filter, Progress& progress,
                              const BackendChoice& choice = {.backend = Backend::cpu});

// Mean power of several looks at the same tissue: registered volumes of a series, or of several angles.
class Compound {
  public:
    // Adds a look. Throws Error{bad_setting} if the size differs, and as power_of() does.
    void add(const Volume& volume, StoredAs stored_as);

    std::int64_t looks() const { return looks_; }

    // Returns the equivalent number of independent volumes, 1 to n: n / (1 + (n - 1) r), where r is the correlation of
    // speckle between successive volumes. `looks_before` is the number of looks averaged in each volume.
    double effective_looks(double looks_before) const;

    // Returns the mean in the codes of the first look, over the looks that have a value at the voxel; NaN without any.
    // Throws Error{bad_setting} if no look was added.
    Volume mean(StoredAs stored_as) const;

  private:
    Volume first_;  // without voxels
    std::vector<float> last_;
    std::vector<double> sum_;
    std::vector<std::uint32_t> counts_;
    std::int64_t looks_ = 0;
    double differences_ = 0, products_ = 0;  // sums over successive volumes
};

}  // namespace echolux
