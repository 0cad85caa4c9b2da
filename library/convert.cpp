#include "library/convert.h"

#include <algorithm>

#include "compute/plan/tables.h"
#include "library/call.h"

namespace echolux::library {
namespace {

constexpr std::int64_t max_bytes = std::int64_t{1} << 47;  // exceeds any address space; products fit 64 bits

void require_within(std::int64_t number, std::int64_t most, const char* what, const char* name) {
    if (number >= 0 && number <= most) return;
    throw BadArgument(std::string("its ") + what + " cannot be " + std::to_string(number), name);
}

}  // namespace

std::int64_t bytes_argument(std::int64_t bytes, const char* name) {
    require_within(bytes, max_bytes, "size or place", name);
    return bytes;
}

// An event must exist, whereas a NULL stream is CUDA's default stream.
CallerOrder order_of(std::int32_t sync, void* handle, const char* name) {
    switch (sync) {
        case ECHOLUX_SYNC_NONE: return {};
        case ECHOLUX_SYNC_STREAM: return {CallerOrder::Kind::stream, handle};
        case ECHOLUX_SYNC_EVENT:
            if (handle == nullptr) throw BadArgument("its event is NULL", name);
            return {CallerOrder::Kind::event, handle};
        default: throw BadArgument("is not one of ECHOLUX_SYNC_...", name);
    }
}

// Division instead of multiplication, so that large strides cannot overflow.
bool fits(std::int64_t count, std::int64_t piece, std::int64_t stride, std::int64_t all) {
    return stride >= piece && piece <= all && (count == 1 || stride <= (all - piece) / (count - 1));
}

MemoryKind memory_of(std::int32_t memory, const char* name) {
    if (memory < ECHOLUX_HOST || memory > ECHOLUX_ON_DEVICE)
        throw BadArgument("is not one of the known kinds of memory", name);
    return static_cast<MemoryKind>(memory);  // same order as ECHOLUX_HOST ...
}

echolux_grid grid_of(const VolumeGrid& grid) {
    echolux_grid out{};
    out.depth = grid.depth;
    out.a_scans = grid.a_scans;
    out.b_scans = grid.b_scans;
    out.voxel = static_cast<std::int32_t>(grid.type);  // same order as ECHOLUX_U8 ...
    out.voxel_bytes = static_cast<std::int32_t>(bytes_of(grid.type));
    out.bytes = grid.bytes();
    std::ranges::copy(grid.spacing_um, out.spacing_um);
    out.first_depth_um = grid.first_depth_um;
    out.scale = grid.scale;
    out.offset = grid.offset;
    out.v_max_mm_s = grid.v_max;
    put_text(grid.quantity, out.quantity);
    put_text(grid.unit, out.unit);
    return out;
}

BackendChoice backend_of(const echolux_device* device) {
    const echolux_device wanted = taken_or_default(device, "device");
    if (wanted.kind < ECHOLUX_DEVICE_AUTO || wanted.kind > ECHOLUX_DEVICE_CUDA)
        throw BadArgument("is not a known kind", "device");
    require_within(wanted.streams, 16, "streams", "device");
    if (wanted.gpus < -1) throw BadArgument("gpus must be -1, 0 or more", "device");
    BackendChoice choice;
    choice.backend = static_cast<Backend>(wanted.kind);
    std::ranges::copy(wanted.gpu_id, choice.gpu.begin());
    if (wanted.streams > 0) choice.streams = wanted.streams;
    choice.gpus = wanted.gpus == 0 ? 1 : std::max(wanted.gpus, 0);
    if (wanted.reads_pinned_directly != 0) choice.spectra = SpectraPath::direct;
    return choice;
}

Block block_of(const echolux_block* block, const char* name) {
    const echolux_block given = taken(block, name);
    require_within(given.bytes, max_bytes, "bytes", name);
    require_within(given.frame_offset_bytes, given.bytes, "frame_offset_bytes", name);
    require_within(given.frame_stride_bytes, given.bytes, "frame_stride_bytes", name);
    Block one;
    one.data = static_cast<const std::byte*>(given.data);
    one.bytes = given.bytes;
    one.frames = {given.frame_offset_bytes, given.frame_stride_bytes};
    one.memory = memory_of(given.memory, name);
    one.order = order_of(given.sync, given.cuda, name);
    one.volume = given.volume;
    one.first_b_scan = given.first_b_scan;
    one.b_scans = given.b_scans;
    return one;
}

Block host_block_of(const echolux_block* block, ReconstructionSpec& spec) {
    const Block one = block_of(block, "block");
    if (one.memory == MemoryKind::device) throw BadArgument("must be in host memory", "block", "copy it");
    if (one.order.kind != CallerOrder::Kind::none) {
        throw BadArgument("is read immediately, without waiting for a stream or event of a GPU", "block",
                          "wait until its spectra are complete, and set sync to ECHOLUX_SYNC_NONE");
    }
    spec.block_b_scans = spec.geometry.b_scans;
    check_block(one, spec);
    spec.block_b_scans = one.b_scans;
    return one;
}

VoxelType voxel_type_of(std::int32_t voxel) {
    if (voxel < ECHOLUX_U8 || voxel > ECHOLUX_PHASOR8) throw BadArgument("is not one of ECHOLUX_U8 ...", "voxel");
    return static_cast<VoxelType>(voxel);
}

void CallerProgress::begin(const std::string& task, std::int64_t total, const std::string& unit) {
    task_ = task;
    unit_ = unit;
    total_ = total;
    done_ = 0;
    advance(0);
}

void CallerProgress::advance(std::int64_t count) {
    done_ += count;
    if (told_ == nullptr || told_(user_, task_.c_str(), done_, total_, unit_.c_str()) == 0) return;
    throw Error(ErrorCode::cancelled, "was stopped", task_);
}

echolux_volume* new_volume(Volume volume) {
    return new echolux_volume(std::make_shared<const Volume>(std::move(volume)));
}

echolux_volume* derived_volume(const echolux_volume& from, Volume volume) {
    std::unique_ptr<echolux_volume> made(new_volume(std::move(volume)));
    made->time_s = from.time_s;
    made->number = from.number;
    made->warnings = from.warnings;
    made->geometry = from.geometry;
    return made.release();
}

}  // namespace echolux::library
