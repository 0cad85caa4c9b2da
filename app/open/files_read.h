// Every file that reading an input opens: what no result of the same work may be written over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "engine/io/output_rule.h"

namespace echolux {

// Of a scan itself, its spectra, index and calibration, as `settings` ("calibration.k_map=k.csv") name them; of no
// input what these name; of a volume whose header lies apart its voxels; of a pattern the files that fit; of a folder
// it and its volumes. Never throws: what cannot be read is told by whoever reads it.
FileNames files_read(const std::filesystem::path& input, const std::vector<std::string>& settings = {});

// Of several scans and files of numbers.
FileNames files_of(const FileNames& inputs);

// Of what a job shows.
FileNames files_read(const VolumeSource& source);

// Those that a view names.
void add_files_of_view(const View& view, FileNames& files);

}  // namespace echolux
