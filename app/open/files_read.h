// All files that are read when an input is opened. No output of the same work may overwrite them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "engine/io/output_rule.h"

namespace echolux {

// Returns the files of an input: of a scan the scan itself, its spectra, index and calibration, as `settings`
// ("calibration.k_map=k.csv") name them; without an input, only those named by settings; of a volume with a separate
// header, its voxel file; of a pattern, the matching files; of a folder, itself and its volumes. Never throws:
// unreadable files are reported when they are read.
FileNames files_read(const std::filesystem::path& input, const std::vector<std::string>& settings = {});

// Files of several scans and of number files.
FileNames files_of(const FileNames& inputs);

// Files of what a job shows.
FileNames files_read(const VolumeSource& source);

// Adds the files named by a view.
void add_files_of_view(const View& view, FileNames& files);

}  // namespace echolux
