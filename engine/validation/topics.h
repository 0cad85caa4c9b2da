// The parts of a validation, each in a file of the same name. They throw what ValidationRun throws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/validation/check.h"
#include "engine/validation/validation_run.h"

namespace echolux {

// Loss, artefacts and position of a mirror at several depths for each resampling method (resampling.cpp).
std::vector<CheckTable> validated_resampling(ValidationRun& run);

// Width and side lobes of a mirror; also fills the axial table of the report (axial.cpp).
CheckTable validated_axial_response(ValidationRun& run, AxialTable& axial);

// Errors of the NUFFT's kernels against sums in double precision (nufft_error.cpp).
CheckTable validated_nufft(ValidationRun& run);

// Suppression of false images per iteration (full_range.cpp).
std::vector<CheckTable> validated_full_range(ValidationRun& run);

// Results from a third of the samples against the least squares profile of all (sensing.cpp).
CheckTable validated_sensing(ValidationRun& run);

// Measured velocities against true ones (velocities.cpp).
CheckTable validated_velocities(ValidationRun& run);

// Contrast of vessels in tissue that moves between repeats, against tissue at rest (angiograms.cpp).
CheckTable validated_angiograms(ValidationRun& run);

// Surfaces between layers against painted ones (surfaces.cpp).
CheckTable validated_surfaces(ValidationRun& run);

// Speckle filters against the mean of many realisations (speckle_filters.cpp).
CheckTable validated_filters(ValidationRun& run);

// Recorded mirrors: width, side lobes, loss of resampling, false images (recorded_mirrors.cpp). `scans` are one mirror
// each, with k map and background. Also throws Error{bad_file, bad_setting}.
std::vector<CheckTable> validated_mirrors(ValidationRun& run, const std::vector<std::filesystem::path>& scans,
                                          const std::vector<std::string>& settings, AxialTable& axial);

}  // namespace echolux
