// Job of `echolux render`: renders a picture of a volume or scan, or probes what is visible at a pixel.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "app/session/tissue_settings.h"
#include "engine/io/output_rule.h"
#include "engine/progress.h"
#include "render/device_choice.h"
#include "render/renderer.h"
#include "render/view/view.h"

namespace echolux {

struct RenderJob : VolumeSource {
    std::filesystem::path flow;                                 // volume file shown over the structure; "": none
    std::filesystem::path output;                               // picture file, PNG or TIFF; "": none
    PictureBits bits = PictureBits::eight;                      // of the picture
    std::vector<std::pair<std::int64_t, std::int64_t>> probes;  // x, y in pixels from the top left
    View view;
    TissueSettings tissue;                // processing of a raw volume before it is shown
    std::filesystem::path key_frames;     // file with camera and view key frames; empty: none
    double at_s = 0;                      // moment in the key frames
    std::filesystem::path save_transfer;  // file for the transfer function in use; empty: none
    std::string expected_input;           // fingerprints of the input and its spectra; empty: any
    std::string expected_spectra;
    std::string session;  // session text of the picture; empty: created from the job
    std::string backend;  // backend that reconstructed a volume in memory
    DeviceChoice device;
    FileNames made_from;      // further input files from which this job was read
    bool overwrites = false;  // replaces any existing file
};

struct RenderedFile {
    std::string device;
    ReconstructionStats stats;  // backend is empty for a volume file
    std::vector<std::string> warnings;
    std::vector<std::optional<Probe>> probes;  // one per pixel; std::nullopt: nothing is visible there
    double seconds = 0;                        // of the picture, with the volume already on the device
    PagesShown pages;                          // of a volume that does not fit the device
    std::string fingerprint;                   // of the picture's pixels
};

RenderedFile run(const RenderJob& job, Progress& progress);

}  // namespace echolux
