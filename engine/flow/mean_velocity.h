// What a series of velocity volumes has in common: the mean velocity around each voxel, and how much noise it has.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// Velocities in mm/s, 0 where none is known, whatever type the voxels have. Throws Error{bad_setting}: the volume holds
// something else.
std::vector<float> axial_velocities(const Volume& volume);

// Throws Error{bad_setting}: no velocities, no spacings, a single B-scan.
void require_velocities(const VolumeGrid& grid);

struct MeanVelocity {
    std::vector<float> mm_s;  // means over time and 3 x 3 x 3 voxels, between -v_max and v_max; 0: hardly any is known
    double noise_mm_s = 0;    // standard deviation of these
    double single_mm_s = 0;   // of a voxel of one volume
};

// Sums volumes of one size, one after the other. Velocities turn over at v_max, so that they are averaged as phasors.
class VelocitySum {
  public:
    explicit VelocitySum(const VolumeGrid& grid);

    void add(const std::vector<float>& velocities);
    MeanVelocity mean() const;

  private:
    VolumeGrid grid_;
    double v_max_ = 0;
    std::vector<float> real_, imaginary_;  // of the sum of phasors
    std::vector<double> single_;           // noise of each volume
};

// The greatest velocity that is told from others; where it is unknown, 0.
double v_max_of(const VolumeGrid& grid);

}  // namespace echolux
