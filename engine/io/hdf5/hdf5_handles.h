// What reading and writing HDF5 files share: handles that close themselves, the lock of the library, types of numbers.
// Included by hdf5_reader.cpp and hdf5_writer.cpp alone.
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

// The library serves one thread at a time: every call of ours holds this.
std::unique_lock<std::recursive_mutex> locked();

// Closes what it holds; negative: nothing.
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

    bool close() {
        if (id_ < 0) return true;
        const auto lock = locked();
        return close_(std::exchange(id_, -1)) >= 0;
    }

  private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

// What the library says of its last fault.
std::string reason();

// Numbers of `type` as this machine has them; those of complex ones are named as in the file.
Handle memory_type(StoredType type, hid_t in_file = -1);

// Nothing: no numbers that a voxel can be.
std::optional<StoredType> stored_type(hid_t type);

}  // namespace echolux::hdf5
