// Renders a picture of a volume or scan, or probes what is visible at a pixel: for the operation `render`, the window
// and pictures that are made again.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "app/settings/settings_book.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "render/gpu_device.h"
#include "render/renderer.h"
#include "render/view/view.h"

namespace echolux {

// ---- Processing of a volume before it is shown, if [registration] or [filter] request it: stabilised, then filtered.
// Shared by the window and by pictures that are rendered again from their records.

struct StabilisedVolume {
    std::shared_ptr<const Volume> volume;  // with B-scans at their positions; NaN without data
    std::vector<RowShift> rows;            // one per B-scan
    std::int64_t used = 0;                 // B-scans used, without those that run across the others
};

// Registers B-scans to those of `reference`, or to their neighbours without one. Throws what registration throws, and
// Error{bad_setting} if nothing matches.
StabilisedVolume stabilised(const Volume& volume, const Volume* reference, const RegistrationSettings& settings,
                            Progress& progress);

// Returns a filtered copy with the filter in its provenance. Throws what filter_volume() throws.
std::shared_ptr<const Volume> filtered_copy(const Volume& volume, const SpeckleFilter& filter, Progress& progress);

// Processes volumes of a source one after another. Flow is shown only with the raw volume, as in the window.
class SourcePostprocessor {
  public:
    // `source` must outlive this object. Volumes in memory are already processed.
    SourcePostprocessor(const TissueSettings& tissue, const VolumeSource& source) : tissue_(tissue), source_(source) {}

    bool changes_volumes() const {
        return !source_.shown && (tissue_.filter_display.shown || tissue_.registration_display.shown);
    }

    // Throws what stabilised(), filter_volume() and opening the reference time point throw.
    Volume of(Volume volume, Progress& progress);

  private:
    const TissueSettings tissue_;
    const VolumeSource& source_;
    std::shared_ptr<const Volume> reference_;  // of the registration, read on first use
};

// ---- Job

// True if pictures have the default size: no assignment such as "view.width=800" sets it, and the view has no other.
bool has_default_size(const View& view, const std::vector<std::string>& assignments);

// Input, view and output of a picture or a movie.
struct PictureJob : VolumeSource {
    std::filesystem::path flow;                      // volume file shown over the structure; "": none
    std::shared_ptr<const Volume> flow_in_memory{};  // instead of a file
    View view;                                       // of movies, the initial one
    TissueSettings tissue;                           // processing of raw volumes before they are shown
    GpuDevice device;
    std::filesystem::path output;
    FileNames made_from;      // further input files from which this job was read
    bool overwrites = false;  // replaces any existing file
};

// The output is a PNG or TIFF file, or empty.
struct RenderJob : PictureJob {
    PictureBits bits = PictureBits::eight;                      // of the picture
    std::vector<std::pair<std::int64_t, std::int64_t>> probes;  // x, y in pixels from the top left
    std::filesystem::path key_frames;                           // file with camera and view key frames; empty: none
    double at_s = 0;                                            // moment in the key frames
    std::filesystem::path save_transfer;                        // file for the transfer function in use; empty: none
    std::string expected_input;                                 // fingerprints of the input and its spectra; empty: any
    std::string expected_spectra;
    std::string session;  // session text of the picture; empty: created from the job
    std::string backend;  // backend that reconstructed a volume in memory
};

struct RenderedFile {
    std::string device;
    ReconstructionStats stats;  // backend is empty for a volume file
    std::vector<std::string> warnings;
    std::vector<std::optional<Probe>> probes;  // one per pixel; std::nullopt: nothing is visible there
    double seconds = 0;                        // of the picture, with the volume already on the device
    PageCoverage pages;                        // of a volume that does not fit the device
    std::string fingerprint;                   // of the picture's pixels
};

// Files that the job reads, as far as settings name them.
FileNames files_of_picture(const RenderJob& job);

RenderedFile run(const RenderJob& job, Progress& progress);

}  // namespace echolux
