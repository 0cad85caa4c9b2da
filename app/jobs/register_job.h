// The job behind `echolux register`: volumes are registered to one of them, or the B-scans of a single volume to their
// neighbours; what was found is written as a table, and the mean of what fits as a volume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/progress.h"
#include "engine/registration/registration.h"

namespace echolux {

struct RegisterJob {
    std::vector<std::filesystem::path> inputs;  // volumes, series, folders or patterns: all their time points
    std::filesystem::path reference;            // a volume file; empty: one of the inputs'
    std::int64_t reference_volume = 0;          // which of these, counted from 0
    std::filesystem::path output;               // the mean; empty: none
    std::filesystem::path table;                // CSV; empty: none
    std::vector<std::string> settings;          // "registration.strip=1"
    BackendChoice backend;                      // that registers
    bool overwrites = false;                    // replaces what is there, whoever made it
};

struct RegisteredVolumes {
    std::int64_t volumes = 0;
    std::int64_t b_scans = 0;                     // of all of them
    std::map<std::string, std::int64_t> reasons;  // how many B-scans, by name_of(RowReason)
    std::int64_t saccades = 0;                    // B-scans in one
    bool is_within = false;                       // one volume: B-scans against their neighbours
    std::vector<std::string> warnings;
    double seconds = 0;    // that registration and the mean took
    ProcessorUsed used{};  // that registered
};

// Throws Error; nothing is left under a final name unless it is complete.
RegisteredVolumes run(const RegisterJob& job, Progress& progress);

}  // namespace echolux
