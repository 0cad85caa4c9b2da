// Public interface of compute: plan once, then submit blocks of spectra, whose voxels are written to a target.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/error.h"
#include "compute/plan/described.h"
#include "compute/plan/params.h"
#include "compute/types.h"
#include "compute/voxel_target.h"

namespace echolux {

// Share of one device in the work of several, and the time of its steps. Values accumulate over the lifetime of a
// reconstructor.
struct DeviceWork {
    DeviceId id{};
    std::string name{};           // "NVIDIA H200"
    std::string transfer_path{};  // current transfer path of its voxels; empty before the first block
    std::string failure{};        // why it is excluded; empty if it works
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;         // spectra of these blocks
    std::int64_t copied_bytes = 0;  // voxels copied to another device

    // Seconds on the device's streams, which overlap, of completed blocks: spectra on the link, waiting for a target,
    // kernels, and voxels in transfer to another device.
    double link_s = 0;
    double waiting_s = 0;
    double kernels_s = 0;
    double copy_s = 0;
};
template <>
const std::vector<Stat<DeviceWork>>& describe_stats<DeviceWork>();

// Returns "NVIDIA H200 is not used: ..." for each excluded device, or an empty string.
std::string left_out(const std::vector<DeviceWork>& devices);

enum class Backend { automatic, cpu, cuda };

// Identifies submitted work. Values increase in order of submission.
struct Completion {
    std::uint64_t value = 0;
};

// Reconstructs the blocks of one spec. Not thread-safe.
class Reconstructor {
  public:
    virtual ~Reconstructor() = default;

    // Returns the grid of one output volume. recipe.average decides whether repeats are averaged or stored side by
    // side.
    virtual const VolumeGrid& grid() const = 0;

    // Returns the grid of the flow at the same positions, the same size as grid(). Empty without flow.
    virtual const std::optional<VolumeGrid>& flow_grid() const = 0;

    // Returns Backend::cpu or Backend::cuda.
    virtual Backend backend() const = 0;

    // Returns a description for users: "cpu (2 threads, AVX2)", "cuda (NVIDIA H200)".
    virtual std::string backend_description() const = 0;

    // Returns the precision of the structure: that of the recipe if supported. Always exact on the CPU.
    virtual Precision precision() const { return Precision::exact; }

    // Updates the running background from a block that is skipped, so that any part of a scan yields the same result.
    // Blocks must be in sequence order.
    virtual void prime(const Block& block) = 0;

    // Writes the B-scans of a block to `targets`. Does not allocate, except for buffers required by pageable blocks or
    // host targets, on first use. Throws Error{bad_setting} if the block does not match the spec, and
    // Error{out_of_memory} if such a buffer cannot be allocated.
    virtual Completion submit(const Block& block, const VoxelTargets& targets) = 0;

    // Blocks until the work is complete. Throws its errors.
    virtual void wait(Completion completion) = 0;

    // Releases completed blocks without blocking. Call it when waiting for block memory. Throws the errors of completed
    // work.
    virtual void collect() {}

    // ---- used by reconstructors that distribute work over several devices

    // Returns the number of blocks in progress, without blocking.
    virtual int in_flight() const { return 0; }

    // Returns the GPU in use. All zero for none or several.
    virtual DeviceId device() const { return {}; }

    // Continues the state that couples blocks (running background) from `before`, a reconstructor of the same kind and
    // spec that processed the previous block. Does nothing if blocks are independent.
    virtual void resume_after(Reconstructor& before) { static_cast<void>(before); }

    // Returns the work of each device, with times if BackendChoice::keeps_times is set. Empty for the CPU.
    virtual std::vector<DeviceWork> device_work() const { return {}; }

    // Returns whether, after an error that was just thrown, the next volume can be submitted because the failed device
    // has been excluded. Work in progress is lost.
    virtual bool continues_after(const Error& error) {
        static_cast<void>(error);
        return false;
    }
};

// Validates a spec without allocating based on unchecked numbers. Combines the checks of plan/, flow/ and methods/.
// Throws Error{bad_setting} naming the first invalid key and a remedy.
void validate(const ReconstructionSpec& spec);

// Returns the grids that `spec` would write, without allocating. Throws Error{bad_setting} naming the invalid key.
VolumeGrid planned_grid(const ReconstructionSpec& spec);
std::optional<VolumeGrid> planned_flow_grid(const ReconstructionSpec& spec);

// Returns a target of contiguous voxels of `grid`, starting with B-scan `first_b_scan` of the volume.
inline VoxelTarget packed_target(void* voxels, const VolumeGrid& grid, std::int64_t first_b_scan = 0,
                                 TargetKind kind = TargetKind::host_linear) {
    return {kind, voxels, first_b_scan, grid.a_scan_bytes(), grid.b_scan_bytes()};
}

// Validates the spec, builds the tables and allocates. Throws Error{bad_setting, out_of_memory}.
std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec);

// ---- Callbacks of a caller that can inspect and modify data in the pipeline: spectra, depth bins, voxels. They need
// host memory, so they require the CPU backend. They run between the steps of a block on the thread that submits it.
// Their exceptions propagate from submit() or prime().

// Lines of a block as recorded, [b_scans][b_repeats][a_scans][a_repeats]. Reversed B-scans are not reordered.
struct HookLines {
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;
    std::int64_t b_scans = 0;
};

// [lines][samples], counts of the selected channel before any subtraction.
struct HookSpectra {
    HookLines lines;
    float* counts = nullptr;
};

// [lines][depth], complex depth bins after removal of the fixed pattern, before repeats are averaged and flow is
// computed. Multiply by `scale` for counts.
struct HookBins {
    HookLines lines;
    std::complex<float>* bins = nullptr;
    std::int64_t depth = 0;
    double scale = 1;
};

// Structure voxels in the caller's target: B-scans [first_b_scan, first_b_scan + b_scans) of the volume.
struct HookVoxels {
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;
    std::int64_t b_scans = 0;
    std::byte* voxels = nullptr;  // first B-scan
    std::int64_t a_scan_bytes = 0;
    std::int64_t b_scan_bytes = 0;
};

// Each may be empty.
struct PipelineHooks {
    std::function<void(const HookSpectra&)> spectra;
    std::function<void(const HookBins&)> bins;
    std::function<void(const HookVoxels&, const VolumeGrid&)> voxels;
};

// Like plan_on_cpu(spec), with callbacks. Spectra passed to a callback continue as f32; the results are bit-identical
// if it changes nothing.
std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec, std::shared_ptr<const PipelineHooks> hooks);

}  // namespace echolux
