// Volumes in files: round trips, files of other programs, damaged files and full disks. Series:
// volume_formats_test.cpp.
#include "engine/io/volume_file.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "compute/indexing.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// Every byte pattern differs from its neighbours. Sizes differ along each axis and are not multiples of the tiles.
Volume counting(VoxelType type) {
    Volume volume;
    volume.grid.depth = 37;
    volume.grid.a_scans = 41;
    volume.grid.b_scans = 3;
    volume.grid.type = type;
    volume.grid.spacing_um = {2.5, 10, 20};
    volume.grid.first_depth_um = 125;
    volume.grid.scale = type == VoxelType::u8 ? 0.25 : 1;
    volume.grid.offset = type == VoxelType::u8 ? -5 : 0;
    volume.grid.quantity = type == VoxelType::complex64 ? "complex" : "db";
    volume.grid.unit = "dB above noise floor";
    volume.provenance = {{"recipe", "[recipe]\nwindow = \"hann\" # \\ back\\n\n"}, {"version", "0.1.0"}};
    volume.voxels.resize(index(volume.grid.bytes()));
    const bool real = type == VoxelType::f32 || type == VoxelType::complex64;
    for (std::size_t i = 0; i < volume.voxels.size(); ++i) volume.voxels[i] = static_cast<std::byte>(i * 7 + i / 256);
    for (std::size_t i = 0; real && i < volume.voxels.size(); i += 4) {
        const float number = static_cast<float>(i) * 0.5f - 3;
        std::memcpy(volume.voxels.data() + i, &number, 4);
    }
    return volume;
}

constexpr VoxelType all_types[] = {VoxelType::u8, VoxelType::u16, VoxelType::i16, VoxelType::f32, VoxelType::complex64};

class VolumeFileTest : public testing::Test {
  protected:
    Volume again(const std::string& name, const Volume& volume) {
        write_volume(folder_ / name, volume);
        return read_volume(folder_ / name);
    }
    Caught reading(const std::string& name) {
        return error_of([&] { read_volume(folder_ / name); });
    }

    TemporaryFolder folder_;
};

// Spacings may be rounded. TIFF stores no meaning.
TEST_F(VolumeFileTest, KeepsVoxelsGeometryAndMeaning) {
    for (const std::string name : {"a.nrrd", "a.mha", "a.nii", "a.nii.gz", "a.tif"}) {
        for (const VoxelType type : all_types) {
            if (name == "a.tif" && type == VoxelType::complex64) continue;
            SCOPED_TRACE(name + " type " + std::to_string(static_cast<int>(type)));
            const Volume volume = counting(type);
            Volume back = again(name, volume);
            for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(back.grid.spacing_um[i], volume.grid.spacing_um[i], 1e-5);
            EXPECT_NEAR(back.grid.first_depth_um, 125, 1e-5);
            back.grid.spacing_um = volume.grid.spacing_um;
            back.grid.first_depth_um = volume.grid.first_depth_um;
            if (name == "a.tif") {
                back.grid.scale = volume.grid.scale, back.grid.offset = volume.grid.offset;
                back.grid.quantity = volume.grid.quantity, back.grid.unit = volume.grid.unit;
            } else {
                EXPECT_EQ(back.provenance, volume.provenance);
            }
            EXPECT_TRUE(back.grid == volume.grid);
            EXPECT_TRUE(back.voxels == volume.voxels);
        }
    }
    EXPECT_EQ(folder_.entries(), 5u);
}

TEST_F(VolumeFileTest, KeepsUnknownSpacing) {
    Volume volume = counting(VoxelType::u8);
    for (const auto& spacing : {std::array<double, 3>{0, 0, 0}, {0, 10, 20}, {1000, 1000, 0}}) {
        volume.grid.spacing_um = spacing;
        volume.grid.first_depth_um = 0;
        for (const std::string name : {"a.nrrd", "a.mha", "a.nii", "a.nii.gz"}) {
            SCOPED_TRACE(name);
            const Volume back = again(name, volume);
            for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(back.grid.spacing_um[i], spacing[i], 1e-4);
        }
    }
    volume.grid.spacing_um = {};
    EXPECT_EQ(again("a.tif", volume).grid.spacing_um, (std::array<double, 3>{}));
}

