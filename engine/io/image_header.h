// What image files say of their voxels, in their own language (columns, rows, slices; millimetres), and voxel types
// that occur in files but not in Echolux. volume_file turns this into ours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compute/types.h"

namespace echolux {

struct ImageHeader {
    std::array<std::int64_t, 3> size{1, 1, 1};  // columns, rows, slices
    std::array<double, 3> spacing_mm{1, 1, 1};  // 0: unknown
    std::array<double, 3> origin_mm{};
    bool has_unit = true;  // false: the spacings are bare numbers
    VoxelType type = VoxelType::f32;
    double scale = 1;  // value = code * scale + offset, where the format knows of it
    double offset = 0;
    std::int64_t time_points = 1;              // that the file holds
    double time_step_s = 0;                    // between them; 0: unknown
    std::vector<double> times_s;               // of each; empty: evenly spaced from 0
    std::map<std::string, std::string> texts;  // each on one line

    std::int64_t voxels() const { return size[0] * size[1] * size[2]; }
    std::int64_t bytes() const { return voxels() * bytes_of(type); }
    std::int64_t slice_bytes() const { return size[0] * size[1] * bytes_of(type); }

    // For formats that cannot leave a spacing out.
    double spacing_or_one(std::size_t axis) const { return spacing_mm[axis] > 0 ? spacing_mm[axis] : 1; }
};

enum class StoredType { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64, complex64 };

std::int64_t bytes_of(StoredType type);

// i8 becomes i16, integers and reals of more bytes become f32.
VoxelType voxel_type(StoredType type);

// How a voxel type lies in files. Of f32 for those that no file holds.
StoredType stored_as(VoxelType type);

// Turns the bytes of each number round: from the other byte order to this machine's.
void swap_byte_order(StoredType type, std::span<std::byte> stored);

// Voxels as they lie in a file, in this machine's byte order, converted to voxel_type(type).
std::vector<std::byte> converted(StoredType type, std::vector<std::byte> stored);

// Of all time points as they lie in a file; in double, so that no header can make it overflow.
double claimed_bytes(const ImageHeader& header, StoredType type);

// Throws Error{bad_file} before anything is allocated: the header describes more voxels than `voxel_bytes` of file,
// which deflate may have made smaller, can hold.
void check_claim(const ImageHeader& header, StoredType type, std::int64_t voxel_bytes, bool compressed,
                 const std::filesystem::path& path);

}  // namespace echolux
