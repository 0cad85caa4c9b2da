// Job of movies of the operation `render` and of the window. Pictures of moving views and changing volumes are drawn
// in full quality, and read back and encoded while the next ones are drawn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/render_job.h"
#include "app/movie/movie_plan.h"
#include "app/open/open_volume.h"
#include "app/settings/settings_book.h"
#include "engine/io/output_rule.h"
#include "engine/progress.h"
#include "render/gpu_device.h"
#include "render/renderer.h"

namespace echolux {

struct MovieJob : PictureJob {
    MovieSpec spec;
    std::filesystem::path drawn;  // pictures of exactly this movie, drawn earlier; "": draw them
    MovieCodec codec = MovieCodec::automatic;
    double crf = -1;
    bool may_use_hardware = true;
    bool may_be_smaller = false;  // the size is a default: software Vulkan uses software_movie_edge
};

inline constexpr std::int64_t software_movie_edge = 400;  // a frame of 1024 x 1024 takes 3.4 s of processor time

struct MovieResult {
    std::string device;
    std::string encoder;
    std::int64_t frames = 0;
    FrameRate rate;
    std::int64_t width = 0, height = 0;  // may be one pixel more than requested
    double time_rate = 0;                // data time per movie time; 0 if time stands still or is unknown
    std::vector<std::string> warnings;
    double seconds = 0;     // total time, with the first volume already on the device
    double encoding_s = 0;  // part of it spent on encoding, in parallel with drawing
};

// If it ends early (cancelled, lost device, full disk), the movie is complete up to that point, as the error states.
// Throws Error{bad_setting, bad_file, output, device, out_of_memory, cancelled}.
MovieResult run(const MovieJob& job, Progress& progress);

// ---- Movies that can be continued after an interruption. Their pictures are kept as files, with identical bits, until
// the last one exists. A note beside them identifies the movie.

// Location of the pictures: the output itself if it is a PNG series.
std::filesystem::path kept_pictures(const MovieJob& job);

// Location of the note for an unfinished series of pictures.
std::filesystem::path note_of(const std::filesystem::path& series);

}  // namespace echolux
