// Converts between structs of the C interface and those of the library.
#pragma once

#include <map>
#include <string>

#include "compute/backend.h"
#include "compute/reconstructor.h"
#include "echolux/echolux.h"
#include "engine/progress.h"
#include "library/handles.h"

namespace echolux::library {

echolux_grid grid_of(const VolumeGrid& grid);  // all fields except size

// NULL selects automatically. Throws Error{bad_setting}.
BackendChoice backend_of(const echolux_device* device);

// Stages of a caller. Calls `release` when the last reference is gone, provided that the call that registered them
// succeeded (`are_kept`).
struct CallersStages : Stages {
    CallersStages() = default;
    CallersStages(const CallersStages&) = delete;
    CallersStages& operator=(const CallersStages&) = delete;
    ~CallersStages() {
        if (are_kept && wanted.release != nullptr) wanted.release(wanted.user);
    }

    echolux_stages wanted{};
    bool are_kept = false;
};

// Stages for blocks of `geometry`; null without stages.
std::shared_ptr<CallersStages> stages_of(const echolux_stages* stages, const ScanGeometry& geometry);

// Spelling for provenance: "spectra, voxels".
std::string names_of(const Stages& stages);

// Throws Error{bad_setting} for impossible sizes or kinds of memory. The user checks that the block fits its plan.
Block block_of(const echolux_block* block, const char* name);

// Like block_of(), for B-scans of `spec` in host memory. Sets spec.block_b_scans to the size of this block.
Block host_block_of(const echolux_block* block, ReconstructionSpec& spec);

// Check and convert fields about memory. Throw Error{bad_setting} that names `name`.
std::int64_t bytes_argument(std::int64_t bytes, const char* name);
MemoryKind memory_of(std::int32_t memory, const char* name);
CallerOrder order_of(std::int32_t sync, void* handle, const char* name);

// Returns true if `count` pieces, `stride` bytes apart, fit into `all` bytes.
bool fits(std::int64_t count, std::int64_t piece, std::int64_t stride, std::int64_t all);

VoxelType voxel_type_of(std::int32_t voxel);

// Forwards progress to the caller's function, which may stop the work.
class CallerProgress : public Progress {
  public:
    CallerProgress(echolux_progress told, void* user) : told_(told), user_(user) {}

    void begin(const std::string& task, std::int64_t total, const std::string& unit) override;
    void advance(std::int64_t count) override;
    void end() override {}

  private:
    echolux_progress told_;
    void* user_;
    std::string task_, unit_;
    std::int64_t done_ = 0, total_ = 0;
};

// Returns a handle that the caller of the interface will own.
echolux_volume* new_volume(Volume volume);

// Returns a new volume computed from another one, with the same time, number, warnings and scan geometry.
echolux_volume* derived_volume(const echolux_volume& from, Volume volume);

}  // namespace echolux::library
