// What fuzzing found once (tests/fuzz/seeds/*/found_*), so that it stays mended where no fuzzer runs.
#include "engine/io/calibration_file.h"
#include "engine/io/raw_guess.h"
#include "engine/io/volume_file.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class FuzzFindings : public testing::Test {
  protected:
    std::filesystem::path found(const std::string& seed, const std::string& name) const {
        const std::filesystem::path copy = folder_ / name;
        std::filesystem::copy_file(std::filesystem::path(ECHOLUX_SOURCE_DIR) / "tests/fuzz/seeds" / seed, copy);
        return copy;
    }

    TemporaryFolder folder_;
};

// All shapes were unlike each other: the best score was below zero, and nothing was as good as nine tenths of it.
TEST_F(FuzzFindings, LinesThatAreUnlikeEachOther) {
    EXPECT_FALSE(guess_raw(found("raw_guess/found_unlike_lines", "x.raw")).empty());
}

TEST_F(FuzzFindings, EmptyFilesOfNumbers) {
    EXPECT_THAT(error_of([&] { read_calibration(found("f32/found_empty", "x.f32"), 0, "dark"); }).line,
                HasSubstr("holds no numbers"));
}

// Chunks of one voxel: the library takes seconds for their selection.
TEST_F(FuzzFindings, ChunksWithoutEnd) {
    const std::filesystem::path file = found("hdf5/found_many_chunks", "x.h5");
    const Caught caught = error_of([&] { read_volume(file); });
    if (caught.code == ErrorCode::bad_setting) GTEST_SKIP() << "built without HDF5";
    EXPECT_THAT(caught.line, HasSubstr("chunks"));
}

// An element of no interest claimed 1.8 GB, which GDCM allocated.
TEST_F(FuzzFindings, DicomElementsThatClaimMuch) {
    const std::filesystem::path file = found("dicom/found_gdcm_allocates", "x.dcm");
    const Caught caught = error_of([&] { read_volume(file); });
    EXPECT_NE(caught.code, ErrorCode::out_of_memory) << caught.line;
}

}  // namespace
}  // namespace echolux
