// Compares pictures with baselines that a person has checked (tests/render/baselines, PAM files). The tolerance allows
// for the rounding of other devices. A shift of the volume by one voxel exceeds it, which is verified on each run.
// After an intended change, run ECHOLUX_UPDATE_BASELINES=1 render_tests --gtest_filter='*Baseline*' and check the new
// pictures.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rendering.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 48;
constexpr double max_mean_difference = 0.6;  // of 255, over all channels

// Layers below a wavy surface, with speckle and a dark vessel.
double tissue(std::int64_t z, std::int64_t a, std::int64_t b) {
    const double x = static_cast<double>(a);
    const double y = static_cast<double>(b);
    const double below = static_cast<double>(z) - 10 - 3 * std::sin(0.15 * x) - 2 * std::cos(0.2 * y);
    if (below < 0) return 4 * noise(z, a, b);
    if (std::hypot(x - 24 - 8 * std::sin(0.1 * y), below - 14) < 5) return 6 * noise(z, a, b);
    const double level = below < 3 ? 36 : below < 10 ? 20 : below < 13 ? 28 : 24;
    return std::max(0.0, level - 0.4 * below + 6 * (noise(z, a, b) - 0.5));
}

struct Case {
    const char* name;
    ViewMode mode;
    const char* preset;
    bool lighting;
    Projection projection;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.name;
}

class Baseline : public Rendering, public testing::WithParamInterface<Case> {
  protected:
    std::string pam_of(std::int64_t shift) {
        const VolumeGrid grid = db_grid(edge, edge, edge);
        const auto shifted = [=](std::int64_t z, std::int64_t a, std::int64_t b) { return tissue(z, a - shift, b); };
        renderer().set_volume(grid, voxels(grid, shifted).data());
        View view;
        view.mode = GetParam().mode;
        view.preset = GetParam().preset;
        view.lighting = GetParam().lighting;
        view.projection = GetParam().projection;
        view.width = 72;
        view.height = 64;
        view.zoom = 1.2;
        const Image image = renderer().render(view);
        std::ostringstream text;
        text << "P7\nWIDTH 72\nHEIGHT 64\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n";
        text.write(reinterpret_cast<const char*>(image.pixels.data()),
                   static_cast<std::streamsize>(image.pixels.size()));
        return text.str();
    }

    static double mean_difference(const std::string& a, const std::string& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            sum += std::abs(static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i]));
        }
        return sum / (72 * 64 * 4);
    }
};

TEST_P(Baseline, MatchesAndDetectsShiftByVoxel) {
    const auto path = std::filesystem::path(ECHOLUX_TEST_DIR) / "baselines" / (std::string(GetParam().name) + ".pam");
    const std::string now = pam_of(0);
    if (std::getenv("ECHOLUX_UPDATE_BASELINES") != nullptr) std::ofstream(path, std::ios::binary) << now;
    std::ostringstream expected;
    expected << std::ifstream(path, std::ios::binary).rdbuf();
    ASSERT_EQ(expected.str().size(), now.size()) << path;
    EXPECT_LE(mean_difference(now, expected.str()), max_mean_difference);
    EXPECT_GT(mean_difference(pam_of(1), expected.str()), 2 * max_mean_difference);
}

INSTANTIATE_TEST_SUITE_P(
    All, Baseline,
    testing::Values(Case{"tissue", ViewMode::composite, "tissue", true, Projection::perspective},
                    Case{"retina-unlit", ViewMode::composite, "retina", false, Projection::orthographic},
                    Case{"oct-gray-mip", ViewMode::mip, "oct-gray", false, Projection::perspective},
                    Case{"surface", ViewMode::isosurface, "tissue", true, Projection::perspective},
                    Case{"angiogram", ViewMode::composite, "angiogram", true, Projection::orthographic},
                    Case{"minip", ViewMode::minip, "oct-gray", false, Projection::perspective},
                    Case{"average", ViewMode::average, "oct-gray", false, Projection::perspective},
                    Case{"attenuated-mip", ViewMode::attenuated_mip, "tissue", false, Projection::perspective},
                    Case{"depth-mip", ViewMode::depth_mip, "tissue", false, Projection::perspective},
                    Case{"mida", ViewMode::mida, "tissue", true, Projection::perspective},
                    Case{"points", ViewMode::points, "retina", true, Projection::perspective}),
    [](const auto& instance) {
        std::string name = instance.param.name;
        std::erase(name, '-');
        return name;
    });

}  // namespace
}  // namespace echolux::test
