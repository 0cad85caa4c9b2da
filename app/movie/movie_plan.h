// What each picture of a movie shows: the view and the time point, for any path through them, and how many pictures
// there are at which rate. Nothing is drawn here.
//
// Paths are joined by "+": key frames set the view, a turntable then turns it, a sweep then moves a plane through it,
// and time steps through the volumes meanwhile.
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

// What is asked of a movie.
struct MovieSpec {
    std::string path = "turntable";  // turntable, time, sweep, keys, FILE.toml; several joined by +
    std::string key_frames{};        // of the path keys, as a file of them has them
    std::int64_t frames = 0;         // 0: follows from seconds, or from the path
    double seconds = 0;              // 0: follows from frames
    std::string fps{};               // "": 30, or what frames and seconds say
    SweepAxis along = SweepAxis::b_scans;
    SweptPlane plane = SweptPlane::slice;
    double step_s = 0;                // between volumes; 0: as the series says
    std::int64_t first = 0, end = 0;  // only these pictures of it; 0, 0: all
    bool resumes = false;             // goes on where the same movie was interrupted: see movie_resume.h
};

struct MoviePath {
    bool turns = false, goes_through_time = false, sweeps = false;
    std::optional<KeyFrames> keys;
};

// Throws Error{bad_setting, bad_file} for a path that is none, and for key frames with wrong keys.
MoviePath movie_path(const std::string& text, const std::string& key_frames = "");

// The volumes that are filmed.
struct MovieTimePoints {
    VolumeGrid grid;
    std::int64_t steps = 1;
    double step_s = 0;  // 0: unknown
};

class MoviePlan {
  public:
    // Throws Error{bad_setting} for lengths that contradict each other, a series of one time point to go through, ...
    MoviePlan(const MovieSpec& spec, const View& view, const MovieTimePoints& volumes);

    std::int64_t frames() const { return frames_; }
    const FrameRate& rate() const { return rate_; }
    double seconds() const { return static_cast<double>(frames_) / rate_.per_s(); }

    // Seconds of the data in a second of the movie; 0: unknown, or time stands.
    double time_rate() const;

    // The time point of a frame, always from 0 to steps - 1 and never backwards.
    std::int64_t step(std::int64_t frame) const;

    // Files that it names (transfer, heights) are not read yet. `later`: part of the time to the next frame.
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
