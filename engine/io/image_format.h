// Table of image formats: their file names, capabilities, readers and writers (formats.h). To add a format, add a row
// in image_format.cpp; volume_file.h, `convert`, `info` and series use the table.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/build.h"
#include "engine/io/image_stream.h"

namespace echolux {

enum class Compression { automatic, none, gzip, zstd, blosc };  // automatic: the first in ImageFormat::compressions

// Options of a writer.
struct ImageStorage {
    Compression compression = Compression::automatic;
    std::string ome_version{};  // OME-Zarr only: 0.4 (Zarr 2) or 0.5 (Zarr 3); empty: 0.4
};

struct ImageFormat {
    std::string name{};                    // display name: "NRRD"
    std::vector<std::string> endings{};    // of file names, in lower case: ".nii.gz"; the first is recommended
    std::vector<std::string> unwritten{};  // read-only endings, a subset of `endings`
    bool holds_complex = false;            // all formats hold u8, u16, i16 and f32
    bool holds_time = false;               // supports several time points in one file
    bool holds_orientation = false;        // has standard fields for position and orientation
    bool holds_origin = false;             // has standard fields for the position only
    bool holds_texts = true;               // stores our texts, and spacings and units
    bool is_folder = false;
    bool has_versions = false;                                 // storage.ome_version selects one
    std::vector<Compression> compressions{Compression::none};  // supported ones; the first is used for `automatic`

    // Detects pictures without a specific ending, such as a folder of DICOM files. `path` exists and its ending belongs
    // to no other format. Must be cheap. Null: only the ending counts.
    bool (*owns)(const std::filesystem::path& path) = nullptr;

    std::optional<Part> part{};  // part of the build with reader and writer; the name is always known

    // Opens the file and reads its header. Throws Error{bad_file, bad_setting, out_of_memory}. Null: the part is not in
    // this build.
    std::unique_ptr<ImageReader> (*open)(const std::filesystem::path& path) = nullptr;

    // Creates the file at `path`, whose ending is that of the final name; errors name `where`. Null: the format is
    // read-only. Throws Error{output, bad_setting, out_of_memory}.
    std::unique_ptr<ImageWriter> (*create)(const std::filesystem::path& path, const ImageHeader& header,
                                           const ImageStorage& storage, const std::string& where) = nullptr;
};

// Returns the table. Thread-safe.
const std::vector<ImageFormat>& image_formats();

// Finds the format by the longest matching ending, ignoring case, else by owns(). Returns null if no format matches.
const ImageFormat* image_format_of(const std::filesystem::path& path);

// Returns the format for reading or writing. Throws Error{bad_setting} if no format matches or if it is not part of
// this build.
const ImageFormat& format_of(const std::filesystem::path& path);

const char* name_of(Compression compression);  // "gzip", as in settings

// Returns the endings that can be written, each format's recommended one first. `that` filters the formats.
std::vector<std::string> written_endings(bool (*that)(const ImageFormat&) = nullptr);

// Returns written_endings() as ".nrrd, .nii, ..." for messages.
std::string endings_written(bool (*that)(const ImageFormat&) = nullptr);

}  // namespace echolux
