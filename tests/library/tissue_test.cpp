// Tissue analysis: the same results as from the commands, and no made-up results for data without information.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "compute/indexing.h"
#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

constexpr std::int64_t depth = 64, a_scans = 32, b_scans = 8;

lux::Volume volume_from(const std::vector<float>& voxels, const char* quantity = "intensity",
                        std::int64_t slices = b_scans) {
    auto grid = lux::make<echolux_grid>();
    grid.depth = depth;
    grid.a_scans = a_scans;
    grid.b_scans = slices;
    grid.voxel = ECHOLUX_F32;
    grid.spacing_um[0] = 2;
    grid.spacing_um[1] = grid.spacing_um[2] = 5;
    std::string(quantity).copy(grid.quantity, sizeof grid.quantity - 1);
    return lux::Volume::create(grid, {reinterpret_cast<const std::byte*>(voxels.data()), 4 * voxels.size()});
}

// Speckle of a bright layer, rows 20 to 39, between dark ones.
std::vector<float> layered(unsigned seed, std::int64_t slices = b_scans) {
    std::mt19937 random(seed);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> voxels(index(depth * a_scans * slices));
    for (std::size_t i = 0; i < voxels.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i) % depth;
        voxels[i] = speckle(random) * (row >= 20 && row < 40 ? 1.0f : 0.01f);
    }
    return voxels;
}

template <class Work>
void expect_refused(const Work& work, echolux_status status, const std::string& says) {
    try {
        work();
        ADD_FAILURE() << "expected: " << says;
    } catch (const lux::Error& error) {
        EXPECT_EQ(error.status(), status) << error.what();
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
}

const lux::Tissue& two_surfaces() {
    static const lux::Tissue tissue({"layers.names=top bottom", "layers.polarity=[1, -1]"}, "layers");
    return tissue;
}

TEST(LibraryTissue, SettingsMatchCommands) {
    lux::Tissue tissue({"filter.method=median"});
    EXPECT_EQ(tissue.settings().text("filter.method"), "median");
    EXPECT_EQ(tissue.settings().number("registration.strip"), 3);
    EXPECT_EQ(lux::Tissue({}, "layers").settings().number("layers.count"),
              lux::Tissue({"layers.names="}, "layers").settings().number("layers.count"));
    expect_refused([] { lux::Tissue({"filter.methods=median"}); }, ECHOLUX_BAD_SETTING, "filter.methods");
    expect_refused([] { lux::Tissue({}, "retinas"); }, ECHOLUX_BAD_SETTING, "retina");
    expect_refused([&] { tissue.settings().set("filter.sigma", 1e9); }, ECHOLUX_BAD_SETTING, "filter.sigma");
    EXPECT_EQ(tissue.settings().number("filter.sigma"), 2);
}

TEST(LibraryTissue, FilteredVolumesHaveLessSpeckleAndSameMean) {
    const lux::Volume raw = volume_from(layered(1));
    const lux::Volume made = lux::filter(raw, lux::Tissue({"filter.method=median"}));
    EXPECT_EQ(made.grid().spacing_um[1], 5);
    EXPECT_NE(made.provenance().find("filter = [filter]\\nmethod = \"median\"\\n"), std::string::npos);
    const auto spread = [](const lux::Volume& volume) {
        double sum = 0, square = 0, count = 0;
        for (std::size_t i = 0; i < volume.voxels<float>().size(); ++i) {
            const auto row = static_cast<std::int64_t>(i) % depth;
            if (row < 24 || row >= 36) continue;
            const auto value = static_cast<double>(volume.voxels<float>()[i]);
            sum += value;
            square += value * value;
            ++count;
        }
        const double mean = sum / count;
        EXPECT_NEAR(mean, 1, 0.1);
        return std::sqrt(square / count - mean * mean) / mean;
    };
    EXPECT_NEAR(spread(raw), 1, 0.1);
    EXPECT_LT(spread(made), 0.25);
    expect_refused([&] { lux::filter(raw, lux::Tissue({"filter.patch=4"})); }, ECHOLUX_BAD_SETTING, "filter.patch");
    expect_refused([&] { lux::filter(volume_from(layered(1), "velocity")); }, ECHOLUX_BAD_SETTING, "velocit");
}

TEST(LibraryTissue, AveragesPowerOfLooks) {
    const std::vector<float> one = layered(1), other = layered(2);
    const lux::Volume a = volume_from(one), b = volume_from(other);
    const lux::Average made = lux::average({&a, &b});
    for (std::size_t i = 0; i < one.size(); ++i)
        ASSERT_NEAR(made.mean.voxels<float>()[i], (one[i] + other[i]) / 2, 1e-5);
    EXPECT_NEAR(made.independent, 2, 0.1);
    EXPECT_NEAR(lux::average({&a, &a}).independent, 1, 0.01);
    expect_refused([&] { lux::average({}); }, ECHOLUX_BAD_ARGUMENT, "at least one");
    const lux::Volume less = volume_from(layered(1, 4), "intensity", 4);
    expect_refused([&] { lux::average({&a, &less}); }, ECHOLUX_BAD_SETTING, "");
}

TEST(LibraryTissue, SurfacesMatchLayers) {
    const lux::Volume volume = volume_from(layered(3));
    const lux::Surfaces found = lux::segment(volume, two_surfaces());
    const echolux_surfaces_facts facts = found.facts();
    ASSERT_EQ(facts.count, 2);
    EXPECT_EQ(found.names(), (std::vector<std::string>{"top", "bottom"}));
    EXPECT_EQ(facts.is_in_um, 1);
    const auto count = index(2 * a_scans * b_scans);
    std::vector<float> depths(count), rows(count), quality(count);
    std::vector<std::uint8_t> reasons(count);
    auto places = lux::make<echolux_surface_places>();
    places.count = static_cast<std::int64_t>(count);
    places.depths = depths.data();
    places.rows = rows.data();
    places.quality = quality.data();
    places.reasons = reasons.data();
    found.read(places);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_NEAR(rows[i], i < count / 2 ? 19.5 : 39.5, 1.5) << i;
        EXPECT_FLOAT_EQ(depths[i], 2 * rows[i]);
        EXPECT_STREQ(echolux_surface_reason(reasons[i]), "ok");
    }
    const lux::Volume thickness = found.thickness();
    EXPECT_EQ(thickness.grid().b_scans, 1);
    for (const float um : thickness.voxels<float>()) EXPECT_NEAR(um, 40, 5);
    const lux::Volume en_face = found.en_face(volume);
    for (const float mean : en_face.voxels<float>()) EXPECT_GT(mean, 0.3);
    EXPECT_EQ(found.flattened(volume).grid().depth, depth);
    const std::string table = found.table();
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + static_cast<std::int64_t>(count));
    places.count = 1;
    expect_refused([&] { found.read(places); }, ECHOLUX_BAD_ARGUMENT, "count");
    expect_refused([&] { found.thickness("bottom", "top"); }, ECHOLUX_BAD_SETTING, "does not lie below");
    expect_refused([&] { found.thickness("topp", "bottom"); }, ECHOLUX_BAD_SETTING, "top");
    const lux::Volume less = volume_from(layered(1, 4), "intensity", 4);
    expect_refused([&] { found.en_face(less); }, ECHOLUX_BAD_ARGUMENT, "differs in size");
    EXPECT_EQ(echolux_surface_reason(6), nullptr);
    EXPECT_EQ(echolux_surface_reason(-1), nullptr);
}

