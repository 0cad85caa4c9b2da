// A scan on disk to volumes in memory, as fast as the machine can: reads ahead while it reconstructs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "engine/block_pool.h"
#include "engine/gpu_recovery.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

// Some B-scan positions of one volume. Parts put one after the other are, bit for bit, the whole.
struct ScanPart {
    std::int64_t volume = 0;
    std::int64_t begin = 0;  // B-scan positions [begin, end)
    std::int64_t end = 0;    // 0: the last
};

// What recipe.noise_floor_db becomes where the recipe leaves it open: of evenly spaced B-scans of the first volume.
// Throws Error{bad_file, bad_setting}.
double noise_floor_of(const Scan& scan);

struct ReconstructionStats {
    std::string backend;       // of the reconstructor, and why it is no GPU where that was left open
    std::int64_t a_scans = 0;  // lines reconstructed
    double seconds = 0;        // reading and reconstructing
    std::int64_t plans = 0;    // made so far
};

// A volume, and the flow of the same moment on the same voxels.
struct FlowedVolume {
    Volume structure;
    std::optional<Volume> flow{};         // codes, as planned_flow_grid() says
    std::vector<RepeatReport> repeats{};  // [B-scan positions][b_repeats], where the scan aligns them
};

class Reconstruction {
  public:
    // Plans; measures the noise floor where the recipe leaves it open. Throws Error{bad_setting, bad_file,
    // out_of_memory, device}.
    explicit Reconstruction(Scan scan, const BackendChoice& backend = {});

    // Goes on with another scan, or another state of it. Plan, memory of the device and blocks stay where
    // is_same_plan() holds, what was measured stays where it is the same scan. Throws as the constructor does.
    void take(Scan scan);

    const Scan& scan() const { return scan_; }  // with the noise floor that was measured
    const ReconstructionStats& stats() const { return stats_; }

    // What the user should know before trusting the result, one line each.
    const std::vector<std::string>& warnings() const { return warnings_; }

    // The geometry of a part; throws Error{bad_setting} when it does not lie in the scan.
    VolumeGrid grid(const ScanPart& part) const;

    // Throws Error{out_of_memory} before it allocates what the machine cannot hold.
    Volume run(const ScanPart& part, Progress& progress);

    // The same with the flow, where scan().flow has a method.
    FlowedVolume run_with_flow(const ScanPart& part, Progress& progress);

  private:
    // What tells whether spectra are still those that were measured.
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
    void warn_of_common_fringes();
    void warn_of_weak_dispersion();
    void warn_of_wrong_dispersion();
    void warn_of_emptiness();
    void prime(const ScanPart& part, Progress& progress);
    std::map<std::string, std::string> provenance(const ScanPart& part) const;

    Scan scan_;
    std::optional<Spectra> spectra_;    // nothing: what was taken last was refused
    double wanted_noise_floor_db_ = 0;  // before it was measured
    std::unique_ptr<SpectraReader> reader_;
    std::int64_t block_b_scans_ = 1;
    std::int64_t blocks_under_way_ = 0;  // at a time
    std::optional<ReconstructionSpec> planned_;
    std::string reason_;  // of the plan's backend; may be empty
    std::unique_ptr<Reconstructor> reconstructor_;
    std::optional<BlockPool> pool_;
    GpuRecovery recovery_;
    ReconstructionStats stats_;
    std::vector<std::string> warnings_;
};

}  // namespace echolux
