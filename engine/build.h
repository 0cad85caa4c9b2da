// Version and optional parts of this build.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "compute/error.h"

namespace echolux {

// ---- Optional parts of the engine. Each part is one or two folders with a CMakeLists.txt that names its libraries.
// engine/CMakeLists.txt adds the folders whose option is on and lists them in ECHOLUX_PARTS. Calls into a part are
// guarded by `if constexpr (has(Part::...))`, so a missing part needs no stub.

enum class Part : std::uint8_t { tiff, hdf5, zarr, thorlabs, gdcm, genicam, movies };

// Texts about an optional part, for options and messages.
struct PartWords {
    std::string_view option;   // CMake option without the ECHOLUX_ prefix
    std::string_view what;     // the feature, as error messages name it
    std::string_view instead;  // alternative to offer in error messages, may be empty
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

// Returns the texts of a part.
constexpr const PartWords& words_of(Part part) {
    return part_words.at(static_cast<std::size_t>(part));
}

// Returns whether this build includes `part`.
constexpr bool has(Part part) {
    const std::string_view wanted = words_of(part).option;
    for (std::string_view rest = ECHOLUX_PARTS; !rest.empty();) {  // e.g. "TIFF,HDF5"
        const std::size_t end = rest.find(',');
        if (rest.substr(0, end) == wanted) return true;
        rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
    return false;
}

// Throws Error{bad_setting} that names `where` and the CMake option to build with.
[[noreturn]] inline void refuse_missing(Part part, const std::string& where) {
    const PartWords& words = words_of(part);
    throw Error(ErrorCode::bad_setting, "this build has no " + std::string(words.what), where,
                std::string(words.instead) + "build with -DECHOLUX_" + std::string(words.option) + "=ON");
}

// ---- Program version, set in CMakeLists.txt.

inline constexpr const char* version = ECHOLUX_VERSION;

}  // namespace echolux
