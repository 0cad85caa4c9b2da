// Shared by the tests of live sessions.
#pragma once

#include "fringes.h"

namespace echolux::test {

inline constexpr std::int32_t soon = 60'000;  // ms

inline echolux_live_options options(std::int32_t delivery) {
    auto options = lux::make<echolux_live_options>();
    options.delivery = delivery;
    return options;
}

inline std::vector<float> floats_of(const lux::Volume& volume) {
    const auto voxels = volume.voxels<float>();
    return {voxels.begin(), voxels.end()};
}

}  // namespace echolux::test
