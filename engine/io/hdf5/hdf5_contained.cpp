// Reads HDF5 files in a separate process.
#include <algorithm>

#include "engine/io/contained/reader_process.h"
#include "engine/io/formats.h"

namespace echolux {
namespace {

// Memory limit: one chunk, which may expand by up to 1032 (deflate), both compressed and decompressed.
std::int64_t max_memory_for(const std::filesystem::path& path) {
    constexpr std::int64_t some = 256 << 20, best_packing = 1032, max = 16LL << 30;
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(path, missing);
    if (missing) return some;
    return some + std::min(max, best_packing * static_cast<std::int64_t>(std::min<std::uintmax_t>(bytes, max)));
}

}  // namespace

std::unique_ptr<ImageReader> open_hdf5(const std::filesystem::path& path) {
    return open_hdf5_dataset(path, {});
}

std::unique_ptr<ImageReader> open_hdf5_dataset(const std::filesystem::path& path, const std::string& name) {
    return open_contained({.kind = "hdf5", .path = path, .part = name, .max_bytes = max_memory_for(path)});
}

}  // namespace echolux
