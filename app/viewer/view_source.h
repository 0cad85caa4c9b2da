// Something the window can show: a volume or series from files, or the volumes that a session reconstructs from a
// recording or an instrument. The window uses all of them through this interface without knowing the kind. All
// functions are called by one thread, the drawing thread.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/reconstructor.h"
#include "compute/types.h"
#include "engine/interval.h"
#include "engine/io/volume_file.h"
#include "engine/live/postprocessing.h"
#include "engine/live/session.h"
#include "engine/live/volume_ring.h"
#include "render/renderer.h"

namespace echolux {

// ---- Time line: determines which time point of a recording to show, by playing, stepping and looping between two
// ends. It only computes. The caller asks which step is due and reports which one was shown, so that skipped steps can
// be counted.

class Timeline {
  public:
    // `step_s`: recorded interval between steps, 1e-6 to 1e6; other values mean unknown, played at 10 steps per second.
    // There must be at least one step.
    Timeline(std::int64_t steps, double step_s);

    std::int64_t steps() const { return steps_; }
    double step_s() const { return step_s_; }            // never 0
    bool has_times() const { return has_times_; }        // the interval is known
    std::int64_t step() const { return step_; }          // the step to show
    std::int64_t shown() const { return shown_; }        // last shown; -1: none yet
    std::int64_t left_out() const { return left_out_; }  // while playing, since play()
    std::int64_t waiting() const;                        // steps since the last one shown whose turn has come
    std::int64_t step_ago(std::int64_t turns) const;     // step with its turn this long before step()
    double shown_per_s() const;                          // while playing, recently

    // First and last step of playback, both inclusive.
    std::int64_t first() const { return first_; }
    std::int64_t last() const { return last_; }
    void set_ends(std::int64_t first, std::int64_t last);  // sorted and clamped

    bool plays() const { return plays_; }
    bool loops() const { return loops_; }
    double speed() const { return speed_; }  // with 1, as recorded; 0.05 to 50
    void set_loops(bool loops) { loops_ = loops; }
    void set_speed(double speed, double now_s);

    void play(double now_s);
    void pause() { plays_ = false; }
    void go_to(std::int64_t step);     // clamped; playing continues from there
    void step_by(std::int64_t steps);  // pauses; wraps around when looping

    // Updates step().
    void advance(double now_s);

    // Call when a picture of `step` is on the screen.
    void note_shown(std::int64_t step, double now_s);

  private:
    double interval_s() const { return step_s_ / speed_; }
    void restart();
    std::int64_t turns_since(std::int64_t step) const;

    std::int64_t steps_;
    bool has_times_;
    double step_s_;
    std::int64_t step_ = 0;
    std::int64_t shown_ = -1;
    std::int64_t left_out_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_;
    bool plays_ = false;
    bool loops_ = true;
    double speed_ = 1;
    std::optional<double> due_s_;    // when the next step is due; std::nullopt: at the next advance()
    std::int64_t turn_ = 0;          // counts the steps whose turn it was, including step_
    std::int64_t seen_ = -1;         // turn of the last step shown
    std::deque<double> shown_at_s_;  // recent
};

// ---- A session as the window controls it: start, stop, record, change settings, inspect single spectra. The source is
// an instrument, the simulator, a replay, or a recorded scan whose volumes are requested one by one.

class LiveControl {
  public:
    virtual ~LiveControl() = default;

    virtual const Scan& scan() const = 0;  // format, geometry and calibration of the source
    virtual const SourceCapabilities& capabilities() const = 0;
    virtual bool is_recorded() const = 0;  // a scan on disk: no start, stop and record

    virtual bool is_running() const = 0;
    // Both wait for the instrument, so call them in jobs. Throw Error{device, bad_file}.
    virtual void start() = 0;
    virtual void stop() = 0;

    // Returns the description of a recording with this name. `look`: sections [view] and [transfer] for its TOML.
    // Throws Error{bad_setting} if the session is already being recorded.
    virtual RecordingRequest recording_of_now(const std::filesystem::path& scan_toml,
                                              const std::string& look) const = 0;

    // Recording starts with the next volume. Both wait for the disk, so call them in jobs. Throw Error{output,
    // bad_setting}.
    virtual void record(RecordingRequest wanted) = 0;
    virtual RecorderStats stop_recording() = 0;
    virtual bool is_recording() const = 0;

    // Applies recipe, flow and calibration of `scan`, which are prepared in the background. Throws Error{bad_setting}
    // for invalid settings; nothing changes then.
    virtual void change(const Scan& scan) = 0;

    // Returns the settings in use, once, if later ones turned out to be invalid. Call periodically.
    virtual std::optional<Scan> take_refusal() = 0;

    // Sets the processing of volumes before they are shown, effective with the next volume. Throws Error{bad_setting}.
    virtual void set_tissue(const LiveTissue& tissue) = 0;
    virtual const TissueLog* tissue_log() const = 0;  // of the display; nullptr without one

