// Job of `echolux register`: registers volumes to one of them, or the B-scans of a single volume to their neighbours.
// Writes the shifts as a table and the mean of the registered volumes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "engine/analysis/stored_brightness.h"
#include "engine/progress.h"
#include "engine/registration/registration.h"

namespace echolux {

// Volumes of any origin, read on demand, one at a time.
struct VolumesToRegister {
    std::int64_t count = 0;
    std::function<PowerVolume(std::int64_t number)> read;
    std::function<std::int64_t(std::int64_t number)> crosses;  // number of B-scans across: crosses_of() its provenance
    std::function<std::string(std::int64_t number)> name;      // name of the file, for messages; empty: none
    std::function<PowerVolume()> reference;                    // raster only; empty: one of the volumes
    std::int64_t reference_volume = 0;                         // index of the reference
    std::string reference_name;                                // for provenance and messages, if separate
    std::map<std::string, std::string> provenance{};           // the mean's provenance starts with this
    bool makes_mean = true;
    BackendChoice backend;  // registers on this device
};

struct RegisterJob {
    std::vector<std::filesystem::path> inputs;  // volumes, series, folders or patterns; all time points
    std::filesystem::path reference;            // a volume file; empty: one of the inputs
    std::int64_t reference_volume = 0;          // index of the reference, from 0
    std::filesystem::path across;               // a volume of the same position with B-scans across those of the input
    std::filesystem::path output;               // output file of the mean; empty: none
    std::filesystem::path table;                // CSV; empty: none
    std::vector<std::string> settings;          // such as "registration.strip=1"
    BackendChoice backend;                      // registers on this device
    bool overwrites = false;                    // replaces any existing file
    StoredAs stored_as = StoredAs::automatic;   // what the voxels hold, if the files do not state it
};

struct RegisteredVolumes {
    std::int64_t volumes = 0;
    std::int64_t b_scans = 0;                     // total number
    std::map<std::string, std::int64_t> reasons;  // number of B-scans by name_of(RowReason)
    std::int64_t saccades = 0;                    // number of B-scans with a saccade
    bool is_within = false;                       // one volume: B-scans registered to their neighbours
    std::int64_t crosses = 0;                     // number of leading B-scans that run across the others
    std::vector<std::string> warnings;
    double seconds = 0;  // time of registration and averaging
    BackendUsed used{};  // device used
};

struct RegisteredSeries {
    RegisteredVolumes summary;
    std::vector<std::vector<RowShift>> rows;  // per volume
    VolumeGrid grid;                          // of the reference
    std::optional<Volume> mean;
};

// Throws Error{bad_setting} if nothing matches, and what registration throws.
RegisteredSeries registered(const VolumesToRegister& volumes, const RegistrationSettings& settings, Progress& progress);

// A volume without crosses, with its B-scans moved to the positions in `rows`. Voxels without data are NaN.
struct MovedVolume {
    Volume volume;
    std::int64_t b_scans_used = 0;
};
MovedVolume placed_volume(const PowerVolume& volume, const std::vector<RowShift>& rows, const VolumeGrid& reference,
                          const RegistrationSettings& settings, const std::map<std::string, std::string>& provenance);

// Throws Error. An output file only appears once it is complete.
RegisteredVolumes run(const RegisterJob& job, Progress& progress);

}  // namespace echolux
