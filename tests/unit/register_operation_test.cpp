// Registration of volumes that begin with perpendicular B-scans, as an operation and before display.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "app/jobs/render_job.h"
#include "app/operations/operation.h"
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

// Registers the file b.nrrd, and writes a table.
class RegisterOperation : public testing::Test {
  protected:
    RegisterOperation() {
        set("input", "b.nrrd");
        set("table", "t.csv");
        set_ranges(*operation_);
    }

    static void set_ranges(Operation& operation) {
        operation.set_assignment("axial_range=8");
        operation.set_assignment("registration.lateral_range=8");
    }
    void set(const char* key, const char* file) { operation_->set_text(key, (folder_ / file).string()); }
    void put(const char* file, const Volume& volume) { write_volume(folder_ / file, volume); }

    void run(Operation& operation) {
        Context context{progress_};
        context.backend.backend = Backend::cpu;
        operation.run(context);
    }
    void run() { run(*operation_); }
    std::string refusal() {
        return error_of([&] { run(); }).line;
    }
    template <class T>
    static std::vector<T> array(const Operation& operation, const char* name) {
        const auto found = std::get<std::shared_ptr<const ResultArray>>(operation.result(name));
        return std::get<std::vector<T>>(found->values);
    }

    TemporaryFolder folder_;
    SilentProgress progress_;
    std::unique_ptr<Operation> operation_ = operation_named("register").make();
};

TEST_F(RegisterOperation, RemovesCrossesOfReference) {
    put("a.nrrd", with_crosses(still));
    put("b.nrrd", with_crosses([](double) { return SeenAt{2, 1, 0}; }));
    set("reference", "a.nrrd");
    run();
    EXPECT_EQ(std::get<std::int64_t>(operation_->result("b_scans")), b_scans);
    const auto reasons = std::get<std::map<std::string, std::int64_t>>(operation_->result("reasons"));
    EXPECT_GT(reasons.at("ok"), b_scans - 3);
}

TEST_F(RegisterOperation, RejectsVolumesWithDifferentCrosses) {
    put("a.nrrd", with_crosses(still, 2));
    put("b.nrrd", with_crosses(still));
    set("input", "a.nrrd");
    EXPECT_EQ(refusal(),
              "a.nrrd: has 2 B-scans across, the first volume has 3 (register volumes of the same scan protocol)");
}

TEST_F(RegisterOperation, NamesFileWithInvalidNumberOfCrosses) {
    put("b.nrrd", with_crosses(still, -5));
    const Caught caught = error_of([&] { run(); });
    EXPECT_EQ(caught.code, ErrorCode::bad_file);
    EXPECT_EQ(caught.line,
              "b.nrrd: scan.crosses in its provenance: expected a whole number from 1 to 64 B-scans, got -5 (set "
              "registration.crosses)");
}

TEST_F(RegisterOperation, RequiresRasterYForAcross) {
    put("b.nrrd", scanned(speckle().seen(still), "raster"));
    put("c.nrrd", with_crosses(still));
    put("y.nrrd", scanned(speckle().seen(still), "raster_y"));
    set("across", "c.nrrd");
    EXPECT_EQ(refusal(),
              "c.nrrd: was scanned with scan.protocol \"raster_cross\", not \"raster_y\" (give the raster along y of "
              "the same field)");
    const auto other = operation_named("register").make();
    other->set_text("input", (folder_ / "c.nrrd").string());
    other->set_text("across", (folder_ / "y.nrrd").string());
    other->keep("table");
    EXPECT_EQ(error_of([&] { run(*other); }).line,
              "c.nrrd: was scanned with scan.protocol \"raster_cross\", not \"raster\" (the volume to align is a "
              "raster along x; a raster_cross needs no other volume)");
}

TEST_F(RegisterOperation, RejectsReferencesWithoutEffect) {
    put("a.nrrd", with_crosses(still));
    put("b.nrrd", with_crosses(still));
    set("input", "a.nrrd");
    set("reference", "a.nrrd");
    operation_->set_text("reference_volume", "1");
    EXPECT_EQ(refusal(),
              "reference_volume: has no effect with another volume as the reference (leave one of them out)");
    operation_->set_text("reference_volume", "0");
    operation_->set_text("registered", "2");
    EXPECT_EQ(refusal(), "registered: there is no volume of this number (the volumes are 0 to 1)");
    operation_->set_text("registered", "-1");
    set("across", "a.nrrd");
    EXPECT_THAT(refusal(), testing::HasSubstr("a.nrrd: aligns a single volume, without a reference"));
}

