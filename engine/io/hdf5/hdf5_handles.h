// Shared by reading and writing HDF5: owning handles, the library's lock, number types. Included only by the files in
// this folder.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "engine/io/image_header.h"

namespace echolux::hdf5 {

constexpr const char* dataset_name = "/volume";
constexpr const char* times_name = "/times_s";

// Returns the lock for calls of the library, which supports one thread at a time. Recursive.
std::unique_lock<std::recursive_mutex> locked();

// Closes its object; negative if empty.
class Handle {
  public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close with) : id_(id), close_(with) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() { close(); }

    operator hid_t() const { return id_; }
    explicit operator bool() const { return id_ >= 0; }

    // Returns false if the library could not close the object.
    bool close() {
        if (id_ < 0) return true;
        const auto lock = locked();
        return close_(std::exchange(id_, -1)) >= 0;
    }

  private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

// Returns the library's description of the last error.
std::string reason();

// Returns the type in this machine's memory. Members of complex numbers have the same names as in the type `in_file`.
Handle memory_type(StoredType type, hid_t in_file = -1);

// Returns std::nullopt if the type cannot be that of voxels.
std::optional<StoredType> stored_type(hid_t type);

}  // namespace echolux::hdf5
