// Between the structs of the interface and ours.
#pragma once

#include <map>
#include <string>

#include "compute/backend.h"
#include "compute/stages.h"
#include "echolux/echolux.h"
#include "engine/progress.h"
#include "library/handles.h"

namespace echolux::library {

echolux_grid grid_of(const VolumeGrid& grid);  // but for its size

// NULL: automatic. Throws Error{bad_setting}.
BackendChoice backend_of(const echolux_device* device);

// Stages of a caller, who is told when nobody has them any more, if the call that took them succeeded.
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

// Those for blocks of `geometry`; null: there are none.
std::shared_ptr<CallersStages> stages_of(const echolux_stages* stages, const ScanGeometry& geometry);

// As provenance tells of them: "spectra, voxels".
std::string names_of(const Stages& stages);

// Throws Error{bad_setting} for what no memory can be; that it fits a plan is checked by who uses it.
Block block_of(const echolux_block* block, const char* name);

// The same, of B-scans that lie in host memory and are of `spec`, which gets room for all of them in a block.
Block host_block_of(const echolux_block* block, ReconstructionSpec& spec);

// Of what memory can be; throw Error{bad_setting} naming `name`.
std::int64_t bytes_argument(std::int64_t bytes, const char* name);
MemoryKind memory_of(std::int32_t memory, const char* name);
CallerOrder order_of(std::int32_t sync, void* handle, const char* name);

// Whether `count` pieces, `stride` bytes apart, lie within `all` bytes.
bool fits(std::int64_t count, std::int64_t piece, std::int64_t stride, std::int64_t all);

VoxelType voxel_type_of(std::int32_t voxel);

// Tells the caller's function, which may stop the work.
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

echolux_volume* new_volume(Volume volume);

// Made of another one: of the same time, with the same warnings.
echolux_volume* derived_volume(const echolux_volume& from, Volume volume);

}  // namespace echolux::library
