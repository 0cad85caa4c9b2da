// The public face of compute: plan once, then submit blocks of spectra and get voxels written to a place.
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

// Identifies submitted work; values grow in order of submission.
struct Completion {
    std::uint64_t value = 0;
};

class Reconstructor {
  public:
    virtual ~Reconstructor() = default;

    // One volume as it is written: repeats are joined or lie side by side as recipe.average says.
    virtual const VolumeGrid& grid() const = 0;

    // Of the flow of the same positions, as large as grid(); nothing where the spec asks for none.
    virtual const std::optional<VolumeGrid>& flow_grid() const = 0;

    // Backend::cpu or Backend::cuda.
    virtual Backend processor() const = 0;

    // For people: "cpu (2 threads, AVX2)", "cuda (NVIDIA H200)".
    virtual std::string backend() const = 0;

    // Of structure, as the recipe wishes where there is a way: exact on the CPU.
    virtual Precision precision() const { return Precision::exact; }

    // Takes note of a block that is not reconstructed, so that what couples B-scans (running background) is the same
    // for any part of a scan. Blocks come in sequence order.
    virtual void prime(const Block& block) = 0;

    // Writes the block's B-scans to `places`. Allocates nothing, but for buffers that only pageable blocks or host
    // places need: these come with the first of its kind. Throws Error{bad_setting} when block and spec differ,
    // Error{out_of_memory} where such a buffer is refused.
    virtual Completion submit(const Block& block, const Places& places) = 0;

    // Returns when the work is done; throws what went wrong in it.
    virtual void wait(Completion completion) = 0;

    // Lets go of the blocks whose work is done, without waiting for any: for who has nothing to submit until a block's
    // memory comes back. Throws what went wrong in that work.
    virtual void collect() {}

    // ---- for whoever shares work out to several

    // Blocks that are not done yet, without waiting for any.
    virtual int under_way() const { return 0; }

    // The GPU that it works on; all zero: none, or several.
    virtual DeviceId device() const { return {}; }

    // What couples blocks (running background) goes on from where `before` is, a reconstructor of the same kind and
    // spec, which has had the block before the next one. Nothing where blocks are not coupled.
    virtual void resume_after(Reconstructor& before) { static_cast<void>(before); }

    // Of each device; times where BackendChoice::keeps_times asks for them. Nothing where there is one device, the CPU.
    virtual std::vector<DeviceWork> device_work() const { return {}; }

    // Of an error that was just thrown: whether the next volume can be submitted all the same, since the device that
    // failed is left out from now on. What was under way is lost.
    virtual bool goes_on_after(const Error& error) {
        static_cast<void>(error);
        return false;
    }
};

// What `spec` would write, without allocating anything. Throws Error{bad_setting} naming the key that cannot work.
VolumeGrid planned_grid(const ReconstructionSpec& spec);
std::optional<VolumeGrid> planned_flow_grid(const ReconstructionSpec& spec);

// Memory that holds voxels of `grid` without gaps, from B-scan `first_b_scan` of the volume on.
inline Place packed_place(void* voxels, const VolumeGrid& grid, std::int64_t first_b_scan = 0,
                          PlaceKind kind = PlaceKind::host_linear) {
    return {kind, voxels, first_b_scan, grid.a_scan_bytes(), grid.b_scan_bytes()};
}

// Validates everything, builds the tables, allocates. Throws Error{bad_setting, out_of_memory}.
std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec);

}  // namespace echolux
