// Reconstruction of scans on disk: reads blocks ahead, reconstructs them to volumes in memory, and reports the
// alignment of repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/repeat_report.h"
#include "compute/types.h"
#include "compute/voxel_target.h"
#include "engine/io/volume_file.h"
#include "engine/memory.h"
#include "engine/planning.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

// ---- Reads the blocks of a part of a scan. The next block is read in the background while the current one is
// processed.

class BlockStream {
  public:
    // Reads B-scan positions [begin, end) of `volume` in blocks of at most `max_b_scans`, for which the pool's blocks
    // must have room. `missing` B-scans become separate blocks without data. Keeps references to reader, pool and
    // `missing`.
    BlockStream(SpectraReader& reader, BlockPool& pool, std::int64_t volume, std::int64_t begin, std::int64_t end,
                std::int64_t max_b_scans, const std::vector<MissingBScans>& missing);

    // Returns the next block, nullopt after the last one. The block's memory lives until its last copy is destroyed.
    // Throws the errors of reading.
    std::optional<Block> next();

  private:
    void read_ahead();

    SpectraReader& reader_;
    BlockPool& pool_;
    std::int64_t volume_;
    std::int64_t position_;
    std::int64_t end_;
    std::int64_t max_b_scans_;
    const std::vector<MissingBScans>& missing_;
    std::uint64_t sequence_ = 0;
    std::future<std::optional<Block>> coming_;  // its destructor waits for the read in progress
};

// ---- Reconstruction of whole volumes or parts of them.

// Some B-scan positions of one volume. Parts joined together equal the whole volume bit for bit.
struct ScanPart {
    std::int64_t volume = 0;
    std::int64_t begin = 0;  // B-scan positions [begin, end)
    std::int64_t end = 0;    // last one if 0
};

// Returns the noise floor for recipe.noise_floor_db if the recipe leaves it open, measured on evenly spaced B-scans of
// the first volume. Throws Error{bad_file, bad_setting}.
double noise_floor_of(const Scan& scan);

// Totals over all runs.
struct ReconstructionStats {
    std::string backend;       // name of the reconstructor's backend, with the reason if it is not a GPU
    std::int64_t a_scans = 0;  // lines reconstructed
    double seconds = 0;        // reading and reconstructing
    std::int64_t plans = 0;    // number of plans made
};

// A volume and the flow at the same time on the same voxels.
struct FlowedVolume {
    Volume structure;
    std::optional<Volume> flow{};         // codes as in planned_flow_grid()
    std::vector<RepeatReport> repeats{};  // [B-scan position][b_repeats], if the scan aligns repeats
};

// Reconstructs volumes of one scan at a time. Use from one thread.
class Reconstruction {
  public:
    // Makes a plan, and measures the noise floor if the recipe leaves it open. Throws Error{bad_setting, bad_file,
    // out_of_memory, device}.
    explicit Reconstruction(Scan scan, const BackendChoice& backend = {});

    // Continues with another scan or a changed one. Keeps plan, device memory and blocks if is_same_plan() holds, and
    // measurements if the scan is the same. Throws as the constructor does.
    void take(Scan scan);

    const Scan& scan() const { return scan_; }  // includes the measured noise floor
    const ReconstructionStats& stats() const { return stats_; }

    // Returns warnings that affect how far the result can be trusted, one line each. Each volume may add some.
    const std::vector<std::string>& warnings() const { return warnings_; }

    // Returns the geometry of a part. Throws Error{bad_setting} if it is not in the scan.
    VolumeGrid grid(const ScanPart& part) const;

    // Reconstructs a part. Throws Error{out_of_memory} before allocating more than the machine has.
    Volume run(const ScanPart& part, Progress& progress);

    // Also returns the flow if scan().flow has a method.
    FlowedVolume run_with_flow(const ScanPart& part, Progress& progress);

  private:
    // State of a file, to detect changes of the spectra since they were measured.
    struct SpectraFileState {
        std::filesystem::path path;
        std::uintmax_t bytes = 0;
        std::filesystem::file_time_type changed;

        bool operator==(const SpectraFileState&) const = default;
    };
    using Spectra = std::vector<SpectraFileState>;
    static Spectra spectra_of(const Scan& scan);
    bool is_taken(const Scan& scan, const Spectra& spectra) const;

    void begin(Scan scan);
    void plan();
    void warn();
    void make(FlowedVolume& volume, const ScanPart& part, Progress& progress);
    void allocate(Volume& volume) const;
    void fill(FlowedVolume& volume, const ScanPart& part, Progress& progress);
    void fill_on_cpu(FlowedVolume& volume, const ScanPart& part, Progress& progress);
    void note_invalid(FlowedVolume& volume, const ScanPart& part);
    void warn_of_layout();
    void warn_of_light_at_zero_delay();
    void warn_of_common_fringes();
    void warn_of_reversed_wavelengths();
    void warn_of_weak_dispersion();
    void warn_of_wrong_dispersion();
    void warn_of_emptiness();
    void leave_out_missing(std::vector<RepeatReport>& repeats, const ScanPart& part, std::int64_t end) const;
    void prime(const ScanPart& part, Progress& progress);
    std::map<std::string, std::string> provenance(const ScanPart& part) const;

    Scan scan_;
    std::optional<Spectra> spectra_;    // nullopt if the last scan was rejected
    double wanted_noise_floor_db_ = 0;  // before measurement
    std::unique_ptr<SpectraReader> reader_;
    std::int64_t block_b_scans_ = 1;
    std::int64_t blocks_in_flight_ = 0;  // max number at a time
    std::optional<ReconstructionSpec> planned_;
    std::string reason_;  // reason for the plan's backend, may be empty
    std::unique_ptr<Reconstructor> reconstructor_;
    std::optional<BlockPool> pool_;
    GpuRecovery recovery_;
    ReconstructionStats stats_;
    std::int64_t invalid_a_scans_ = 0;  // of the current volume (compute/invalid_lines.h)
    std::vector<std::string> warnings_;
};

// ---- Results of aligning repeats, as a table and as a sentence.

inline constexpr std::string_view repeats_heading = "# echolux repeats";

// Reports of a part of one volume, [B-scans from `first_b_scan` on][b_repeats].
struct RepeatsOfVolume {
    std::int64_t volume = 0, first_b_scan = 0, b_repeats = 1;
    std::span<const RepeatReport> reports;
};

// Return the parts of a table: two heading lines, and a row per repeat with volume, b_scan, repeat, z, x (rows,
// A-scans), z_um, x_um, match, bulk_decorrelation, reason. Shifts of excluded repeats are empty.
std::string repeats_table_heading();
std::string repeats_table_rows(const RepeatsOfVolume& repeats, const VolumeGrid& grid);

// Returns whether the file at `path` is such a table, by its heading.
bool is_own_repeats_table(const std::filesystem::path& path);

// Returns one line about excluded repeats, empty if there is nothing to report.
std::string left_out_of(std::span<const RepeatReport> reports, std::int64_t b_repeats, bool aligns);

}  // namespace echolux