TEST(LibraryTissue, SurfacesRoundTripThroughFile) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "surfaces.nrrd").string();
    const lux::Volume volume = volume_from(layered(3));
    const lux::Surfaces found = lux::segment(volume, two_surfaces());
    found.volume().write(file);
    const lux::Surfaces again = lux::Surfaces::open(file, volume);
    EXPECT_EQ(again.names(), found.names());
    const lux::Volume thickness = found.thickness(), of_file = again.thickness();
    for (std::size_t i = 0; i < thickness.voxels<float>().size(); ++i)
        EXPECT_NEAR(thickness.voxels<float>()[i], of_file.voxels<float>()[i], 1e-3);
}

TEST(LibraryTissue, RegisteredVolumesCoincide) {
    std::vector<float> still = layered(4), moved(still.size());
    for (std::size_t line = 0; line < still.size() / depth; ++line) {
        for (std::int64_t z = 0; z < depth; ++z)
            moved[line * depth + index(z)] = still[line * depth + index((z + depth - 3) % depth)];
    }
    const lux::Volume first = volume_from(still), second = volume_from(moved);
    const lux::Registration found({&first, &second});
    std::vector<double> z(2 * b_scans), quality(2 * b_scans);
    std::vector<std::uint8_t> reasons(2 * b_scans);
    auto shifts = lux::make<echolux_shifts>();
    shifts.count = 2 * b_scans;
    shifts.z = z.data();
    shifts.quality = quality.data();
    shifts.reasons = reasons.data();
    found.shifts(shifts);
    int placed = 0;
    for (std::size_t b = 0; b < b_scans; ++b) {
        EXPECT_EQ(z[b], 0);
        const bool has_place = echolux_shift_reason(reasons[b_scans + b]) == std::string("ok");
        EXPECT_EQ(has_place, !std::isnan(z[b_scans + b]));
        if (has_place) {
            EXPECT_NEAR(z[b_scans + b], -3, 0.2);
            ++placed;
        }
    }
    EXPECT_GE(placed, 6);
    EXPECT_EQ(found.mean().grid().voxel, ECHOLUX_F32);
    const lux::Volume back = found.volume(1);
    EXPECT_EQ(back.grid().b_scans, b_scans);
    EXPECT_EQ(found.table().rfind("# echolux registration", 0), 0U);
    expect_refused([&] { found.volume(2); }, ECHOLUX_BAD_ARGUMENT, "number");
    expect_refused([&] { lux::Registration({&first, &second}, nullptr, 7); }, ECHOLUX_BAD_SETTING, "reference_volume");
    expect_refused([&] { lux::Registration({}); }, ECHOLUX_BAD_ARGUMENT, "at least one");
    EXPECT_EQ(echolux_shift_reason(7), nullptr);
}

