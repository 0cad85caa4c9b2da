// The kind of a file that is to be opened, told by its name and first bytes.
#pragma once

#include <filesystem>

namespace echolux {

enum class FileKind {
    exhibit,   // volume, series, folder of volumes, scan
    session,   // all of a session, of ours
    preset,    // some settings of the view, the recipe and the flow
    transfer,  // transfer function
    picture,   // PNG, TIFF; ours carry a session
    spectra    // raw, described by nothing
};

// Where a TOML file beside raw spectra describes them, `path` becomes that. Throws Error{bad_file, bad_setting} for
// what does not exist, and for what Echolux cannot open.
FileKind kind_of_file(std::filesystem::path& path);

// By its name alone, whether this is something that Echolux opens, for lists of files: those without an ending, which
// may be raw spectra, are left out.
bool may_open(const std::filesystem::path& name);

}  // namespace echolux
