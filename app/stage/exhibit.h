// Something that the window shows: a volume or series from files, or what a session reconstructs from a recording or an
// instrument. The window draws all of them by the same few calls and never asks which kind it is. One thread, the one
// that draws, calls everything here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/stage/timeline.h"
#include "compute/types.h"
#include "engine/interval.h"
#include "engine/io/volume_file.h"
#include "engine/live/volume_ring.h"
#include "render/renderer.h"

namespace echolux {

class KeptReading;  // app/stage/kept_reading.h
class KeptTime;     // app/stage/kept_time.h
class LiveSession;  // app/stage/live_session.h

// A volume that is waited for: to be called once, on any thread that may wait, also when its exhibit is gone. Throws
// Error{device, bad_file, out_of_memory}.
using VolumeToCome = std::function<std::shared_ptr<const Volume>()>;

struct Loading {
    std::int64_t step = 0;
    std::optional<double> share = {};  // of it, 0 to 1
};

class Exhibit {
  public:
    virtual ~Exhibit() = default;

    // Ends with the exhibit: by it jobs know whether what they were asked about is still on the stage.
    std::weak_ptr<const void> life() const { return life_; }

    virtual std::string name() const = 0;  // for people: "retina.nrrd", "simulator (vessel)"
    virtual std::string way() const = 0;   // who reconstructs, how voxels get to whom; empty: a file

    // Nothing: there is no volume yet.
    virtual std::optional<VolumeGrid> grid() const = 0;
    virtual std::optional<VolumeGrid> flow_grid() const = 0;
    // Of medical volumes the letters of engine/io/orientation.h: where depth, A-scans and B-scans run to. Else empty.
    virtual std::string orientation() const { return {}; }
    virtual bool has_planes() const { return false; }  // B-scans that are planes in space, and no volume

    // Once a picture, before all else: takes what other threads have made ready.
    virtual void update(double now_s) = 0;

    // What a pane shows now. Nothing: there is no volume yet. Throws Error{device, bad_setting} as Renderer::follow().
    virtual std::optional<FollowedPicture> follow(const View& view, double now_s, std::size_t pane) = 0;
    virtual std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y) = 0;
    virtual std::optional<Histogram> histogram() = 0;
    virtual std::optional<PlaneHistogram> plane_histogram(const View&) { return {}; }

    // What the colours of flow mean in a view. Nothing: there is no flow.
    virtual std::optional<FlowScale> flow_scale(const View&) { return {}; }

    // Height maps that views may count from; empty: none. Throws as Renderer::set_heights(). They are gone when what is
    // shown takes another shape, or its device had to be prepared again.
    virtual void set_heights(const HeightMaps& maps) = 0;
    virtual bool has_heights() const = 0;

    // Another volume was on its renderer meanwhile.
    virtual void show_again() {}

    // A kept picture at full quality. Throws as Renderer::render().
    virtual Image still(const View& view) = 0;

    // What is shown, on its way to a file or a search. Empty: there is no volume yet.
    virtual VolumeToCome begin_reading() = 0;
    std::shared_ptr<const Volume> volume() {  // the same, waited for
        const VolumeToCome coming = begin_reading();
        return coming ? coming() : nullptr;
    }

    // Of whatever has several time points; nullptr: of a still volume, or of an instrument.
    virtual Timeline* timeline() { return nullptr; }
    // The last volumes of an instrument; nullptr: none are kept.
    virtual KeptTime* kept_time() { return nullptr; }
    // They are on their way to a file; of the last `seconds`, 0: all. nullptr: there are none yet.
    virtual std::shared_ptr<KeptReading> begin_reading_kept(double) { return nullptr; }
    virtual std::vector<Interval> ready_steps() const { return {}; }  // that can be shown at once

    // Where what is shown is not what the time line asks for: that is still on its way.
    virtual std::optional<Loading> loading() const { return {}; }

    // Number and time of the volume that is shown. Nothing: there is none yet.
    virtual std::optional<VolumeStamp> stamp() const { return {}; }

    // Another number whenever pictures can see something new; whether something is on its way by itself.
    virtual std::uint64_t news() const { return 0; }
    virtual bool is_at_work() const { return loading().has_value(); }

    // The range of values that the first volume of a series chose for all of them. Nothing: each has its own.
    virtual std::optional<ValueRange> chosen_range() const { return {}; }

    // What could not be shown, since the last call: lines with cause and remedy. Sessions tell theirs as events.
    virtual std::vector<std::string> take_problems() { return {}; }

    // Of recordings and instruments; nullptr: of a volume file. Shared with jobs, which go on when it is closed.
    virtual std::shared_ptr<LiveSession> shared_live() { return nullptr; }
    LiveSession* live() { return shared_live().get(); }

  private:
    std::shared_ptr<const void> life_ = std::make_shared<int>();
};

}  // namespace echolux
