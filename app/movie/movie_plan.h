// Determines the view and the time point of each picture of a movie, for any path, and the number of pictures and their
// rate. Nothing is drawn here.
//
// Paths are joined by "+": key frames set the view, a turntable rotates it, a sweep moves a plane through it, and time
// steps through the volumes, all at once.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/types.h"
#include "engine/io/movie_file.h"
#include "render/key_frames.h"
#include "render/view/view.h"

namespace echolux {

inline constexpr std::int64_t max_movie_frames = 1'000'000;

enum class SweepAxis { depth, a_scans, b_scans };
enum class SweptPlane { slice, clip };

// Parameters of a movie.
struct MovieSpec {
    std::string path = "turntable";  // turntable, time, sweep, keys, FILE.toml; or several joined by +
    std::string key_frames{};        // for the path keys, in the format of a key frame file
    std::int64_t frames = 0;         // if 0, derived from seconds or from the path
    double seconds = 0;              // if 0, derived from frames
    std::string fps{};               // "": 30, or derived from frames and seconds
    SweepAxis along = SweepAxis::b_scans;
    SweptPlane plane = SweptPlane::slice;
    double step_s = 0;                // between volumes; 0: from the series
    std::int64_t first = 0, end = 0;  // only this range of pictures; 0, 0: all
    bool resumes = false;             // continues the same movie after an interruption: see movie_job.h
};

struct MoviePath {
    bool turns = false, goes_through_time = false, sweeps = false;
    std::optional<KeyFrames> keys;
};

// Throws Error{bad_setting, bad_file} for an unknown path, and for key frames with invalid keys.
MoviePath movie_path(const std::string& text, const std::string& key_frames = "");

// The volumes shown in the movie.
struct MovieTimePoints {
    VolumeGrid grid;
    std::int64_t steps = 1;
    double step_s = 0;  // if 0, unknown
};

class MoviePlan {
  public:
    // Throws Error{bad_setting} for contradictory lengths, a path through time for a single time point, ...
    MoviePlan(const MovieSpec& spec, const View& view, const MovieTimePoints& volumes);

    std::int64_t frames() const { return frames_; }
    const FrameRate& rate() const { return rate_; }
    double seconds() const { return static_cast<double>(frames_) / rate_.per_s(); }

    // Data time per movie time; 0 if unknown or if time stands still.
    double time_rate() const;

    // Time point of a frame, from 0 to steps - 1; never decreases.
    std::int64_t step(std::int64_t frame) const;

    // Files named by the view (transfer, heights) are not read. `later`: fraction of the time to the next frame.
    View view(std::int64_t frame, double later = 0) const;

  private:
    void set_length(const MovieSpec& spec);
    std::int64_t natural_frames() const;
    std::int64_t layers() const;
    void fix_fit();
    void turn(View& view, double frame) const;
    double passed_s(double frame) const;
    void sweep(View& view, double frame) const;

    MoviePath path_;
    View view_;
    MovieTimePoints volumes_;
    SweepAxis along_;
    SweptPlane plane_;
    std::int64_t frames_ = 0;
    FrameRate rate_;
};

}  // namespace echolux
