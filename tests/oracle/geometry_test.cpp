// Positions in mm, dewarped volumes and calibrations of the geometry, compared with a forward model in NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "engine/flow/time_series.h"
#include "engine/geometry/beam_map.h"
#include "engine/geometry/dewarp.h"
#include "engine/geometry/geometry_calibration.h"
#include "engine/geometry/inverse_map.h"
#include "engine/scan/settings.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

std::filesystem::path folder() {
    const char* carried = std::getenv("ECHOLUX_VECTORS");
    return std::filesystem::path(carried != nullptr && *carried != '\0' ? carried : ECHOLUX_VECTORS) / "geometry";
}

template <class T>
std::vector<T> values_in(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return {};
    std::vector<T> values(index(static_cast<std::int64_t>(file.tellg())) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

std::vector<std::string> names_in(const char* list) {
    std::ifstream file(folder() / list);
    return {std::istream_iterator<std::string>(file), {}};
}

// The settings and the volume of a case.
struct Case {
    explicit Case(const std::string& name) : path(folder() / name) {
        Settings settings;
        settings.bind("geometry", beam);
        settings.bind("scan", scan);
        settings.read_toml(path / "settings.toml");
        const std::vector<double> numbers = values_in<double>(path / "grid.f64");
        grid.depth = static_cast<std::int64_t>(numbers.at(0));
        grid.a_scans = scan.a_scans;
        grid.b_scans = scan.b_scans;
        grid.first_depth_um = numbers.at(1);
        grid.spacing_um = {numbers.at(2), numbers.at(3), numbers.at(4)};
        grid.quantity = "intensity";
    }

    BeamMap map() const { return {beam, scan, grid}; }

    Volume volume() const {
        const std::vector<std::byte> voxels = values_in<std::byte>(path / "volume.f32");
        EXPECT_EQ(std::ssize(voxels), grid.bytes());
        return {grid, voxels, {}};
    }

    std::filesystem::path path;
    BeamGeometry beam;
    ScanGeometry scan;
    VolumeGrid grid;
};

// ---- Positions

class GeometryVector : public testing::TestWithParam<std::string> {
  protected:
    const Case one{GetParam()};
    const std::vector<double> samples = values_in<double>(one.path / "samples.f64");
    const std::vector<double> positions = values_in<double>(one.path / "positions.f64");
};

TEST_P(GeometryVector, PositionsAgreeWithDoublePrecision) {
    const BeamMap map = one.map();
    const double close = one.beam.has_galvo() ? 0.005 * one.grid.spacing_um[1] / 1000 : 1e-9;
    ASSERT_GE(samples.size(), 300U);
    double worst = 0;
    for (std::size_t i = 0; i < samples.size(); i += 3) {
        const Position at = map.position(samples[i], samples[i + 1], samples[i + 2]);
        worst =
            std::max(worst, std::hypot(at.x_mm - positions[i], at.y_mm - positions[i + 1], at.z_mm - positions[i + 2]));
    }
    EXPECT_LT(worst, close);
    RecordProperty("worst_mm", std::to_string(worst));
}

TEST_P(GeometryVector, InverseFindsSamples) {
    const BeamMap map = one.map();
    double worst = 0;
    for (std::size_t i = 0; i < samples.size(); i += 3) {
        const BeamSample found = map.sample({positions[i], positions[i + 1], positions[i + 2]});
        const std::size_t parity = std::llround(samples[i + 2]) % 2 != 0 ? 1 : 0;
        worst = std::max({worst, std::abs(found.row - samples[i]), std::abs(found.a_scan[parity] - samples[i + 1]),
                          std::abs(found.b_scan - samples[i + 2])});
    }
    EXPECT_LT(worst, one.beam.has_galvo() ? 0.02 : 1e-6);
    RecordProperty("worst_samples", std::to_string(worst));
}

// ---- Places of voxels

float difference(const WarpedSample& one, const WarpedSample& other) {
    return std::max({std::abs(one.row - other.row), std::abs(one.a_scan[0] - other.a_scan[0]),
                     std::abs(one.a_scan[1] - other.a_scan[1]), std::abs(one.b_scan - other.b_scan)});
}

// A grid of the samples' size over everything that the beam passes.
Lattice lattice_over(const BeamMap& map, const VolumeGrid& grid) {
    const auto [low, high] = map.box();
    Lattice lattice{low, {}, {}, map.is_polar()};
    const double lateral = grid.spacing_um[1] / 1000, axial = grid.spacing_um[0] / 1000;
    lattice.step_mm = map.is_polar() ? std::array{axial, axial, lateral} : std::array{axial, lateral, lateral};
    const std::array<double, 3> size =
        map.is_polar() ? std::array{high.y_mm - low.y_mm, high.x_mm - low.x_mm, high.z_mm - low.z_mm}
                       : std::array{high.z_mm - low.z_mm, high.x_mm - low.x_mm, high.y_mm - low.y_mm};
    for (std::size_t axis = 0; axis < 3; ++axis)
        lattice.count[axis] = 1 + static_cast<std::int64_t>(size[axis] / lattice.step_mm[axis]);
    return lattice;
}

TEST_P(GeometryVector, InterpolatedPlacesAgreeWithExactOnes) {
    const BeamMap map = one.map();
    const Lattice lattice = lattice_over(map, one.grid);
    const InverseMap inverse(map, lattice);
    const WarpedVolume volume{nullptr,          one.grid.depth,     one.grid.a_scans,
                              one.grid.b_scans, map.first_b_scan(), map.order()};
    const SampleBounds bounds(volume);
    ColumnSamples places;
    float worst = 0;
    std::int64_t unknown = 0;
    for (std::int64_t line = 0; line < lattice.count[1] * lattice.count[2]; line += 7) {
        const std::int64_t a = line % lattice.count[1], b = line / lattice.count[1];
        inverse.find(a, b, places);
        for (std::int64_t z = 0; z < lattice.count[0]; z += 3) {
            const BeamSample at =
                map.sample(lattice.at(static_cast<double>(z), static_cast<double>(a), static_cast<double>(b)));
            const WarpedSample exact{static_cast<float>(at.row),
                                     {static_cast<float>(at.a_scan[0]), static_cast<float>(at.a_scan[1])},
                                     static_cast<float>(at.b_scan)};
            if (!bounds.contain(exact)) continue;
            const float off = difference(places[index(z)], exact);
            unknown += off == off ? 0 : 1;
            worst = std::max(worst, off);
        }
    }
    EXPECT_LT(worst, 0.02F);
    EXPECT_EQ(unknown, 0);
    RecordProperty("worst_samples", std::to_string(worst));
    RecordProperty("exact_percent", std::to_string(100 * inverse.exact_share()));
}

INSTANTIATE_TEST_SUITE_P(All, GeometryVector, testing::ValuesIn(names_in("cases.txt")),
                         [](const auto& test) { return test.param; });

// ---- Dewarped volumes

struct Sphere {
    double x = 0, y = 0, z = 0, radius = 1;
};

// Fits a sphere to the bright voxels of a shell, starting from `sphere`.
Sphere fitted_sphere(const DewarpedVolume& made, Sphere sphere) {
    const VolumeGrid& grid = made.volume.grid;
    const auto* values = reinterpret_cast<const float*>(made.volume.voxels.data());
    for (int round = 0; round < 8; ++round) {
        std::vector<std::vector<double>> columns(4);
        std::vector<double> off, weights;
        for (std::int64_t i = 0; i < grid.voxels(); ++i) {
            const float value = values[i];
            if (!(value > 0.2F)) continue;
            const auto step = [&](std::int64_t at, std::size_t axis) {
                return static_cast<double>(at) * grid.spacing_um[axis] / 1000;
            };
            const double x = made.first.x_mm + step(i / grid.depth % grid.a_scans, 1) - sphere.x,
                         y = made.first.y_mm + step(i / grid.depth / grid.a_scans, 2) - sphere.y,
                         z = made.first.z_mm + step(i % grid.depth, 0) - sphere.z, r = std::hypot(x, y, z);
            // A cone around the axis, with the same weight for all radii: more voxels are outside than inside.
            if (std::hypot(x, y) > -0.4 * z) continue;
            off.push_back(r - sphere.radius);
            weights.push_back(static_cast<double>(value) / (r * r));
            for (const auto& [at, slope] :
                 {std::pair{0, x / r}, std::pair{1, y / r}, std::pair{2, z / r}, std::pair{3, 1.0}})
                columns[index(std::int64_t{at})].push_back(slope);
        }
        const std::vector<double> change = least_squares(columns, off, weights).values;
        if (change.size() != 4) return {};
        sphere = {sphere.x + change[0], sphere.y + change[1], sphere.z + change[2], sphere.radius + change[3]};
    }
    return sphere;
}

class GeometrySphere : public testing::TestWithParam<std::string> {
  protected:
    const Case one{GetParam()};
    const std::vector<double> truth = values_in<double>(one.path / "truth.f64");
    SilentProgress silent;

    Sphere fitted(const BeamGeometry& beam, Interpolation interpolation) {
        DewarpRecipe recipe;
        recipe.voxel_um = {10, 30, 30};
        recipe.interpolation = interpolation;
        const DewarpedVolume made = dewarped(one.volume(), BeamMap(beam, one.scan, one.grid), recipe, silent);
        return fitted_sphere(made, {truth[0], truth[1], truth[2], truth[3]});
    }
};

TEST_P(GeometrySphere, RadiusIsRight) {
    for (const Interpolation interpolation : {Interpolation::linear, Interpolation::cubic}) {
        const Sphere found = fitted(one.beam, interpolation);
        EXPECT_NEAR(found.radius, truth[3], 0.002 * truth[3]);
        constexpr double lateral_mm = 0.03, axial_mm = 0.01;  // of a voxel
        const double off =
            std::max({std::abs(found.x - truth[0]) / lateral_mm, std::abs(found.y - truth[1]) / lateral_mm,
                      std::abs(found.z - truth[2]) / axial_mm, std::abs(found.radius - truth[3]) / axial_mm});
        EXPECT_LT(off, 0.5);
        RecordProperty(interpolation == Interpolation::cubic ? "cubic_voxels" : "linear_voxels", std::to_string(off));
        RecordProperty(interpolation == Interpolation::cubic ? "cubic_percent" : "linear_percent",
                       std::to_string(100 * (found.radius / truth[3] - 1)));
    }
    if (one.beam.pattern == LinePattern::raster) {
        EXPECT_GT(std::abs(fitted({}, Interpolation::cubic).radius / truth[3] - 1), 0.02) << "the case tests nothing";
    }
}

TEST_P(GeometrySphere, VoxelsAgreeWithSphere) {
    DewarpRecipe recipe;
    recipe.voxel_um = {10, 30, 30};
    const DewarpedVolume made = dewarped(one.volume(), one.map(), recipe, silent);
    const VolumeGrid& grid = made.volume.grid;
    const auto* values = reinterpret_cast<const float*>(made.volume.voxels.data());
    double squares = 0, count = 0;
    for (std::int64_t i = 0; i < grid.voxels(); ++i) {
        if (std::isnan(values[i])) continue;
        const double z = made.first.z_mm + static_cast<double>(i % grid.depth) * grid.spacing_um[0] / 1000,
                     x = made.first.x_mm +
                         static_cast<double>(i / grid.depth % grid.a_scans) * grid.spacing_um[1] / 1000,
                     y = made.first.y_mm +
                         static_cast<double>(i / grid.depth / grid.a_scans) * grid.spacing_um[2] / 1000;
        const double off = std::hypot(x - truth[0], y - truth[1], z - truth[2]) - truth[3];
        squares += std::pow(0.001 + std::exp(-off * off / 0.0016) - static_cast<double>(values[i]), 2);
        count += 1;
    }
    EXPECT_GT(count, 0.5 * static_cast<double>(grid.voxels()));
    EXPECT_LT(std::sqrt(squares / count), 0.01);  // of the shell's brightness
    RecordProperty("rms", std::to_string(std::sqrt(squares / count)));
}

INSTANTIATE_TEST_SUITE_P(All, GeometrySphere, testing::ValuesIn(names_in("spheres.txt")),
                         [](const auto& test) { return test.param; });

// ---- Calibrations

double rms_rows_off(const Case& one, const std::vector<double>& path_um) {
    const Polynomial2 truth(one.beam.path_um), found(path_um);
    const BeamMap map(BeamGeometry(), one.scan, one.grid);
    double squares = 0;
    for (std::int64_t line = 0; line < one.grid.a_scans * one.grid.b_scans; ++line) {
        const Position at =
            map.position(0, static_cast<double>(line % one.grid.a_scans), static_cast<double>(line / one.grid.a_scans));
        squares += std::pow((found(at.x_mm, at.y_mm) - truth(at.x_mm, at.y_mm)) / one.grid.spacing_um[0], 2);
    }
    return std::sqrt(squares / static_cast<double>(one.grid.a_scans * one.grid.b_scans));
}

TEST(GeometryCalibration, MirrorGivesOpticalPath) {
    SilentProgress silent;
    for (const char* name : {"mirror", "mirror_tilted"}) {
        const Case one(name);
        const FieldCalibration found = calibrated_field(one.volume(), one.scan, {}, silent);
        const double off = rms_rows_off(one, found.path_um);
        EXPECT_LT(off, 0.05) << name;
        EXPECT_LT(found.rms_rows, 0.2) << name;
        RecordProperty(name, std::to_string(off));
    }
}

TEST(GeometryCalibration, MirrorTiltIsReportedAndLeftOut) {
    SilentProgress silent;
    const Case one("mirror_tilted");
    const FieldCalibration level = calibrated_field(one.volume(), one.scan, {}, silent);
    EXPECT_EQ(level.path_um[1], 0);
    EXPECT_NEAR(level.tilt_x, 20, 0.2);
    EXPECT_NEAR(level.tilt_y, -15, 0.2);
    const FieldCalibration kept = calibrated_field(one.volume(), one.scan, {.keeps_tilt = true}, silent);
    EXPECT_NEAR(kept.path_um[1], 20, 0.2);
}

TEST(GeometryCalibration, RefusesOtherTargets) {
    SilentProgress silent;
    const Case noisy("mirror_noisy");
    EXPECT_NE(error_of([&] {
                  calibrated_field(noisy.volume(), noisy.scan, {.min_snr_db = 40}, silent);
              }).line.find("% of the A-scans have a single peak 40 dB above the median"),
              std::string::npos);
}

TEST(GeometryCalibration, RefusesBallInsteadOfMirror) {
    SilentProgress silent;
    const Case ball("ball");
    const std::string line = error_of([&] { calibrated_field(ball.volume(), ball.scan, {}, silent); }).line;
    EXPECT_NE(line.find("curved like a sphere of 7.8 mm radius and slopes by 24 %"), std::string::npos) << line;
    EXPECT_NO_THROW(calibrated_field(ball.volume(), ball.scan, {.min_radius_mm = 5}, silent));
}

TEST(GeometryCalibration, DotsGiveLens) {
    SilentProgress silent;
    for (const char* name : {"dots", "dots_noisy"}) {
        const Case one(name);
        const GridCalibration found = calibrated_grid(one.volume(), one.scan, {.pitch_mm = 0.25}, silent);
        const LensMap truth(one.beam), lens(found.lens);
        double squares = 0, count = 0;
        // The position of a grid is free, and so is a rotation of the target.
        const FieldPoint middle = lens.field({0, 0}), middle_of_truth = truth.field({0, 0});
        for (double v = -1.7; v <= 1.7; v += 0.1) {
            for (double u = -1.7; u <= 1.7; u += 0.1, count += 2) {
                const FieldPoint a = lens.field({u, v}), b = truth.field({u, v});
                squares += std::pow((a.x_um - middle.x_um - b.x_um + middle_of_truth.x_um) / 0.018, 2) +
                           std::pow((a.y_um - middle.y_um - b.y_um + middle_of_truth.y_um) / 0.020, 2);
            }
        }
        EXPECT_LT(std::sqrt(squares / count), 0.1) << name;
        // Speckle moves single dots; the lens is fitted to all of them.
        const double most = name == std::string("dots") ? 0.1 : 0.2;
        EXPECT_LT(found.rms_a_scans, most) << name;
        EXPECT_LT(found.rms_b_scans, most) << name;
        EXPECT_GT(found.before_a_scans, 0.5) << name;
        EXPECT_NEAR(found.angle_deg, 3, 0.05) << name;
        RecordProperty(name, std::to_string(std::sqrt(squares / count)));
        RecordProperty(std::string(name) + "_residual", std::to_string(found.rms_a_scans));
    }
}

TEST(GeometryCalibration, RefusesWrongGrids) {
    SilentProgress silent;
    const Case sphere("sphere_lens");
    EXPECT_NE(
        error_of([&] { calibrated_grid(sphere.volume(), sphere.scan, {.pitch_mm = 0.4}, silent); }).line.find("dots"),
        std::string::npos);
}

TEST(GeometryCalibration, RefusesWrongPitches) {
    SilentProgress silent;
    const Case dots("dots");
    for (const double pitch_mm : {0.1, 0.125, 0.17, 0.34, 0.5}) {
        const std::string line =
            error_of([&] { calibrated_grid(dots.volume(), dots.scan, {.pitch_mm = pitch_mm}, silent); }).line;
        EXPECT_NE(line.find("pitch_mm"), std::string::npos) << pitch_mm << ": " << line;
        RecordProperty(std::to_string(pitch_mm), line);
    }
}

TEST(GeometryCalibration, DirectionsGiveDelay) {
    SilentProgress silent;
    for (const char* name : {"pair", "pair_early", "pair_sine"}) {
        const Case one(name);
        const GalvoCalibration found = calibrated_galvo(one.volume(), one.scan, {}, silent);
        const double off_a_scans = (found.delay_us - one.beam.delay_x_us) * 1e-6 * one.scan.line_rate_hz;
        EXPECT_LT(std::abs(off_a_scans), 0.05) << name;
        EXPECT_LT(found.error_a_scans, 0.05) << name;
        RecordProperty(name, std::to_string(off_a_scans));
    }
}

TEST(GeometryCalibration, RefusesPairsThatDiffer) {
    SilentProgress silent;
    Case one("pair");
    Volume volume = one.volume();
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    const std::int64_t voxels = one.grid.depth * one.grid.a_scans;
    for (std::int64_t b = 1; b < one.grid.b_scans; b += 2) std::reverse(values + b * voxels, values + (b + 1) * voxels);
    EXPECT_NE(error_of([&] { calibrated_galvo(volume, one.scan, {}, silent); }).line.find("correlate by"),
              std::string::npos);
    one.scan.bidirectional = false;
    EXPECT_EQ(error_of([&] { calibrated_galvo(volume, one.scan, {}, silent); }).where, "scan.bidirectional");
}

// ---- Properties of dewarping

Volume ramp(VoxelType type, const std::string& quantity) {
    Volume volume;
    volume.grid.depth = 20;
    volume.grid.a_scans = 12;
    volume.grid.b_scans = 10;
    volume.grid.type = type;
    volume.grid.spacing_um = {5, 10, 10};
    volume.grid.quantity = quantity;
    volume.voxels.resize(index(volume.grid.bytes()));
    return volume;
}

TEST(Dewarp, BoxIsUnchanged) {
    Volume volume = ramp(VoxelType::f32, "db");
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) values[i] = static_cast<float>(i % 37) - 10;
    SilentProgress silent;
    const DewarpedVolume made = dewarped(volume, BeamMap({}, {}, volume.grid), {}, silent);
    ASSERT_EQ(made.volume.grid.depth, 20);
    ASSERT_EQ(made.volume.grid.a_scans, 12);
    ASSERT_EQ(made.volume.grid.b_scans, 10);
    const auto* found = reinterpret_cast<const float*>(made.volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) ASSERT_NEAR(found[i], values[i], 0.02) << i;
    EXPECT_EQ(made.inside, 1);
}

// Two passes along the curve of a column are the cubic in three dimensions where samples resolve the volume.
TEST(Dewarp, TwoPassesAgreeWithSingleVoxels) {
    Volume volume;
    volume.grid.depth = 60;
    volume.grid.a_scans = 50;
    volume.grid.b_scans = 40;
    volume.grid.type = VoxelType::f32;
    volume.grid.spacing_um = {5, 40, 45};
    volume.grid.quantity = "velocity";
    volume.voxels.resize(index(volume.grid.bytes()));
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
        const auto z = static_cast<float>(i % 60), a = static_cast<float>(i / 60 % 50),
                   b = static_cast<float>(i / 3000);
        values[i] = std::sin(0.5F * z + 0.3F * a) + std::cos(0.4F * b - 0.35F * a);
    }
    SilentProgress silent;
    for (const BeamGeometry& beam :
         {BeamGeometry{.pivot_x_mm = 6, .pivot_y_mm = 8}, BeamGeometry{.radial_per_mm2 = 0.02}}) {
        const BeamMap map(beam, {}, volume.grid);
        const DewarpedVolume made = dewarped(volume, map, {}, silent);
        const VolumeGrid& grid = made.volume.grid;
        const WarpedVolume warped{values, 60, 50, 40, 0, LineOrder::separate};
        const auto* found = reinterpret_cast<const float*>(made.volume.voxels.data());
        float worst = 0;
        std::int64_t compared = 0;
        for (std::int64_t i = 0; i < grid.voxels(); ++i) {
            const std::int64_t line = i / grid.depth;
            const BeamSample at =
                map.sample({made.first.x_mm + static_cast<double>(line % grid.a_scans) * grid.spacing_um[1] / 1000,
                            made.first.y_mm + static_cast<double>(line / grid.a_scans) * grid.spacing_um[2] / 1000,
                            made.first.z_mm + static_cast<double>(i % grid.depth) * grid.spacing_um[0] / 1000});
            const WarpedSample place{static_cast<float>(at.row),
                                     {static_cast<float>(at.a_scan[0]), static_cast<float>(at.a_scan[1])},
                                     static_cast<float>(at.b_scan)};
            if (std::isnan(found[i]) || !SampleBounds(warped).contain(place)) continue;
            worst = std::max(worst, std::abs(found[i] - interpolated<4>(warped, place)));
            ++compared;
        }
        EXPECT_LT(worst, 0.02F);
        EXPECT_GT(compared, grid.voxels() / 2);
        RecordProperty(beam.pivot_x_mm > 0 ? "fan" : "lens", std::to_string(worst));
    }
}

