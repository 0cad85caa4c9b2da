// The kinds of sources that open_source() chooses among, each in files of its own.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/acquire/pacing_clock.h"
#include "engine/acquire/source.h"

namespace echolux {

// "KIND:ID,OPTIONS" taken apart; what is not there is "".
struct SourceName {
    explicit SourceName(const std::string& name);

    std::string kind;
    std::string rest;     // all behind the colon: a scene or a file
    std::string id;       // of a camera or plugin: `rest` up to its first comma
    std::string options;  // behind that
};

// `wanted.name` as given: "sim", "sim:FILE", "replay:FILE", "genicam:ID", "plugin:PATH". Errors as open_source().
std::unique_ptr<Source> open_simulator(const SourceWanted& wanted,
                                       std::shared_ptr<PacingClock> clock = steady_pacing_clock());
std::unique_ptr<Source> open_replay(const SourceWanted& wanted,
                                    std::shared_ptr<PacingClock> clock = steady_pacing_clock());
std::unique_ptr<Source> open_genicam(const SourceWanted& wanted);
std::unique_ptr<Source> open_plugin(const SourceWanted& wanted);

// "shm:NAME", "tcp://HOST:PORT": wait at most `patience` for a producer.
constexpr std::chrono::seconds wait_for_producer{30};
std::unique_ptr<Source> open_shared_memory(const SourceWanted& wanted,
                                           std::chrono::milliseconds patience = wait_for_producer);
std::unique_ptr<Source> open_tcp(const SourceWanted& wanted, std::chrono::milliseconds patience = wait_for_producer);

// One line for each camera that answers; never an error.
std::vector<std::string> genicam_cameras();

}  // namespace echolux
