// B-scans of a recording without spectra, because the source lost their blocks or they could not be written. The raw
// file contains zeros instead. Their voxels have no value and are ignored by means and ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echolux {

struct Scan;

// Positions [begin, end) of a volume.
struct MissingBScans {
    std::int64_t volume = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;

    bool operator==(const MissingBScans&) const = default;
};

// Returns the missing B-scans of `scan`, in order, from the index of its recording. A B-scan is missing if any byte of
// it is. Empty for complete recordings and for scans that are not recordings. Throws Error{bad_file} like read_index().
std::vector<MissingBScans> missing_b_scans(const Scan& scan);

// Sets scan.missing and adds the counts to scan.remarks, or a warning if the index cannot be read.
void find_missing(Scan& scan);

// A run of B-scans that are all missing or all present.
struct BScanRun {
    std::int64_t end = 0;
    bool is_missing = false;
};
BScanRun run_from(const std::vector<MissingBScans>& missing, std::int64_t volume, std::int64_t begin, std::int64_t end);

inline bool is_missing(const std::vector<MissingBScans>& missing, std::int64_t volume, std::int64_t b_scan) {
    return run_from(missing, volume, b_scan, b_scan + 1).is_missing;
}

// Returns the numbers of the volumes with missing B-scans.
std::vector<std::int64_t> incomplete_volumes(const std::vector<MissingBScans>& missing);

// Returns the missing slices of a volume made of the B-scans `part`, with `slices` per B-scan, as "32:64 96:97". Empty
// if none is missing.
std::string missing_slices(const std::vector<MissingBScans>& missing, const MissingBScans& part, std::int64_t slices);

// Returns "recording is incomplete: 2 blocks missing; 32 of 256 B-scans of 1 of 4 volumes have no data". Empty if none
// is missing.
std::string text_of_missing(const Scan& scan);

}  // namespace echolux
