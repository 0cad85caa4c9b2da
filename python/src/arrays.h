// Arrays at the edge: how voxels are laid out in memory for NumPy and DLPack, and arrays of the caller.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <vector>

#include "python/src/work.h"

namespace echolux::python {

using AnyArray = nb::ndarray<>;       // of any library and type, writable
using InArray = nb::ndarray<nb::ro>;  // only read
using NumpyArray = nb::ndarray<nb::numpy>;

// Components of a voxel (2 of phasors, else 1) and their type.
struct VoxelLayout {
    nb::dlpack::dtype type;
    std::int64_t components;
    std::int64_t bytes;  // of a voxel
};

VoxelLayout layout_of(std::int32_t voxel);
std::int32_t voxel_of(const std::string& name);  // "u8", "f32" ...
const char* name_of(std::int32_t voxel);
std::string spelled(nb::dlpack::dtype type);  // "uint16"

// [b_scans, a_scans, depth], and [..., 2] of phasors.
std::vector<std::size_t> shape_of(const echolux_grid& grid);

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& remedy = {});

}  // namespace echolux::python
