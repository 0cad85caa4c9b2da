#include "python/src/stages.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/scan.h"

namespace echolux::python {
namespace {

constexpr std::array<const char*, 3> names{"spectra", "bins", "voxels"};  // same order as ECHOLUX_STAGE_SPECTRA ...

using Buffer = std::vector<std::byte>;

// The `user` pointer passed to the library.
struct User {
    nb::object stages;
    std::shared_ptr<Buffer> buffer;  // reused from block to block; null while a stage uses it
};

// Calls copy(line in the library's memory, line of the buffer, bytes) for each line. The buffer has no gaps.
template <class Copy>
void for_lines(const echolux_staged& staged, std::int64_t bytes, Buffer& buffer, const Copy& copy) {
    const auto line = static_cast<std::size_t>(staged.shape[4] * bytes);
    std::byte* here = buffer.data();
    const auto edge = [&](std::size_t i) { return staged.shape[i]; };
    const auto step = [&](std::size_t i) { return staged.stride_bytes[i]; };
    for (std::int64_t b = 0; b < edge(0); ++b)
        for (std::int64_t b_repeat = 0; b_repeat < edge(1); ++b_repeat)
            for (std::int64_t a = 0; a < edge(2); ++a)
                for (std::int64_t a_repeat = 0; a_repeat < edge(3); ++a_repeat, here += line)
                    copy(static_cast<std::byte*>(staged.values) + b * step(0) + b_repeat * step(1) + a * step(2) +
                             a_repeat * step(3),
                         here, line);
}

// Returns the buffer as an array that owns it, without the dimensions of absent repeats.
nb::object as_array(const std::shared_ptr<Buffer>& buffer, const echolux_staged& staged, nb::dlpack::dtype type) {
    std::vector<std::size_t> shape;
    for (std::size_t i = 0; i < 5; ++i) {
        const bool is_repeat = i == 1 || i == 3;
        if (!is_repeat || staged.shape[i] > 1) shape.push_back(static_cast<std::size_t>(staged.shape[i]));
    }
    auto keeper = std::make_unique<std::shared_ptr<Buffer>>(buffer);
    const nb::capsule owner(keeper.get(),
                            [](void* one) noexcept { delete static_cast<std::shared_ptr<Buffer>*>(one); });
    keeper.release();
    return nb::cast(nb::ndarray<nb::numpy>(buffer->data(), shape.size(), shape.data(), owner, nullptr, type));
}

// The stage works on a copy. If it keeps the array against the rules, the data becomes stale, but the memory stays
// valid.
bool call_stage(User& user, const echolux_staged& staged) {
    const char* name = names.at(static_cast<std::size_t>(staged.stage));
    const VoxelLayout layout = layout_of(staged.voxel);
    std::int64_t bytes = layout.bytes;
    for (const std::int64_t edge : staged.shape) bytes *= edge;
    std::shared_ptr<Buffer> buffer = std::exchange(user.buffer, nullptr);
    if (!buffer) buffer = std::make_shared<Buffer>();
    buffer->resize(static_cast<std::size_t>(bytes));
    for_lines(staged, layout.bytes, *buffer,
              [](auto* theirs, auto* ours, auto size) { std::memcpy(ours, theirs, size); });
    {
        const nb::object array = as_array(buffer, staged, layout.type);
        if (!nb::cast<bool>(user.stages.attr("_call")(name, array, staged.volume, staged.first_b_scan, staged.scale,
                                                      staged.offset))) {
            return false;
        }
    }
    if (buffer.use_count() > 1) {  // the stage has kept the array, against the rules
        user.stages.attr("_kept")(name);
        return false;
    }
    for_lines(staged, layout.bytes, *buffer,
              [](auto* theirs, auto* ours, auto size) { std::memcpy(theirs, ours, size); });
    user.buffer = std::move(buffer);
    return true;
}

// Called by the library on its own threads, through which exceptions must not pass: they are printed and end the work.
int call(void* user, const echolux_staged* staged) {
    const GilAcquire gil(std::nothrow);
    if (!gil) return 1;
    try {
        return call_stage(*static_cast<User*>(user), *staged) ? 0 : 1;
    } catch (nb::python_error& error) {
        error.discard_as_unraisable("a stage of echolux");
        return 1;
    }
}

// Leaks the object if the interpreter has ended, because only the interpreter can free it.
void release(void* user) {
    if (Py_IsInitialized() == 0) return;
    const GilAcquire gil(std::nothrow);
    if (gil) delete static_cast<User*>(user);
}

void set_stages(const Scan& scan, const nb::object& stages) {
    PythonHooks given(stages);
    scan.with([&](api::Scan& one) { one.set_stages(given.get()); });
    given.taken();
}

}  // namespace

PythonHooks::PythonHooks(const nb::object& stages) {
    if (stages.is_none()) return;
    const auto has = [&](const char* name) { return !stages.attr(name).is_none(); };
    if (has("spectra")) stages_.spectra = call;
    if (has("bins")) stages_.bins = call;
    if (has("voxels")) stages_.voxels = call;
    stages_.release = release;
    stages_.user = new User{stages, nullptr};
}

PythonHooks::~PythonHooks() {
    if (!is_taken_) delete static_cast<User*>(stages_.user);
}

void bind_stages(nb::module_& module) {
    module.def("set_stages", &set_stages, nb::arg("scan"), nb::arg("stages").none());
}

}  // namespace echolux::python
