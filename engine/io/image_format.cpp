#include "engine/io/image_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/io/formats.h"

namespace echolux {
namespace {

// Builds the row of an optional part. `fill` sets its reader and writer, and is not compiled without the part.
template <Part part>
ImageFormat of_part(ImageFormat row, auto fill) {
    row.part = part;
    if constexpr (has(part)) fill(row);
    return row;
}

// The order matters only for owns(), which is tried from the top.
std::vector<ImageFormat> all_formats() {
    return {
        {.name = "NRRD",
         .endings = {".nrrd", ".nhdr"},
         .unwritten = {".nhdr"},
         .holds_complex = true,
         .holds_time = true,
         .holds_orientation = true,
         .holds_origin = true,
         .compressions = {Compression::none, Compression::gzip},
         .open = open_nrrd,
         .create = create_nrrd},
        {.name = "NIfTI",
         .endings = {".nii", ".nii.gz"},
         .holds_complex = true,
         .holds_time = true,
         .holds_orientation = true,
         .holds_origin = true,
         .open = open_nifti,
         .create = create_nifti},
        of_part<Part::tiff>({.name = "TIFF",
                             .endings = {".ome.tif", ".tif", ".tiff"},
                             .holds_time = true,
                             .compressions = {Compression::none, Compression::gzip}},
                            [](auto& row) {
                                row.open = open_tiff;
                                row.create = create_tiff;
                            }),
        of_part<Part::hdf5>({.name = "HDF5",
                             .endings = {".h5", ".hdf5", ".he5"},
                             .unwritten = {".he5"},
                             .holds_complex = true,
                             .holds_time = true,
                             .holds_origin = true,
                             .compressions = {Compression::gzip, Compression::none}},
                            [](auto& row) {
                                row.open = open_hdf5;
                                row.create = create_hdf5;
                            }),
        {.name = "NumPy",
         .endings = {".npy"},
         .holds_complex = true,
         .holds_time = true,
         .holds_texts = false,
         .open = open_npy,
         .create = create_npy},
        of_part<Part::zarr>(
            {.name = "OME-Zarr",
             .endings = {".ome.zarr", ".zarr"},
             .holds_complex = true,
             .holds_time = true,
             .holds_origin = true,
             .is_folder = true,
             .has_versions = true,
             .compressions = {Compression::zstd, Compression::none, Compression::gzip, Compression::blosc}},
            [](auto& row) {
                row.owns = is_zarr;
                row.open = open_ome_zarr;
                row.create = create_ome_zarr;
            }),
        {.name = "MetaImage",
         .endings = {".mha", ".mhd"},
         .unwritten = {".mhd"},
         .holds_complex = true,
         .holds_time = true,
         .holds_orientation = true,
         .holds_origin = true,
         .open = open_meta,
         .create = create_meta},
        {.name = "DICOM",
         .endings = {".dcm", ".ima", ".dicom"},
         .holds_time = true,
         .owns = is_dicom_series,
         .open = open_dicom},
        of_part<Part::thorlabs>({.name = "Thorlabs", .endings = {".oct"}}, [](auto& row) { row.open = open_thorlabs; }),
        {.name = "Heidelberg", .endings = {".vol"}, .open = open_heidelberg_vol},
        {.name = "MATLAB", .endings = {".mat"}, .holds_complex = true, .holds_time = true, .open = open_matlab},
        {.name = "folder of images", .is_folder = true, .owns = is_picture_stack, .open = open_picture_stack},
    };
}

// Returns the last component of the path.
std::string lower_case_name(const std::filesystem::path& path) {
    const std::filesystem::path named = path.has_filename() ? path : path.parent_path();  // for "folder/"
    return lower_case(named.filename().string());
}

}  // namespace

const std::vector<ImageFormat>& image_formats() {
    static const std::vector<ImageFormat> formats = all_formats();
    return formats;
}

const ImageFormat* image_format_of(const std::filesystem::path& path) {
    const std::filesystem::path file = file_part(path).file;
    const std::string name = lower_case_name(file);
    const ImageFormat* found = nullptr;
    std::size_t longest = 0;
    for (const ImageFormat& format : image_formats()) {
        for (const std::string& ending : format.endings) {
            if (!name.ends_with(ending) || ending.size() <= longest) continue;
            longest = ending.size();
            found = &format;
        }
    }
    std::error_code problem;
    // No ending matches: check the contents of an existing file or folder.
    if (found != nullptr || !std::filesystem::exists(file, problem)) return found;
    for (const ImageFormat& format : image_formats()) {
        if (format.owns != nullptr && format.owns(file)) return &format;
    }
    return nullptr;
}

const ImageFormat& format_of(const std::filesystem::path& path) {
    const ImageFormat* format = image_format_of(path);
    if (format == nullptr) {
        throw Error(ErrorCode::bad_setting, "does not end in the name of a volume format", path.string(),
                    "use " + endings_written());
    }
    if (format->open == nullptr) refuse_missing(*format->part, path.string());
    return *format;
}

const char* name_of(Compression compression) {
    switch (compression) {
        case Compression::automatic: return "automatic";
        case Compression::none: return "none";
        case Compression::gzip: return "gzip";
        case Compression::zstd: return "zstd";
        case Compression::blosc: return "blosc";
    }
    return "";
}

std::vector<std::string> written_endings(bool (*that)(const ImageFormat&)) {
    std::vector<std::string> endings;
    for (const ImageFormat& format : image_formats()) {
        if (format.create == nullptr || (that != nullptr && !that(format))) continue;
        std::ranges::copy_if(format.endings, std::back_inserter(endings), [&](const std::string& ending) {
            return std::ranges::count(format.unwritten, ending) == 0;
        });
    }
    return endings;
}

std::string endings_written(bool (*that)(const ImageFormat&)) {
    return fmt::format("{}", fmt::join(written_endings(that), ", "));
}

}  // namespace echolux
