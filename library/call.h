// Boundary of the C interface: checks arguments, reads and writes structs of any interface version, and converts
// exceptions to a status and an echolux_error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "echolux/echolux.h"
#include "library/handles.h"

namespace echolux::library {

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
echolux_status told(echolux_error* error) noexcept;
void clear(echolux_error* error) noexcept;

// Fills `error` for a status that is not an error, such as ECHOLUX_NOTHING_YET or ECHOLUX_ENDED.
echolux_status said(echolux_error* error, echolux_status status, const char* what) noexcept;

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
        return told(error);
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
H& live_handle(H* handle, const char* name) {
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
        if (handle != nullptr) delete &live_handle(handle, "handle");
    });
}

std::string text_argument(const char* text, const char* name);
std::vector<std::string> texts_argument(const char* const* texts, std::size_t count, const char* name);

// ---- sized structs

inline constexpr std::size_t max_struct_bytes = 4096;  // a larger size means that the struct was not initialised

// Number of bytes that the caller's struct and ours have in common.
template <class S>
std::size_t known_size(const S& of_caller, const char* name) {
    if (of_caller.size < sizeof(std::size_t) || of_caller.size > max_struct_bytes) {
        throw BadArgument("its size is not set", name, "use ECHOLUX_INIT");
    }
    return std::min(of_caller.size, sizeof(S));
}

// Reads the caller's struct. Fields missing from an older struct are 0. Fields of a newer struct, unknown here, must be
// 0.
template <class S>
S taken(const S* of_caller, const char* name) {
    const std::size_t known = known_size(required(of_caller, name), name);
    const auto* bytes = reinterpret_cast<const unsigned char*>(of_caller);
    const std::size_t all = of_caller->size;
    if (std::any_of(bytes + known, bytes + all, [](unsigned char byte) { return byte != 0; })) {
        throw BadArgument("sets fields that this version of the library does not know", name,
                          "set the newer fields to 0, or install a newer Echolux");
    }
    S one{};
    std::memcpy(static_cast<void*>(&one), bytes, known);
    return one;
}

template <class S>
S taken_or_default(const S* of_caller, const char* name) {
    return of_caller == nullptr ? S{} : taken(of_caller, name);
}

// Writes as much as fits the caller's struct, and keeps its size field.
template <class S>
void give(S* to, S what, const char* name) {
    const std::size_t known = known_size(required(to, name), name);
    what.size = to->size;
    std::memcpy(static_cast<void*>(to), &what, known);
}

// ---- texts and lists

// Writes a text with its final 0; see echolux.h for `size` and `needed`. Throws BadArgument if it was cut.
void give_text(std::string_view text, char* buffer, std::size_t size, std::size_t* needed);
void give_numbers(std::span<const double> numbers, double* values, std::size_t capacity, std::size_t* count);
std::span<const double> numbers_argument(const double* values, std::size_t count, const char* name);  // must be finite
std::string lines_of(const std::vector<std::string>& lines);
std::string lines_of(const std::map<std::string, std::string>& provenance);

// Escape and unescape provenance values with several lines: line breaks as \n, backslashes as \\.
std::string on_one_line(std::string_view value);
std::string off_one_line(std::string_view line);

// Copies to a fixed array, truncated and ended with 0.
void put_text(std::string_view text, std::span<char> to) noexcept;

}  // namespace echolux::library