TEST(Dewarp, DecibelsAreInterpolatedAsIntensity) {
    Volume volume = ramp(VoxelType::f32, "db");
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) values[i] = i / volume.grid.depth % 2 == 0 ? 0.0F : 20.0F;
    BeamGeometry beam;
    beam.bend_x = {0};
    DewarpRecipe recipe;
    recipe.voxel_um = {5, 5, 10};
    recipe.interpolation = Interpolation::linear;
    SilentProgress silent;
    const DewarpedVolume made = dewarped(volume, BeamMap(beam, {}, volume.grid), recipe, silent);
    ASSERT_EQ(made.volume.grid.a_scans, 23);
    const auto* found = reinterpret_cast<const float*>(made.volume.voxels.data());
    EXPECT_NEAR(found[made.volume.grid.depth], 10 * std::log10((1 + 100) / 2.0), 1e-3);
}

TEST(Dewarp, PhasorsKeepDirectionAndUnknownFlow) {
    Volume volume = ramp(VoxelType::phasor8, "doppler");
    auto* codes = reinterpret_cast<std::int8_t*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
        const bool is_known = i % volume.grid.depth < 10;
        codes[2 * i] = is_known ? 76 : 0;  // 127 (0.6, 0.8)
        codes[2 * i + 1] = is_known ? 102 : 0;
    }
    BeamGeometry beam;
    beam.path_um = {12};
    SilentProgress silent;
    const DewarpedVolume made = dewarped(volume, BeamMap(beam, {}, volume.grid), {}, silent);
    const auto* found = reinterpret_cast<const std::int8_t*>(made.volume.voxels.data());
    ASSERT_EQ(made.volume.grid.type, VoxelType::phasor8);
    EXPECT_NEAR(found[2 * 4], 76, 1);
    EXPECT_NEAR(found[2 * 4 + 1], 102, 1);
    EXPECT_EQ(found[2 * 15], 0);
    EXPECT_EQ(found[2 * 15 + 1], 0);
}

TEST(Dewarp, RefusesUnknownSizesAndOtherScans) {
    Volume volume = ramp(VoxelType::f32, "db");
    EXPECT_EQ(error_of([&] { BeamMap({}, {.a_scans = 11, .b_scans = 10}, volume.grid); }).where, "volume");
    EXPECT_EQ(error_of([&] { BeamMap({.delay_x_us = 3}, {}, volume.grid); }).where, "scan.line_rate_hz");
    EXPECT_EQ(error_of([&] { BeamMap({.path_um = std::vector<double>(16, 1.0)}, {}, volume.grid); }).where,
              "geometry.path_um");
    volume.grid.spacing_um[1] = 0;
    EXPECT_EQ(error_of([&] { BeamMap({}, {}, volume.grid); }).where, "scan.spacing_a_um");
}

}  // namespace
}  // namespace echolux
