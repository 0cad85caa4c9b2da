// Parameters and tables of RowFeatures that are shared by all processors.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/steps/registration.h"
#include "engine/registration/registration.h"

namespace echolux {

inline constexpr std::int64_t coarse_times = 4;  // fine samples per coarse sample, in depth and A-scans
inline constexpr int slow_means = 3;             // number of running means that approximate the Gaussian of the
                                                 // high-pass filter

// Returns the weights that smooth power in depth and along A-scans, centred on the sample.
std::vector<float> smoothing_weights();

// Returns the half width of the running mean, in samples.
std::int64_t slow_mean_half();

// Every `step`-th item, `count` of them.
struct Samples {
    std::int64_t count, step;
};

// Returns the voxels that are sampled to estimate a volume's brightness.
Samples samples_of(std::int64_t voxels);

// Returns the logarithm's floor from sampled power. Throws Error{bad_setting} if no sample is positive.
LogFeature log_feature(std::vector<float> samples);

// Returns the A-scans that are sampled to find the band of tissue; band_of_lines() finds the band, extended by
// `margin`.
Samples lines_of_band(const VolumeGrid& grid);
Interval band_of_lines(const std::vector<float>& lines, std::int64_t depth, std::int64_t margin);

// Sets the norms of B-scans without signal to 0.
void silence(std::vector<float>& norms);

}  // namespace echolux
