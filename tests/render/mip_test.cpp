// Maximum intensity projection compared with projections of the voxels computed here.
#include <algorithm>
#include <cmath>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "rendering.h"

namespace echolux::test {
namespace {

constexpr std::int64_t depth = 18, a_scans = 22, b_scans = 26;

double speckle(std::int64_t z, std::int64_t a, std::int64_t b) {
    return 40 * noise(z, a, b);
}

template <class Value>
double max_of(std::int64_t count, const Value& value) {
    double most = value(0);
    for (std::int64_t i = 1; i < count; ++i) most = std::max<double>(most, value(i));
    return most;
}

class Maximum : public Rendering {
  protected:
    // Expects `expected(column, row)` for a picture with one pixel per voxel.
    template <class Expected>
    void expect_picture(double azimuth_deg, double elevation_deg, std::int64_t width, std::int64_t height,
                        const Expected& expected) {
        for (const VoxelType type : {VoxelType::f32, VoxelType::u16}) {
            const VolumeGrid grid = db_grid(depth, a_scans, b_scans, type);
            renderer().set_volume(grid, voxels(grid, speckle).data());
            View view = voxel_view(grid, width, height);
            view.mode = ViewMode::mip;
            view.azimuth_deg = azimuth_deg;
            view.elevation_deg = elevation_deg;
            const std::vector<RayMeasure> rays = renderer().measure(view);
            for (std::int64_t row = 0; row < height; ++row) {
                for (std::int64_t column = 0; column < width; ++column) {
                    EXPECT_NEAR(rays[index(row * width + column)].value, expected(column, row), 2e-3)
                        << "column " << column << " row " << row;
                }
            }
        }
    }
};

TEST_F(Maximum, FrontViewProjectsAlongBScans) {
    expect_picture(0, 0, a_scans, depth, [](std::int64_t column, std::int64_t row) {
        return max_of(b_scans, [&](std::int64_t b) { return speckle(row, column, b); });
    });
}

TEST_F(Maximum, RightViewProjectsAlongAScans) {
    expect_picture(90, 0, b_scans, depth, [](std::int64_t column, std::int64_t row) {
        return max_of(a_scans, [&](std::int64_t a) { return speckle(row, a, column); });
    });
}

TEST_F(Maximum, TopViewIsEnFaceProjection) {
    expect_picture(0, 90, a_scans, b_scans, [](std::int64_t column, std::int64_t row) {
        return max_of(depth, [&](std::int64_t z) { return speckle(z, column, b_scans - 1 - row); });
    });
}

// A few bright voxels in an empty volume, seen at an angle: skipped runs of samples must be really empty.
TEST_F(Maximum, SkippingKeepsVisibleVoxels) {
    const VolumeGrid grid = db_grid(61, 67, 71);
    const auto sparse = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return noise(z, a, b) < 0.002 ? 40.0 : 0.0;
    };
    renderer().set_volume(grid, voxels(grid, sparse).data());
    View view = voxel_view(grid, 101, 99);
    view.mode = ViewMode::mip;
    view.azimuth_deg = 30;

    const auto at = [&](double z, double a, double b) {  // trilinear, clamped to the edge
        double sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
            double weight = 1;
            const auto index = [&](double x, std::int64_t n, int bit) {
                const double low = std::floor(x - 0.5);
                const bool upper = ((corner >> bit) & 1) != 0;
                weight *= upper ? x - 0.5 - low : 1 - (x - 0.5 - low);
                return std::clamp<std::int64_t>(static_cast<std::int64_t>(low) + (upper ? 1 : 0), 0, n - 1);
            };
            const std::int64_t i = index(z, 61, 0);
            const std::int64_t j = index(a, 67, 1);
            const std::int64_t k = index(b, 71, 2);
            sum += weight * sparse(i, j, k);
        }
        return sum;
    };
    const double c = std::cos(std::acos(-1.0) / 6);
    const double s = 0.5;
    const std::vector<RayMeasure> rays = renderer().measure(view);
    // Vulkan allows hardware to filter with 8-bit weights; software Vulkan uses floats.
    const double tolerance = renderer().device_name().starts_with("llvmpipe") ? 0.01 : 40 * 3 / 512.0;
    int bright = 0;
    for (std::int64_t row = 20; row < 80; ++row) {
        for (std::int64_t column = 20; column < 80; ++column) {
            const double x = static_cast<double>(column) + 0.5 - 50.5;
            const double z = 30.5 + static_cast<double>(row) + 0.5 - 49.5;
            // The ray (A, B) = x (c, s) + t (-s, c) enters through the face that it crosses last.
            const double enter = std::max((x * c - 33.5) / s, (-35.5 - x * s) / c);
            const double leave = std::min((x * c + 33.5) / s, (35.5 - x * s) / c);
            if (z <= 0 || z >= 61 || leave <= enter) continue;
            const double count = std::ceil(leave - enter - 1e-3);
            const double expected = max_of(static_cast<std::int64_t>(count), [&](std::int64_t i) {
                const double t = enter + (static_cast<double>(i) + 0.5) * (leave - enter) / count;
                return at(z, 33.5 + x * c - t * s, 35.5 + x * s + t * c);
            });
            EXPECT_NEAR(rays[index(row * 101 + column)].value, expected, tolerance)
                << "column " << column << " row " << row;
            if (expected > 10) ++bright;
        }
    }
    EXPECT_GT(bright, 100);
}

}  // namespace
}  // namespace echolux::test
