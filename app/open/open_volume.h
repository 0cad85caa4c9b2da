// Opens volumes of all kinds: reads volume files, or reconstructs scans. Also determines the kind of a file, and the
// files that are read when an input is opened.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/analysis/stored_brightness.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"
#include "engine/offline/reconstruction.h"
#include "engine/progress.h"
#include "render/transfer_function.h"

namespace echolux {

// ---- Volumes

struct OpenedVolume {
    Volume volume;
    std::optional<Volume> flow;  // of a scan with flow.method
    ScanGeometry geometry;       // of a scan
    std::optional<Scan> scan;    // the reconstructed scan, with the measured noise floor
    ReconstructionStats stats;   // backend is empty for a volume file
    std::vector<std::string> warnings;
    std::optional<ValueRange> chosen{};  // copied from the source
};

// Returns true if the name is that of a scan, not of a volume, or of a folder or pattern (scan_*.nrrd) of volumes.
bool is_scan_name(const std::filesystem::path& path);

// Input of a job: a volume file, a scan, or a volume in memory.
struct VolumeSource {
    std::filesystem::path input;
    std::function<std::shared_ptr<const Volume>()> shown;  // called once on the job's thread; empty: `input` is opened
    std::vector<std::string> settings;                     // for reconstructing a scan
    ScanPart part;                                         // part of a scan; for volumes, the time point
    std::optional<ValueRange> chosen{};                    // range of the series; std::nullopt: this volume's own
    StoredAs stored_as = StoredAs::automatic;              // what the voxels hold, if the file does not state it
};

OpenedVolume open_volume(const VolumeSource& source, Progress& progress);

// `settings` ("recipe.window=hann") apply to scans. Throws what reading and reconstructing throw.
OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress);

// Adds the source file to errors about a volume, since lower layers know only voxels: calls work(). An Error located at
// `place` is thrown again with `file` as its location, unless it is empty.
template <class Work>
auto with_file_context(const std::string& file, std::string_view place, const Work& work) {
    try {
        return work();
    } catch (const Error& error) {
        if (file.empty() || error.where() != place) throw;
        throw Error(error.code(), error.problem(), file, error.remedy());
    }
}

// ---- Files that are read when an input is opened. No output of the same work may overwrite them.

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

// ---- Kind of a file, determined from its name and first bytes

enum class FileKind {
    view_source,  // volume, series, folder of volumes, scan
    session,      // complete session of Echolux
    preset,       // some settings of view, recipe and flow
    transfer,     // transfer function
    picture,      // PNG, TIFF; those of Echolux contain a session
    spectra       // raw data without a description
};

// If a TOML file describes the raw spectra, `path` is changed to it. Throws Error{bad_file, bad_setting} if the file
// does not exist or Echolux cannot open it.
FileKind kind_of_file(std::filesystem::path& path);

// Returns true for names that Echolux may be able to open, for file lists. Names without an extension, which may be raw
// spectra, are excluded.
bool may_open(const std::filesystem::path& name);

}  // namespace echolux
