// What features are made by, the same on every processor: see RowFeatures.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/steps/registration.h"
#include "engine/registration/registration.h"

namespace echolux {

inline constexpr std::int64_t coarse_times = 4;  // fine samples along depth and A-scans in a coarse one
inline constexpr int slow_means = 3;             // running means in place of a Gaussian: what is slow

// Of power, along depth and along A-scans; the middle one belongs to the sample itself.
std::vector<float> smoothing_weights();

// Samples of a running mean on either side.
std::int64_t slow_mean_half();

// Every `step`-th of something.
struct Samples {
    std::int64_t count, step;
};

// Of the voxels of a volume, by which its brightness is judged.
Samples samples_of(std::int64_t voxels);

// Throws Error{bad_setting}: none of the samples is above zero.
LogFeature log_feature(std::vector<float> samples);

// Of the A-scans of a volume, by which its band of tissue is found; and that band.
Samples lines_of_band(const VolumeGrid& grid);
Interval band_of_lines(const std::vector<float>& lines, std::int64_t depth, std::int64_t margin);

// Norms of B-scans that show nothing become 0.
void silence(std::vector<float>& norms);

}  // namespace echolux
