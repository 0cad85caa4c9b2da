#include "python/src/arrays.h"

#include <array>
#include <string_view>

namespace echolux::python {
namespace {

using Code = nb::dlpack::dtype_code;

struct Kind {
    std::string_view name;
    Code code;
    std::uint8_t bits;
    std::int64_t components;
};

// Same order as ECHOLUX_U8 ...
constexpr std::array<Kind, 7> kinds{{{"u8", Code::UInt, 8, 1},
                                     {"u16", Code::UInt, 16, 1},
                                     {"i16", Code::Int, 16, 1},
                                     {"f16", Code::Float, 16, 1},
                                     {"f32", Code::Float, 32, 1},
                                     {"complex64", Code::Complex, 64, 1},
                                     {"phasor8", Code::Int, 8, 2}}};

const Kind& kind_of(std::int32_t voxel) {
    return kinds.at(static_cast<std::size_t>(voxel));
}

}  // namespace

VoxelLayout layout_of(std::int32_t voxel) {
    const Kind& kind = kind_of(voxel);
    return {{static_cast<std::uint8_t>(kind.code), kind.bits, 1}, kind.components, kind.bits / 8 * kind.components};
}

std::int32_t voxel_of(const std::string& name) {
    std::string known;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i].name == name) return static_cast<std::int32_t>(i);
        known += (i > 0 ? ", " : "") + std::string(kinds[i].name);
    }
    refuse("there is no voxel type \"" + name + "\"", "voxel", "one of " + known);
}

const char* name_of(std::int32_t voxel) {
    return kind_of(voxel).name.data();
}

std::string spelled(nb::dlpack::dtype type) {
    switch (static_cast<Code>(type.code)) {
        case Code::UInt: return "uint" + std::to_string(type.bits);
        case Code::Int: return "int" + std::to_string(type.bits);
        case Code::Float: return "float" + std::to_string(type.bits);
        case Code::Complex: return "complex" + std::to_string(type.bits);
        case Code::Bool: return "bool";
        default: return "a type of " + std::to_string(type.bits) + " bits";
    }
}

std::vector<std::size_t> shape_of(const echolux_grid& grid) {
    std::vector<std::size_t> shape{static_cast<std::size_t>(grid.b_scans), static_cast<std::size_t>(grid.a_scans),
                                   static_cast<std::size_t>(grid.depth)};
    const std::int64_t components = layout_of(grid.voxel).components;
    if (components > 1) shape.push_back(static_cast<std::size_t>(components));
    return shape;
}

Edges edges_of_python(const std::vector<std::size_t>& edges) {
    nb::list all;
    for (const std::size_t edge : edges) all.append(edge);
    return Edges(nb::tuple(all));
}

nb::str text_of(const std::string& text, const char* on_invalid) {
    PyObject* const decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), on_invalid);
    if (decoded == nullptr) throw nb::python_error();
    return nb::steal<nb::str>(decoded);
}

std::string path_of(nb::handle given) {
    PyObject* encoded = nullptr;
    if (PyUnicode_FSConverter(given.ptr(), &encoded) == 0) throw nb::python_error();
    const auto name = nb::steal<nb::bytes>(encoded);
    return {name.c_str(), name.size()};
}

void refuse(const std::string& what, const std::string& where, const std::string& remedy) {
    auto error = api::make<echolux_error>();
    error.code = ECHOLUX_BAD_ARGUMENT;
    what.copy(error.what, sizeof error.what - 1);
    where.copy(error.where, sizeof error.where - 1);
    remedy.copy(error.remedy, sizeof error.remedy - 1);
    throw api::Error(error);
}

std::int32_t memory_of(int device_type) {
    if (device_type == nb::device::cuda::value || device_type == nb::device::cuda_managed::value)
        return ECHOLUX_ON_DEVICE;
    return device_type == nb::device::cuda_host::value ? ECHOLUX_PINNED : ECHOLUX_HOST;
}

std::string listed(const std::vector<std::int64_t>& edges, const char* first) {
    std::string text = first;
    for (const std::int64_t edge : edges) text += (text.empty() ? "" : ", ") + std::to_string(edge);
    return "[" + text + "]";
}

}  // namespace echolux::python
