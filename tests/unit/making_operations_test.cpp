// Operations that make scans and volumes: simulate, convert and reconstruct. Also refusals of reproduce and validate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compute/indexing.h"
#include "run_operation.h"
#include "temporary_folder.h"
#include "tests/support/volumes.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

Volume ramp() {
    Volume volume = make_volume({.depth = 5, .a_scans = 4, .b_scans = 3, .type = VoxelType::u16});
    for (std::size_t i = 0; i < volume.voxels.size(); i += 2) volume.voxels[i] = static_cast<std::byte>(i);
    return volume;
}

class MakingOperations : public testing::Test {
  protected:
    MakingOperations() { context_.backend.backend = Backend::cpu; }

    std::string file(const std::string& name) const { return (folder_ / name).string(); }

    // A scan of 2 volumes, 4 B-scans and 8 A-scans.
    std::string simulated() {
        run_operation("simulate", {"scene=layers", "samples=256", "a_scans=8", "b_scans=4", "volumes=2",
                                   "output=" + file("scan.toml")});
        return file("scan.toml");
    }

    TemporaryFolder folder_;
    SilentProgress progress_;
    Context context_{progress_};
};

TEST_F(MakingOperations, ConvertsSameVoxelsInMemoryAndInFiles) {
    write_volume(file("ramp.nrrd"), ramp());
    const auto by_file = run_operation(
        "convert", {"input=" + file("ramp.nrrd"), "output=" + file("codes.nrrd"), "type=u8", "range=0:200"});
    EXPECT_EQ(std::get<std::int64_t>(by_file->result("parts")), 1);

    const auto in_memory = operation_named("convert").make();
    in_memory->add_input("input", std::make_shared<const Volume>(ramp()));
    in_memory->set_text("type", "u8");
    in_memory->set_text("range", "0:200");
    in_memory->keep("output");
    in_memory->run(context_);
    const auto made = in_memory->output("output").volume;
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->grid.type, VoxelType::u8);
    EXPECT_EQ(made->voxels, read_volume(file("codes.nrrd")).voxels);
    EXPECT_TRUE(context_.files.empty());
}

TEST_F(MakingOperations, ConvertKeepsOneTimePointInMemory) {
    SeriesWriter writer(file("series.nrrd"), {.grid = ramp().grid, .time_points = 2});
    for (int t = 0; t < 2; ++t) writer.write(ramp().voxels);
    writer.finish();
    const auto convert = operation_named("convert").make();
    convert->set_text("input", file("series.nrrd"));
    convert->keep("output");
    EXPECT_THAT(error_of([&] { convert->run(context_); }).line, HasSubstr("2 time points"));
    convert->set_text("time", "1:2");
    convert->run(context_);
    EXPECT_EQ(convert->output("output").volume->voxels, ramp().voxels);
}

TEST_F(MakingOperations, ConvertRejectsInvalidIntervals) {
    for (const char* time : {"1", "x:2", "2:1"}) {
        const auto work = [&] {
            run_operation("convert",
                          {"input=" + file("ramp.nrrd"), "output=" + file("part.nrrd"), std::string("time=") + time});
        };
        write_volume(file("ramp.nrrd"), ramp());
        EXPECT_THAT(error_of(work).line, HasSubstr("time")) << time;
    }
}

TEST_F(MakingOperations, SimulateKeepsVelocityInMemory) {
    const auto simulate = operation_named("simulate").make();
    for (const char* one : {"scene=capillary", "samples=512", "a_scans=8", "b_scans=4"}) simulate->set_assignment(one);
    simulate->set_text("output", file("scan.toml"));
    simulate->keep("velocity");
    EXPECT_THAT(error_of([&] { simulate->keep("output"); }).line, HasSubstr("cannot be kept in memory"));
    simulate->run(context_);
    EXPECT_THAT(context_.files, testing::ElementsAre(folder_ / "scan.toml"));
    ASSERT_NE(simulate->output("velocity").volume, nullptr);
    EXPECT_EQ(simulate->output("velocity").volume->grid.a_scans, 8);
}

TEST_F(MakingOperations, SimulateReplacesNoCompanionOfAnotherProgram) {
    folder_.write("scan.raw", "measured");
    const auto work = [&] { run_operation("simulate", {"scene=mirror", "output=" + file("scan.toml")}); };
    EXPECT_THAT(error_of(work).line, HasSubstr("scan.raw"));
}

TEST_F(MakingOperations, ReconstructsSameVoxelsInMemoryAndInFiles) {
    const std::string scan = simulated();
    const auto by_file = run_operation(
        "reconstruct", {"scan=" + scan, "output=" + file("v.nrrd"), "volume=1", "recipe.window=hann"}, Backend::cpu);
    EXPECT_EQ(std::get<std::int64_t>(by_file->result("volumes_in_scan")), 2);
    EXPECT_EQ(std::get<std::int64_t>(by_file->result("a_scans")), 32);

    const auto in_memory = operation_named("reconstruct").make();
    in_memory->set_text("scan", scan);
    in_memory->set("volume", std::string("1"));
    in_memory->set_text("window", "hann");
    in_memory->keep("output");
    in_memory->run(context_);
    ASSERT_NE(in_memory->output("output").volume, nullptr);
    EXPECT_EQ(in_memory->output("output").volume->voxels, read_volume(file("v.nrrd")).voxels);
}

TEST_F(MakingOperations, ReconstructWritesOneFilePerPicture) {
    const std::string scan = simulated();
    const auto work = [&] {
        run_operation("reconstruct", {"scan=" + scan, "output=" + file("b.png"), "b_scan=1", "volume=all"},
                      Backend::cpu);
    };
    work();
    EXPECT_TRUE(std::filesystem::exists(file("b_t000.png")));
    EXPECT_TRUE(std::filesystem::exists(file("b_t001.png")));
    folder_.write("b_t001.png", "of another program");
    EXPECT_THAT(error_of(work).line, HasSubstr("b_t001.png"));
}

TEST_F(MakingOperations, ReconstructKeepsPictureInMemory) {
    const auto reconstruct = operation_named("reconstruct").make();
    reconstruct->set_text("scan", simulated());
    reconstruct->set_text("en_face", "4:20");
    reconstruct->keep("output");
    reconstruct->run(context_);
    EXPECT_THAT(reconstruct->output("output").bytes, testing::StartsWith("\x89PNG"));
}

TEST_F(MakingOperations, ReconstructRejectsSeveralVolumesInMemory) {
    const auto reconstruct = operation_named("reconstruct").make();
    reconstruct->set_text("scan", simulated());
    reconstruct->set_text("volume", "all");
    reconstruct->keep("output");
    EXPECT_THAT(error_of([&] { reconstruct->run(context_); }).line, HasSubstr("cannot be kept in memory"));
}

TEST_F(MakingOperations, ValidateRejectsSettingsWithoutMirrors) {
    const auto work = [] { run_operation("validate", {"quick=true", "recipe.window=hann"}); };
    EXPECT_THAT(error_of(work).line, HasSubstr("recipe.window=hann: has no effect without a scan in `mirrors`"));
}

TEST_F(MakingOperations, ReproduceRequiresPicture) {
    if (std::ranges::find(operations(), "reproduce", &OperationInfo::name) == operations().end())
        GTEST_SKIP() << "this build has no renderer";
    EXPECT_THAT(error_of([] { run_operation("reproduce", {"device=any"}); }).line, HasSubstr("picture: is missing"));
}

}  // namespace
}  // namespace echolux::test
