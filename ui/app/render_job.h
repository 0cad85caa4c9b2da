// The job behind `echolux render`: a volume or scan to a picture, or to what is seen at a pixel of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/progress.h"
#include "engine/reconstruction.h"
#include "render/device_choice.h"
#include "render/offscreen.h"
#include "render/slots/pages_shown.h"
#include "render/view.h"

namespace echolux {

struct RenderJob {
    std::filesystem::path input;
    std::vector<std::string> settings;                          // of the reconstruction, where the input is a scan
    ScanPart part;                                              // of a scan; a volume file holds one
    std::filesystem::path flow;                                 // a volume file over the structure; "": none
    std::filesystem::path output;                               // the picture; "": none
    std::vector<std::pair<std::int64_t, std::int64_t>> probes;  // pixels: x, y from the left top one
    View view;
    std::filesystem::path key_frames;     // a file that moves the view; empty: none
    double at_s = 0;                      // the moment of that
    std::filesystem::path save_transfer;  // where the transfer function in use is written; empty: nowhere
    DeviceChoice device;
};

struct RenderedFile {
    std::string device;
    ReconstructionFigures figures;  // backend is empty for a volume file
    std::vector<std::string> warnings;
    std::vector<std::optional<Probe>> probes;  // one each; none: nothing is seen there
    double seconds = 0;                        // of the picture, the volume being on the device
    PagesShown pages;                          // of a volume that the device cannot hold at once
};

RenderedFile run(const RenderJob& job, Progress& progress);

}  // namespace echolux
