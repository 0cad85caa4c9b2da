// Boundary of the C interface: checks arguments, reads and writes structs, and converts exceptions to a status and an
// echolux_error.
//
// A function that creates handles first sets them to NULL, then checks its arguments and works, and stores its results
// last. After a failure, the caller therefore has nothing to free. include/echolux/ documents the functions for
// callers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/reconstructor.h"
#include "echolux/echolux.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"
#include "engine/scan/time_points.h"

// ---- Structs behind the opaque handles. Each begins with a tag of its kind that is cleared when it is freed. This
// detects wrong and freed handles as far as possible, since freed memory may have been reused.

namespace echolux::library {

// One tag per kind. It is changed to `freed` before the memory is released.
enum class Kind : std::uint64_t {
    freed = 0,
    scan = 0x6563686f6c757801,  // "echolux" in ASCII, then a number: unlikely in memory that holds something else
    settings,
    reconstructor,
    volume,
    series,
    view,
    renderer,
    live,
    simulation,
    batch,
    operation
};

// Base of all handles: the tag holds its kind while it is alive.
template <Kind kind>
struct Handle {
    static constexpr Kind its_kind = kind;
    volatile Kind is = kind;  // volatile: keep the last write before the memory is released

    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { is = Kind::freed; }
};

}  // namespace echolux::library

struct echolux_settings : echolux::library::Handle<echolux::library::Kind::settings> {
    // Texts of a field, kept for echolux_settings_describe().
    struct Texts {
        std::string key, unit, help, default_text;
        std::vector<std::string> choices;
        std::vector<const char*> choice_pointers;
    };

    echolux::Settings settings;
    std::vector<Texts> texts;
    // Runs `set`, and restores all settings if it throws.
    std::function<void(const std::string& key, const std::function<void()>& set)> change;

    void finish();  // call after all fields are bound
    const echolux::BoundField& field(const char* key) const;
};

struct echolux_scan : echolux::library::Handle<echolux::library::Kind::scan> {
    explicit echolux_scan(echolux::Scan described);

    bool has_spectra() const { return !scan.spectra.empty(); }

    // Returns the spec with an open noise floor measured. Throws Error{bad_setting} without a file to measure it from.
    echolux::ReconstructionSpec spec(std::int64_t block_b_scans) const;

    echolux::Scan scan;
    echolux_settings settings;
    std::shared_ptr<const echolux::PipelineHooks> stages;  // may be null
};

struct echolux_volume : echolux::library::Handle<echolux::library::Kind::volume> {
    explicit echolux_volume(std::shared_ptr<const echolux::Volume> held) : volume(std::move(held)) {}

    std::shared_ptr<const echolux::Volume> volume;
    double time_s = 0;
    std::int64_t number = 0;
    std::vector<std::string> warnings;
    echolux::ScanGeometry geometry;  // of the scan it was reconstructed from
};

struct echolux_series : echolux::library::Handle<echolux::library::Kind::series> {
    explicit echolux_series(const std::string& path) : points(path) {}
    echolux::TimePoints points;
};

