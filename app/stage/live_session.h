// A session as the window controls it: start, stop, record, change settings, inspect single spectra. The source is an
// instrument, the simulator, a replay, or a recorded scan whose volumes are requested one by one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/reconstructor.h"
#include "engine/live/session.h"
#include "engine/live/tissue_work.h"
#include "engine/live/volume_ring.h"

namespace echolux {

class LiveSession {
  public:
    virtual ~LiveSession() = default;

    virtual const Scan& scan() const = 0;  // format, geometry and calibration of the source
    virtual const SourceCapabilities& capabilities() const = 0;
    virtual bool is_recorded() const = 0;  // a scan on disk: no start, stop and record

    virtual bool is_running() const = 0;
    // Both wait for the instrument, so call them in jobs. Throw Error{device, bad_file}.
    virtual void start() = 0;
    virtual void stop() = 0;

    // Returns the description of a recording with this name. `look`: sections [view] and [transfer] for its TOML.
    // Throws Error{bad_setting} if the session is already being recorded.
    virtual RecordingWanted recording_of_now(const std::filesystem::path& scan_toml, const std::string& look) const = 0;

    // Recording starts with the next volume. Both wait for the disk, so call them in jobs. Throw Error{output,
    // bad_setting}.
    virtual void record(RecordingWanted wanted) = 0;
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

    virtual SessionStats stats() const = 0;
    virtual RingStatistics ring() const = 0;
    virtual std::vector<DeviceWork> devices() const = 0;  // reconstructing devices, up to the last volume
    virtual std::vector<SessionEvent> take_events() = 0;

    // The B-scan that the user looks at; it is reprocessed first.
    virtual void look_at(std::int64_t b_scan) = 0;

    // Returns the newest unprocessed block, shared with other users; std::nullopt before the first, or if it is on a
    // GPU.
    virtual std::optional<Block> newest_block() const = 0;
};

}  // namespace echolux
