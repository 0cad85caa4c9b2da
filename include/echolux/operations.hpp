// Operations: jobs that end, such as "filter" or "segment"; see operations.h.
#ifndef ECHOLUX_OPERATIONS_HPP
#define ECHOLUX_OPERATIONS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "operations.h"
#include "reconstruct.hpp"
#include "volume.hpp"

namespace echolux::api {

// Descriptions of all operations, a JSON array.
inline std::string operations_json() {
    return detail::text([](auto... to) { return echolux_operations_json(to...); });
}

// One run of an operation: Operation("filter").add_input("input", volume).keep("output").run().volume("output").
class Operation {
  public:
    // `assignments`: "method=median".
    explicit Operation(const std::string& name, const Assignments& assignments = {}) {
        echolux_operation* handle = nullptr;
        checked([&](auto* error) { return echolux_operation_create(name.c_str(), &handle, error); });
        handle_.reset(handle);
        set(assignments);
    }

    Operation& set(const Assignments& assignments) {
        for (const std::string& one : assignments) {
            const std::size_t equals = one.find('=');
            set(one.substr(0, equals), equals == std::string::npos ? "" : one.substr(equals + 1));
        }
        return *this;
    }

    Operation& set(const std::string& key, const std::string& text) {
        checked([&](auto* error) { return echolux_operation_set(get(), key.c_str(), text.c_str(), error); });
        return *this;
    }
    // Shares the voxels of the volume.
    Operation& add_input(const std::string& name, const Volume& volume) {
        checked([&](auto* error) { return echolux_operation_add_input(get(), name.c_str(), volume.get(), error); });
        return *this;
    }
    Operation& keep(const std::string& output) {
        checked([&](auto* error) { return echolux_operation_keep(get(), output.c_str(), error); });
        return *this;
    }
    Operation& run(const Progress& progress = {}, const echolux_device& device = make<echolux_device>(),
                   bool overwrites = false) {
        auto* user = const_cast<Progress*>(&progress);
        checked([&](auto* error) {
            return echolux_operation_run(get(), &device, overwrites ? 1 : 0, progress ? detail::tell : nullptr, user,
                                         error);
        });
        return *this;
    }

    double number(const std::string& result) const {
        double value = 0;
        checked([&](auto* error) { return echolux_operation_get_number(get(), result.c_str(), &value, error); });
        return value;
    }
    std::string text(const std::string& result) const {
        return detail::text([&](auto... to) { return echolux_operation_get_text(get(), result.c_str(), to...); });
    }
    // Valid for the lifetime of the operation.
    echolux_array array(const std::string& result) const {
        auto array = make<echolux_array>();
        checked([&](auto* error) { return echolux_operation_get_array(get(), result.c_str(), &array, error); });
        return array;
    }
    // The elements of an array as type T, which must match the array's type.
    template <class T>
    Span<const T> values(const std::string& result) const {
        const echolux_array all = array(result);
        return {static_cast<const T*>(all.data), static_cast<std::size_t>(all.count)};
    }
    Volume volume(const std::string& output) const {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_operation_get_volume(get(), output.c_str(), &handle, error); });
        return Volume(handle);
    }
    // Valid for the lifetime of the operation.
    Span<const std::byte> bytes(const std::string& output) const {
        const void* data = nullptr;
        std::size_t count = 0;
        checked([&](auto* error) { return echolux_operation_get_bytes(get(), output.c_str(), &data, &count, error); });
        return {static_cast<const std::byte*>(data), count};
    }
    std::string warnings() const {
        return detail::text([&](auto... to) { return echolux_operation_warnings(get(), to...); });
    }
    std::string json() const {
        return detail::text([&](auto... to) { return echolux_operation_json(get(), to...); });
    }

    echolux_operation* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_operation, echolux_operation_free> handle_;
};

}  // namespace echolux::api

#endif
