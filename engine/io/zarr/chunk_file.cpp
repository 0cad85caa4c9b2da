#include "engine/io/zarr/chunk_file.h"

#include <fstream>

#include "compute/error.h"
#include "engine/io/regular_file.h"

namespace echolux::zarr {

std::optional<std::uintmax_t> size_if_there(const std::filesystem::path& file) {
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(file, problem);
    const bool is_absent = problem == std::errc::no_such_file_or_directory || problem == std::errc::not_a_directory ||
                           problem == std::errc::is_a_directory;
    if (is_absent) return std::nullopt;
    if (problem) throw Error(ErrorCode::bad_file, "cannot be read: " + problem.message(), file.string());
    if (!std::filesystem::is_regular_file(file, problem)) return std::nullopt;
    return size;
}

std::string file_part(const std::filesystem::path& file, std::uintmax_t offset, std::uintmax_t size) {
    std::string bytes(size, '\0');
    std::ifstream stream = regular_stream(file);
    stream.seekg(static_cast<std::streamoff>(offset));
    if (!stream.read(bytes.data(), static_cast<std::streamsize>(size))) {
        throw Error(ErrorCode::bad_file, "cannot be read", file.string(), "check its permissions");
    }
    return bytes;
}

std::optional<std::string> file_if_there(const std::filesystem::path& file, std::uintmax_t max) {
    const std::optional<std::uintmax_t> size = size_if_there(file);
    if (!size) return std::nullopt;
    if (*size > max) throw Error(ErrorCode::bad_file, "is too large for its kind", file.string());
    return file_part(file, 0, *size);
}

}  // namespace echolux::zarr
