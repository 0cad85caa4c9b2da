// Many scans and parts of scans with one plan: the same bits as separately, and only one plan per recipe.
#include <cstring>

#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

constexpr const char* fixed = "background = \"running\"\nlevels = \"fixed\"\nlow = 20\nhigh = 120\n";
constexpr const char* measured = "background = \"none\"\n";

echolux_part part_of(std::int64_t volume, std::int64_t begin, std::int64_t end) {
    auto part = lux::make<echolux_part>();
    part.volume = volume;
    part.b_scan_begin = begin;
    part.b_scan_end = end;
    return part;
}

void expect_same(const lux::Volumes& a, const lux::Volumes& b) {
    const auto left = a.structure.bytes(), right = b.structure.bytes();
    ASSERT_EQ(left.size(), right.size());
    EXPECT_EQ(std::memcmp(left.data(), right.data(), left.size()), 0);
    EXPECT_EQ(a.structure.provenance(), b.structure.provenance());
    EXPECT_EQ(a.structure.warnings(), b.structure.warnings());
    EXPECT_EQ(a.structure.number(), b.structure.number());
    EXPECT_EQ(a.structure.time_s(), b.structure.time_s());
    ASSERT_EQ(a.flow.has_value(), b.flow.has_value());
    if (!a.flow) return;
    const auto moving = a.flow->bytes(), wanted = b.flow->bytes();
    ASSERT_EQ(moving.size(), wanted.size());
    EXPECT_EQ(std::memcmp(moving.data(), wanted.data(), moving.size()), 0);
}

void expect_as_alone(lux::Batch& batch, const lux::Scan& scan, const echolux_part& part) {
    expect_same(batch.reconstruct(scan, part), lux::reconstruct(scan, lux::make<echolux_device>(), part));
}

// Creates a folder for each scan.
class LibraryBatch : public ::testing::Test {
  protected:
    lux::Scan scan(const std::string& name, const char* recipe, const Size& size = {.volumes = 2},
                   const lux::Assignments& assignments = {}) {
        std::filesystem::create_directories(folder_ / name);
        return lux::Scan::open(scan_in(folder_ / name, size, recipe), assignments);
    }

    TemporaryFolder folder_;
    lux::Batch batch_;
};

TEST_F(LibraryBatch, ScansOfOneProtocolShareOnePlan) {
    EXPECT_EQ(batch_.plans(), 0);
    for (const char* name : {"one", "two", "three"}) expect_as_alone(batch_, scan(name, fixed), part_of(1, 2, 6));
    EXPECT_EQ(batch_.plans(), 1);
    expect_as_alone(batch_, scan("longer", fixed, {.volumes = 3}), part_of(2, 0, 0));
    EXPECT_EQ(batch_.plans(), 1) << "volumes are no part of a plan";
}

TEST_F(LibraryBatch, ChangedVoxelsNeedNewPlan) {
    const lux::Assignments changes[] = {{"recipe.window=rect"},
                                        {"recipe.voxel=u8"},
                                        {"recipe.zero_padding=2"},
                                        {"scan.b_repeats=2", "scan.b_scans=3"},
                                        {"flow.method=doppler", "calibration.centre_wavelength_nm=840"},
                                        {"scan.spacing_a_um=7"},
                                        {"recipe.resample=nufft", "nufft.width=4"}};
    std::int64_t plans = 0;
    for (const lux::Assignments& change : changes) {
        expect_as_alone(batch_, scan("one", fixed), part_of(0, 0, 0));
        expect_as_alone(batch_, scan("one", fixed, {.volumes = 2}, change), part_of(0, 0, 0));
        EXPECT_EQ(batch_.plans(), plans += 2) << change[0];
    }
}

TEST_F(LibraryBatch, CalibrationArrayIsPartOfPlan) {
    lux::Scan one = scan("one", fixed);
    batch_.reconstruct(one);
    one.set_calibration("dark", std::vector<double>(256, 100));
    expect_as_alone(batch_, one, part_of(0, 0, 0));
    EXPECT_EQ(batch_.plans(), 2);
}

TEST_F(LibraryBatch, NoiseFloorIsMeasuredForEachScan) {
    const lux::Scan one = scan("one", measured);
    expect_as_alone(batch_, one, part_of(0, 0, 3));
    expect_as_alone(batch_, one, part_of(1, 0, 3));
    EXPECT_EQ(batch_.plans(), 1);
    std::filesystem::create_directories(folder_ / "other");
    const std::string other = scan_in(folder_ / "other", {}, measured);
    std::vector<std::uint16_t> spectra = fringes();
    for (std::uint16_t& sample : spectra) sample = static_cast<std::uint16_t>(2 * sample);
    std::ofstream(folder_ / "other/spectra.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(spectra.data()), static_cast<std::streamsize>(spectra.size() * 2));
    expect_as_alone(batch_, lux::Scan::open(other), part_of(0, 0, 3));
    EXPECT_EQ(batch_.plans(), 2);
}

TEST_F(LibraryBatch, NewSpectraAreMeasuredAgain) {
    const lux::Scan one = scan("one", measured);
    const lux::Volumes before = batch_.reconstruct(one);
    std::vector<std::uint16_t> spectra = fringes({.volumes = 2});
    for (std::uint16_t& sample : spectra) sample = static_cast<std::uint16_t>(2 * sample);
    const auto raw = folder_ / "one/spectra.raw";
    const auto then = std::filesystem::last_write_time(raw);
    std::ofstream(raw, std::ios::binary)
        .write(reinterpret_cast<const char*>(spectra.data()), static_cast<std::streamsize>(spectra.size() * 2));
    std::filesystem::last_write_time(raw, then + std::chrono::seconds(1));
    const lux::Volumes after = batch_.reconstruct(one);
    expect_same(after, lux::reconstruct(one));
    EXPECT_NE(after.structure.provenance(), before.structure.provenance());
}

int darken(void*, const echolux_staged* staged) {
    static_cast<float*>(staged->values)[0] = 0;
    return 0;
}

TEST_F(LibraryBatch, StagesArePartOfPlan) {
    lux::Scan one = scan("one", fixed);
    batch_.reconstruct(one);
    auto stages = lux::make<echolux_stages>();
    stages.voxels = darken;
    one.set_stages(stages);
    const lux::Volumes dark = batch_.reconstruct(one);
    EXPECT_EQ(dark.structure.voxels<float>()[0], 0);
    EXPECT_NE(dark.structure.provenance().find("stages = voxels"), std::string::npos);
    one.set_stages(lux::make<echolux_stages>());
    expect_as_alone(batch_, one, part_of(0, 0, 0));
    EXPECT_EQ(batch_.plans(), 3);
}

}  // namespace
}  // namespace echolux::test
