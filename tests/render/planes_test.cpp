// B-scans that are planes in space: their positions, which is in front, and no interpolation between them. Compared
// with geometry computed here from the camera's rays.
#include <cmath>
#include <cstring>
#include <glm/geometric.hpp>

#include "render/camera.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::int64_t depth = 40, a_scans = 60;
constexpr double half_mm = 0.5 * (a_scans - 1);  // half the width of a B-scan in mm; a voxel is 1 mm wide

const BScanPose along_x{-half_mm, 0, half_mm, 0};
const BScanPose along_y{0, -half_mm, 0, half_mm};
const std::vector<BScanPose> cross{along_x, along_y};
const std::vector<BScanPose> parallel{{-half_mm, -12, half_mm, -12}, along_x, {-half_mm, 12, half_mm, 12}, along_y};

class Planes : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        set(view_,
            "projection=orthographic azimuth_deg=0 elevation_deg=0 background=0,0,0 box=false low=0 high=40 "
            "width=96 height=72");
    }

    VolumeGrid grid(std::size_t b_scans) const {
        VolumeGrid grid = db_grid(depth, a_scans, static_cast<std::int64_t>(b_scans));
        grid.spacing_um = {1000, 1000, 0};
        return grid;
    }

    void show(const std::vector<BScanPose>& poses, const ValueAt& value) {
        renderer().set_volume(grid(poses.size()), voxels(grid(poses.size()), value).data());
        renderer().set_poses(poses);
    }

    int level(const Image& image, std::int64_t x, std::int64_t y) const { return pixel_at(image, x, y)[0]; }

    View view_;
};

// Distance from `start` along the ray at which it hits a plane between the ends of its A-scans; negative if it does
// not.
double met(const glm::dvec3& start, const glm::dvec3& unit, const BScanPose& pose, glm::dvec3& voxel) {
    const glm::dvec2 first(1000 * pose.first_x_mm, 1000 * pose.first_y_mm),
        last(1000 * pose.last_x_mm, 1000 * pose.last_y_mm);
    const glm::dvec2 along = (last - first) / glm::length(last - first);
    const glm::dvec2 normal(-along.y, along.x);
    const double distance =
        glm::dot(normal, first - glm::dvec2(start.y, start.z)) / glm::dot(normal, glm::dvec2(unit.y, unit.z));
    const glm::dvec3 place = start + distance * unit;
    voxel = {place.x / 1000 + 0.5 * depth, glm::dot(glm::dvec2(place.y, place.z) - first, along) / 1000 + 0.5, 0};
    const bool is_in = voxel.x > 0 && voxel.x < depth && voxel.y > 0 && voxel.y < a_scans;
    return is_in && distance > 0 ? distance : -1;
}

// Every ray hits the plane, A-scan and depth predicted by geometry, the nearest first.
TEST_F(Planes, AreDrawnWhereScanned) {
    for (const auto& poses : {cross, parallel}) {
        show(poses, [](auto...) { return 30.0; });
        for (const Projection projection : {Projection::orthographic, Projection::perspective}) {
            set(view_, "azimuth_deg=37 elevation_deg=28");
            view_.projection = projection;
            const glm::dvec3 extent(1000.0 * depth, 1000.0 * a_scans, 1000.0 * a_scans);
            const Camera::Rays rays = Camera(view_, extent).rays();
            const std::vector<RayMeasure> found = renderer().measure(view_);
            int hits = 0, unclear = 0;
            for (std::int64_t y = 0; y < view_.height; ++y) {
                for (std::int64_t x = 0; x < view_.width; ++x) {
                    const double right = static_cast<double>(x) + 0.5 - 0.5 * static_cast<double>(view_.width);
                    const double down = static_cast<double>(y) + 0.5 - 0.5 * static_cast<double>(view_.height);
                    const glm::dvec3 start = rays.eye + right * rays.eye_x + down * rays.eye_y;
                    const glm::dvec3 unit = glm::normalize(rays.ray + right * rays.ray_x + down * rays.ray_y);
                    double nearest = -1;
                    glm::dvec3 voxel{};
                    for (std::size_t i = 0; i < poses.size(); ++i) {
                        glm::dvec3 here{};
                        const double distance = met(start, unit, poses[i], here);
                        if (distance < 0 || (nearest >= 0 && distance >= nearest)) continue;
                        nearest = distance;
                        voxel = {here.x, here.y, static_cast<double>(i)};
                    }
                    const RayMeasure& ray = found[index(y * view_.width + x)];
                    if ((ray.distance < 0) != (nearest < 0) || std::abs(ray.voxel[2] - voxel.z) > 0.5) {
                        ++unclear;  // at an edge
                        continue;
                    }
                    if (nearest < 0) continue;
                    ++hits;
                    ASSERT_NEAR(ray.distance, nearest, 1e-4 * nearest);
                    ASSERT_NEAR(ray.voxel[0] + 0.5, voxel.x, 0.51);
                    ASSERT_NEAR(ray.voxel[1] + 0.5, voxel.y, 0.51);
                }
            }
            EXPECT_GT(hits, 500);
            EXPECT_LE(unclear, 3);
        }
    }
}

TEST_F(Planes, ProbesReportBScan) {
    show(cross, [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return static_cast<double>(z + a) / 4 + 10 * static_cast<double>(b);
    });
    view_.azimuth_deg = 90;
    const auto probe = renderer().probe(view_, 60, 40);
    ASSERT_TRUE(probe.has_value());
    EXPECT_EQ(probe->voxel[2], 1);
    EXPECT_NEAR(probe->value, static_cast<double>(probe->voxel[0] + probe->voxel[1]) / 4 + 10, 1e-4);
}

// A live volume of planes is displayed as far as it is filled.
TEST_F(Planes, LiveVolumeShowsFilledPartOnly) {
    SlotRequest wanted{.grid = grid(2), .range = {0, 40}};
    SlotWriter& slots = *renderer().make_slots(wanted).writer;
    renderer().set_poses(cross);
    const auto codes = voxels(wanted.grid, [](auto...) { return 40.0; });
    std::memcpy(slots.targets(0).structure.data, codes.data(), codes.size());
    const auto brightness = [&](double azimuth_deg, std::int64_t filled_to, std::uint64_t value) {
        view_.azimuth_deg = azimuth_deg;
        const DisplayedSlots shown{{0, 1, filled_to}, {}, filled_to == 1 ? 1U : 2U, value};
        return level(renderer().read(renderer().draw(view_, shown)), view_.width / 3, view_.height / 2);
    };
    slots.publish(0, 1, 0, 1);
    EXPECT_EQ(brightness(0, 1, 1), 255);
    EXPECT_EQ(brightness(90, 1, 2), 0);
    slots.publish(0, 2, 1, 2);
    EXPECT_EQ(brightness(90, 2, 3), 255);
}

TEST_F(Planes, RejectsInvalidViews) {
    show(cross, [](auto...) { return 40.0; });
    view_.show = ViewContent::slice;
    EXPECT_THROW(renderer().render(view_), Error);
    view_.show = ViewContent::volume;
    renderer().set_poses(parallel);
    EXPECT_THROW(renderer().render(view_), Error);  // the volume has two B-scans
    renderer().set_poses({});
    EXPECT_NO_THROW(renderer().render(view_));
}

}  // namespace
}  // namespace echolux::test