namespace echolux::library {

// ---- Errors

// An error in the call itself, such as NULL. Reported as ECHOLUX_BAD_ARGUMENT.
struct BadArgument : Error {
    BadArgument(std::string what, std::string where, std::string remedy = {})
        : Error(ErrorCode::bad_setting, std::move(what), std::move(where), std::move(remedy)) {}
};

// The call needs a part that is missing from this build. Reported as ECHOLUX_UNSUPPORTED.
struct Unsupported : Error {
    Unsupported(std::string what, std::string where, std::string remedy)
        : Error(ErrorCode::device, std::move(what), std::move(where), std::move(remedy)) {}
};

// Fills `error` from the exception being handled and returns its status.
echolux_status status_of(echolux_error* error) noexcept;
void clear(echolux_error* error) noexcept;

// Fills `error` for a status that is not an error, such as ECHOLUX_NOTHING_YET or ECHOLUX_ENDED.
echolux_status set_status(echolux_error* error, echolux_status status, const char* what) noexcept;

// Runs `work`, which returns void or a status, and converts exceptions. All C functions are written inside it.
template <class Work>
echolux_status guarded(echolux_error* error, const Work& work) noexcept {
    try {
        clear(error);
        if constexpr (std::is_void_v<decltype(work())>) {
            work();
            return ECHOLUX_OK;
        } else {
            return work();
        }
    } catch (...) {
        return status_of(error);
    }
}

// ---- arguments

// Throws BadArgument for NULL.
template <class T>
T& required(T* pointer, const char* name) {
    if (pointer == nullptr) throw BadArgument("is NULL", name);
    return *pointer;
}

// Throws BadArgument unless `handle` is alive and of its kind.
template <class H>
H& checked_handle(H* handle, const char* name) {
    H& one = required(handle, name);
    if (one.is != std::remove_const_t<H>::its_kind) {
        throw BadArgument("is not a handle of this kind, or was freed", name, "create it again");
    }
    return one;
}

// Accepts NULL. An invalid handle is left alone.
template <class H>
echolux_status free_handle(H* handle) noexcept {
    return guarded(nullptr, [&] {
        if (handle != nullptr) delete &checked_handle(handle, "handle");
    });
}

std::string text_argument(const char* text, const char* name);
std::vector<std::string> texts_argument(const char* const* texts, std::size_t count, const char* name);

// ---- Sized structs: `size` is the first member and differs if a program was compiled for another version.

// Throws BadArgument unless the caller's struct has the size of this version.
template <class S>
void require_size(const S& of_caller, const char* name) {
    if (of_caller.size == sizeof(S)) return;
    throw BadArgument("its size is not set, or is that of another version", name, "use ECHOLUX_INIT");
}

// Returns a copy, so that the caller may change or free its struct during the call.
template <class S>
S copy_in(const S* of_caller, const char* name) {
    require_size(required(of_caller, name), name);
    return *of_caller;
}

template <class S>
S copy_in_or_default(const S* of_caller, const char* name) {
    return of_caller == nullptr ? S{} : copy_in(of_caller, name);
}

template <class S>
void copy_out(S* to, S what, const char* name) {
    require_size(required(to, name), name);
    what.size = sizeof(S);
    *to = what;
}

// ---- texts and lists

// Writes a text with its final 0; see echolux.h for `size` and `needed`. Throws BadArgument if it was cut.
void copy_text_out(std::string_view text, char* buffer, std::size_t size, std::size_t* needed);
void copy_numbers_out(std::span<const double> numbers, double* values, std::size_t capacity, std::size_t* count);
std::span<const double> numbers_argument(const double* values, std::size_t count, const char* name);  // must be finite
std::string lines_of(const std::vector<std::string>& lines);
std::string lines_of(const std::map<std::string, std::string>& provenance);

// Escape and unescape provenance values with several lines: line breaks as \n, backslashes as \\.
std::string on_one_line(std::string_view value);
std::string off_one_line(std::string_view line);

// Copies to a fixed array, truncated and ended with 0.
void put_text(std::string_view text, std::span<char> to) noexcept;

// ---- Conversion between structs of the C interface and those of the library.

echolux_grid grid_of(const VolumeGrid& grid);  // all fields except size

// NULL selects the device automatically. Throws Error{bad_setting}.
BackendChoice backend_of(const echolux_device* device);

// Stages of a caller. Calls `release` when the last reference is gone, provided that the call that registered them
// succeeded (`are_kept`).
struct CallerHooks : PipelineHooks {
    CallerHooks() = default;
    CallerHooks(const CallerHooks&) = delete;
    CallerHooks& operator=(const CallerHooks&) = delete;
    ~CallerHooks() {
        if (are_kept && wanted.release != nullptr) wanted.release(wanted.user);
    }

    echolux_stages wanted{};
    bool are_kept = false;
};

// Stages for blocks of `geometry`; null without stages.
std::shared_ptr<CallerHooks> stages_of(const echolux_stages* stages, const ScanGeometry& geometry);

// Spelling for provenance: "spectra, voxels".
std::string names_of(const PipelineHooks& stages);

// Throws Error{bad_setting} for impossible sizes or kinds of memory. The user checks that the block fits its plan.
Block block_of(const echolux_block* block, const char* name);

// Like block_of(), for B-scans of `spec` in host memory. Sets spec.block_b_scans to the size of this block.
Block host_block_of(const echolux_block* block, ReconstructionSpec& spec);

// Check and convert fields about memory. Throw Error{bad_setting} that names `name`.
std::int64_t bytes_argument(std::int64_t bytes, const char* name);
MemoryKind memory_of(std::int32_t memory, const char* name);
CallerOrder order_of(std::int32_t sync, void* handle, const char* name);

// Returns true if `count` pieces, `stride` bytes apart, fit into `all` bytes.
bool fits(std::int64_t count, std::int64_t piece, std::int64_t stride, std::int64_t all);

VoxelType voxel_type_of(std::int32_t voxel);

// Forwards progress to the caller's function, which may stop the work.
class CallerProgress : public Progress {
  public:
    CallerProgress(echolux_progress progress, void* user) : progress_(progress), user_(user) {}

    void begin(const std::string& task, std::int64_t total, const std::string& unit) override;
    void advance(std::int64_t count) override;
    void end() override {}

  private:
    echolux_progress progress_;
    void* user_;
    std::string task_, unit_;
    std::int64_t done_ = 0, total_ = 0;
};

// Returns a handle that the caller of the interface will own.
echolux_volume* new_volume(Volume volume);

// Returns a new volume computed from another one, with the same time, number, warnings and scan geometry.
echolux_volume* derived_volume(const echolux_volume& from, std::shared_ptr<const Volume> volume);

}  // namespace echolux::library
