// Determines the kind of a file to open from its name and first bytes.
#pragma once

#include <filesystem>

namespace echolux {

enum class FileKind {
    exhibit,   // volume, series, folder of volumes, scan
    session,   // complete session of Echolux
    preset,    // some settings of view, recipe and flow
    transfer,  // transfer function
    picture,   // PNG, TIFF; those of Echolux contain a session
    spectra    // raw data without a description
};

// If a TOML file describes the raw spectra, `path` is changed to it. Throws Error{bad_file, bad_setting} if the file
// does not exist or Echolux cannot open it.
FileKind kind_of_file(std::filesystem::path& path);

// Returns true for names that Echolux may be able to open, for file lists. Names without an extension, which may be raw
// spectra, are excluded.
bool may_open(const std::filesystem::path& name);

}  // namespace echolux
