// Formats of other programs, written by writers that share no code with us (write_foreign_files.py): every voxel,
// spacing and order, and invalid files, each with one clear error line.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "engine/io/volume_file.h"
#include "engine/layers/layers.h"
#include "engine/offline/series.h"
#include "engine/scan/scan.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t b_scans = 3, a_scans = 5, depths = 7;

double written(std::int64_t b, std::int64_t a, std::int64_t z) {
    return static_cast<double>(1000 * b + 20 * a + z);
}

double code_at(const Volume& volume, std::int64_t place) {
    const std::byte* at = volume.voxels.data() + place * bytes_of(volume.grid.type);
    const auto as = [at]<class T>(T value) {
        std::memcpy(&value, at, sizeof value);
        return static_cast<double>(value);
    };
    switch (volume.grid.type) {
        case VoxelType::u8: return as(std::uint8_t{});
        case VoxelType::u16: return as(std::uint16_t{});
        case VoxelType::i16: return as(std::int16_t{});
        default: return as(float{});
    }
}

// The files are written once for all tests.
class ForeignFiles : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder;
        const std::string python = std::filesystem::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
        const std::string command =
            python + " -B '" ECHOLUX_TEST_DIR "/write_foreign_files.py' '" + folder_->path().string() + "'";
        status_ = std::system(command.c_str());
    }
    static void TearDownTestSuite() { delete folder_; }
    void SetUp() override {
        constexpr int missing = 77 << 8;
        if (status_ == missing) GTEST_SKIP() << "python3-pydicom, -h5py, -scipy or -tifffile is not installed";
        ASSERT_EQ(status_, 0);
    }

    static std::filesystem::path at(const std::string& name) { return *folder_ / name; }

    static Caught reading(const std::string& name) {
        return error_of([&] { read_volume(at(name)); });
    }

    // Checks every voxel.
    template <class Value>
    static void expect(const Volume& volume, const Value& value, std::int64_t count = b_scans) {
        ASSERT_EQ(volume.grid.depth, depths);
        ASSERT_EQ(volume.grid.a_scans, a_scans);
        ASSERT_EQ(volume.grid.b_scans, count);
        for (std::int64_t place = 0; place < volume.grid.voxels(); ++place) {
            const std::int64_t z = place % depths, a = place / depths % a_scans, b = place / depths / a_scans;
            const double read = code_at(volume, place) * volume.grid.scale + volume.grid.offset;
            ASSERT_EQ(read, value(b, a, z)) << "B-scan " << b << ", A-scan " << a << ", depth " << z;
        }
    }

    static TemporaryFolder* folder_;
    static int status_;
};

TemporaryFolder* ForeignFiles::folder_ = nullptr;
int ForeignFiles::status_ = 0;

constexpr auto plus(double more) {
    return [more](std::int64_t b, std::int64_t a, std::int64_t z) { return written(b, a, z) + more; };
}

// ---- DICOM ----------------------------------------------------------------------------------------------------------

TEST_F(ForeignFiles, SortsDicomSlicesByPositionInAnyEncoding) {
    const Volume volume = read_volume(at("dicom"));
    expect(volume, [](auto b, auto a, auto z) { return 2 * written(b, a, z) - 100; });
    EXPECT_EQ(volume.grid.type, VoxelType::u16);
    EXPECT_NEAR(volume.grid.spacing_um[0], 3, 1e-9);
    EXPECT_NEAR(volume.grid.spacing_um[1], 12, 1e-9);
    EXPECT_NEAR(volume.grid.spacing_um[2], 25, 1e-6);  // by position, not by thickness
    EXPECT_EQ(volume.provenance.at("series"), "OPT 1 series 1");
}

TEST_F(ForeignFiles, ReadsLargestOrNamedDicomSeries) {
    const Volume largest = read_volume(at("two_series"));
    expect(largest, plus(10));
    EXPECT_THAT(largest.provenance.at("series"), AllOf(HasSubstr("OPT 2"), HasSubstr("OPT 1 series 1 (2 slices)")));
    expect(read_volume(at("two_series:1")), plus(5), 2);
    expect(read_volume(at("two_series:series 1")), plus(5), 2);
    EXPECT_THAT(reading("two_series:3").line, AllOf(HasSubstr("no series \"3\""), HasSubstr("OPT 1 series 1")));
}

