// Reconstructors: a plan for a scan, blocks in, voxels out.
#include "compute/backend.h"
#include "compute/plan/tables.h"
#include "engine/scan/scan.h"
#include "library/call.h"
#include "library/convert.h"

using namespace echolux;
using namespace echolux::library;

struct echolux_reconstructor : Handle<Kind::reconstructor> {
    Scan scan;  // with the noise floor that is used
    ReconstructionSpec spec;
    ChosenReconstructor chosen;
    std::string stages;  // names of the stages; may be empty

    Reconstructor& work() const { return *chosen.reconstructor; }
    // Repeats that are not averaged are separate slices of one position.
    std::int64_t slices_of_a_b_scan() const { return work().grid().b_scans / spec.geometry.b_scans; }
};

namespace {

// Without flow, `flow_to` receives an empty grid.
void give_grids(const VolumeGrid& structure, const std::optional<VolumeGrid>& flow, echolux_grid* to,
                echolux_grid* flow_to) {
    give(to, grid_of(structure), "structure");
    if (flow_to != nullptr) give(flow_to, flow ? grid_of(*flow) : echolux_grid{}, "flow");
}

// Complex values on the host only need the alignment of a float, and phasors that of a byte.
std::int64_t alignment_of(VoxelType type, bool on_device) {
    return type == VoxelType::complex64 && !on_device ? 4 : type == VoxelType::phasor8 ? 1 : bytes_of(type);
}

// Place for slices [first, first + count) of a volume of `grid`.
Place place_of(const echolux_place& given, const VolumeGrid& grid, std::int64_t first, std::int64_t count,
               const char* name) {
    const std::int64_t line = grid.depth * bytes_of(grid.type);
    // `before`: slices of the volume between the start of the caller's memory and the block.
    const std::int64_t bytes = bytes_argument(given.bytes, name),
                       before = first - bytes_argument(given.first_b_scan, name);
    const bool on_device = memory_of(given.memory, name) == MemoryKind::device;
    Place place;
    place.kind = on_device ? PlaceKind::device_linear : PlaceKind::host_linear;
    place.data = &required(static_cast<std::byte*>(given.data), name);
    place.first_b_scan = given.first_b_scan;
    place.a_scan_bytes = given.a_scan_bytes == 0 ? line : given.a_scan_bytes;
    if (before < 0) throw BadArgument("begins behind the block's first B-scan", name);
    bool holds = fits(grid.a_scans, line, place.a_scan_bytes, bytes);
    if (holds) {
        const std::int64_t slice = (grid.a_scans - 1) * place.a_scan_bytes + line;
        place.b_scan_bytes = given.b_scan_bytes == 0 ? grid.a_scans * place.a_scan_bytes : given.b_scan_bytes;
        holds = fits(before + count, slice, place.b_scan_bytes, bytes);
    }
    if (!holds) {
        throw BadArgument("its bytes do not hold the block's B-scans with these strides", name,
                          "an A-scan takes " + std::to_string(line) + " bytes, a B-scan without gaps " +
                              std::to_string(grid.a_scans * line));
    }
    // Alignments are powers of two, so one check covers the address and both strides.
    const auto bits = reinterpret_cast<std::uintptr_t>(place.data) | static_cast<std::uintptr_t>(place.a_scan_bytes) |
                      static_cast<std::uintptr_t>(place.b_scan_bytes);
    if (bits % static_cast<std::uintptr_t>(alignment_of(grid.type, on_device)) != 0) {
        throw BadArgument("its lines do not begin at whole voxels", name);
    }
    return place;
}

// Blocks count B-scan positions. The structure may have several slices per position, flow has one.
Places places_of(const echolux_reconstructor& one, const Block& block, const echolux_place* structure,
                 const echolux_place* flow) {
    const std::int64_t slices = one.slices_of_a_b_scan();
    const echolux_place given = taken(structure, "structure");
    Places places(place_of(given, one.work().grid(), block.first_b_scan * slices, block.b_scans * slices, "structure"));
    places.order = order_of(given.sync, given.cuda, "structure");
    if (flow == nullptr) return places;
    const std::optional<VolumeGrid>& grid = one.work().flow_grid();
    if (!grid) throw Error(ErrorCode::bad_setting, "the plan has no flow", "flow", "set flow.method");
    places.flow = place_of(taken(flow, "flow"), *grid, block.first_b_scan, block.b_scans, "flow");
    return places;
}

}  // namespace

echolux_status echolux_plan(const echolux_scan* scan, echolux_grid* structure, echolux_grid* flow,
                            echolux_error* error) {
    return guarded(error, [&] {
        // One B-scan per block suffices: the grids do not depend on the block size.
        const ReconstructionSpec spec = live_handle(scan, "scan").scan.spec(1);
        give_grids(planned_grid(spec), planned_flow_grid(spec), structure, flow);
    });
}

echolux_status echolux_reconstructor_create(const echolux_scan* scan, const echolux_device* device,
                                            int64_t block_b_scans, echolux_reconstructor** reconstructor,
                                            echolux_error* error) {
    return guarded(error, [&] {
        required(reconstructor, "reconstructor") = nullptr;
        const echolux_scan& from = live_handle(scan, "scan");
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
        const Reconstructor& work = live_handle(reconstructor, "reconstructor").work();
        give_grids(work.grid(), work.flow_grid(), structure, flow);
    });
}

echolux_status echolux_reconstructor_device(const echolux_reconstructor* reconstructor, char* buffer, size_t size,
                                            size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const ChosenReconstructor& chosen = live_handle(reconstructor, "reconstructor").chosen;
        // The reason is why no better backend was chosen.
        const std::string why = chosen.reason.empty() ? "" : ", " + chosen.reason;
        give_text(chosen.reconstructor->backend() + why, buffer, size, needed);
    });
}

echolux_status echolux_reconstructor_provenance(const echolux_reconstructor* reconstructor, char* buffer, size_t size,
                                                size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_reconstructor& one = live_handle(reconstructor, "reconstructor");
        std::map<std::string, std::string> lines = provenance_of(one.scan, one.work().backend());
        if (!one.stages.empty()) lines["stages"] = one.stages;
        if (lines["source"].empty()) lines.erase("source");  // the scan has no file
        give_text(lines_of(lines), buffer, size, needed);
    });
}

echolux_status echolux_reconstructor_submit(echolux_reconstructor* reconstructor, const echolux_block* block,
                                            const echolux_place* structure, const echolux_place* flow,
                                            uint64_t* completion, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_reconstructor& one = live_handle(reconstructor, "reconstructor");
        const Block spectra = block_of(block, "block");
        check_block(spectra, one.spec);
        const Completion done = one.work().submit(spectra, places_of(one, spectra, structure, flow));
        if (completion != nullptr) *completion = done.value;
    });
}

echolux_status echolux_reconstructor_prime(echolux_reconstructor* reconstructor, const echolux_block* block,
                                           echolux_error* error) {
    return guarded(error, [&] { live_handle(reconstructor, "reconstructor").work().prime(block_of(block, "block")); });
}

echolux_status echolux_reconstructor_wait(echolux_reconstructor* reconstructor, uint64_t completion,
                                          echolux_error* error) {
    return guarded(error, [&] { live_handle(reconstructor, "reconstructor").work().wait({completion}); });
}

echolux_status echolux_reconstructor_collect(echolux_reconstructor* reconstructor, echolux_error* error) {
    return guarded(error, [&] { live_handle(reconstructor, "reconstructor").work().collect(); });
}
