// The job behind `echolux render --movie` and the window's movies: pictures of a view that moves, of volumes that
// change, drawn in full quality, read back while the next ones are drawn, and encoded beside that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/movie/movie_plan.h"
#include "app/movie/movie_volumes.h"
#include "app/session/tissue_settings.h"
#include "engine/io/output_rule.h"
#include "engine/progress.h"
#include "render/device_choice.h"
#include "render/renderer.h"

namespace echolux {

struct MovieJob : VolumeSource {
    std::filesystem::path flow;  // a volume file over the structure; "": none
    View view;                   // where the movie begins
    TissueSettings tissue;       // what is shown in place of the raw volumes
    DeviceChoice device;
    MovieSpec spec;
    std::filesystem::path drawn;  // a series of the pictures of this very movie, drawn elsewhere; "": they are drawn

    std::filesystem::path output;
    MovieCodec codec = MovieCodec::automatic;
    double crf = -1;
    bool may_use_hardware = true;
    FileNames made_from;      // files besides, in which this job stood: they are inputs as well
    bool overwrites = false;  // replaces what is there, whoever made it
};

struct MadeMovie {
    std::string device;
    std::string encoder;
    std::int64_t frames = 0;
    FrameRate rate;
    std::int64_t width = 0, height = 0;  // perhaps a pixel more than was asked for
    double time_rate = 0;                // of the data beside the movie; 0: time stands, or is unknown
    std::vector<std::string> warnings;
    double seconds = 0;     // of all of it, the first volume being on the device
    double encoding_s = 0;  // of these, that encoding took, beside the drawing
};

// Whatever ends it early (cancelled, a device that is lost, a full disk), the movie is whole as far as it was made, and
// the error says so. Throws Error{bad_setting, bad_file, output, device, out_of_memory, cancelled}.
MadeMovie run(const MovieJob& job, Progress& progress);

}  // namespace echolux