TEST_F(ForeignFiles, ReadsRepeatedDicomPositionsAsTimePoints) {
    SeriesFile series(at("times"));
    ASSERT_EQ(series.time_points(), 2);
    expect(series.read(1), plus(7));
    expect(series.read(0), plus(0));
}

TEST_F(ForeignFiles, SortsDicomFramesByPosition) {
    const Volume volume = read_volume(at("frames.dcm"));
    expect(volume, [](auto b, auto a, auto z) { return written(2 - b, a, z); });
    EXPECT_NEAR(volume.grid.spacing_um[0], 3, 1e-9);
    EXPECT_NEAR(volume.grid.spacing_um[2], 25, 1e-6);
}

TEST_F(ForeignFiles, ConvertsDicomSlicesWithDifferentScales) {
    const Volume volume = read_volume(at("own_scales"));
    EXPECT_EQ(volume.grid.type, VoxelType::f32);
    expect(volume, [](auto b, auto a, auto z) { return 0.5 * static_cast<double>(b + 1) * written(b, a, z) - 1; });
}

TEST_F(ForeignFiles, MasksUnusedBitsOfDicomFiles) {
    expect(read_volume(at("bits.dcm")), plus(0), 1);
}

TEST_F(ForeignFiles, RefusesUnknownDicomSyntax) {
    std::ifstream stream(at("bits.dcm"), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const std::size_t syntax = bytes.find("1.2.840.10008.1.2.");
    ASSERT_NE(syntax, std::string::npos);
    bytes[syntax] = '9';
    folder_->write("strange.dcm", bytes);
    EXPECT_THAT(reading("strange.dcm").line,
                HasSubstr("strange.dcm: has the unknown transfer syntax 9.2.840.10008.1.2."));
}

TEST_F(ForeignFiles, PackedDicomFilesAreUnpacked) {
    expect(read_volume(at("packed.dcm")), plus(0));  // with run lengths
}

// 48 columns and 40 rows with the value 20 column + row, losslessly compressed by GDCM's own encoders.
TEST_F(ForeignFiles, DicomFilesPackedByCodecsAreUnpacked) {
    for (const std::string name : {"jpeg2000", "jpeg_lossless", "jpeg_ls"}) {
        SCOPED_TRACE(name);
        std::filesystem::copy_file(std::filesystem::path(ECHOLUX_SOURCE_DIR) / "tests/fuzz/seeds/dicom" / name,
                                   at(name + ".dcm"));
        if (reading(name + ".dcm").line.find("ECHOLUX_GDCM") != std::string::npos) GTEST_SKIP() << "built without GDCM";
        const Volume volume = read_volume(at(name + ".dcm"));
        ASSERT_EQ(volume.grid.a_scans, 48);
        ASSERT_EQ(volume.grid.depth, 40);
        for (std::int64_t place = 0; place < volume.grid.voxels(); ++place) {
            ASSERT_EQ(code_at(volume, place), static_cast<double>(20 * (place / 40) + place % 40));
        }
    }
}

TEST_F(ForeignFiles, RejectsTruncatedDicomFiles) {
    std::string bytes(static_cast<std::size_t>(std::filesystem::file_size(at("frames.dcm"))), '\0');
    std::ifstream(at("frames.dcm"), std::ios::binary).read(bytes.data(), std::ssize(bytes));
    for (const std::size_t size : {std::size_t{140}, bytes.size() / 2, bytes.size() - 1}) {
        folder_->write("cut.dcm", bytes.substr(0, size));
        const Caught caught = reading("cut.dcm");
        EXPECT_EQ(caught.code, ErrorCode::bad_file) << size;
        EXPECT_THAT(caught.line, HasSubstr("cut.dcm: ")) << size;
    }
}

// ---- Thorlabs -------------------------------------------------------------------------------------------------------

TEST_F(ForeignFiles, ThorlabsPictureIsVolume) {
    const Volume volume = read_volume(at("both.oct"));
    expect(volume, plus(-30.5));
    EXPECT_NEAR(volume.grid.spacing_um[0], 3, 1e-9);
    EXPECT_NEAR(volume.grid.spacing_um[1], 12, 1e-9);
    EXPECT_NEAR(volume.grid.spacing_um[2], 25, 1e-9);
    EXPECT_EQ(volume.grid.quantity, "db");
    EXPECT_EQ(volume.provenance.at("Study"), "a study <1>");
    EXPECT_THAT(reading("spectra.oct").line, HasSubstr("open it as a scan to reconstruct"));
}

TEST_F(ForeignFiles, ThorlabsSpectraAreAScan) {
    std::filesystem::path unpacked;
    {
        const Scan scan = open_scan(at("both.oct"));
        EXPECT_EQ(scan.geometry.samples, 16);
        EXPECT_EQ(scan.geometry.a_scans, a_scans);
        EXPECT_EQ(scan.geometry.b_scans, b_scans);
        EXPECT_NEAR(scan.geometry.spacing_a_um, 12, 1e-9);
        EXPECT_NEAR(scan.geometry.spacing_b_um, 25, 1e-9);
        EXPECT_EQ(scan.geometry.refractive_index, 1.33);
        EXPECT_EQ(scan.calibration.centre_wavelength_nm, 930);
        for (std::size_t i = 0; i < 16; ++i) {
            const double position = scan.calibration.k_positions[i];  // chirp(position) = i, chirp = sample^2 / 15
            const double below = std::floor(position), part = position - below;
            EXPECT_NEAR(((1 - part) * below * below + part * (below + 1) * (below + 1)) / 15, static_cast<double>(i),
                        1e-5);
            EXPECT_EQ(scan.calibration.background[i], 1000 + 10 * static_cast<double>(i));
            EXPECT_NEAR(scan.calibration.dark[i], static_cast<double>(i), 1e-5);  // electrons, 50 per count
        }
        SpectraReader reader(scan);
        std::vector<std::byte> bytes(index(reader.bytes_per_b_scan()));
        reader.read(0, 2, 1, bytes);
        std::uint16_t sample = 0;
        std::memcpy(&sample, bytes.data() + 2 * (3 * 16 + 4), 2);  // line 3, sample 4, behind two reference lines
        EXPECT_EQ(sample, 1000 + 200 + 10 * 5 + 4);
        unpacked = scan.spectra;
        EXPECT_TRUE(std::filesystem::exists(unpacked));
    }
    EXPECT_FALSE(std::filesystem::exists(unpacked));
}

TEST_F(ForeignFiles, HostileArchivesAreRefused) {
    EXPECT_THAT(reading("climbing.oct").line, HasSubstr("a path outside the archive"));
    EXPECT_THAT(reading("absolute.oct").line, HasSubstr("a path outside the archive"));
    EXPECT_THAT(reading("bomb.oct").line, HasSubstr("which is impossible"));
    EXPECT_THAT(reading("short.oct").line, HasSubstr("ends too early"));
    EXPECT_THAT(reading("endless.oct").line, HasSubstr("ends too early"));
    EXPECT_THAT(reading("entities.oct").line, HasSubstr("contains spectra but no image"));  // no entity was expanded
    EXPECT_THAT(reading("no_xml.oct").line, HasSubstr("Header.xml is damaged"));
    EXPECT_THAT(reading("damaged.oct").line, HasSubstr("is damaged"));
    EXPECT_FALSE(std::filesystem::exists("/tmp/evil"));
}

// ---- Heidelberg -----------------------------------------------------------------------------------------------------

TEST_F(ForeignFiles, HeidelbergVolumes) {
    Volume volume = read_volume(at("eye.vol"));
    const std::int64_t hole = (1 * a_scans + 3) * depths + 2;
    EXPECT_TRUE(std::isnan(code_at(volume, hole)));
    const auto filled = static_cast<float>(written(1, 3, 2));
    std::memcpy(volume.voxels.data() + 4 * hole, &filled, 4);
    expect(volume, plus(0));
    EXPECT_NEAR(volume.grid.spacing_um[0], 3, 1e-9);
    EXPECT_NEAR(volume.grid.spacing_um[1], 12, 1e-9);
    EXPECT_NEAR(volume.grid.spacing_um[2], 25, 1e-9);
    EXPECT_EQ(volume.provenance.at("time"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(volume.provenance.at("b_scans_end_mm"), "0.5 0 to 6.5 0; 0.5 2 to 6.5 2");
    EXPECT_THAT(reading("short.vol").line, HasSubstr("ends too early"));
    EXPECT_THAT(error_of([] { open_scan(at("eye.vol")); }).line, HasSubstr("is a volume, not a scan"));
    EXPECT_THAT(reading("endless.vol").line, HasSubstr("claims 2147483647 A-scans"));
}

TEST_F(ForeignFiles, LinesAndFundusOfHeidelbergVolumes) {
    const Volume lines = read_volume(at("eye.vol:surfaces"));
    EXPECT_EQ(lines.provenance.at("surfaces"), "ILM BM");
    EXPECT_EQ(lines.provenance.at("eye"), "OD");
    EXPECT_EQ(lines.grid.quantity, "depth");
    EXPECT_EQ(lines.grid.unit, "um");
    const Surfaces surfaces = read_surfaces(at("eye.vol:surfaces"), read_volume(at("eye.vol")).grid);
    ASSERT_EQ(surfaces.all.size(), 2U);
    for (std::int64_t b = 0; b < 3; ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            const auto line = static_cast<std::size_t>(b * a_scans + a);
            EXPECT_NEAR(surfaces.all[0].rows[line], 0.5 + static_cast<double>(a) / 8 + static_cast<double>(b), 1e-5);
            if (a == 2)
                EXPECT_TRUE(std::isnan(surfaces.all[1].rows[line]));
            else
                EXPECT_NEAR(surfaces.all[1].rows[line], 6.25 + static_cast<double>(b), 1e-5);
        }
    }
    const Volume fundus = read_volume(at("eye.vol:fundus"));
    EXPECT_EQ(fundus.grid.a_scans, 4);
    EXPECT_EQ(fundus.grid.depth, 3);
    EXPECT_NEAR(fundus.grid.spacing_um[1], 20, 1e-9);
    EXPECT_NEAR(fundus.grid.spacing_um[0], 30, 1e-9);
    EXPECT_EQ(code_at(fundus, 0), 7);
    EXPECT_EQ(code_at(fundus, 1), 11);  // second row
    EXPECT_THAT(reading("no_lines.vol:surfaces").line, HasSubstr("holds no segmentation lines"));
    EXPECT_THAT(reading("outside.vol:surfaces").line, HasSubstr("outside its header"));
    EXPECT_THAT(reading("eye.vol:lines").line, HasSubstr("use surfaces or fundus"));
}

// ---- MATLAB ---------------------------------------------------------------------------------------------------------

TEST_F(ForeignFiles, MatlabVariables) {
    for (const std::string name : {"five.mat", "seven.mat"}) {
        SCOPED_TRACE(name);
        const Volume volume = read_volume(at(name));  // the largest array of three dimensions, not the larger table
        expect(volume, plus(0));
        EXPECT_EQ(volume.grid.type, VoxelType::u16);
        EXPECT_THAT(volume.grid.spacing_um, ElementsAre(0, 0, 0));
        expect(read_volume(at(name + ":small")), plus(0), 2);
        EXPECT_THAT(reading(name + ":none").line, AllOf(HasSubstr("\"none\""), HasSubstr("volume, table")));
    }
    SeriesFile series(at("times.mat"));
    ASSERT_EQ(series.time_points(), 2);
    expect(series.read(1), plus(7));
    expect(series.read(0), plus(0));
}

TEST_F(ForeignFiles, ComplexMatlabVariables) {
    const Volume volume = read_volume(at("complex.mat"));
    ASSERT_EQ(volume.grid.type, VoxelType::complex64);
    for (std::int64_t place = 0; place < volume.grid.voxels(); ++place) {
        float pair[2];
        std::memcpy(pair, volume.voxels.data() + 8 * place, 8);
        const auto real =
            static_cast<float>(written(place / depths / a_scans, place / depths % a_scans, place % depths));
        ASSERT_EQ(pair[0], real);
        ASSERT_EQ(pair[1], -2 * real);
    }
}

TEST_F(ForeignFiles, MatlabVariablesInHdf5) {
    if (reading("hdf5.mat").line.find("no HDF5 files") != std::string::npos) GTEST_SKIP() << "built without HDF5";
    expect(read_volume(at("hdf5.mat")), plus(0));
    expect(read_volume(at("hdf5.mat:w")), plus(1), 2);
    const Volume pairs = read_volume(at("hdf5.mat:z"));
    ASSERT_EQ(pairs.grid.type, VoxelType::complex64);
    float last[2];
    std::memcpy(last, pairs.voxels.data() + pairs.voxels.size() - 8, 8);
    EXPECT_EQ(last[0], 86);
    EXPECT_EQ(last[1], -86);
    EXPECT_THAT(reading("hdf5.mat:none").line, HasSubstr("none"));
}

TEST_F(ForeignFiles, DamagedMatlabFilesAreRefused) {
    EXPECT_THAT(reading("none.mat").line, HasSubstr("no numeric array"));
    EXPECT_THAT(reading("short.mat").line, HasSubstr("ends within a variable"));
    EXPECT_THAT(reading("endless.mat").line, HasSubstr("damaged variable"));
    SeriesFile series(at("damaged.mat"));
    EXPECT_THAT(error_of([&] { series.read(1); }).line, HasSubstr("damaged.mat"));
    EXPECT_THAT(error_of([&] { read_volume(folder_->write("other.mat", "MATLAB")); }).line,
                HasSubstr("is not a MATLAB file"));
}

// ---- folders of pictures --------------------------------------------------------------------------------------------

TEST_F(ForeignFiles, ReadsFolderOfPicturesInNaturalOrder) {
    expect(read_volume(at("png16")), plus(300));
    expect(read_volume(at("png8")), [](auto b, auto a, auto z) { return std::floor(written(b, a, z) / 16); });
    const Volume tiff = read_volume(at("tiff"));
    expect(tiff, plus(0));
    EXPECT_EQ(tiff.grid.type, VoxelType::i16);
    EXPECT_EQ(Series(at("png16")).steps(), 1);
}

TEST_F(ForeignFiles, ReadsFolderOfVolumesAsSeries) {
    EXPECT_FALSE(is_volume_name(at("series")));
    EXPECT_EQ(Series(at("series")).steps(), 2);
}

TEST_F(ForeignFiles, RejectsPicturesOfDifferentSizes) {
    EXPECT_THAT(reading("uneven").line, AllOf(HasSubstr("2.png: has 4 x 7"), HasSubstr("1.png has 5 x 7")));
    EXPECT_THAT(reading("huge").line, HasSubstr("900000 x 900000"));
}

// ---- OCTproZ --------------------------------------------------------------------------------------------------------

TEST_F(ForeignFiles, OctprozRecordingsAreScans) {
    for (const char* name : {"20240102_030405_eye_raw.raw", "20240102_030405_eye_meta.txt"}) {
        const Scan scan = open_scan(at(name));
        EXPECT_EQ(scan.geometry.samples, 16);
        EXPECT_EQ(scan.geometry.a_scans, a_scans);
        EXPECT_EQ(scan.geometry.b_scans, 2);
        EXPECT_EQ(scan.geometry.volumes, 2);
        EXPECT_TRUE(scan.geometry.bidirectional);
        EXPECT_EQ(scan.format.shift, 4);
        EXPECT_THAT(scan.calibration.k_polynomial, ElementsAre(0.5, 14, 0.25, 0));
        EXPECT_NEAR(scan.calibration.dispersion_rad.back(), 6, 1e-12);
        EXPECT_EQ(scan.calibration.dispersion_holds, PhaseMeaning::correction);
        EXPECT_EQ(scan.spectra.filename(), "20240102_030405_eye_raw.raw");
    }
    const std::string wrong = "bit_depth=12\nwidth=-4\nheight=5\ndepth=1\n";
    folder_->write("wrong.raw", "spectra");
    folder_->write("wrong_meta.txt", wrong);
    EXPECT_THAT(error_of([&] { open_scan(at("wrong.raw")); }).line, HasSubstr("wrong_meta.txt, width: expected 1 to"));
}

// ---- real series ----------------------------------------------------------------------------------------------------

TEST(ForeignSamples, ReadsMagneticResonanceSlices) {
    const char* samples = std::getenv("ECHOLUX_DATA");
    if (samples == nullptr) GTEST_SKIP() << "set ECHOLUX_DATA to a folder with volumes/dicom_mr";
    const Volume volume = read_volume(std::filesystem::path(samples) / "volumes" / "dicom_mr");
    EXPECT_EQ(volume.provenance.at("orientation"), "PLS");
    EXPECT_EQ(volume.grid.a_scans, 256);
    EXPECT_EQ(volume.grid.depth, 256);
    EXPECT_EQ(volume.grid.b_scans, 20);
    EXPECT_NEAR(volume.grid.spacing_um[0], 859.375, 1e-6);
    EXPECT_NEAR(volume.grid.spacing_um[2], 7000, 5);  // 5 mm thick, 2 mm apart; positions are rounded
    EXPECT_THAT(volume.provenance.at("series"), HasSubstr("FSE PD AXIAL OBL"));
}

}  // namespace
}  // namespace echolux
