// Speckle filters on volumes as files have them: codes become linear power, and power the same codes again.
#pragma once

#include <vector>

#include "engine/io/volume_file.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// Linear power, 0 or more; what is no number is 0. Throws Error{bad_setting} for complex voxels, flow, and volumes that
// do not say what they hold, unless `stored_as` does.
std::vector<float> power_of(const Volume& volume, StoredAs stored_as);

// How the codes of such a volume say power. Throws as power_of(). And of every code of a type whose codes are whole
// numbers, by its bits; empty for others.
StoredPower stored_power(const VolumeGrid& grid, StoredAs stored_as);
std::vector<float> power_of_codes(const StoredPower& stored, VoxelType type);

// The volume with its power replaced, in its own quantity and codes; voxels that were no number stay none.
void set_power(Volume& volume, StoredAs stored_as, const std::vector<float>& power);

// Throws what power_of() and filtered() throw.
ProcessorUsed filter_volume(Volume& volume, const SpeckleFilter& filter, Progress& progress,
                            const BackendChoice& choice = {.backend = Backend::cpu});

// The mean power of several looks at the same tissue: registered volumes of a series, or of several angles.
class Compound {
  public:
    // Throws Error{bad_setting} for a volume of another size, and what power_of() throws.
    void add(const Volume& volume, StoredAs stored_as);

    std::int64_t looks() const { return looks_; }

    // As how many independent volumes they count: n / (1 + (n - 1) r), with r the correlation of the tissue's speckle
    // from one volume to the next. 1 to n. `looks_before`: that were averaged in each volume.
    double effective_looks(double looks_before) const;

    // In the codes of the first look; of each voxel those looks count that have a value there, NaN where none has.
    // Throws Error{bad_setting} without any.
    Volume mean(StoredAs stored_as) const;

  private:
    Volume first_;  // without voxels
    std::vector<float> last_;
    std::vector<double> sum_;
    std::vector<std::uint32_t> counts_;
    std::int64_t looks_ = 0;
    double differences_ = 0, products_ = 0;  // of volumes in order
};

}  // namespace echolux
