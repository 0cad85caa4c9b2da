#include "engine/io/hdf5/hdf5_handles.h"

namespace echolux::hdf5 {
namespace {

std::string member_name(hid_t type, unsigned index) {
    char* name = H5Tget_member_name(type, index);
    const std::string text = name == nullptr ? "" : name;
    H5free_memory(name);
    return text;
}

// Returns a compound of two floats named "r" and "i" (h5py's convention), or named as in the file, because the library
// matches members by name.
Handle complex_type(hid_t in_file) {
    Handle type(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
    H5Tinsert(type, in_file < 0 ? "r" : member_name(in_file, 0).c_str(), 0, H5T_NATIVE_FLOAT);
    H5Tinsert(type, in_file < 0 ? "i" : member_name(in_file, 1).c_str(), 4, H5T_NATIVE_FLOAT);
    return type;
}

bool is_complex(hid_t type) {
    return H5Tget_class(type) == H5T_COMPOUND && H5Tget_nmembers(type) == 2 &&
           H5Tget_member_class(type, 0) == H5T_FLOAT && H5Tget_member_class(type, 1) == H5T_FLOAT;
}

}  // namespace

std::unique_lock<std::recursive_mutex> locked() {
    static std::recursive_mutex mutex;
    // The library's cleanup at exit crashes if a file could not be closed (full disk).
    [[maybe_unused]] static const herr_t no_cleaning_up = H5dont_atexit();
    std::unique_lock lock(mutex);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors become exceptions; this setting is per thread
    return lock;
}

std::string reason() {
    std::string text;
    const auto keep = [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep, &text);
    return text;
}

Handle memory_type(StoredType type, hid_t in_file) {
    switch (type) {
        case StoredType::u8: return {H5Tcopy(H5T_NATIVE_UINT8), H5Tclose};
        case StoredType::i8: return {H5Tcopy(H5T_NATIVE_INT8), H5Tclose};
        case StoredType::u16: return {H5Tcopy(H5T_NATIVE_UINT16), H5Tclose};
        case StoredType::i16: return {H5Tcopy(H5T_NATIVE_INT16), H5Tclose};
        case StoredType::u32: return {H5Tcopy(H5T_NATIVE_UINT32), H5Tclose};
        case StoredType::i32: return {H5Tcopy(H5T_NATIVE_INT32), H5Tclose};
        case StoredType::u64: return {H5Tcopy(H5T_NATIVE_UINT64), H5Tclose};
        case StoredType::i64: return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
        case StoredType::f64: return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
        case StoredType::complex64: return complex_type(in_file);
        case StoredType::f16:
        case StoredType::f32: break;
    }
    return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
}

std::optional<StoredType> stored_type(hid_t type) {
    const std::size_t size = H5Tget_size(type);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_FLOAT)
        return size == 8 ? StoredType::f64 : size <= 4 ? std::optional(StoredType::f32) : std::nullopt;
    if (is_complex(type)) return StoredType::complex64;
    if (kind != H5T_INTEGER) return std::nullopt;
    const bool negative = H5Tget_sign(type) == H5T_SGN_2;
    switch (size) {
        case 1: return negative ? StoredType::i8 : StoredType::u8;
        case 2: return negative ? StoredType::i16 : StoredType::u16;
        case 4: return negative ? StoredType::i32 : StoredType::u32;
        case 8: return negative ? StoredType::i64 : StoredType::u64;
        default: return std::nullopt;
    }
}

}  // namespace echolux::hdf5
