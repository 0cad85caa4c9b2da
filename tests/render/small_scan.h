// Spectra of noise, different for every volume, as blocks, and their reconstruction to plain memory.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "compute/backend.h"
#include "compute/indexing.h"
#include "tests/support/set_fields.h"

namespace echolux::test {

// u16 spectra to codes that span 60 dB, independently of the volume.
inline ReconstructionSpec noise_spec(std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans,
                                     VoxelType type = VoxelType::u8) {
    ReconstructionSpec plan = with(ReconstructionSpec{}, "background=none noise_floor_db=20 low=0 high=60");
    plan.geometry.samples = samples;
    plan.geometry.a_scans = a_scans;
    plan.geometry.b_scans = b_scans;
    plan.recipe.voxel = type;
    plan.block_b_scans = b_scans;
    return plan;
}

inline std::vector<std::uint16_t> noise_spectra(const ReconstructionSpec& plan, std::int64_t volume) {
    const ScanGeometry& scan = plan.geometry;
    std::vector<std::uint16_t> samples(index(scan.samples * scan.a_scans * scan.b_scans));
    std::mt19937 random(static_cast<std::uint32_t>(volume + 1));
    for (std::uint16_t& sample : samples) sample = static_cast<std::uint16_t>(random() % 60000);
    return samples;
}

// Block of B-scans [begin, end) of a volume.
inline Block block_of(const ReconstructionSpec& plan, std::span<const std::byte> spectra, std::int64_t volume,
                      std::int64_t begin, std::int64_t end, MemoryKind memory = MemoryKind::host) {
    const std::int64_t b_scan_bytes = plan.geometry.samples * plan.geometry.a_scans * 2;
    return Block{.data = spectra.data() + begin * b_scan_bytes,
                 .bytes = (end - begin) * b_scan_bytes,
                 .memory = memory,
                 .volume = volume,
                 .first_b_scan = begin,
                 .b_scans = end - begin,
                 .sequence = static_cast<std::uint64_t>(volume * plan.geometry.b_scans + begin),
                 .time_s = 0.5 * static_cast<double>(volume)};
}

// Reconstructs a whole volume in host memory.
inline std::vector<std::byte> voxels_in_memory(const ReconstructionSpec& plan,
                                               const std::vector<std::uint16_t>& samples,
                                               const BackendChoice& backend = {.backend = Backend::cpu}) {
    ReconstructionSpec at_once = plan;
    at_once.block_b_scans = plan.geometry.b_scans;
    const auto reconstructor = make_reconstructor(at_once, backend);
    const VolumeGrid& grid = reconstructor->grid();
    std::vector<std::byte> voxels(index(grid.bytes()));
    const VoxelTarget place{.kind = TargetKind::host_linear,
                            .data = voxels.data(),
                            .first_b_scan = 0,
                            .a_scan_bytes = grid.depth * bytes_of(grid.type),
                            .b_scan_bytes = grid.a_scans * grid.depth * bytes_of(grid.type)};
    const auto bytes = std::as_bytes(std::span(samples));
    reconstructor->wait(reconstructor->submit(block_of(plan, bytes, 0, 0, plan.geometry.b_scans), place));
    return voxels;
}

}  // namespace echolux::test
