#include "python/src/stages.h"

#include <array>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/scan.h"

namespace echolux::python {
namespace {

constexpr std::array<const char*, 3> names{"spectra", "bins", "voxels"};  // in the order of ECHOLUX_STAGE_SPECTRA ...

// A view of the library's memory, without the edges of repeats that there are none of.
nb::object lent(const echolux_staged& staged) {
    const VoxelLayout layout = layout_of(staged.voxel);
    std::vector<std::size_t> shape;
    std::vector<std::int64_t> strides;  // in values
    for (std::size_t i = 0; i < 5; ++i) {
        const bool is_repeat = i == 1 || i == 3;
        if (is_repeat && staged.shape[i] == 1) continue;
        shape.push_back(static_cast<std::size_t>(staged.shape[i]));
        strides.push_back(staged.stride_bytes[i] / layout.bytes);
    }
    const nb::capsule nobody(staged.values, [](void*) noexcept {});  // without an owner it would be copied
    return nb::cast(
        nb::ndarray<nb::numpy>(staged.values, shape.size(), shape.data(), nobody, strides.data(), layout.type));
}

bool goes_on(const nb::object& stages, const echolux_staged& staged) {
    const char* name = names.at(static_cast<std::size_t>(staged.stage));
    const nb::object array = lent(staged);
    if (!nb::cast<bool>(
            stages.attr("_call")(name, array, staged.volume, staged.first_b_scan, staged.scale, staged.offset))) {
        return false;
    }
    if (Py_REFCNT(array.ptr()) == 1) return true;
    stages.attr("_kept")(name);
    return false;
}

int call(void* user, const echolux_staged* staged) {
    if (Py_IsInitialized() == 0) return 1;
    const nb::gil_scoped_acquire ours;
    try {
        return goes_on(*static_cast<nb::object*>(user), *staged) ? 0 : 1;
    } catch (nb::python_error& error) {
        error.discard_as_unraisable("a stage of echolux");
        return 1;
    }
}

void release(void* user) {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire ours;
    delete static_cast<nb::object*>(user);
}

void set_stages(const Scan& scan, const nb::object& stages) {
    StagesOf given(stages);
    scan.with([&](api::Scan& one) { one.set_stages(given.get()); });
    given.taken();
}

}  // namespace

StagesOf::StagesOf(const nb::object& stages) {
    if (stages.is_none()) return;
    const auto has = [&](const char* name) { return !stages.attr(name).is_none(); };
    if (has("spectra")) stages_.spectra = call;
    if (has("bins")) stages_.bins = call;
    if (has("voxels")) stages_.voxels = call;
    stages_.release = release;
    stages_.user = new nb::object(stages);
}

StagesOf::~StagesOf() {
    if (!is_taken_) delete static_cast<nb::object*>(stages_.user);
}

void bind_stages(nb::module_& module) {
    module.def("set_stages", &set_stages, nb::arg("scan"), nb::arg("stages").none());
}

}  // namespace echolux::python
