// Public interface of compute: plan once, then submit blocks of spectra, whose voxels are written to a target.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/device_work.h"
#include "compute/error.h"
#include "compute/place.h"
#include "compute/plan/params.h"
#include "compute/types.h"

namespace echolux {

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
    virtual Backend processor() const = 0;

    // Returns a description for users: "cpu (2 threads, AVX2)", "cuda (NVIDIA H200)".
    virtual std::string backend() const = 0;

    // Returns the precision of the structure: that of the recipe if supported. Always exact on the CPU.
    virtual Precision precision() const { return Precision::exact; }

    // Updates the running background from a block that is skipped, so that any part of a scan yields the same result.
    // Blocks must be in sequence order.
    virtual void prime(const Block& block) = 0;

    // Writes the B-scans of a block to `places`. Does not allocate, except for buffers required by pageable blocks or
    // host targets, on first use. Throws Error{bad_setting} if the block does not match the spec, and
    // Error{out_of_memory} if such a buffer cannot be allocated.
    virtual Completion submit(const Block& block, const Places& places) = 0;

    // Blocks until the work is complete. Throws its errors.
    virtual void wait(Completion completion) = 0;

    // Releases completed blocks without blocking. Call it when waiting for block memory. Throws the errors of completed
    // work.
    virtual void collect() {}

    // ---- used by reconstructors that distribute work over several devices

    // Returns the number of blocks in progress, without blocking.
    virtual int under_way() const { return 0; }

    // Returns the GPU in use. All zero for none or several.
    virtual DeviceId device() const { return {}; }

    // Continues the state that couples blocks (running background) from `before`, a reconstructor of the same kind and
    // spec that processed the previous block. Does nothing if blocks are independent.
    virtual void resume_after(Reconstructor& before) { static_cast<void>(before); }

    // Returns the work of each device, with times if BackendChoice::keeps_times is set. Empty for the CPU.
    virtual std::vector<DeviceWork> device_work() const { return {}; }

    // Returns whether, after an error that was just thrown, the next volume can be submitted because the failed device
    // has been excluded. Work in progress is lost.
    virtual bool goes_on_after(const Error& error) {
        static_cast<void>(error);
        return false;
    }
};

// Returns the grids that `spec` would write, without allocating. Throws Error{bad_setting} naming the invalid key.
VolumeGrid planned_grid(const ReconstructionSpec& spec);
std::optional<VolumeGrid> planned_flow_grid(const ReconstructionSpec& spec);

// Returns a target of contiguous voxels of `grid`, starting with B-scan `first_b_scan` of the volume.
inline Place packed_place(void* voxels, const VolumeGrid& grid, std::int64_t first_b_scan = 0,
                          PlaceKind kind = PlaceKind::host_linear) {
    return {kind, voxels, first_b_scan, grid.a_scan_bytes(), grid.b_scan_bytes()};
}

// Validates the spec, builds the tables and allocates. Throws Error{bad_setting, out_of_memory}.
std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec);

}  // namespace echolux