TEST_F(VolumeFileTest, RejectsInvalidNames) {
    const auto refusal = [](const char* name, VoxelType type) {
        return error_of([&] { check_volume_name(name, type); }).line;
    };
    EXPECT_EQ(refusal("v.nii.gz", VoxelType::complex64), "");
    EXPECT_EQ(refusal("V.TIFF", VoxelType::f32), "");
    EXPECT_THAT(refusal("v.vtk", VoxelType::u8),
                HasSubstr("v.vtk: does not end in the name of a volume format (use .nrrd, .nii, .nii.gz, "));
    EXPECT_THAT(refusal("v.tif", VoxelType::complex64),
                HasSubstr("v.tif: TIFF cannot hold complex voxels (use .nrrd, .nii, .nii.gz, "));
    EXPECT_EQ(refusal("v.mhd", VoxelType::u8), "v.mhd: MetaImage is not written with this ending (use .mha)");
    Volume volume = counting(VoxelType::u8);
    volume.grid.depth = 38;
    EXPECT_EQ(error_of([&] { write_volume(folder_ / "v.nrrd", volume); }).code, ErrorCode::bad_setting);
    volume.grid.depth = 40000;
    volume.grid.a_scans = 1;
    volume.grid.b_scans = 1;
    volume.voxels.assign(40000, std::byte{});
    const Caught too_long = error_of([&] { write_volume(folder_ / "v.nii", volume); });  // max. for NIfTI: 32767
    EXPECT_EQ(too_long.code, ErrorCode::output);
    EXPECT_THAT(too_long.line, HasSubstr("v.nii: NIfTI holds at most 32767 voxels along an axis, not 40000"));
    EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(VolumeFileTest, TruncatedFilesAreRefused) {
    for (const std::string name : {"a.nrrd", "a.mha", "a.nii", "a.nii.gz", "a.tif", "a.h5", "a.npy"}) {
        write_volume(folder_ / name, counting(VoxelType::u16));
        const auto whole = std::filesystem::file_size(folder_ / name);
        for (const double part : {0.999, 0.7, 0.3, 0.05, 0.01, 0.0}) {
            SCOPED_TRACE(name + " " + std::to_string(part));
            std::filesystem::resize_file(folder_ / name,
                                         static_cast<std::uintmax_t>(static_cast<double>(whole) * part));
            const Caught caught = reading(name);
            EXPECT_EQ(caught.code, ErrorCode::bad_file);
            EXPECT_THAT(caught.line, HasSubstr(name + ": "));
        }
    }
    EXPECT_THAT(reading("none.nrrd").line, HasSubstr("none.nrrd: does not exist"));
}

TEST_F(VolumeFileTest, RejectsImpossibleSizesWithoutAllocation) {
    const std::string meta = "NDims = 3\nDimSize = 10000 10000 10000\nElementType = MET_FLOAT\n";
    folder_.write("a.mha", "ObjectType = Image\n" + meta + "ElementDataFile = LOCAL\nxxxx");
    EXPECT_THAT(reading("a.mha").line,
                HasSubstr("a.mha: ends too early: 4000000000000 bytes of voxels are described, 4 "));
    folder_.write("a.mhd", "ObjectType = Image\n" + meta + "ElementDataFile = a.raw\n");
    EXPECT_THAT(reading("a.mhd").line, HasSubstr("a.raw cannot be read"));
    folder_.zeros("a.raw", 4'000'000'000'000);
    EXPECT_EQ(reading("a.mhd").code, ErrorCode::out_of_memory);
    folder_.write("a.nrrd",
                  "NRRD0004\ntype: float\ndimension: 3\nsizes: 10000 10000 10000\nencoding: raw\n"
                  "endian: little\n\nxxxx");
    EXPECT_EQ(reading("a.nrrd").code, ErrorCode::bad_file);
    folder_.write("b.nrrd",
                  "NRRD0004\ntype: float\ndimension: 3\nsizes: 10000 10000 10000\nencoding: gzip\n"
                  "endian: little\n\nxxxx");
    EXPECT_EQ(reading("b.nrrd").code, ErrorCode::bad_file);
    write_volume(folder_ / "a.nii", counting(VoxelType::u8));
    std::fstream stream(folder_ / "a.nii", std::ios::binary | std::ios::in | std::ios::out);
    for (const int place : {42, 44, 46}) stream.seekp(place).write("\xff\x7f", 2);
    stream.close();
    EXPECT_THAT(reading("a.nii").line, HasSubstr("ends too early: 35181150961663 bytes"));  // 32767^3
    for (const char* name : {"c.nrrd", "c.nii", "c.nii.gz", "c.mha", "c.tif", "c.h5", "c.npy"}) {
        folder_.write(name, "this is no volume, whatever its name says\n" + std::string(1000, 'x'));
        EXPECT_EQ(reading(name).code, ErrorCode::bad_file) << name;
    }
}

// A limit on the file size simulates a full disk.
TEST_F(VolumeFileTest, FullDiskLeavesNoFiles) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const Volume volume = counting(VoxelType::f32);
    folder_.write("old.nrrd", "old");
    for (const std::string name : {"a.nrrd", "a.mha", "a.nii", "a.nii.gz", "a.tif", "a.h5", "a.npy", "old.nrrd"}) {
        write_volume(folder_ / ("whole." + name), volume);
        const auto whole = std::filesystem::file_size(folder_ / ("whole." + name));
        std::filesystem::remove(folder_ / ("whole." + name));
        for (const rlim_t limit : {whole - 1, whole - 9, whole - 200, whole / 2, whole / 10, std::uintmax_t{0}}) {
            SCOPED_TRACE(name + " " + std::to_string(limit) + " of " + std::to_string(whole));
            const rlimit small{limit, before.rlim_max};
            setrlimit(RLIMIT_FSIZE, &small);
            const Caught caught = error_of([&] { write_volume(folder_ / name, volume); });
            setrlimit(RLIMIT_FSIZE, &before);
            EXPECT_EQ(caught.code, ErrorCode::output);
            EXPECT_THAT(caught.line, HasSubstr("/" + name + ": "));
            EXPECT_EQ(folder_.entries(), 1u);
        }
    }
    EXPECT_EQ(std::filesystem::file_size(folder_ / "old.nrrd"), 3u);
}