TEST(LibraryTissue, NoiseGivesNoResults) {
    std::mt19937 random(7);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> noise(index(depth * a_scans * b_scans));
    for (float& voxel : noise) voxel = speckle(random);
    const lux::Volume all_noise = volume_from(noise), structure = volume_from(layered(5));
    const lux::Volume empty = volume_from(std::vector<float>(noise.size(), 0));
    const lux::Volume nowhere = volume_from(std::vector<float>(noise.size(), std::numeric_limits<float>::quiet_NaN()));
    for (const lux::Volume* volume : {&all_noise, &empty, &nowhere}) {
        expect_refused([&] { lux::segment(*volume, two_surfaces()); }, ECHOLUX_BAD_SETTING, "no surface was found");
        expect_refused([&] { lux::Registration({&structure, volume}); }, ECHOLUX_BAD_SETTING, "");
        expect_refused([&] { lux::attenuation(*volume); }, ECHOLUX_BAD_SETTING, "");
    }
    const lux::Volume single = volume_from(layered(1, 1), "intensity", 1);
    expect_refused([&] { lux::Registration({&single}); }, ECHOLUX_BAD_SETTING, "");
    expect_refused([&] { lux::VesselFlow({&structure}); }, ECHOLUX_BAD_SETTING, "velocit");
    const lux::Volume still = volume_from(std::vector<float>(noise.size(), 0), "velocity");
    expect_refused([&] { lux::VesselFlow({&still}); }, ECHOLUX_BAD_SETTING, "");
    expect_refused([&] { lux::VesselFlow({}); }, ECHOLUX_BAD_ARGUMENT, "at least one");
}

TEST(LibraryTissue, WorkCanBeStopped) {
    const lux::Volume volume = volume_from(layered(1));
    const auto stop = [](const std::string&, std::int64_t, std::int64_t) { return false; };
    expect_refused([&] { lux::filter(volume, lux::Tissue(), lux::make<echolux_device>(), stop); }, ECHOLUX_CANCELLED,
                   "");
    expect_refused([&] { lux::segment(volume, two_surfaces(), lux::make<echolux_device>(), stop); }, ECHOLUX_CANCELLED,
                   "");
}

TEST(LibraryTissue, ChecksHandles) {
    auto error = lux::make<echolux_error>();
    echolux_volume* made = nullptr;
    EXPECT_EQ(echolux_filter(nullptr, nullptr, nullptr, nullptr, nullptr, &made, &error), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(echolux_surfaces_describe(nullptr, nullptr, &error), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_tissue_free(nullptr), ECHOLUX_OK);
    const lux::Volume volume = volume_from(layered(1));
    EXPECT_EQ(echolux_filter(volume.get(), nullptr, nullptr, nullptr, nullptr, nullptr, &error), ECHOLUX_BAD_ARGUMENT);
    const echolux_volume* none[] = {nullptr};
    EXPECT_EQ(echolux_average(none, 1, nullptr, &made, nullptr, &error), ECHOLUX_BAD_ARGUMENT);
}

}  // namespace
}  // namespace echolux::test
