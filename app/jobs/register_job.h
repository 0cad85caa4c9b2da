// The job behind `echolux register`: volumes are registered to one of them, or the B-scans of a single volume to their
// neighbours; what was found is written as a table, and the mean of what fits as a volume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "engine/progress.h"
#include "engine/registration/registration.h"

namespace echolux {

// Volumes wherever they come from, read when they are needed, one at a time.
struct VolumesToRegister {
    std::int64_t count = 0;
    std::function<PowerVolume(std::int64_t number)> read;
    std::function<std::int64_t(std::int64_t number)> crosses;  // that run across it: crosses_of() its provenance
    std::function<std::string(std::int64_t number)> name;      // of the file, for messages; empty: there is none
    std::function<PowerVolume()> reference;                    // a raster alone; empty: one of the volumes
    std::int64_t reference_volume = 0;                         // which of these
    std::string reference_name;                                // in provenance and messages, where it is none of them
    std::map<std::string, std::string> provenance{};           // that of the mean begins with it
    bool makes_mean = true;
    BackendChoice backend;  // that registers
};

struct RegisterJob {
    std::vector<std::filesystem::path> inputs;  // volumes, series, folders or patterns: all their time points
    std::filesystem::path reference;            // a volume file; empty: one of the inputs'
    std::int64_t reference_volume = 0;          // which of these, counted from 0
    std::filesystem::path across;               // a volume of the same place, its B-scans across those of the input
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
    std::int64_t crosses = 0;                     // of them, the first ones, which run across
    std::vector<std::string> warnings;
    double seconds = 0;    // that registration and the mean took
    ProcessorUsed used{};  // that registered
};

struct RegisteredSeries {
    RegisteredVolumes summary;
    std::vector<std::vector<RowShift>> rows;  // of each volume
    VolumeGrid grid;                          // of the reference
    std::optional<Volume> mean;
};

// Throws Error{bad_setting} where nothing fits, and what registration throws.
RegisteredSeries registered(const VolumesToRegister& volumes, const RegistrationSettings& settings, Progress& progress);

// A volume without B-scans across, of which `rows` say where in the reference they lie, moved there; NaN where none
// came.
struct PlacedVolume {
    Volume volume;
    std::int64_t b_scans_used = 0;
};
PlacedVolume placed_volume(const PowerVolume& volume, const std::vector<RowShift>& rows, const VolumeGrid& reference,
                           const RegistrationSettings& settings, const std::map<std::string, std::string>& provenance);

// Throws Error; nothing is left under a final name unless it is complete.
RegisteredVolumes run(const RegisterJob& job, Progress& progress);

}  // namespace echolux
