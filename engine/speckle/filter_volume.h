// Speckle filters for volumes as stored in files: converts codes to linear power and power back to the same codes.
#pragma once

#include <vector>

#include "engine/io/volume_file.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

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
ProcessorUsed filter_volume(Volume& volume, const SpeckleFilter& filter, Progress& progress,
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