TEST_F(VolumeFileTest, TiffPagesMustBeAlike) {
    write_volume(folder_ / "a.tif", counting(VoxelType::u16));
    std::ifstream stream(folder_ / "a.tif", std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(stream), {}};
    const std::string width("\0\1\4\0\1\0\0\0\x29\0", 10);  // end of tag 256: one u32, 41
    const std::size_t last = good.rfind(width);
    ASSERT_NE(last, good.find(width));
    std::string different = good;
    different[last + 8] = 42;
    folder_.write("a.tif", different);
    EXPECT_THAT(reading("a.tif").line, HasSubstr("a.tif: page 2 differs from page 0 in size or voxel type"));
}

TEST_F(VolumeFileTest, ColoursAreRefused) {
    folder_.write("a.nrrd",
                  "NRRD0004\ntype: uchar\ndimension: 4\nsizes: 3 2 2 2\nencoding: raw\nkinds: RGB-color domain "
                  "domain domain\n\n" +
                      std::string(24, 'x'));
    EXPECT_THAT(reading("a.nrrd").line, HasSubstr("has 3 values of type uchar per voxel"));
}

TEST_F(VolumeFileTest, RefusesHeadersWithImpossibleValues) {
    const auto with_skip = [&](const std::string& skip) {
        folder_.write("a.nrrd", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n" + skip + "\n\n" +
                                    std::string(8, 'x'));
        return reading("a.nrrd").line;
    };
    EXPECT_THAT(with_skip("line skip: -5"), HasSubstr("a.nrrd: has a negative line skip"));
    EXPECT_THAT(with_skip("byte skip: -5"), HasSubstr("a.nrrd: has a negative byte skip"));
    EXPECT_EQ(with_skip("byte skip: -1"), "");
    const auto in_order = [&](const std::string& order) {
        const std::string text = "{'descr': '|u1', 'fortran_order': " + order + ", 'shape': (2, 2, 2), }\n";
        folder_.write("a.npy", std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text +
                                   std::string(8, 'x'));
        return reading("a.npy").line;
    };
    EXPECT_THAT(in_order("Maybe"), HasSubstr("a.npy: has the fortran_order Maybe"));
    EXPECT_EQ(in_order("False"), "");
}

TEST_F(VolumeFileTest, ConvertsOtherVoxelTypes) {
    std::string raw(8 * 8, '\0');
    for (int i = 0; i < 8; ++i) {
        const double number = i - 2.5;
        std::memcpy(raw.data() + i * 8, &number, 8);
    }
    folder_.write("a.nrrd",
                  "NRRD0004\ntype: double\ndimension: 3\nsizes: 2 2 2\nencoding: raw\nendian: little\n\n" + raw);
    const Volume doubles = read_volume(folder_ / "a.nrrd");
    ASSERT_EQ(doubles.grid.type, VoxelType::f32);
    float voxel = 0;
    std::memcpy(&voxel, doubles.voxels.data() + 4, 4);
    EXPECT_EQ(voxel, -0.5f);  // depth 1, A-scan 0: the third in the file
    EXPECT_EQ(doubles.grid.spacing_um, (std::array<double, 3>{}));
    folder_.write("b.nrrd", "NRRD0004\ntype: int8\ndimension: 3\nsizes: 2 1 1\nencoding: raw\n\n\xff\x03");
    const Volume small = read_volume(folder_ / "b.nrrd");
    ASSERT_EQ(small.grid.type, VoxelType::i16);
    EXPECT_EQ(std::to_integer<int>(small.voxels[1]), 0xff);
    EXPECT_EQ(std::to_integer<int>(small.voxels[2]), 3);
}

