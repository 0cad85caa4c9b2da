// How a file tells that this program made it: by what each format keeps of that. Formats that keep nothing (NumPy's,
// GIF, WebP, bare numbers) tell nothing. None of these throws.
#pragma once

#include <filesystem>
#include <string_view>

namespace echolux {

// A volume with the texts that every volume of ours has.
bool is_own_volume(const std::filesystem::path& path);

// PNG or TIFF with the fingerprint that every picture of ours has.
bool is_own_picture(const std::filesystem::path& path);

// A movie, or the first picture of a series of them.
bool is_own_movie(const std::filesystem::path& path);

// For texts, which say in their first line what they are.
bool begins_with(const std::filesystem::path& path, std::string_view text);

// `text`, in capitals or not, within the first or the last 256 KiB, where formats keep what they say of themselves.
bool holds_near_an_end(const std::filesystem::path& path, std::string_view text);

}  // namespace echolux
