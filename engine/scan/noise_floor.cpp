#include "engine/scan/noise_floor.h"

#include <cmath>

#include "compute/calibrate/calibrate.h"

namespace echolux {

double noise_floor_for_recipe(const ReconstructionSpec& spec, const Block& block) {
    constexpr double nothing_db = -199;
    const double level = measured_noise_floor_db(spec, block);
    return level < nothing_db ? 0 : std::round(level * 100) / 100;
}

}  // namespace echolux
