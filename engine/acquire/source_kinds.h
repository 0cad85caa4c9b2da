// Constructors of the source kinds, called by open_source().
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/acquire/pacing_clock.h"
#include "engine/acquire/source.h"

namespace echolux {

// Splits "KIND:ID,OPTIONS"; missing parts are "".
struct SourceName {
    explicit SourceName(const std::string& name);

    std::string kind;
    std::string rest;     // everything after the colon: a scene or a file
    std::string id;       // of a camera or plugin: up to the first comma
    std::string options;  // after that comma
};

// `wanted.name` is the full name: "sim", "sim:FILE", "replay:FILE", "genicam:ID", "plugin:PATH". Errors as
// open_source().
std::unique_ptr<Source> open_simulator(const SourceWanted& wanted,
                                       std::shared_ptr<PacingClock> clock = steady_pacing_clock());
std::unique_ptr<Source> open_replay(const SourceWanted& wanted,
                                    std::shared_ptr<PacingClock> clock = steady_pacing_clock());
std::unique_ptr<Source> open_genicam(const SourceWanted& wanted);
std::unique_ptr<Source> open_plugin(const SourceWanted& wanted);

// "shm:NAME" and "tcp://HOST:PORT" wait up to `patience` for a producer.
constexpr std::chrono::seconds wait_for_producer{30};
std::unique_ptr<Source> open_shared_memory(const SourceWanted& wanted,
                                           std::chrono::milliseconds patience = wait_for_producer);
std::unique_ptr<Source> open_tcp(const SourceWanted& wanted, std::chrono::milliseconds patience = wait_for_producer);

// Returns one line per responding camera. Does not fail.
std::vector<std::string> genicam_cameras();

}  // namespace echolux
