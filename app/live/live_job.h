// Job of `echolux live --headless`: a source, a session, pictures, an optional recording, and a report.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "app/settings/settings_book.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/igtl/link.h"
#include "engine/live/session.h"
#include "render/gpu_device.h"
#include "render/view/view.h"

namespace echolux {

// ---- Pictures of a live system, drawn by a separate thread: a limited number of pictures per second, none if nothing
// changed, and only one in flight. The measured figures are what a user at a screen would see.

class PictureLoop {
  public:
    // `shown` is called on the loop's thread for each volume that a finished picture shows completely.
    PictureLoop(LiveDisplay& display, View view, double max_per_s, std::function<void(std::int64_t volume)> shown);
    ~PictureLoop();

    void set_view(const View& view);

    PictureStats stats() const;

    // Returns the error that ended the loop early.
    std::optional<std::string> problem() const;

    // Ends the loop. The last picture shows the newest volume.
    void stop();

  private:
    using Clock = std::chrono::steady_clock;

    void work(const std::stop_token& stop);
    bool redraws();
    void draw(const std::stop_token& stop);
    void note(const LivePicture& picture, double seconds);

    LiveDisplay& display_;
    std::chrono::nanoseconds interval_;
    std::function<void(std::int64_t)> shown_;

    mutable std::mutex mutex_;  // guards the members below
    View view_;
    bool view_changed_ = true;
    PictureStats stats_;
    std::optional<std::string> problem_;
    double busy_s_ = 0;

    std::uint64_t news_ = 0;  // news of the display at the last picture
    std::int64_t last_volume_ = -1;
    std::jthread thread_;
};

// ---- Remote control of a live session without a window: the settings of its scan and view, equivalent to those of a
// window. All functions may be called from any thread.

class LiveSteering {
  public:
    // `plan`: the spec of the session. `show`: called with each changed view. All arguments must outlive this object.
    LiveSteering(const Source& source, Session& session, const ReconstructionSpec& plan, const View& view,
                 std::function<void(const View&)> show);

    // Adds the settings of live processing. `changed` is called when they change. Call before a program is connected.
    void take_tissue(const TissueSettings& tissue, std::function<void(const LiveTissue&)> changed);

    // All settings of the session; those of scan and recording are read-only. Use only the descriptions: read values
    // with value().
    const std::vector<BoundField>& fields() const { return book_.fields(); }
    Value value(const std::string& key) const;  // the key must exist

    // Sets all values or none. Throws Error{bad_setting} for invalid values.
    void set(const Values& values);

    std::string source() const { return source_.name(); }
    LiveStats stats() const { return session_.stats(); }

  private:
    void bring_about(const Change& change);

    const Source& source_;
    Session& session_;
    double first_floor_db_;
    std::function<void(const View&)> show_;
    std::function<void(const LiveTissue&)> tissue_changed_;
    mutable std::mutex mutex_;  // guards the values in the book
    SettingsBook book_;
};

// ---- Job

// Answers a request of a program that receives volumes of the session. It runs on a thread that must not be blocked.
// Returns the answer, or an empty string for none.
using AnswerProgram = std::function<std::string(LiveSteering& session, const igtl::Request& request)>;

struct LiveJob : AcquisitionJob {
    GpuDevice device;
    View view;
    Publishing publishing = Publishing::whole;
    double pictures_per_s = 60;             // upper limit
    std::filesystem::path picture;          // picture of the last volume; empty: none
    std::filesystem::path kept;             // series of the recent volumes, of source.keep_gb; empty: none
    TissueSettings tissue;                  // processing of volumes before they are shown
    std::filesystem::path shifts;           // table of the B-scans of stabilised volumes; empty: none
    std::optional<igtl::LinkOptions> link;  // sends volumes to programs by OpenIGTLink
    AnswerProgram answer_program;           // answers their requests; empty: not answered
    FileNames made_from;                    // further input files from which this job was read
    bool may_be_smaller = false;            // the size is a default: software Vulkan uses software_picture_edge
};

inline constexpr std::int64_t software_picture_edge = 400;  // a picture of 1024 x 1024 takes 3 s on two cores

// Throws Error{bad_setting, bad_file, device, out_of_memory, output}. Stopping by the user is not an error. `on_event`
// receives events on the calling thread as they occur.
LiveReport run(const LiveJob& job, Progress& progress, const EventCallback& on_event = {});

}  // namespace echolux
