// Files of a store of Zarr, whole or in part. One that is not there is no error: its chunks are the fill value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace echolux::zarr {

// Nothing: there is no such file. Throws Error{bad_file}.
std::optional<std::uintmax_t> size_if_there(const std::filesystem::path& file);

// `size` bytes from `offset`. Throws Error{bad_file}.
std::string file_part(const std::filesystem::path& file, std::uintmax_t offset, std::uintmax_t size);

// The whole file; throws Error{bad_file} where it has more than `max` bytes.
std::optional<std::string> file_if_there(const std::filesystem::path& file, std::uintmax_t max);

}  // namespace echolux::zarr
