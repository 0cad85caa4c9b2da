// Something the window can show: a volume or series from files, or the volumes that a session reconstructs from a
// recording or an instrument. The window uses all of them through this interface without knowing the kind. All
// functions are called by one thread, the drawing thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/stage/timeline.h"
#include "compute/plan/describe.h"
#include "compute/types.h"
#include "engine/interval.h"
#include "engine/io/volume_file.h"
#include "engine/live/volume_ring.h"
#include "render/renderer.h"

namespace echolux {

class KeptReading;  // app/stage/kept_reading.h
class KeptTime;     // app/stage/kept_time.h
class LiveSession;  // app/stage/live_session.h

// Returns the volume, waiting for it. Call it once, on any thread that may wait, even after the exhibit is gone. Throws
// Error{device, bad_file, out_of_memory}.
using VolumeToCome = std::function<std::shared_ptr<const Volume>()>;

struct Loading {
    std::int64_t step = 0;
    std::optional<double> share = {};  // completed share, 0 to 1
};

class Exhibit {
  public:
    virtual ~Exhibit() = default;

    // Expires with the exhibit. Jobs use it to check that the exhibit is still shown.
    std::weak_ptr<const void> life() const { return life_; }

    virtual std::string name() const = 0;  // for people: "retina.nrrd", "simulator (vessel)"
    virtual std::string way() const = 0;   // reconstructing device and transfer path; empty for files

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
    virtual VolumeToCome begin_reading() = 0;
    std::shared_ptr<const Volume> volume() {  // the same, but waits
        const VolumeToCome coming = begin_reading();
        return coming ? coming() : nullptr;
    }

    // Time line, if there are several time points; nullptr for a single volume or an instrument.
    virtual Timeline* timeline() { return nullptr; }
    // Recent volumes of an instrument; nullptr if none are kept.
    virtual KeptTime* kept_time() { return nullptr; }
    // Starts copying the recent volumes of the last `seconds` (0: all). nullptr before the first volume.
    virtual std::shared_ptr<KeptReading> begin_reading_kept(double) { return nullptr; }
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

    // Session of a recording or an instrument; nullptr for volume files. Jobs share it and may outlive the exhibit.
    virtual std::shared_ptr<LiveSession> shared_live() { return nullptr; }
    LiveSession* live() { return shared_live().get(); }

  private:
    std::shared_ptr<const void> life_ = std::make_shared<int>();
};

}  // namespace echolux
