// Reconstruction: whole volumes of a scan's file, blocks in and voxels out, and stages of the caller in between.
#include <array>

#include "compute/backend.h"
#include "compute/plan/tables.h"
#include "compute/reconstructor.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/scan.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

// ---- Whole volumes of a scan's file, like `echolux reconstruct`: single, or one after another with a plan that is
// reused.

struct echolux_batch : Handle<Kind::batch> {
    BackendChoice choice;
    std::optional<Reconstruction> work;
    std::int64_t earlier_plans = 0;  // plans made before `work` was created
};

namespace {

// The time is that of the volume's first line, computed from the line rate.
std::unique_ptr<echolux_volume> volume_handle(Volume volume, const Reconstruction& made_by, std::int64_t number) {
    auto one = std::make_unique<echolux_volume>(std::make_shared<const Volume>(std::move(volume)));
    const ScanGeometry& geometry = made_by.scan().geometry;
    one->number = number;
    one->geometry = geometry;
    one->warnings = made_by.warnings();
    const std::int64_t lines = geometry.lines_per_frame() * (geometry.frames_per_volume() + geometry.flyback_frames);
    if (geometry.line_rate_hz > 0) one->time_s = static_cast<double>(number * lines) / geometry.line_rate_hz;
    return one;
}

// Throws BadArgument for a scan that was described by the caller.
const echolux_scan& scan_with_file(const echolux_scan* scan) {
    const echolux_scan& from = checked_handle(scan, "scan");
    if (from.has_spectra()) return from;
    throw BadArgument("has no file of spectra", "scan", "submit its blocks to a reconstructor");
}

// `work` reconstructs the scan `from`.
void set_volumes(Reconstruction& work, const echolux_scan& from, const echolux_part* part, echolux_volume** structure,
                 echolux_volume** flow) {
    const echolux_part wanted = copy_in_or_default(part, "part");
    CallerProgress progress(wanted.progress, wanted.user);
    const ScanPart of_scan{wanted.volume, wanted.b_scan_begin, wanted.b_scan_end};
    FlowedVolume made;
    if (flow != nullptr)
        made = work.run_with_flow(of_scan, progress);
    else
        // Flow is not computed if the caller has no place for it.
        made.structure = work.run(of_scan, progress);
    if (from.stages) made.structure.provenance["stages"] = names_of(*from.stages);
    if (from.stages && made.flow) made.flow->provenance["stages"] = names_of(*from.stages);
    std::unique_ptr<echolux_volume> flowed;
    if (made.flow) flowed = volume_handle(std::move(*made.flow), work, wanted.volume);
    // Set the results last, so that an exception leaves none behind.
    *structure = volume_handle(std::move(made.structure), work, wanted.volume).release();
    if (flow != nullptr) *flow = flowed.release();
}

// Prepares the batch for a scan. Similar scans reuse the plan. Stages are part of the backend, so changed stages need a
// new Reconstruction.
void prepare(echolux_batch& batch, const echolux_scan& from) {
    if (batch.work && batch.choice.stages == from.stages) return batch.work->take(from.scan);
    if (batch.work) batch.earlier_plans += batch.work->stats().plans;
    batch.work.reset();
    batch.choice.stages = from.stages;
    batch.work.emplace(from.scan, batch.choice);
}

}  // namespace

echolux_status echolux_reconstruct(const echolux_scan* scan, const echolux_device* device, const echolux_part* part,
                                   echolux_volume** structure, echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        const echolux_scan& from = scan_with_file(scan);
        BackendChoice choice = backend_of(device);
        choice.stages = from.stages;
        Reconstruction work(from.scan, choice);
        set_volumes(work, from, part, structure, flow);
    });
}

echolux_status echolux_batch_create(const echolux_device* device, echolux_batch** batch, echolux_error* error) {
    return guarded(error, [&] {
        required(batch, "batch") = nullptr;
        auto one = std::make_unique<echolux_batch>();
        one->choice = backend_of(device);
        require_backend(one->choice);
        *batch = one.release();
    });
}

echolux_status echolux_batch_free(echolux_batch* batch) {
    return free_handle(batch);
}

echolux_status echolux_batch_reconstruct(echolux_batch* batch, const echolux_scan* scan, const echolux_part* part,
                                         echolux_volume** structure, echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        echolux_batch& one = checked_handle(batch, "batch");
        const echolux_scan& from = scan_with_file(scan);
        prepare(one, from);
        set_volumes(*one.work, from, part, structure, flow);
    });
}

