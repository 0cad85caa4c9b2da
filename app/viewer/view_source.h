// Something the window can show: a volume or series from files, or the volumes that a session reconstructs from a
// recording or an instrument. The window uses all of them through this interface without knowing the kind. All
// functions are called by one thread, the drawing thread.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/viewer/live_controller.h"
#include "app/viewer/timeline.h"
#include "compute/types.h"
#include "engine/interval.h"
#include "engine/io/volume_file.h"
#include "engine/live/volume_ring.h"
#include "render/renderer.h"

namespace echolux {

class RecentReader;    // app/viewer/live_source.h
class RecentTimeline;  // app/viewer/live_source.h

// Returns the volume, waiting for it. Call it once, on any thread that may wait, even after the view source is gone.
// Throws Error{device, bad_file, out_of_memory}.
using PendingVolume = std::function<std::shared_ptr<const Volume>()>;

// Identifies the displayed volume and changes when it does.
struct VolumeRevision {
    std::uint64_t source = 0;  // number of the view source in this program, because addresses are used again
    std::int64_t volume = 0;   // number that the source gives it
    double time_s = 0;
    std::uint64_t news = 0;  // of the view source

    bool operator==(const VolumeRevision&) const = default;
};

struct Loading {
    std::int64_t step = 0;
    std::optional<double> share = {};  // completed share, 0 to 1
};

class ViewSource {
  public:
    explicit ViewSource(Renderer& renderer) : renderer_(renderer) {}  // `renderer` must outlive this object
    virtual ~ViewSource() = default;
    ViewSource(const ViewSource&) = delete;
    ViewSource& operator=(const ViewSource&) = delete;

    // Expires with the view source. Jobs use it to check that the view source is still shown.
    std::weak_ptr<const void> life() const { return life_; }

    virtual std::string name() const = 0;                 // for people: "retina.nrrd", "simulator (vessel)"
    virtual std::string backend_description() const = 0;  // reconstructing device and transfer path; empty for files

    // std::nullopt before the first volume.
    std::optional<VolumeGrid> grid() const { return shows_derived() ? derived_.shown->volume->grid : own_grid(); }
    std::optional<VolumeGrid> flow_grid() const { return shows_derived() ? std::nullopt : own_flow_grid(); }
    // For medical volumes the letters of engine/io/image_header.h: directions of depth, A-scans and B-scans. Otherwise
    // empty.
    virtual std::string orientation() const { return {}; }
    virtual bool has_planes() const { return false; }  // B-scans are separate planes, not a volume

    // Call once per picture, before the other functions. Takes over results of other threads.
    void update(double now_s);

    // Returns what a pane shows now. std::nullopt before the first volume. Throws Error{device, bad_setting} like
    // Renderer::follow().
    virtual std::optional<PanePicture> follow(const View& view, double now_s, std::size_t pane) = 0;
    virtual std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y);
    virtual std::optional<Histogram> histogram();
    virtual std::optional<PlaneHistogram> plane_histogram(const View& view);

    // Returns the scale of flow colours in a view; std::nullopt without flow.
    virtual std::optional<FlowScale> flow_scale(const View&) { return {}; }

    // Sets the height maps that views may refer to; empty: none. Throws like Renderer::set_heights(). They are lost
    // when the volume changes shape or the device is restored.
    virtual void set_heights(const HeightMaps& maps) = 0;
    virtual bool has_heights() const = 0;

    // Renders a picture at full quality. Throws like Renderer::render().
    virtual Image still(const View& view) { return renderer_.render(view); }

    // Starts copying the volume shown, to write or analyse it. Empty before the first volume.
    PendingVolume begin_reading();
    std::shared_ptr<const Volume> volume() {  // the same, but waits
        const PendingVolume coming = begin_reading();
        return coming ? coming() : nullptr;
    }

    // ---- Derived volumes (filtered, stabilised) of the same size and position are shown instead of the own volume,
    // until something else is shown. Files are never changed. Flow belongs to the own volume, so it is not shown.

    // Transfers a volume derived from the one shown now to the device in the background, and then shows it. Errors are
    // returned by take_problems().
    void show_derived(std::shared_ptr<const Volume> volume);
    void show_own();

    // The latest request; nullptr: the own volume.
    const std::shared_ptr<const Volume>& derived() const { return derived_.wanted; }
    bool shows_derived() const { return derived_.shown.has_value(); }  // now
    bool is_derived_coming() const { return derived_.coming.valid(); }

    // Starts copying the own volume, even while a derived one is shown.
    virtual PendingVolume begin_reading_own() = 0;
    // Returns the revision of the own volume, or std::nullopt before the first one.
    std::optional<VolumeRevision> own_revision() const { return revision_with(own_news_); }

    // ---- time points

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
    std::uint64_t news() const { return own_news_ + derived_.news; }
    virtual bool is_at_work() const { return loading().has_value() || is_derived_coming(); }

    // Returns the revision of the displayed volume, or std::nullopt before the first one.
    std::optional<VolumeRevision> revision() const { return revision_with(news()); }

    // Value range that the first volume of a series determined for all. std::nullopt: each volume has its own range.
    virtual std::optional<ValueRange> chosen_range() const { return {}; }

    // Errors since the last call, with cause and remedy. Sessions report theirs as events.
    virtual std::vector<std::string> take_problems() { return std::exchange(derived_.problems, {}); }

    // Session of a recording or an instrument; nullptr for volume files. Jobs share it and may outlive the view source.
    virtual std::shared_ptr<LiveController> shared_live() { return nullptr; }
    LiveController* live() { return shared_live().get(); }

  protected:
    virtual std::optional<VolumeGrid> own_grid() const = 0;
    virtual std::optional<VolumeGrid> own_flow_grid() const { return {}; }
    virtual void update_own(double now_s) = 0;
    virtual void show_again() {}  // the own volume, after a derived one was shown on the same renderer

    Renderer& renderer_;
    std::uint64_t own_news_ = 0;  // changes whenever a picture of the own volume could show something new

  private:
    struct OnDevice {
        std::shared_ptr<const Volume> volume;
        std::shared_ptr<PreparedVolume> prepared;
    };
    struct Derived {
        std::shared_ptr<const Volume> wanted, bringing;
        std::optional<VolumeRevision> wanted_for;  // of the volume it was derived from
        std::optional<OnDevice> shown;             // std::nullopt: the own volume
        std::uint64_t news = 0;
        std::vector<std::string> problems;
        std::future<OnDevice> coming;  // last: it uses the renderer
    };

    std::optional<VolumeRevision> revision_with(std::uint64_t news) const;

    static std::uint64_t next_number();
    const std::uint64_t number_ = next_number();
    void begin_bringing();
    void receive_derived();

    Derived derived_;
    std::shared_ptr<const void> life_ = std::make_shared<int>();
};

}  // namespace echolux
