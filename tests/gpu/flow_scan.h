// A scan of moving reflectors, a table with a case for every path through the flow kernels, and comparisons of two flow
// volumes.
#pragma once

#include <cmath>
#include <numbers>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/flow/flow_tables.h"
#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/flow_run.h"
#include "tests/oracle/variants.h"

namespace echolux {

// Doppler with a u8 structure, as in live views. The sizes are not divisible by the warp size or by the length of a
// kernel's walk along the lines.
inline ReconstructionSpec flow_scan_spec() {
    ReconstructionSpec spec;
    set(spec,
        "a2_rad=9 background=none voxel=u8 noise_floor_db=15 low=0 high=60 depth_begin=3 depth_end=503 "
        "k_polynomial=1,980,30 centre_wavelength_nm=840 flow.method=doppler");
    spec.geometry = {.samples = 1024, .a_scans = 75, .b_scans = 5, .line_rate_hz = 70'000};
    return spec;
}

inline std::vector<Variant> flow_variants() {
    return {
        {"doppler", ""},
        {"one_by_one", "window_depth=1 window_lines=1"},
        {"even_windows", "window_depth=4 window_lines=8"},
        {"wide_windows", "window_depth=31 window_lines=13"},
        {"deep_window", "window_depth=16"},
        {"two_lines", "a_scans=2 b_scans=6"},
        {"walks_end_together", "a_scans=65"},
        {"flipped", "depth_flip=true invert=true"},
        {"bidirectional", "bidirectional=true"},
        {"bidirectional_a_repeats", "a_repeats=3 b_repeats=1 average=power flow.method=doppler bidirectional=true"},
        {"sinusoidal", "fast_axis=sinusoidal bidirectional=true"},
        {"bulk", "bulk_motion=true"},
        {"unwrapped", "unwrap=true"},
        {"power", "flow.method=power_doppler"},
        {"half_structure", "voxel=f16"},
        {"long_spectra", "samples=2048 k_polynomial=1,1980,60 depth_begin=0 depth_end=0"},
        {"any_length", "samples=1000 k_polynomial=1,950,40 depth_end=499"},
        {"fixed_pattern", "fixed_pattern=median"},
        {"a_repeats", "a_repeats=4 b_repeats=1 average=power flow.method=doppler"},
        {"b_repeats", "a_repeats=1 b_repeats=3 average=power flow.method=doppler"},
        {"both_repeats", "a_repeats=2 b_repeats=3 average=power flow.method=doppler"},
        {"speckle_variance", "a_repeats=1 b_repeats=4 average=power flow.method=speckle_variance"},
        {"decorrelation", "a_repeats=2 b_repeats=4 average=power flow.method=decorrelation"},
        {"split_spectrum", "a_repeats=1 b_repeats=3 average=power flow.method=decorrelation sub_bands=4"},
        {"omag", "a_repeats=1 b_repeats=3 average=power flow.method=omag"},
        {"cdv", "a_repeats=1 b_repeats=3 average=power flow.method=cdv"},
        {"correlation", "a_repeats=1 b_repeats=2 average=power flow.method=correlation"},
        {"phase_variance", "a_repeats=1 b_repeats=4 average=power flow.method=phase_variance"},
        {"sinusoidal_angiography",
         "a_repeats=1 b_repeats=3 average=power flow.method=decorrelation fast_axis=sinusoidal"},
    };
}

// Spectra of one volume in time order: layers whose phase advances from line to line at their own rates, with
// brightness noise and camera noise.
inline std::vector<std::uint16_t> drifting_reflectors(const ReconstructionSpec& spec) {
    constexpr int reflectors = 14;
    const ScanGeometry& scan = spec.geometry;
    const std::int64_t lines = scan.frames_per_volume() * scan.lines_per_b_scan();
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    std::vector<std::uint16_t> spectra;
    spectra.reserve(index(lines * scan.samples));
    std::vector<double> line(index(scan.samples));
    for (std::int64_t l = 0; l < lines; ++l) {
        for (double& sample : line) sample = 2000 + 10 * normal(random);
        for (int r = 0; r < reflectors; ++r) {
            const double depth = 0.04 + 0.02 * r, pace = 0.9 * std::sin(1.7 * r);
            const double phase = pace * static_cast<double>(l) + 0.05 * normal(random);
            const double height = 200.0 / (1 + r) * (1 + 0.2 * normal(random));
            const std::complex<double> step = std::polar(1.0, 2 * std::numbers::pi * depth);
            std::complex<double> turn = std::polar(height, phase);
            for (double& sample : line) {
                sample += turn.real();
                turn *= step;
            }
        }
        for (const double sample : line) spectra.push_back(static_cast<std::uint16_t>(sample));
    }
    return spectra;
}

inline std::int64_t frame_bytes(const ReconstructionSpec& spec) {
    return spec.geometry.lines_per_b_scan() * line_bytes(spec.format, spec.geometry);
}

// The same acquired B-scans, surrounded by meaningless bytes.
inline std::vector<std::byte> laid_out(const ReconstructionSpec& spec, std::span<const std::byte> frames,
                                       const FrameLayout& layout) {
    const std::int64_t bytes = frame_bytes(spec), count = std::ssize(frames) / bytes;
    std::vector<std::byte> block(index(frame_offset(layout, count, bytes)), std::byte{0xa5});
    for (std::int64_t f = 0; f < count; ++f) {
        std::copy_n(frames.begin() + f * bytes, bytes, block.begin() + frame_offset(layout, f, bytes));
    }
    return block;
}

inline void run_blocks(Reconstructor& reconstructor, const ReconstructionSpec& spec, std::span<const std::byte> spectra,
                       const GpuRun& run, const VoxelTargets& targets, const FrameLayout& layout = {}) {
    std::vector<Completion> completions;
    for (std::int64_t first = 0; first < spec.geometry.b_scans; first += run.block_b_scans) {
        const std::int64_t count = std::min(run.block_b_scans, spec.geometry.b_scans - first);
        const auto part = laid_out(
            spec, spectra.subspan(index(first * b_scan_bytes(spec)), index(count * b_scan_bytes(spec))), layout);
        Block block = held_block(part, run.from, first, count);
        block.frames = layout;
        completions.push_back(reconstructor.submit(block, targets));
        if (run.from == MemoryKind::host) reconstructor.wait(completions.back());
    }
    for (const Completion completion : completions) reconstructor.wait(completion);
}

struct FlowScan {
    std::vector<std::byte> structure;
    std::vector<std::uint16_t> flow;
};

// Reconstructs one volume to host memory.
inline FlowScan flow_scan(ReconstructionSpec spec, std::span<const std::byte> spectra, const GpuRun& run,
                          const FrameLayout& layout = {}) {
    spec.block_b_scans = run.block_b_scans;
    const auto reconstructor = make_reconstructor(spec, run.choice);
    const VolumeGrid& grid = reconstructor->grid();
    const VolumeGrid& flow_grid = *reconstructor->flow_grid();
    FlowScan scan;
    scan.structure.resize(index(grid.bytes()));
    scan.flow.resize(index(flow_grid.voxels()), 0xcdcd);
    run_blocks(*reconstructor, spec, spectra, run, {place_of(scan.structure, grid), place_of(scan.flow, flow_grid)},
               layout);
    return scan;
}

inline std::vector<std::byte> structure_scan(ReconstructionSpec spec, std::span<const std::byte> spectra,
                                             const GpuRun& run) {
    spec.block_b_scans = run.block_b_scans;
    const auto reconstructor = make_reconstructor(spec, run.choice);
    std::vector<std::byte> voxels(index(reconstructor->grid().bytes()));
    run_blocks(*reconstructor, spec, spectra, run, place_of(voxels, reconstructor->grid()));
    return voxels;
}

// Counts differences. Phasors are `far` apart beyond the quantisation of both codes; values are `far` apart beyond the
// last bits of a half and the rounding of float differences. A value of 0 may be masked or not, so values are also
// `far` apart if only one is masked.
struct FlowDifference {
    std::int64_t shown = 0, masks = 0, far = 0;

    FlowDifference(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b, bool phasors) {
        for (std::size_t i = 0; i < b.size(); ++i) {
            shown += b[i] != 0;
            if (phasors && (a[i] == 0 || b[i] == 0)) {
                masks += a[i] != b[i];
            } else {
                far += phasors ? phasors_differ(a[i], b[i]) : values_differ(a[i], b[i]);
            }
        }
    }

  private:
    static bool phasors_differ(std::uint16_t a, std::uint16_t b) {
        return std::abs(std::arg(phasor_of(a) * std::conj(phasor_of(b)))) > 0.012;
    }
    static bool values_differ(std::uint16_t a, std::uint16_t b) {
        const double x = number_of_half(a), y = number_of_half(b);
        return std::abs(x - y) > 2e-3 * std::abs(y) + 1e-3;
    }
};

// Returns the number of u8 codes that differ, and the max. difference.
inline std::pair<std::int64_t, int> codes_apart(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    std::int64_t different = 0;
    int most = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        const int apart = std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]));
        different += apart != 0;
        most = std::max(most, apart);
    }
    return {different, most};
}

}  // namespace echolux
