// __dlpack__ of volumes according to the array API standard 2025.12 and DLPack 1.x: voxels in host memory, shared
// without a copy. nanobind's version would copy the description twice and accept any stream.
#include <nanobind/stl/pair.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

constexpr std::uint64_t read_only = 1, is_copied = 2;  // DLPack flags

struct Version {
    std::uint32_t major, minor;
};

// The two structs of DLPack, without and with a version. Their layout is given by dlpack.h.
struct Managed {
    nb::dlpack::dltensor tensor;
    void* context;
    void (*free_it)(Managed*);
};
struct VersionedManaged {
    Version version;
    void* context;
    void (*free_it)(VersionedManaged*);
    std::uint64_t flags;
    nb::dlpack::dltensor tensor;
};

template <class M>
constexpr const char* name_of_capsule = "dltensor";
template <>
constexpr const char* name_of_capsule<VersionedManaged> = "dltensor_versioned";

// A tensor, the shape and strides that it points to, and the owner of its voxels.
template <class M>
struct ExportedTensor {
    M managed{};
    std::array<std::int64_t, 4> edges{}, strides{};
    std::shared_ptr<const api::Volume> keeper;
    std::unique_ptr<std::byte[]> copy;
};

void describe(nb::dlpack::dltensor& tensor, std::array<std::int64_t, 4>& edges, std::array<std::int64_t, 4>& strides,
              const echolux_grid& grid) {
    const VoxelLayout layout = layout_of(grid.voxel);
    edges = {grid.b_scans, grid.a_scans, grid.depth, layout.components};
    tensor.ndim = layout.components > 1 ? 4 : 3;
    std::int64_t step = 1;
    for (int i = tensor.ndim; i-- > 0; step *= edges[static_cast<std::size_t>(i)])
        strides[static_cast<std::size_t>(i)] = step;
    tensor.dtype = layout.type;
    tensor.device = {nb::device::cpu::value, 0};
    tensor.shape = edges.data();
    tensor.strides = strides.data();
}

template <class M>
void free_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, name_of_capsule<M>) == 0) return;  // a consumer took ownership
    auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name_of_capsule<M>));
    managed->free_it(managed);
}

// Returns a capsule that owns the description, and a copy of the voxels or a share in them.
template <class M>
nb::object lend(const Volume& volume, bool copied) {
    auto lent = std::make_unique<ExportedTensor<M>>();
    describe(lent->managed.tensor, lent->edges, lent->strides, volume.facts);
    const api::Span<const std::byte> voxels = volume.get().bytes();
    if (copied) {
        lent->copy.reset(new std::byte[voxels.size()]);
        std::copy(voxels.begin(), voxels.end(), lent->copy.get());
        lent->managed.tensor.data = lent->copy.get();
    } else {
        lent->keeper = volume.share();
        lent->managed.tensor.data = const_cast<std::byte*>(voxels.data());
    }
    if constexpr (std::is_same_v<M, VersionedManaged>) {
        lent->managed.version = {1, 0};
        lent->managed.flags = copied ? is_copied : read_only;
    }
    lent->managed.context = lent.get();
    lent->managed.free_it = [](M* managed) { delete static_cast<ExportedTensor<M>*>(managed->context); };
    PyObject* capsule = PyCapsule_New(&lent->managed, name_of_capsule<M>, free_capsule<M>);
    if (capsule == nullptr) throw nb::python_error();
    lent.release();
    return nb::steal(capsule);
}

bool is_host(nb::handle device) {
    if (device.is_none()) return true;
    const nb::object first = device[0];
    return nb::cast<int>(first) == nb::device::cpu::value;
}

// Consumers older than DLPack 1.0 ignore flags: if they write, they change the volume.
nb::object dlpack(const Volume& volume, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
    if (!stream.is_none()) throw nb::buffer_error("a volume lies in host memory: stream must be None");
    if (!is_host(device)) throw nb::buffer_error("a volume lies in host memory, and can be given there only");
    const bool copied = copy.ptr() == Py_True;
    if (!max_version.is_none() && nb::cast<int>(nb::object(max_version[0])) >= 1)
        return lend<VersionedManaged>(volume, copied);
    return lend<Managed>(volume, copied);
}

}  // namespace

void bind_dlpack(nb::class_<Volume, Grid>& volume) {
    volume
        .def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
             nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
             nb::sig(
                 "def __dlpack__(self, *, stream: None = None, max_version: tuple[int, int] | None = None, dl_device: "
                 "tuple[int, int] | None = None, copy: bool | None = None) -> object"))
        .def("__dlpack_device__", [](const Volume&) { return std::pair(int{nb::device::cpu::value}, 0); });
}

}  // namespace echolux::python
