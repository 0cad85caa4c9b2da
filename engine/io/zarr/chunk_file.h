// Reads files of a Zarr store, completely or in part. A missing file is not an error: its chunks have the fill value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace echolux::zarr {

// Returns the file size, or std::nullopt if the file does not exist. Throws Error{bad_file}.
std::optional<std::uintmax_t> size_if_there(const std::filesystem::path& file);

// Returns `size` bytes from `offset`. Throws Error{bad_file}.
std::string file_part(const std::filesystem::path& file, std::uintmax_t offset, std::uintmax_t size);

// Returns the whole file, or std::nullopt if it does not exist. Throws Error{bad_file} if it exceeds `max` bytes.
std::optional<std::string> file_if_there(const std::filesystem::path& file, std::uintmax_t max);

}  // namespace echolux::zarr
