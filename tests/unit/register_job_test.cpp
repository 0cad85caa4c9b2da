// Registration jobs on volumes that begin with perpendicular B-scans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>

#include "app/jobs/register_job.h"
#include "app/jobs/render_job.h"
#include "compute/error.h"
#include "engine/io/volume_file.h"
#include "moving_speckle.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace moving_speckle;

Volume scanned(const PowerVolume& power, const std::string& protocol, std::int64_t of_these_across = crosses) {
    const auto* bytes = reinterpret_cast<const std::byte*>(power.power.data());
    return {power.grid,
            {bytes, bytes + power.grid.bytes()},
            {{"scan.protocol", '"' + protocol + '"'}, {"scan.crosses", std::to_string(of_these_across)}}};
}

Volume with_crosses(const Motion& motion, std::int64_t of_these_across = crosses) {
    return scanned(crossed(speckle(), motion), "raster_cross", of_these_across);
}

class RegisterJobs : public testing::Test {
  protected:
    RegisteredVolumes done(const RegisterJob& job) {
        SilentProgress silent;
        return run(job, silent);
    }

    RegisterJobs() {
        job_.inputs = {folder_ / "b.nrrd"};
        job_.table = folder_ / "t.csv";
        job_.settings = {"registration.axial_range=8", "registration.lateral_range=8"};
        job_.backend.backend = Backend::cpu;
    }

    TemporaryFolder folder_;
    RegisterJob job_;
};

TEST_F(RegisterJobs, RemovesCrossesOfReference) {
    write_volume(folder_ / "a.nrrd", with_crosses(still));
    write_volume(folder_ / "b.nrrd", with_crosses([](double) { return SeenAt{2, 1, 0}; }));
    job_.reference = folder_ / "a.nrrd";
    const RegisteredVolumes found = done(job_);
    EXPECT_EQ(found.b_scans, b_scans);
    EXPECT_GT(found.reasons.at("ok"), b_scans - 3);
}

TEST_F(RegisterJobs, RejectsVolumesWithDifferentCrosses) {
    write_volume(folder_ / "a.nrrd", with_crosses(still, 2));
    write_volume(folder_ / "b.nrrd", with_crosses(still));
    job_.inputs.push_back(folder_ / "a.nrrd");
    EXPECT_EQ(error_of([&] { done(job_); }).line,
              "a.nrrd: has 2 B-scans across, the first volume has 3 (register volumes of one scan protocol)");
}

TEST_F(RegisterJobs, NamesFileWithInvalidNumberOfCrosses) {
    write_volume(folder_ / "b.nrrd", with_crosses(still, -5));
    const Caught caught = error_of([&] { done(job_); });
    EXPECT_EQ(caught.code, ErrorCode::bad_file);
    EXPECT_EQ(caught.line,
              "b.nrrd: scan.crosses in its provenance: expected a whole number from 1 to 64 B-scans, got -5 (give "
              "registration.crosses)");
}

TEST_F(RegisterJobs, RequiresRasterYForAcross) {
    write_volume(folder_ / "b.nrrd", scanned(speckle().seen(still), "raster"));
    write_volume(folder_ / "c.nrrd", with_crosses(still));
    write_volume(folder_ / "y.nrrd", scanned(speckle().seen(still), "raster_y"));
    job_.across = folder_ / "c.nrrd";
    EXPECT_EQ(error_of([&] { done(job_); }).line,
              "c.nrrd: was scanned with scan.protocol \"raster_cross\", not \"raster_y\" (give the raster along y of "
              "the same place)");
    job_.inputs = {folder_ / "c.nrrd"};
    job_.across = folder_ / "y.nrrd";
    EXPECT_EQ(error_of([&] { done(job_); }).line,
              "c.nrrd: was scanned with scan.protocol \"raster_cross\", not \"raster\" (the volume to align is a "
              "raster along x; a raster_cross needs no other volume)");
}

TEST_F(RegisterJobs, PlacedVolumesHaveNoCrosses) {
    const PowerVolume raster = speckle().seen(still);
    const Volume made = placed_volume(raster, std::vector<RowShift>(b_scans, RowShift{.quality = 1}), raster.grid, {},
                                      with_crosses(still).provenance)
                            .volume;
    EXPECT_FALSE(made.provenance.contains("scan.protocol"));
    EXPECT_TRUE(made.provenance.contains("scan.crosses")) << "the rest is kept";
}

TEST(Stabilised, CountsOnlyBScansAlongX) {
    SilentProgress silent;
    const StabilisedVolume done = stabilised(with_crosses(still), nullptr, ranges(), silent);
    EXPECT_EQ(std::ssize(done.rows), crosses + b_scans);
    EXPECT_LE(done.used, b_scans);
    EXPECT_GT(done.used, b_scans - 3);
}

TEST(Stabilised, FailsWithoutMatchToCrosses) {
    SilentProgress silent;
    PowerVolume volume = crossed(speckle(), still);
    std::mt19937 random(1);
    std::exponential_distribution<float> noise(1e-4F);
    std::generate_n(volume.power.begin(), crosses * depth * a_scans, [&] { return noise(random); });
    EXPECT_EQ(error_of([&] { stabilised(scanned(volume, "raster_cross"), nullptr, ranges(), silent); }).line,
              "registration: no B-scan fits those across (is it more than noise? Larger ranges may help)");
}

}  // namespace
}  // namespace echolux
