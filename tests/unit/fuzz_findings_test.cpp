// Regression tests for findings of fuzzing (tests/fuzz/seeds/*/found_*), for machines without a fuzzer.
#include <fstream>

#include "engine/io/number_file.h"
#include "engine/io/raw_guess.h"
#include "engine/io/volume_file.h"
#include "engine/scan/time_points.h"
#include "temporary_folder.h"
#include "tests/support/volumes.h"

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

// No two lines were similar: the best score was negative, so no shape reached nine tenths of it.
TEST_F(FuzzFindings, GuessesLayoutOfDissimilarLines) {
    EXPECT_FALSE(guess_raw(found("raw_guess/found_unlike_lines", "x.raw")).empty());
}

TEST_F(FuzzFindings, RejectsEmptyFilesOfNumbers) {
    EXPECT_THAT(error_of([&] { read_calibration(found("f32/found_empty", "x.f32"), 0, "dark"); }).line,
                HasSubstr("contains no numbers"));
}

// With chunks of one voxel, the library takes seconds to select them.
TEST_F(FuzzFindings, LimitsNumberOfChunks) {
    const std::filesystem::path file = found("hdf5/found_many_chunks", "x.h5");
    const Caught caught = error_of([&] { read_volume(file); });
    if (caught.code == ErrorCode::bad_setting) GTEST_SKIP() << "built without HDF5";
    EXPECT_THAT(caught.line, HasSubstr("chunks"));
}

// An irrelevant element claimed 1.8 GB, which GDCM allocated.
TEST_F(FuzzFindings, LimitsMemoryClaimedByDicomElements) {
    const std::filesystem::path file = found("dicom/found_gdcm_allocates", "x.dcm");
    const Caught caught = error_of([&] { read_volume(file); });
    EXPECT_NE(caught.code, ErrorCode::out_of_memory) << caught.line;
}

// The product of the dimensions overflowed 64 bits, and a small buffer was overrun.
TEST_F(FuzzFindings, LimitsProductOfSides) {
    const std::filesystem::path zarr = folder_ / "x.ome.zarr";
    std::filesystem::create_directories(zarr / "0");
    std::ofstream(zarr / ".zgroup") << R"({"zarr_format": 2})";
    std::ofstream(zarr / ".zattrs") << R"({"multiscales": [{"version": "0.4",
        "axes": [{"name": "z", "type": "space"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
        "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 1]}]}]}]})";
    std::ofstream(zarr / "0/.zarray") << R"({"zarr_format": 2, "shape": [549755813889, 4096, 8192],
        "chunks": [1, 4096, 8192], "dtype": "|u1", "compressor": null, "fill_value": 0, "order": "C", "filters": null})";
    const Caught caught = error_of([&] { read_volume(zarr); });
    if (caught.code == ErrorCode::bad_setting) GTEST_SKIP() << "built without OME-Zarr";
    EXPECT_THAT(caught.line, HasSubstr("more than any memory holds"));
}

// After a file that could not be opened, the previous one was requested again.
TEST_F(FuzzFindings, SkipsDamagedTimePointBetweenTwo) {
    Volume volume = make_volume({.depth = 4, .a_scans = 3, .b_scans = 2, .type = VoxelType::u8});
    volume.voxels.resize(24);
    write_volume(folder_ / "t0.nrrd", volume);
    std::ofstream(folder_ / "t1.nrrd") << "NRRD0004\nnonsense";
    const TimePoints points(folder_.path());
    EXPECT_EQ(points.read(0).voxels.size(), 24u);
    EXPECT_THROW(points.read(1), Error);
    EXPECT_EQ(points.read(0).voxels.size(), 24u);
}

}  // namespace
}  // namespace echolux