    virtual LiveStats stats() const = 0;
    virtual RingStatistics ring() const = 0;
    virtual std::vector<DeviceWork> devices() const = 0;  // reconstructing devices, up to the last volume
    virtual std::vector<LiveEvent> take_events() = 0;

    // The B-scan that the user looks at; it is reprocessed first.
    virtual void look_at(std::int64_t b_scan) = 0;

    // Returns the newest unprocessed block, shared with other users; std::nullopt before the first, or if it is on a
    // GPU.
    virtual std::optional<Block> newest_block() const = 0;
};

// ---- View source

class RecentReader;    // app/viewer/live_source.h
class RecentTimeline;  // app/viewer/live_source.h

// Returns the volume, waiting for it. Call it once, on any thread that may wait, even after the view source is gone.
// Throws Error{device, bad_file, out_of_memory}.
using PendingVolume = std::function<std::shared_ptr<const Volume>()>;

struct Loading {
    std::int64_t step = 0;
    std::optional<double> share = {};  // completed share, 0 to 1
};

class ViewSource {
  public:
    virtual ~ViewSource() = default;

    // Expires with the view source. Jobs use it to check that the view source is still shown.
    std::weak_ptr<const void> life() const { return life_; }

    virtual std::string name() const = 0;                 // for people: "retina.nrrd", "simulator (vessel)"
    virtual std::string backend_description() const = 0;  // reconstructing device and transfer path; empty for files

    // std::nullopt before the first volume.
    virtual std::optional<VolumeGrid> grid() const = 0;
    virtual std::optional<VolumeGrid> flow_grid() const = 0;
    // For medical volumes the letters of engine/io/image_header.h: directions of depth, A-scans and B-scans. Otherwise
    // empty.
    virtual std::string orientation() const { return {}; }
    virtual bool has_planes() const { return false; }  // B-scans are separate planes, not a volume

    // Call once per picture, before the other functions. Takes over results of other threads.
    virtual void update(double now_s) = 0;

    // Returns what a pane shows now. std::nullopt before the first volume. Throws Error{device, bad_setting} like
    // Renderer::follow().
    virtual std::optional<FollowedPicture> follow(const View& view, double now_s, std::size_t pane) = 0;
    virtual std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y) = 0;
    virtual std::optional<Histogram> histogram() = 0;
    virtual std::optional<PlaneHistogram> plane_histogram(const View&) { return {}; }

    // Returns the scale of flow colours in a view; std::nullopt without flow.
    virtual std::optional<FlowScale> flow_scale(const View&) { return {}; }

    // Sets the height maps that views may refer to; empty: none. Throws like Renderer::set_heights(). They are lost
    // when the volume changes shape or the device is restored.
    virtual void set_heights(const HeightMaps& maps) = 0;
    virtual bool has_heights() const = 0;

    // Called after another volume was shown on the same renderer.
    virtual void show_again() {}

    // Renders a picture at full quality. Throws like Renderer::render().
    virtual Image still(const View& view) = 0;

    // Starts copying the volume shown, to write or analyse it. Empty before the first volume.
    virtual PendingVolume begin_reading() = 0;
    std::shared_ptr<const Volume> volume() {  // the same, but waits
        const PendingVolume coming = begin_reading();
        return coming ? coming() : nullptr;
    }

    // Time line, if there are several time points; nullptr for a single volume or an instrument.
    virtual Timeline* timeline() { return nullptr; }
    // Recent volumes of an instrument; nullptr if none are kept.
    virtual RecentTimeline* recent_timeline() { return nullptr; }
    // Starts copying the recent volumes of the last `seconds` (0: all). nullptr before the first volume.
    virtual std::shared_ptr<RecentReader> begin_reading_recent(double) { return nullptr; }
    virtual std::vector<Interval> ready_steps() const { return {}; }           // can be shown at once
    virtual std::vector<std::int64_t> incomplete_steps() const { return {}; }  // volumes with missing B-scans

    // Progress of a time point that is still loading, if the one shown is not the one requested.
    virtual std::optional<Loading> loading() const { return {}; }

    // Number and time of the volume shown; std::nullopt before the first.
    virtual std::optional<VolumeStamp> stamp() const { return {}; }

    // news() changes whenever a picture could show something new. is_at_work(): something will change without user
    // input.
    virtual std::uint64_t news() const { return 0; }
    virtual bool is_at_work() const { return loading().has_value(); }

    // Value range that the first volume of a series determined for all. std::nullopt: each volume has its own range.
    virtual std::optional<ValueRange> chosen_range() const { return {}; }

    // Errors since the last call, with cause and remedy. Sessions report theirs as events.
    virtual std::vector<std::string> take_problems() { return {}; }

    // Session of a recording or an instrument; nullptr for volume files. Jobs share it and may outlive the view source.
    virtual std::shared_ptr<LiveControl> shared_live() { return nullptr; }
    LiveControl* live() { return shared_live().get(); }

  private:
    std::shared_ptr<const void> life_ = std::make_shared<int>();
};

}  // namespace echolux
