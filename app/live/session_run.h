// What live and record have in common: a session from its start to its end, with a recording where it is wanted, told
// step by step and reported.
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
    std::string task = "live";  // as progress names it
    SourceWanted source;
    BackendChoice backend;
    double seconds = 0;                            // 0: until the source ends, or the user
    std::int64_t volumes = 0;                      // that are acquired; 0: as many as come
    std::filesystem::path record;                  // the recording's TOML; empty: none
    std::vector<std::filesystem::path> stripes{};  // folders on further disks for it
    bool overwrites = false;                       // an earlier recording, and other results
    std::filesystem::path processed;               // folder for processed volumes; empty: none
    std::filesystem::path report;                  // where the caller writes the report; empty: nowhere
};

using HearEvent = std::function<void(const SessionEvent&)>;

// The job's source. `progress` hears of simulating before the first block.
std::unique_ptr<Source> opened_source(const SessionJob& job, Progress& progress);

// Before the source is opened: where all goes may be written, `more` besides the recording, the volumes and the report.
// Throws Error{output, bad_setting}.
void check_session_outputs(const SessionJob& job, std::vector<Output> more = {}, FileNames made_from = {});

// Until the job says that it is enough, or `trouble` says why it cannot go on, or the user stops it, which is no error.
// What it finds stands in `report` afterwards.
void run_session(const SessionJob& job, Source& source, Session& session, LiveReport& report, Progress& progress,
                 const HearEvent& heard, const std::function<std::optional<std::string>()>& trouble = {});

}  // namespace echolux
