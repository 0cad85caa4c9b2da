// The table of image formats: what a file name says, what a format can hold, who reads it and who writes it. A format
// joins by one row in image_format.cpp; everything above (volume_file.h, `convert`, `info`, series) follows the table.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/image_stream.h"
#include "engine/parts.h"

namespace echolux {

enum class Compression { automatic, none, gzip, zstd, blosc };  // automatic: what the format does best

// What the writer may choose where a format leaves a choice.
struct ImageStorage {
    Compression compression = Compression::automatic;
    std::string ome_version{};  // of OME-Zarr alone: 0.4 (Zarr 2) or 0.5 (Zarr 3); empty: 0.4
};

struct ImageFormat {
    std::string name{};                    // for people: "NRRD"
    std::vector<std::string> endings{};    // of file names, in lower case: ".nii.gz"; the first is recommended
    std::vector<std::string> unwritten{};  // endings among them that are only read
    bool holds_complex = false;            // all hold u8, u16, i16 and f32
    bool holds_time = false;               // several time points in one file
    bool is_folder = false;
    bool has_versions = false;                                 // that may be chosen: storage.ome_version
    std::vector<Compression> compressions{Compression::none};  // that can be asked for; the first is the automatic one

    // For pictures without an ending of their own (a folder of DICOM files): whether `path`, which exists and whose
    // ending no other format claims, is one. Repeats at little. Null: the ending decides.
    bool (*owns)(const std::filesystem::path& path) = nullptr;

    std::optional<Part> part{};  // without which nothing of it is read or written, though its name is known

    // Reads the header. Throws Error{bad_file, bad_setting, out_of_memory}. Null: its part is not in this build.
    std::unique_ptr<ImageReader> (*open)(const std::filesystem::path& path) = nullptr;

    // Writes to `path`, which keeps the ending; errors name `where`. Null: only read. Throws Error{output, bad_setting,
    // out_of_memory}.
    std::unique_ptr<ImageWriter> (*create)(const std::filesystem::path& path, const ImageHeader& header,
                                           const ImageStorage& storage, const std::string& where) = nullptr;
};

const std::vector<ImageFormat>& image_formats();

// By the longest ending that fits, in upper or lower case, else by owns(). Null: of no format.
const ImageFormat* image_format_of(const std::filesystem::path& path);

// The same, to read or write it. Throws Error{bad_setting}: of no format, or of one that is not part of this build.
const ImageFormat& format_of(const std::filesystem::path& path);

const char* name_of(Compression compression);  // as people write it

// Endings that can be written, the recommended one of each format first; `that` chooses among the formats.
std::vector<std::string> written_endings(bool (*that)(const ImageFormat&) = nullptr);

// The same as ".nrrd, .nii, ...", for messages.
std::string endings_written(bool (*that)(const ImageFormat&) = nullptr);

}  // namespace echolux
