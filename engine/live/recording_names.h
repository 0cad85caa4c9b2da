// File names of a recording, and checks whether they may be written. Stripes are stored next to the raw file's name,
// one in each additional folder. Existing stripes belong to the user and stay, and a recording that replaces another
// uses new names for its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/scan/scan.h"

namespace echolux {

// Checks the name before a source starts. Throws Error{output} if a folder is missing, because an unmounted disk must
// not become the root disk, if a recording of this name is running, or if files of this name exist and may not be
// replaced.
void check_recording_name(const std::filesystem::path& scan_toml, bool replace,
                          const std::vector<std::filesystem::path>& stripe_folders = {});

// Returns whether anything of this name exists, even a dangling link.
bool is_taken(const std::filesystem::path& path);

// Reads only the wanted keys of a recording's file, because the rest may be damaged or of a later version. Throws
// Error{bad_file, bad_setting}.
Scan scan_of_keys(const std::filesystem::path& scan_toml, bool (*is_wanted)(const std::string& key));

// Returns NAME.raw for NAME.toml and ".raw".
std::filesystem::path file_of_recording(const std::filesystem::path& scan_toml, const std::string& ending);

// Returns all files that a recording of this name may have, except calibration files and stripes. The last one is the
// folder for the truth of simulated sources; each recording has its own.
std::vector<std::filesystem::path> files_of_recording(const std::filesystem::path& scan_toml);
// Returns the folder for the truth of simulated sources.
std::filesystem::path truth_of_recording(const std::filesystem::path& scan_toml);

// Returns the absolute paths NAME.stripe-2.raw, NAME.stripe-3.raw and so on in `folders`. With `takes_free_names`,
// skips names that exist. Throws Error{output} if a folder is missing, and Error{bad_setting} if a folder is named
// twice, if there are too many, or if a name cannot be written to scan.stripes.
std::vector<std::filesystem::path> stripes_of_recording(const std::filesystem::path& scan_toml,
                                                        const std::vector<std::filesystem::path>& folders,
                                                        bool takes_free_names = false);

// Stripes that the recording `scan_toml` lists and that follow its naming. Empty if it is not a recording or cannot be
// read.
struct NamedStripes {
    std::vector<std::filesystem::path> files;
    bool are_its_own = false;  // false if scan_toml was copied or moved from where it was recorded; its stripes may
                               // then belong to the original
};
NamedStripes stripes_named_by(const std::filesystem::path& scan_toml);

}  // namespace echolux
