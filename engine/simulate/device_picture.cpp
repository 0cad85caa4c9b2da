#include "engine/simulate/device_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/analysis/intensity.h"

namespace echolux {

namespace {

// Returns the smallest mean of eight adjacent rows.
double noise_floor(const std::vector<float>& power, std::int64_t depth) {
    constexpr std::int64_t rows = 8;
    std::vector<double> means(index(depth));
    for (std::size_t i = 0; i < power.size(); ++i)
        means[i % index(depth)] +=
            static_cast<double>(power[i]) * static_cast<double>(depth) / static_cast<double>(power.size());
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t z = 0; z + rows <= depth; ++z) {
        double sum = 0;
        for (std::int64_t i = z; i < z + rows; ++i) sum += means[index(i)] / rows;
        least = std::min(least, sum);
    }
    return least;
}

float brightest(std::vector<float> power) {
    const auto place = power.begin() + std::lround(0.999 * static_cast<double>(power.size() - 1));
    std::ranges::nth_element(power, place);
    return *place;
}

// Returns a code of 8 bits: 255 is the brightest, 0 is range_db below it or cut.
std::uint8_t log_code(float power, double range_db) {
    if (power <= 0) return 0;
    const double share = 1 + 10 * std::log10(static_cast<double>(power)) / range_db;
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)));
}

}  // namespace

Volume device_picture(const Volume& volume, const DevicePicture& device) {
    const std::int64_t depth = volume.grid.depth;
    if (volume.grid.quantity != "intensity" || depth < 16)
        throw Error(ErrorCode::bad_setting, "needs a volume of intensities with at least 16 rows", "device",
                    "reconstruct intensities");
    std::vector<float> power = linear_intensity(volume);
    const double floor = noise_floor(power, depth);
    const auto least = static_cast<float>(device.cut * floor);
    for (float& value : power) value = value < least ? 0 : std::max(value - static_cast<float>(floor), 0.0f);
    const float scale = 1 / std::max(brightest(power), std::numeric_limits<float>::min());
    Volume picture{volume.grid, {}, volume.provenance};
    picture.grid.quantity = picture.grid.unit = "";
    picture.grid.scale = 1;
    picture.grid.offset = 0;
    picture.grid.type = device.code == DeviceCode::log ? VoxelType::u8 : VoxelType::f32;
    picture.voxels.resize(index(picture.grid.bytes()));
    for (std::size_t i = 0; i < power.size(); ++i) {
        const float share = std::min(power[i] * scale, 1.0f);
        if (device.code == DeviceCode::log)
            reinterpret_cast<std::uint8_t*>(picture.voxels.data())[i] = log_code(share, device.range_db);
        else
            reinterpret_cast<float*>(picture.voxels.data())[i] =
                device.code == DeviceCode::linear ? share : std::sqrt(std::sqrt(share));
    }
    return picture;
}

}  // namespace echolux