TEST_F(RegisterOperation, MakesSameBytesInMemoryAndInFiles) {
    const Volume a = with_crosses(still), b = with_crosses([](double) { return SeenAt{2, 1, 0}; });
    put("a.nrrd", a);
    put("b.nrrd", b);
    set("input", "a.nrrd");
    set("output", "mean.nrrd");
    operation_->keep("table");
    run();
    const auto in_memory = operation_named("register").make();
    in_memory->add_input("input", std::make_shared<const Volume>(b));
    in_memory->add_input("input", std::make_shared<const Volume>(a));
    set_ranges(*in_memory);
    in_memory->keep("output");
    in_memory->keep("table");
    run(*in_memory);
    EXPECT_EQ(in_memory->output("output").volume->voxels, read_volume(folder_ / "mean.nrrd").voxels);
    EXPECT_EQ(in_memory->output("table").bytes, operation_->output("table").bytes);
    EXPECT_EQ(in_memory->output("table").bytes.rfind(registration_heading, 0), 0U);
}

TEST_F(RegisterOperation, ReturnsShiftsOfAllBScans) {
    put("a.nrrd", with_crosses([](double) { return SeenAt{2, 1, 0}; }));
    put("b.nrrd", with_crosses(still));
    set("input", "a.nrrd");
    run();
    const auto z = array<double>(*operation_, "shifts.z");
    const auto reasons = array<std::uint8_t>(*operation_, "shifts.reason");
    const std::size_t per_volume = crosses + b_scans;
    ASSERT_EQ(z.size(), 2 * per_volume);
    EXPECT_TRUE(std::all_of(z.begin(), z.begin() + per_volume + crosses, [](double one) { return one == 0; }))
        << "the reference and B-scans across stay in place";
    for (std::size_t i = per_volume + crosses; i < z.size(); ++i) {
        EXPECT_EQ(std::isnan(z[i]), reasons[i] != 0) << i;
        if (reasons[i] == 0) {
            EXPECT_NEAR(z[i], 2, 0.2) << i;
        }
    }
    const auto found = std::get<std::shared_ptr<const ResultArray>>(operation_->result("shifts.reason"));
    EXPECT_THAT(found->shape, testing::ElementsAre(2, per_volume));
    EXPECT_EQ(found->words.at(6), "out_of_range");
}

TEST_F(RegisterOperation, MakesVolumeAtItsRegisteredPosition) {
    Volume moved = with_crosses([](double) { return SeenAt{2, 0, 0}; });
    moved.provenance["source"] = "moved.toml";
    operation_ = operation_named("register").make();
    operation_->add_input("input", std::make_shared<const Volume>(with_crosses(still)));
    operation_->add_input("input", std::make_shared<const Volume>(moved));
    set_ranges(*operation_);
    operation_->set("registered", std::int64_t{1});
    operation_->keep("output");
    run();
    const Volume& made = *operation_->output("output").volume;
    EXPECT_EQ(made.grid.b_scans, b_scans);
    EXPECT_EQ(made.provenance.at("registration.volume"), "1");
    EXPECT_EQ(made.provenance.at("source"), "moved.toml");
    EXPECT_FALSE(made.provenance.contains("scan.protocol"));
    EXPECT_TRUE(made.provenance.contains("scan.crosses")) << "the rest is kept";
    const std::vector<float> power = power_of(made).power;
    const PowerVolume wanted = speckle().seen(still);
    double sum = 0, error = 0;
    for (std::size_t i = 0; i < power.size(); ++i) {
        if (!std::isfinite(power[i])) continue;
        sum += wanted.power[i];
        error += std::abs(power[i] - wanted.power[i]);
    }
    EXPECT_LT(error, 0.1 * sum);
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
              "registration: no B-scan fits those across (check that the scan shows tissue; larger ranges may help)");
}

}  // namespace
}  // namespace echolux
