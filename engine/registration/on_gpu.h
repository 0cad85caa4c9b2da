// Registration of volumes in GPU memory, on top of compute/tissue_on_gpu.h.
#pragma once

#include <memory>

#include "engine/registration/strips.h"

namespace echolux {

// GPU counterparts of tissue_band() and row_features().
Interval tissue_band_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, std::int64_t margin);
std::shared_ptr<FeaturesOnGpu> features_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, Interval band);

// Returns the strip correlations of two volumes. Keeps references to the arguments.
std::unique_ptr<StripPairs> pairs_on_gpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference,
                                         const FeaturesOnGpu& moving);

}  // namespace echolux
