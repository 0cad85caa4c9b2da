// The files of a recording, and whether they may be written. Its stripes lie beside its raw file, one file in each
// further folder: a file that is there already is somebody's and stays, and a recording that replaces another takes
// new names for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/scan/scan.h"

namespace echolux {

// Before a source starts. Throws Error{output}: a folder is missing (a disk that is not mounted is not the root
// disk), or files of a recording of this name are there and may not be replaced.
void check_recording_name(const std::filesystem::path& scan_toml, bool replace,
                          const std::vector<std::filesystem::path>& stripe_folders = {});

// Something of this name is there, if only a link to nothing.
bool is_taken(const std::filesystem::path& path);

// What a recording's file says of the keys that are wanted, no more: the rest may be damaged or of a later version.
// Throws Error{bad_file, bad_setting}.
Scan scan_of_keys(const std::filesystem::path& scan_toml, bool (*is_wanted)(const std::string& key));

// NAME.toml and ".raw": NAME.raw.
std::filesystem::path file_of_recording(const std::filesystem::path& scan_toml, const std::string& ending);

// Every file that a recording of this name may have, but for calibration files and stripes. Of a source whose truth is
// known the last is a folder for it: each recording has its own.
std::vector<std::filesystem::path> files_of_recording(const std::filesystem::path& scan_toml);
std::filesystem::path truth_of_recording(const std::filesystem::path& scan_toml);

// NAME.stripe-2.raw, NAME.stripe-3.raw … in `folders`, absolute; `takes_free_names`: where one is there, the next name.
// Throws Error{output}: a folder is missing (a disk that is not mounted is not the root disk); Error{bad_setting}: one
// is named twice, there are too many, or a name cannot stand in scan.stripes.
std::vector<std::filesystem::path> stripes_of_recording(const std::filesystem::path& scan_toml,
                                                        const std::vector<std::filesystem::path>& folders,
                                                        bool takes_free_names = false);

// Those that the recording `scan_toml` names as it would name its own. None where it is no recording, or cannot be
// read.
struct NamedStripes {
    std::vector<std::filesystem::path> files;
    bool are_its_own = false;  // it lies where it was recorded: what a copy of it elsewhere names is not the copy's
};
NamedStripes stripes_named_by(const std::filesystem::path& scan_toml);

}  // namespace echolux
