// Recognises files that this program made, by metadata in each format. Formats without metadata (.npy, GIF, WebP, raw
// numbers) are not recognised. No function here throws.
#pragma once

#include <filesystem>
#include <string_view>

namespace echolux {

// Returns whether this is one of our volumes, recognised by its texts.
bool is_own_volume(const std::filesystem::path& path);

// Returns whether the file is a PNG or TIFF with the fingerprint that each of our pictures has.
bool is_own_picture(const std::filesystem::path& path);

// Returns whether the file is one of our movies, or a series whose first picture is ours.
bool is_own_movie(const std::filesystem::path& path);

// Returns whether the file starts with `text`. Our text files identify themselves in the first line.
bool begins_with(const std::filesystem::path& path, std::string_view text);

// Returns whether `text` occurs, ignoring case, in the first or last 256 KiB, where formats store metadata.
bool holds_near_an_end(const std::filesystem::path& path, std::string_view text);

}  // namespace echolux