echolux_status echolux_batch_plans(const echolux_batch* batch, int64_t* plans, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_batch& one = checked_handle(batch, "batch");
        required(plans, "plans") = one.earlier_plans + (one.work ? one.work->stats().plans : 0);
    });
}

// ---- Reconstructors: a plan for a scan, blocks in, voxels out.

struct echolux_reconstructor : Handle<Kind::reconstructor> {
    Scan scan;  // with the noise floor that is used
    ReconstructionSpec spec;
    ChosenReconstructor chosen;
    std::string stages;  // names of the stages; may be empty

    Reconstructor& work() const { return *chosen.reconstructor; }
    // Repeats that are not averaged are separate slices of one position.
    std::int64_t slices_of_a_b_scan() const { return work().grid().b_scans / spec.geometry.b_scans; }
};

// Without flow, `flow_to` receives an empty grid.
static void copy_grids_out(const VolumeGrid& structure, const std::optional<VolumeGrid>& flow, echolux_grid* to,
                           echolux_grid* flow_to) {
    copy_out(to, grid_of(structure), "structure");
    if (flow_to != nullptr) copy_out(flow_to, flow ? grid_of(*flow) : echolux_grid{}, "flow");
}

// Complex values on the host only need the alignment of a float, and phasors that of a byte.
static std::int64_t alignment_of(VoxelType type, bool on_device) {
    return type == VoxelType::complex64 && !on_device ? 4 : type == VoxelType::phasor8 ? 1 : bytes_of(type);
}

// Place for slices [first, first + count) of a volume of `grid`.
static VoxelTarget target_of(const echolux_place& given, const VolumeGrid& grid, std::int64_t first, std::int64_t count,
                             const char* name) {
    const std::int64_t line = grid.depth * bytes_of(grid.type);
    // `before`: slices of the volume between the start of the caller's memory and the block.
    const std::int64_t bytes = bytes_argument(given.bytes, name),
                       before = first - bytes_argument(given.first_b_scan, name);
    const bool on_device = memory_of(given.memory, name) == MemoryKind::device;
    VoxelTarget target;
    target.kind = on_device ? TargetKind::device_linear : TargetKind::host_linear;
    target.data = &required(static_cast<std::byte*>(given.data), name);
    target.first_b_scan = given.first_b_scan;
    target.a_scan_bytes = given.a_scan_bytes == 0 ? line : given.a_scan_bytes;
    if (before < 0) throw BadArgument("begins behind the block's first B-scan", name);
    bool holds = fits(grid.a_scans, line, target.a_scan_bytes, bytes);
    if (holds) {
        const std::int64_t slice = (grid.a_scans - 1) * target.a_scan_bytes + line;
        target.b_scan_bytes = given.b_scan_bytes == 0 ? grid.a_scans * target.a_scan_bytes : given.b_scan_bytes;
        holds = fits(before + count, slice, target.b_scan_bytes, bytes);
    }
    if (!holds) {
        throw BadArgument("its bytes do not hold the block's B-scans with these strides", name,
                          "an A-scan takes " + std::to_string(line) + " bytes, a B-scan without gaps " +
                              std::to_string(grid.a_scans * line));
    }
    // Alignments are powers of two, so one check covers the address and both strides.
    const auto bits = reinterpret_cast<std::uintptr_t>(target.data) | static_cast<std::uintptr_t>(target.a_scan_bytes) |
                      static_cast<std::uintptr_t>(target.b_scan_bytes);
    if (bits % static_cast<std::uintptr_t>(alignment_of(grid.type, on_device)) != 0) {
        throw BadArgument("its lines do not begin at whole voxels", name);
    }
    return target;
}

// Blocks count B-scan positions. The structure may have several slices per position, flow has one.
static VoxelTargets targets_of(const echolux_reconstructor& one, const Block& block, const echolux_place* structure,
                               const echolux_place* flow) {
    const std::int64_t slices = one.slices_of_a_b_scan();
    const echolux_place given = copy_in(structure, "structure");
    VoxelTargets targets(
        target_of(given, one.work().grid(), block.first_b_scan * slices, block.b_scans * slices, "structure"));
    targets.order = order_of(given.sync, given.cuda, "structure");
    if (flow == nullptr) return targets;
    const std::optional<VolumeGrid>& grid = one.work().flow_grid();
    if (!grid) throw Error(ErrorCode::bad_setting, "the plan has no flow", "flow", "set flow.method");
    targets.flow = target_of(copy_in(flow, "flow"), *grid, block.first_b_scan, block.b_scans, "flow");
    return targets;
}

