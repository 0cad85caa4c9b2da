// Shared by live and record: runs a session with an optional recording from start to end, reports events, and collects
// figures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/live/live_report.h"
#include "compute/backend.h"
#include "engine/acquire/source.h"
#include "engine/io/output_rule.h"
#include "engine/live/session.h"
#include "engine/progress.h"

namespace echolux {

struct SessionJob {
    std::string task = "live";  // task name in progress messages
    SourceWanted source;
    BackendChoice backend;
    double seconds = 0;                            // if 0, until the source or the user ends it
    std::int64_t volumes = 0;                      // number to acquire; 0: no limit
    std::filesystem::path record;                  // TOML file of the recording; empty: none
    std::vector<std::filesystem::path> stripes{};  // folders on further disks for it
    bool overwrites = false;                       // replaces an earlier recording and other results
    std::filesystem::path processed;               // folder for processed volumes; empty: none
    std::filesystem::path report;                  // file to which the caller writes the report; empty: none
};

using HearEvent = std::function<void(const SessionEvent&)>;

// Opens the job's source. `progress` reports simulation before the first block.
std::unique_ptr<Source> opened_source(const SessionJob& job, Progress& progress);

// Checks all outputs before the source is opened: the recording, the volumes, the report, and `more`. Throws
// Error{output, bad_setting}.
void check_session_outputs(const SessionJob& job, std::vector<Output> more = {}, FileNames made_from = {});

// Runs until the job is complete, `trouble` returns an error, or the user stops it, which is not an error. Results are
// stored in `report`.
void run_session(const SessionJob& job, Source& source, Session& session, LiveReport& report, Progress& progress,
                 const HearEvent& heard, const std::function<std::optional<std::string>()>& trouble = {});

}  // namespace echolux
