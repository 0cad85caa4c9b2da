// Where live spectra come from: simulator, replay of a scan, camera, plugin. One thread opens a source, takes its
// blocks and closes it; nothing here waits longer than it was asked to.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compute/place.h"
#include "compute/plan/describe.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

// Section [source] of the settings; 0: as the source has it.
struct SourceSettings {
    double line_rate_hz = 0;
    double exposure_us = 0;
    std::int64_t block_b_scans = 0;  // B-scan positions of a block
    std::int64_t pool_blocks = 0;    // blocks that may be in use at a time
    bool loop = true;                // of replay: begin anew after the last volume
    std::int64_t near_gpu = -1;      // number of the GPU near which blocks are allocated; -1: anywhere
    double keep_gb = 0;              // memory of the display for the last volumes; 0: none are kept

    std::int64_t keep_bytes() const { return static_cast<std::int64_t>(1e9 * keep_gb); }
};

struct SourceCapabilities {
    bool sets_line_rate = false;
    bool sets_exposure = false;
    bool sets_samples = false;
    bool plays_patterns = false;    // takes scan patterns for galvanometers
    bool has_truth = false;         // simulator
    bool sends_when_asked = false;  // and nothing else: that nothing comes is no trouble
};

struct Arrival {
    enum class Kind { block, nothing_yet, ended };
    Kind kind = Kind::nothing_yet;
    Block block;  // of `ended`: only lost_before, what was lost after the last block
};

class Source {
  public:
    virtual ~Source() = default;  // stops

    // What comes: how lines are stored and scanned, and what is known of calibration and recipe. Fixed from opening on.
    virtual const Scan& scan() const = 0;
    virtual std::int64_t block_b_scans() const = 0;  // B-scan positions of a block; the last of a volume may have fewer
    virtual std::int64_t pool_blocks() const { return 0; }  // that may be in use at a time; 0: any number
    virtual const SourceCapabilities& capabilities() const = 0;
    virtual std::string name() const = 0;  // for people: "simulator (vessel)", "GenICam Aravis-Fake-GV01"

    // At which lines are sent: of a replay, that of the replay. 0: unknown, or whoever asks decides.
    virtual double line_rate_hz() const { return capabilities().sends_when_asked ? 0 : scan().geometry.line_rate_hz; }

    // Those that are read while it sends.
    virtual std::vector<std::filesystem::path> played_files() const;

    // From a stopped source: volumes, sequence and time count from zero. Throws Error{device, bad_file}.
    virtual void start() = 0;

    // The next block, waiting for it at most `patience`. Flyback frames come with the last block of their volume where
    // the source records them, else they are left out. Throws Error{device, bad_file} when the instrument is gone or
    // refuses, or the file ends: the source is stopped then, and may be started again when the instrument is back.
    virtual Arrival next(std::chrono::milliseconds patience) = 0;

    // Blocks already handed out stay valid. Does nothing when stopped.
    virtual void stop() noexcept = 0;

    // Where the source has_truth: what is known of what it sends, into this folder (docs/simulator.md). Throws
    // Error{output}.
    virtual void write_truth(const std::filesystem::path&) const {}
};

// What open_source() knows, for help and messages.
inline constexpr const char* source_names =
    "sim[:SCENE], sim:scan.toml, replay:scan.toml, genicam[:ID], plugin:FILE.so, shm:NAME, tcp://ADDRESS:PORT or "
    "join:A+B, interleave:A+B";

struct SourceWanted {
    std::string name;                      // one of source_names
    std::filesystem::path scan;            // TOML that describes what a camera or plugin sends; empty: none
    std::vector<std::string> assignments;  // "recipe.window=hann", of any section but source; simulation for sim alone
    SourceSettings settings;
    MemoryKind memory = MemoryKind::pinned;  // wanted for blocks
    Progress* progress = nullptr;            // of simulating before the first block; nullptr: nobody asks
    bool begins_early = false;               // of the simulator: with one volume, the others are made meanwhile
};

// The sources that `name` puts together, in their order; a single one: itself.
std::vector<std::string> sources_in(const std::string& name);

// Throws Error{bad_setting} listing the kinds for an unknown one; Error{device, bad_file} as the source does.
std::unique_ptr<Source> open_source(const SourceWanted& wanted);

// One line each, for `echolux info --sources`: what can be opened now.
std::vector<std::string> sources_found();

}  // namespace echolux