echolux_status echolux_plan(const echolux_scan* scan, echolux_grid* structure, echolux_grid* flow,
                            echolux_error* error) {
    return guarded(error, [&] {
        // One B-scan per block suffices: the grids do not depend on the block size.
        const ReconstructionSpec spec = checked_handle(scan, "scan").scan.spec(1);
        copy_grids_out(planned_grid(spec), planned_flow_grid(spec), structure, flow);
    });
}

echolux_status echolux_reconstructor_create(const echolux_scan* scan, const echolux_device* device,
                                            int64_t block_b_scans, echolux_reconstructor** reconstructor,
                                            echolux_error* error) {
    return guarded(error, [&] {
        required(reconstructor, "reconstructor") = nullptr;
        const echolux_scan& from = checked_handle(scan, "scan");
        if (block_b_scans < 0) throw BadArgument("cannot be negative", "block_b_scans");
        BackendChoice choice = backend_of(device);
        choice.stages = from.stages;
        auto one = std::make_unique<echolux_reconstructor>();
        planned_grid(from.scan.spec(1));  // reject an impossible recipe before measuring the noise floor
        one->spec = from.spec(std::min(block_b_scans, from.scan.geometry.b_scans));
        one->chosen = choose_reconstructor(one->spec, choice);
        one->scan = from.scan;
        // Provenance must state the noise floor that was measured.
        one->scan.recipe.noise_floor_db = one->spec.recipe.noise_floor_db;
        if (from.stages) one->stages = names_of(*from.stages);
        *reconstructor = one.release();
    });
}

echolux_status echolux_reconstructor_free(echolux_reconstructor* reconstructor) {
    return free_handle(reconstructor);
}

echolux_status echolux_reconstructor_grid(const echolux_reconstructor* reconstructor, echolux_grid* structure,
                                          echolux_grid* flow, echolux_error* error) {
    return guarded(error, [&] {
        const Reconstructor& work = checked_handle(reconstructor, "reconstructor").work();
        copy_grids_out(work.grid(), work.flow_grid(), structure, flow);
    });
}

echolux_status echolux_reconstructor_device(const echolux_reconstructor* reconstructor, char* buffer, size_t size,
                                            size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const ChosenReconstructor& chosen = checked_handle(reconstructor, "reconstructor").chosen;
        // The reason is why no better backend was chosen.
        const std::string why = chosen.reason.empty() ? "" : ", " + chosen.reason;
        copy_text_out(chosen.reconstructor->backend_description() + why, buffer, size, needed);
    });
}

echolux_status echolux_reconstructor_provenance(const echolux_reconstructor* reconstructor, char* buffer, size_t size,
                                                size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_reconstructor& one = checked_handle(reconstructor, "reconstructor");
        std::map<std::string, std::string> lines = provenance_of(one.scan, one.work().backend_description());
        if (!one.stages.empty()) lines["stages"] = one.stages;
        if (lines["source"].empty()) lines.erase("source");  // the scan has no file
        copy_text_out(lines_of(lines), buffer, size, needed);
    });
}

echolux_status echolux_reconstructor_submit(echolux_reconstructor* reconstructor, const echolux_block* block,
                                            const echolux_place* structure, const echolux_place* flow,
                                            uint64_t* completion, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_reconstructor& one = checked_handle(reconstructor, "reconstructor");
        const Block spectra = block_of(block, "block");
        check_block(spectra, one.spec);
        const Completion done = one.work().submit(spectra, targets_of(one, spectra, structure, flow));
        if (completion != nullptr) *completion = done.value;
    });
}

echolux_status echolux_reconstructor_prime(echolux_reconstructor* reconstructor, const echolux_block* block,
                                           echolux_error* error) {
    return guarded(error,
                   [&] { checked_handle(reconstructor, "reconstructor").work().prime(block_of(block, "block")); });
}

echolux_status echolux_reconstructor_wait(echolux_reconstructor* reconstructor, uint64_t completion,
                                          echolux_error* error) {
    return guarded(error, [&] { checked_handle(reconstructor, "reconstructor").work().wait({completion}); });
}

echolux_status echolux_reconstructor_collect(echolux_reconstructor* reconstructor, echolux_error* error) {
    return guarded(error, [&] { checked_handle(reconstructor, "reconstructor").work().collect(); });
}

// ---- Stages: the caller's callbacks as stages of the pipeline.