TEST_F(VolumeFileTest, ReadsForeignVolumes) {
    const char* place = std::getenv("ECHOLUX_DATA");
    if (place == nullptr) GTEST_SKIP() << "ECHOLUX_DATA is not set: volumes of others are not tested";
    const std::filesystem::path volumes = std::filesystem::path(place) / "volumes";
    const Volume engine = read_volume(volumes / "engine.nii.gz");
    EXPECT_EQ(engine.grid.a_scans, 256);
    EXPECT_EQ(engine.grid.depth, 256);
    EXPECT_EQ(engine.grid.b_scans, 128);
    EXPECT_EQ(engine.grid.type, VoxelType::u8);
    EXPECT_EQ(engine.grid.scale, 1);
    EXPECT_EQ(read_volume(volumes / "bonsai.nii.gz").grid.b_scans, 256);
    const Volume brain = read_volume(volumes / "fmri_4d.nii.gz");
    EXPECT_EQ(brain.grid.a_scans, 64);
    EXPECT_EQ(brain.grid.b_scans, 21);
    EXPECT_EQ(brain.grid.type, VoxelType::i16);
    EXPECT_EQ(brain.provenance.at("time_points"), "first of 64");
}

// ---- orientation, spacing and values in independent programs (read_volumes.py) --------------------------------------

constexpr std::array<std::string_view, 7> letter{"........", "..#####.", "..#.....", "..####..",
                                                 "..#.....", "..#.....", "........"};

template <class Voxel>
void put(Volume& volume, std::int64_t b, std::int64_t a, std::int64_t z, Voxel voxel) {
    const std::int64_t place = (b * volume.grid.a_scans + a) * volume.grid.depth + z;
    std::memcpy(volume.voxels.data() + place * static_cast<std::int64_t>(sizeof(Voxel)), &voxel, sizeof(Voxel));
}

Volume f_phantom(VoxelType type) {
    Volume volume;
    volume.grid.depth = letter.size();
    volume.grid.a_scans = letter[0].size();
    volume.grid.b_scans = 3;
    volume.grid.type = type;
    volume.grid.spacing_um = {3, 12, 25};
    volume.grid.first_depth_um = 120;
    volume.grid.quantity = type == VoxelType::complex64 ? "complex" : "db";
    volume.provenance = {{"recipe", "[recipe]\nwindow = \"hann\"\n"}};
    if (type == VoxelType::u8) {
        volume.grid.scale = 0.25;
        volume.grid.offset = -5;
    }
    volume.voxels.resize(index(volume.grid.bytes()));
    for (std::int64_t b = 0; b < volume.grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < volume.grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < volume.grid.depth; ++z) {
                const bool ink = letter[index(z)][index(a)] == '#';
                const auto level = static_cast<std::int16_t>(ink ? 50 + 40 * b : b);
                const float minus = -static_cast<float>(level);
                switch (type) {
                    case VoxelType::u8: put(volume, b, a, z, static_cast<std::uint8_t>(level)); break;
                    case VoxelType::u16: put(volume, b, a, z, static_cast<std::uint16_t>(level)); break;
                    case VoxelType::i16: put(volume, b, a, z, static_cast<std::int16_t>(-level)); break;
                    case VoxelType::f16: break;  // not stored in files
                    case VoxelType::f32: put(volume, b, a, z, minus); break;
                    case VoxelType::phasor8: break;
                    case VoxelType::complex64: put(volume, b, a, z, std::array{minus, minus / 2}); break;
                }
            }
        }
    }
    return volume;
}

TEST(VolumeReadback, OtherReadersSeeLetterF) {
    const TemporaryFolder folder;
    const std::pair<const char*, VoxelType> types[] = {{"u8", VoxelType::u8},
                                                       {"u16", VoxelType::u16},
                                                       {"i16", VoxelType::i16},
                                                       {"f32", VoxelType::f32},
                                                       {"complex64", VoxelType::complex64}};
    for (const auto& [name, type] : types) {
        for (const std::string extension : {".nrrd", ".nii", ".nii.gz", ".mha", ".tif"}) {
            if (extension == ".tif" && type == VoxelType::complex64) continue;
            write_volume(folder / (name + extension), f_phantom(type));
        }
    }
    const std::string python = std::filesystem::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
    const std::string command = python + " '" ECHOLUX_TEST_DIR "/read_volumes.py' '" + folder.path().string() + "'";
    const int status = std::system(command.c_str());
    constexpr int missing = 77 << 8;
    if (status == missing) GTEST_SKIP() << "python3-nibabel or python3-tifffile is not installed";
    EXPECT_EQ(status, 0) << command;
}

}  // namespace
}  // namespace echolux
