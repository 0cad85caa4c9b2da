// A session as the window controls it: start, stop, record, change settings, look at single spectra. Behind it stands
// an instrument, the simulator, a replay, or a recorded scan whose volumes are asked for one by one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/device_work.h"
#include "engine/live/session.h"
#include "engine/live/tissue_work.h"
#include "engine/live/volume_ring.h"

namespace echolux {

class LiveSession {
  public:
    virtual ~LiveSession() = default;

    virtual const Scan& scan() const = 0;                        // format, geometry, calibration as the source has them
    virtual const SourceCapabilities& capabilities() const = 0;  //
    virtual bool is_recorded() const = 0;                        // a scan on disk: no start, stop and record

    virtual bool is_running() const = 0;
    // These two wait for the instrument: for jobs. Throws Error{device, bad_file}.
    virtual void start() = 0;
    virtual void stop() = 0;

    // What a recording of this name would hold now; `look`: sections [view] and [transfer] for its TOML. Throws
    // Error{bad_setting}: the session is recorded already.
    virtual RecordingWanted recording_of_now(const std::filesystem::path& scan_toml, const std::string& look) const = 0;

    // From the next volume on. These two wait for the disk: for jobs. Throws Error{output, bad_setting}.
    virtual void record(RecordingWanted wanted) = 0;
    virtual RecorderStats stop_recording() = 0;
    virtual bool is_recording() const = 0;

    // Recipe, flow and calibration of `scan` from now on; made ready beside the work. Throws Error{bad_setting} for
    // what cannot work: all stays as it was.
    virtual void change(const Scan& scan) = 0;

    // The settings in use, once, where others that were asked for turned out not to work. To be asked now and then.
    virtual std::optional<Scan> take_refusal() = 0;

    // What is done to volumes before they are shown, from the next one on. Throws Error{bad_setting}.
    virtual void set_tissue(const LiveTissue& tissue) = 0;
    virtual const TissueLog* tissue_log() const = 0;  // of the display; nullptr: there is none now

    virtual SessionStats stats() const = 0;
    virtual RingStatistics ring() const = 0;
    virtual std::vector<DeviceWork> devices() const = 0;  // that reconstruct for the display, as of the last volume
    virtual std::vector<SessionEvent> take_events() = 0;

    // The B-scan that people look at: reworked first.
    virtual void look_at(std::int64_t b_scan) = 0;

    // The newest block as it came, shared with whoever works on it; nothing: none yet, or it lies on a GPU.
    virtual std::optional<Block> newest_block() const = 0;
};

}  // namespace echolux
