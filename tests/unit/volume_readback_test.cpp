// Orientation, spacing and values of our files, read by independent programs (read_volumes.py).
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "compute/indexing.h"
#include "engine/io/volume_file.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

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
