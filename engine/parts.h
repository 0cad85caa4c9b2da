// Parts of the engine that a build may leave out. Each is a folder, or two, with a CMakeLists.txt of its own that names
// its libraries; engine/CMakeLists.txt adds the folders whose option is on, and ECHOLUX_PARTS lists them. Calls into a
// part stand behind `if constexpr (has(Part::...))`, so that nothing else has to stand in for one that is not there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace echolux {

enum class Part : std::uint8_t { tiff, hdf5, zarr, thorlabs, gdcm, genicam, movies };

struct PartWords {
    std::string_view option;   // without ECHOLUX_
    std::string_view what;     // a build without it has none of
    std::string_view instead;  // what to do instead, for messages; empty: nothing
};

inline constexpr std::array<PartWords, 7> part_words{{
    {"TIFF", "TIFF volumes", "use .nii.gz, or "},
    {"HDF5", "HDF5 files", "use .nii.gz, or "},
    {"ZARR", "OME-Zarr folders", "use .nii.gz, or "},
    {"THORLABS", "Thorlabs archives", ""},
    {"GDCM", "codecs of packed DICOM files", "unpack it with another program, or "},
    {"GENICAM", "GenICam cameras", ""},
    {"MOVIES", "movie encoders", "name it frame_%04d.png, or "},
}};

constexpr const PartWords& words_of(Part part) {
    return part_words.at(static_cast<std::size_t>(part));
}

// Whether this build has it.
constexpr bool has(Part part) {
    const std::string_view wanted = words_of(part).option;
    for (std::string_view rest = ECHOLUX_PARTS; !rest.empty();) {  // "TIFF,HDF5"
        const std::size_t end = rest.find(',');
        if (rest.substr(0, end) == wanted) return true;
        rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
    return false;
}

// Throws Error{bad_setting} that names `where` and the option to build with.
[[noreturn]] void refuse_missing(Part part, const std::string& where);

}  // namespace echolux
