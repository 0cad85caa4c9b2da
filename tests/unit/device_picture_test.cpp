// Pictures of devices: levels computed by hand.
#include "engine/simulate/device_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

// Two A-scans of 32 rows: noise of power 2, except for three rows.
Volume intensities(const char* quantity = "intensity") {
    std::vector<float> power(64, 2);
    power[4] = 2.3f;  // below the cut of 1.2 times the noise
    power[5] = 27;    // 25 above the noise
    power[40] = 252;  // the brightest
    Volume volume;
    volume.grid.depth = 32;
    volume.grid.a_scans = 2;
    volume.grid.b_scans = 1;
    volume.grid.quantity = quantity;
    volume.voxels.resize(index(volume.grid.bytes()));
    std::memcpy(volume.voxels.data(), power.data(), 4 * power.size());
    return volume;
}

TEST(DevicePictures, SubtractNoiseAndCutBackground) {
    const Volume picture = device_picture(intensities(), {DeviceCode::linear, 1.2, 50});
    const auto* values = reinterpret_cast<const float*>(picture.voxels.data());
    EXPECT_EQ(values[0], 0);
    EXPECT_EQ(values[4], 0);
    EXPECT_NEAR(values[5], 0.1f, 1e-6f);
    EXPECT_EQ(values[40], 1);
    EXPECT_EQ(picture.grid.quantity, "");
    const Volume uncut = device_picture(intensities(), {DeviceCode::linear, 0, 50});
    EXPECT_NEAR(reinterpret_cast<const float*>(uncut.voxels.data())[4], 0.3f / 250, 1e-6f);
}

TEST(DevicePictures, CompressBrightness) {
    const Volume root = device_picture(intensities(), {});
    EXPECT_NEAR(reinterpret_cast<const float*>(root.voxels.data())[5], std::pow(0.1, 0.25), 1e-6);
    const Volume log = device_picture(intensities(), {DeviceCode::log, 1.2, 40});
    ASSERT_EQ(log.grid.type, VoxelType::u8);
    EXPECT_EQ(log.voxels[0], std::byte{0});
    EXPECT_EQ(log.voxels[5], std::byte{191});  // 255 (1 - 10 / 40)
    EXPECT_EQ(log.voxels[40], std::byte{255});
}

TEST(DevicePictures, RefuseOtherQuantities) {
    EXPECT_THROW(device_picture(intensities("db"), {}), Error);
}

}  // namespace
}  // namespace echolux
