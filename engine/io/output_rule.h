// Rules for output files, checked by all commands and the window before work begins:
// - An output must not be an input of the same work, a file that belongs to an input (its spectra, its calibration), or
//   another output. `overwrite` does not lift this rule.
// - A file of a running recording is never replaced. `overwrite` does not lift this rule either.
// - An existing file is replaced only if this program made it as a result of the same kind, or if the user allows it.
// - A missing folder is created if only the last part of its name is missing.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

struct Output {
    std::filesystem::path path;  // empty: not requested
    // Returns whether this program made the existing file as a result of this kind. Empty: cannot be determined, so the
    // file is replaced only with the user's permission.
    std::function<bool(const std::filesystem::path&)> is_own{};
    std::vector<std::string> endings{};  // permitted endings, e.g. ".csv"; empty: checked by the writer
};

using FileNames = std::vector<std::filesystem::path>;

// Checks all outputs against the rules. `inputs` are files and folders; empty names are ignored. Throws Error{output}
// naming the output.
void check_outputs(const std::vector<Output>& outputs, const FileNames& inputs, bool overwrites);

// ---- own files ------------------------------------------------------------------------------------------------------
// Recognises files that this program made, by metadata in each format. Formats without metadata (.npy, GIF, WebP, raw
// numbers) are not recognised. No function here throws.

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
