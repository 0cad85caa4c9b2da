// What image files say of their voxels, in their own language (columns, rows, slices; millimetres), and voxel types
// that occur in files but not in Echolux. volume_file turns this into ours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compute/types.h"

namespace echolux {

struct ImageHeader {
    std::array<std::int64_t, 3> size{1, 1, 1};  // columns, rows, slices
    std::array<double, 3> spacing_mm{1, 1, 1};
    std::array<double, 3> origin_mm{};
    bool has_unit = true;  // false: the spacings are bare numbers
    VoxelType type = VoxelType::f32;
    double scale = 1;  // value = code * scale + offset, where the format knows of it
    double offset = 0;
    std::int64_t time_points = 1;              // that the file holds
    double time_step_s = 0;                    // between them; 0: unknown
    std::map<std::string, std::string> texts;  // each on one line

    std::int64_t voxels() const { return size[0] * size[1] * size[2]; }
    std::int64_t bytes() const { return voxels() * bytes_of(type); }
};

enum class StoredType { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, complex64 };

std::int64_t bytes_of(StoredType type);

// i8 becomes i16, integers and reals of more bytes become f32.
VoxelType voxel_type(StoredType type);

// Voxels as they lie in a file, in this machine's byte order, converted to voxel_type(type).
std::vector<std::byte> converted(StoredType type, std::vector<std::byte> stored);

// Throws before anything is allocated. Error{bad_file}: the header describes more voxels than `voxel_bytes` of file,
// which compression may have made smaller, can hold; Error{out_of_memory}: more than there is room for.
void check_claim(const ImageHeader& header, StoredType type, std::int64_t voxel_bytes, bool compressed,
                 const std::filesystem::path& path);

}  // namespace echolux