namespace echolux::library {
static void call(echolux_stage stage, void* user, const echolux_staged& staged, const char* name) {
    if (stage(user, &staged) != 0) throw Error(ErrorCode::cancelled, "was ended by a stage", name);
}

static echolux_staged staged_values(int stage, void* values, const std::array<std::int64_t, 5>& shape,
                                    const std::array<std::int64_t, 5>& stride_bytes) {
    echolux_staged staged{};
    staged.size = sizeof staged;
    staged.stage = stage;
    staged.values = values;
    std::ranges::copy(shape, staged.shape);
    std::ranges::copy(stride_bytes, staged.stride_bytes);
    staged.scale = 1;
    return staged;
}

// Describes all lines of a block, each with `each` contiguous values of `bytes` bytes.
static echolux_staged of_lines(int stage, void* values, const HookLines& lines, const ScanGeometry& geometry,
                               std::int64_t each, std::int64_t bytes) {
    const std::int64_t line = each * bytes, position = geometry.a_repeats * line, frame = geometry.a_scans * position;
    echolux_staged staged =
        staged_values(stage, values, {lines.b_scans, geometry.b_repeats, geometry.a_scans, geometry.a_repeats, each},
                      {geometry.b_repeats * frame, frame, position, line, bytes});
    staged.volume = lines.volume;
    staged.first_b_scan = lines.first_b_scan;
    return staged;
}

// Voxels have no repeats: those dimensions are 1, and their strides are those of the next outer dimension.
static echolux_staged of_voxels(const HookVoxels& made, const VolumeGrid& grid) {
    echolux_staged staged = staged_values(
        ECHOLUX_STAGE_VOXELS, made.voxels, {made.b_scans, 1, grid.a_scans, 1, grid.depth},
        {made.b_scan_bytes, made.b_scan_bytes, made.a_scan_bytes, made.a_scan_bytes, bytes_of(grid.type)});
    staged.voxel = static_cast<std::int32_t>(grid.type);
    staged.volume = made.volume;
    staged.first_b_scan = made.first_b_scan;
    staged.scale = grid.scale;
    staged.offset = grid.offset;
    return staged;
}

std::shared_ptr<CallerHooks> stages_of(const echolux_stages* stages, const ScanGeometry& geometry) {
    const echolux_stages wanted = copy_in_or_default(stages, "stages");
    if (wanted.spectra == nullptr && wanted.bins == nullptr && wanted.voxels == nullptr) return nullptr;
    auto all = std::make_shared<CallerHooks>();
    all->wanted = wanted;
    if (wanted.spectra != nullptr) {
        all->spectra = [wanted, geometry](const HookSpectra& made) {
            echolux_staged staged =
                of_lines(ECHOLUX_STAGE_SPECTRA, made.counts, made.lines, geometry, geometry.samples, sizeof(float));
            staged.voxel = ECHOLUX_F32;
            call(wanted.spectra, wanted.user, staged, "spectra");
        };
    }
    if (wanted.bins != nullptr) {
        all->bins = [wanted, geometry](const HookBins& made) {
            echolux_staged staged =
                of_lines(ECHOLUX_STAGE_BINS, made.bins, made.lines, geometry, made.depth, 2 * sizeof(float));
            staged.voxel = ECHOLUX_COMPLEX64;
            staged.scale = made.scale;
            call(wanted.bins, wanted.user, staged, "bins");
        };
    }
    if (wanted.voxels != nullptr) {
        all->voxels = [wanted](const HookVoxels& made, const VolumeGrid& grid) {
            call(wanted.voxels, wanted.user, of_voxels(made, grid), "voxels");
        };
    }
    return all;
}

std::string names_of(const PipelineHooks& stages) {
    std::string names;
    const auto add = [&names](bool is_there, const char* name) {
        if (is_there) names += (names.empty() ? "" : ", ") + std::string(name);
    };
    add(static_cast<bool>(stages.spectra), "spectra");
    add(static_cast<bool>(stages.bins), "bins");
    add(static_cast<bool>(stages.voxels), "voxels");
    return names;
}

}  // namespace echolux::library

echolux_status echolux_scan_set_stages(echolux_scan* scan, const echolux_stages* stages, echolux_error* error) {
    return guarded(error, [&] {
        echolux_scan& handle = checked_handle(scan, "scan");
        const std::shared_ptr<CallerHooks> hooks = stages_of(stages, handle.scan.geometry);
        if (hooks) hooks->are_kept = true;
        handle.stages = hooks;
    });
}
