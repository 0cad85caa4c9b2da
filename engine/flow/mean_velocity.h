// Mean velocity and noise of a series of velocity volumes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// Returns velocities in mm/s for any voxel type; 0 where unknown. Throws Error{bad_setting} if the volume does not
// contain velocities.
std::vector<float> axial_velocities(const Volume& volume);

// Throws Error{bad_setting} if the volume has no velocities, no spacings or fewer than three B-scans.
void require_velocities(const VolumeGrid& grid);

struct MeanVelocity {
    // Means over time and 3 x 3 x 3 voxels, between -v_max and v_max; 0 if fewer than half of these voxels are known.
    std::vector<float> mm_s;
    double noise_mm_s = 0;   // standard deviation of mm_s
    double single_mm_s = 0;  // standard deviation of a voxel of one volume
};

// Averages volumes of the same size. Velocities wrap around at v_max, so they are averaged as phasors.
class VelocitySum {
  public:
    explicit VelocitySum(const VolumeGrid& grid);

    // Adds the velocities of one volume in mm/s, 0 where unknown.
    void add(const std::vector<float>& velocities);
    // Returns the mean of all volumes added until now.
    MeanVelocity mean() const;

  private:
    VolumeGrid grid_;
    double v_max_ = 0;
    std::vector<float> real_, imaginary_;  // sum of phasors
    std::vector<double> single_;           // noise of each volume
};

// Returns the largest velocity that does not wrap around, in mm/s; 0: unknown.
double v_max_of(const VolumeGrid& grid);

}  // namespace echolux
