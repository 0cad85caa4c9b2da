// Registration of volumes in a GPU's memory: see compute/registration.h.
#pragma once

#include <memory>

#include "engine/registration/strips.h"

namespace echolux {

// As tissue_band(), row_features().
Interval tissue_band_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, std::int64_t margin);
std::shared_ptr<FeaturesOnGpu> features_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, Interval band);

std::unique_ptr<StripPairs> pairs_on_gpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference,
                                         const FeaturesOnGpu& moving);

}  // namespace echolux
