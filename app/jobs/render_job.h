// The job behind `echolux render`: a volume or scan to a picture, or to what is seen at a pixel of it.
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
    std::filesystem::path flow;                                 // a volume file over the structure; "": none
    std::filesystem::path output;                               // the picture, PNG or TIFF; "": none
    PictureBits bits = PictureBits::eight;                      // of it
    std::vector<std::pair<std::int64_t, std::int64_t>> probes;  // pixels: x, y from the left top one
    View view;
    TissueSettings tissue;                // of it, what is shown in place of the raw volume that is opened
    std::filesystem::path key_frames;     // a file that moves the view; empty: none
    double at_s = 0;                      // the moment of that
    std::filesystem::path save_transfer;  // where the transfer function in use is written; empty: nowhere
    std::string expected_input;           // fingerprints of the input and of its spectra; empty: any
    std::string expected_spectra;
    std::string session;  // that the picture carries; empty: made from the job
    std::string backend;  // that reconstructed what is in memory
    DeviceChoice device;
    FileNames made_from;      // files besides, in which this job stood: they are inputs as well
    bool overwrites = false;  // replaces what is there, whoever made it
};

struct RenderedFile {
    std::string device;
    ReconstructionStats stats;  // backend is empty for a volume file
    std::vector<std::string> warnings;
    std::vector<std::optional<Probe>> probes;  // one each; none: nothing is seen there
    double seconds = 0;                        // of the picture, the volume being on the device
    PagesShown pages;                          // of a volume that the device cannot hold at once
    std::string fingerprint;                   // of the picture's pixels
};

RenderedFile run(const RenderJob& job, Progress& progress);

}  // namespace echolux
