// Live sources of spectra: simulator, replay, camera, plugin and other programs. One thread opens a source, takes its
// blocks and closes it. No function waits longer than requested.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "compute/voxel_target.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

// Section [source] of the settings. 0 keeps the source's own value.
struct SourceSettings {
    double line_rate_hz = 0;
    double exposure_us = 0;
    std::int64_t block_b_scans = 0;  // B-scan positions per block
    std::int64_t pool_blocks = 0;    // max number of blocks in use
    bool loop = true;                // replay: restart after the last volume
    std::int64_t near_gpu = -1;      // GPU near whose memory blocks are allocated; -1: anywhere
    double keep_gb = 0;              // memory for recent volumes, of the display; 0: none

    std::int64_t keep_bytes() const { return static_cast<std::int64_t>(1e9 * keep_gb); }
};

// Features of a source.
struct SourceCapabilities {
    bool sets_line_rate = false;
    bool sets_exposure = false;
    bool sets_samples = false;
    bool plays_patterns = false;    // accepts scan patterns for galvanometers
    bool has_truth = false;         // simulator: knows the true scene
    bool sends_when_asked = false;  // sends only on request, so silence is normal
    bool replays = false;           // sends a recording again
};

// Result of Source::next().
struct Arrival {
    enum class Kind { block, nothing_yet, ended };
    Kind kind = Kind::nothing_yet;
    Block block;  // for `ended`, only lost_before is valid: blocks lost after the last one
};

// An instrument or its substitute.
class Source {
  public:
    virtual ~Source() = default;  // stops the source

    // Layout of lines and scan, calibration, and default recipe. Constant after opening.
    virtual const Scan& scan() const = 0;
    virtual std::int64_t block_b_scans() const = 0;  // B-scan positions per block; a volume's last block may have fewer
    virtual std::int64_t pool_blocks() const { return 0; }  // max number of blocks in use; 0: unlimited
    virtual const SourceCapabilities& capabilities() const = 0;
    virtual std::string name() const = 0;  // for users: "simulator (vessel)", "GenICam Aravis-Fake-GV01"

    // Rate at which lines are sent; for a replay, that of the replay. 0: unknown, or sent on request.
    virtual double line_rate_hz() const { return capabilities().sends_when_asked ? 0 : scan().geometry.line_rate_hz; }

    // Returns the files that are read while sending.
    virtual std::vector<std::filesystem::path> played_files() const;

    // Starts a stopped source. Volumes, sequence and time count from zero. Throws Error{device, bad_file}.
    virtual void start() = 0;

    // Returns the next block, waiting up to `timeout`. Flyback frames come with the last block of a volume if the
    // source records them. Throws Error{device, bad_file} if the instrument is lost or rejects the request, or if the
    // file ends early. The source is then stopped, and can be restarted once the instrument is available again.
    virtual Arrival next(std::chrono::milliseconds timeout) = 0;

    // Stops sending. Blocks already returned stay valid. Does nothing if already stopped.
    virtual void stop() noexcept = 0;

    // Writes the true scene of a source with has_truth to this folder (docs/simulator.md). Throws Error{output}.
    virtual void write_truth(const std::filesystem::path&) const {}
};

// Names accepted by open_source(), for help and messages.
inline constexpr const char* source_names =
    "sim[:SCENE], sim:scan.toml, replay:scan.toml, genicam[:ID], gentl:FILE.cti, plugin:FILE.so, shm:NAME, "
    "tcp://ADDRESS:PORT, join:A+B or interleave:A+B";

// Parameters for opening a source.
struct SourceRequest {
    std::string name;                      // one of source_names
    std::filesystem::path scan;            // TOML file that describes the stream of a camera or plugin; empty: none
    std::vector<std::string> assignments;  // "recipe.window=hann"; any section except source; simulation only for sim
    SourceSettings settings;
    MemoryKind memory = MemoryKind::pinned;  // preferred memory for blocks
    Progress* progress = nullptr;            // of simulating before the first block; may be null
    bool begins_early = false;               // simulator: start after the first volume, simulate the others later
};

// Returns the sources combined by `name`, in order; for a single source only its name.
std::vector<std::string> sources_in(const std::string& name);

// Opens a source. Throws Error{bad_setting} listing the kinds if the name is unknown, Error{device, bad_file} as the
// source does.
std::unique_ptr<Source> open_source(const SourceRequest& wanted);

// Returns one line per available source, for `echolux info --sources`.
std::vector<std::string> sources_found();

// ---- Clock for simulated and replayed sources. Tests substitute a clock that they advance themselves.

class PacingClock {
  public:
    virtual ~PacingClock() = default;

    virtual double now_s() = 0;  // origin is arbitrary

    // Sleeps until `time_s`; returns at once if it has passed. Returns false if stopped.
    virtual bool sleep_until(double time_s, const std::stop_token& stop) = 0;
};

// Returns a clock based on the machine's steady clock.
std::shared_ptr<PacingClock> steady_pacing_clock();

// ---- Constructors of the source kinds, called by open_source().

// Splits "KIND:ID,OPTIONS"; missing parts are "".
struct SourceName {
    explicit SourceName(const std::string& name);

    std::string kind;
    std::string rest;     // everything after the colon: a scene or a file
    std::string id;       // of a camera or plugin: up to the first comma
    std::string options;  // after that comma
};

// `wanted.name` is the full name: "sim", "sim:FILE", "replay:FILE", "genicam:ID", "gentl:PATH", "plugin:PATH". Throws
// as open_source() does.
std::unique_ptr<Source> open_simulator(const SourceRequest& wanted,
                                       std::shared_ptr<PacingClock> clock = steady_pacing_clock());
std::unique_ptr<Source> open_replay(const SourceRequest& wanted,
                                    std::shared_ptr<PacingClock> clock = steady_pacing_clock());
std::unique_ptr<Source> open_genicam(const SourceRequest& wanted);
std::unique_ptr<Source> open_gentl(const SourceRequest& wanted);
std::unique_ptr<Source> open_plugin(const SourceRequest& wanted);

// "shm:NAME" and "tcp://HOST:PORT" wait up to `timeout` for a producer.
constexpr std::chrono::seconds wait_for_producer{30};
std::unique_ptr<Source> open_shared_memory(const SourceRequest& wanted,
                                           std::chrono::milliseconds timeout = wait_for_producer);
std::unique_ptr<Source> open_tcp(const SourceRequest& wanted, std::chrono::milliseconds timeout = wait_for_producer);

// Returns one line per responding camera. Does not fail.
std::vector<std::string> genicam_cameras();

// Returns the GenTL producers in the folders of GENICAM_GENTL64_PATH, without loading them. Does not fail.
std::vector<std::filesystem::path> gentl_producers();

}  // namespace echolux
