#include "compute/cpu/staged.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/steps/sample.h"

namespace echolux::cpu {
namespace {

// The format of decoded spectra.
RawFormat decoded_format() {
    RawFormat format;
    format.sample_format = SampleFormat::f32;
    return format;
}

ReconstructionSpec behind_the_stage(ReconstructionSpec spec, const Stages& stages) {
    if (stages.spectra) spec.format = decoded_format();
    return spec;
}

std::int64_t lines_of_a_position(const ScanGeometry& geometry) {
    return geometry.b_repeats * geometry.lines_per_b_scan();
}

}  // namespace

StagedRunner::StagedRunner(const ReconstructionSpec& spec, std::shared_ptr<const Stages> stages)
    : spec_(spec), stages_(std::move(stages)), runner_(behind_the_stage(spec, *stages_), stages_->bins) {
    if (!stages_->spectra) return;
    const std::int64_t lines = spec.block_b_scans * lines_of_a_position(spec.geometry);
    counts_.resize(static_cast<std::size_t>(lines * spec.geometry.samples));
}

// Returns the block after the spectra callback.
Block StagedRunner::staged(const Block& block) {
    if (!stages_->spectra) return block;
    check_block(block, spec_);
    if (block.memory == MemoryKind::device) {
        throw Error(ErrorCode::bad_setting, "the CPU cannot read the memory of a GPU", "block");
    }
    const std::int64_t samples = spec_.geometry.samples;
    const std::int64_t lines = block.b_scans * lines_of_a_position(spec_.geometry);
    const LineFormat format(spec_.format, spec_.geometry);
    const std::int64_t frame_lines = spec_.geometry.lines_per_b_scan(), frame_bytes = frame_lines * format.line_bytes();
    format.with_reader([&](const auto& read) {
        parallel_for(0, lines, [&](std::int64_t line) {
            const std::byte* from = block.data + frame_offset(block.frames, line / frame_lines, frame_bytes) +
                                    line % frame_lines * format.line_bytes();
            float* to = counts_.data() + line * samples;
            for (std::int64_t p = 0; p < samples; ++p) to[p] = static_cast<float>(read(from, p));
        });
    });
    stages_->spectra({{block.volume, block.first_b_scan, block.b_scans}, counts_.data()});
    Block behind = block;
    behind.data = reinterpret_cast<const std::byte*>(counts_.data());
    behind.bytes = lines * samples * static_cast<std::int64_t>(sizeof(float));
    behind.frames = {};
    return behind;
}

Completion StagedRunner::submit(const Block& block, const Places& places) {
    const Completion done = runner_.submit(staged(block), places);
    if (!stages_->voxels) return done;
    const Place& place = places.structure;
    const std::int64_t slices = grid().b_scans / spec_.geometry.b_scans;
    const std::int64_t first = block.first_b_scan * slices;
    auto* voxels = static_cast<std::byte*>(place.data) + (first - place.first_b_scan) * place.b_scan_bytes;
    stages_->voxels({block.volume, first, block.b_scans * slices, voxels, place.a_scan_bytes, place.b_scan_bytes},
                    grid());
    return done;
}

}  // namespace echolux::cpu

namespace echolux {

std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec, std::shared_ptr<const Stages> stages) {
    if (!stages) return plan_on_cpu(spec);
    try {
        return std::make_unique<cpu::StagedRunner>(spec, std::move(stages));
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("no memory for blocks of {} with stages", counted(spec.block_b_scans, "B-scans")),
                    "plan", "reconstruct fewer B-scans at a time");
    }
}

}  // namespace echolux
