// The parts of a validation, each in a file of its name. Each throws what ValidationRun throws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/validation/check.h"
#include "engine/validation/validation_run.h"

namespace echolux {

// Loss, artefacts and place of a mirror at several depths, by every way of resampling (resampling.cpp).
std::vector<CheckTable> validated_resampling(ValidationRun& run);

// Width and side lobes of a mirror, which also go into the report's axial table (axial.cpp).
CheckTable validated_axial_response(ValidationRun& run, AxialTable& axial);

// Errors of the NUFFT's kernels against sums in double (nufft_error.cpp).
CheckTable validated_nufft(ValidationRun& run);

// How far false images go down with each iteration (full_range.cpp).
std::vector<CheckTable> validated_full_range(ValidationRun& run);

// What is found in a third of the samples, against the least-squares profile of all (sensing.cpp).
CheckTable validated_sensing(ValidationRun& run);

// Found velocities against true ones (velocities.cpp).
CheckTable validated_velocities(ValidationRun& run);

// Contrast of vessels in tissue that moves between repeats, against that in tissue at rest (angiograms.cpp).
CheckTable validated_angiograms(ValidationRun& run);

// Surfaces between layers against painted ones (surfaces.cpp).
CheckTable validated_surfaces(ValidationRun& run);

// Speckle filters against the mean of many realisations (speckle_filters.cpp).
CheckTable validated_filters(ValidationRun& run);

// Recorded mirrors: width, side lobes, what resampling leaves, false images (recorded_mirrors.cpp). `scans`: one each,
// with k map and background. Throws Error{bad_file, bad_setting} as well.
std::vector<CheckTable> validated_mirrors(ValidationRun& run, const std::vector<std::filesystem::path>& scans,
                                          const std::vector<std::string>& settings, AxialTable& axial);

}  // namespace echolux
