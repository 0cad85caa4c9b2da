// Arrays at the interface: layout of voxels for NumPy and DLPack, and arrays of the caller.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "python/src/work.h"

namespace echolux::python {

using AnyArray = nb::ndarray<>;       // of any library and type, writable
using InArray = nb::ndarray<nb::ro>;  // read-only

// Components of a voxel (2 for phasors, otherwise 1) and their type.
struct VoxelLayout {
    nb::dlpack::dtype type;
    std::int64_t components;
    std::int64_t bytes;  // per voxel
};

VoxelLayout layout_of(std::int32_t voxel);
std::int32_t voxel_of(const std::string& name);  // "u8", "f32" ...
const char* name_of(std::int32_t voxel);
std::string spelled(nb::dlpack::dtype type);  // "uint16"

// [b_scans, a_scans, depth], plus [..., 2] for phasors.
std::vector<std::size_t> shape_of(const echolux_grid& grid);

using Facts = nb::typed<nb::dict, nb::str, nb::any>;  // by name

// A shape as a Python tuple.
using Edges = nb::typed<nb::tuple, int, nb::ellipsis>;
Edges edges_of_python(const std::vector<std::size_t>& edges);

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& remedy = {});

// Converts texts of the library, which may be cut within a character.
nb::str text_of(const std::string& text, const char* on_invalid = "replace");

// Returns the file name given as bytes, or as text in the file system encoding.
std::string path_of(nb::handle given);

std::int32_t memory_of(int device_type);  // ECHOLUX_HOST ...

// "[b_scans, 512, 1024]"
std::string listed(const std::vector<std::int64_t>& edges, const char* first = "");

// ---- arrays of the caller; `name` is that of the argument

template <class Array>
std::vector<std::int64_t> edges_of(const Array& array) {
    std::vector<std::int64_t> edges;
    for (std::size_t i = 0; i < array.ndim(); ++i) edges.push_back(static_cast<std::int64_t>(array.shape(i)));
    return edges;
}

template <class Array>
Array array_of(nb::handle given, const char* name) {
    Array array;
    if (!nb::try_cast<Array>(given, array, false)) {
        InArray readable;
        if (!std::is_same_v<Array, InArray> && nb::try_cast<InArray>(given, readable, false))
            refuse("cannot be written to: it is read-only", name, "give an array that can be, or a copy of this one");
        refuse(std::string("is not an array that can be ") + (std::is_same_v<Array, InArray> ? "read" : "written to"),
               name, "give a NumPy array, or one that speaks DLPack, in native byte order");
    }
    return array;
}

template <class Array>
void require_type(const Array& array, nb::dlpack::dtype wanted, const char* name) {
    const nb::dlpack::dtype type = array.dtype();
    if (type == wanted) return;
    const std::string needed = "\"" + spelled(wanted) + "\")";
    refuse("holds " + spelled(type) + ", not " + spelled(wanted), name,
           std::is_same_v<Array, InArray> ? std::string("convert it: ") + name + ".astype(" + needed
                                          : "make it with numpy.empty(shape, " + needed);
}

// Returns true if dimensions [from, n) are contiguous.
template <class Array>
bool is_dense(const Array& array, std::size_t from) {
    std::int64_t expected = 1;
    for (std::size_t i = array.ndim(); i-- > from;) {
        if (array.shape(i) > 1 && array.stride(i) != expected) return false;
        expected *= static_cast<std::int64_t>(array.shape(i));
    }
    return true;
}

}  // namespace echolux::python
