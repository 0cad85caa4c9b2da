// Volumes between reconstruction and display on a GPU compared with the same work on the CPU: conversion of codes to
// power, filters with a margin computed on the GPU, conversion back to codes, and the writing of peaks and flow.
#include "compute/tissue_on_gpu.h"

#include "app/live/live_postprocessor.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "engine/live/postprocessing.h"
#include "engine/speckle/speckle_filter.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/set_fields.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

const BackendChoice on_gpu_choice{.backend = Backend::cuda};

template <class Code>
Volume volume_of(VoxelType type, const char* quantity, double scale, double offset) {
    Volume volume = make_volume({.depth = 77,
                                 .a_scans = 33,
                                 .b_scans = 9,
                                 .type = type,
                                 .scale = scale,
                                 .offset = offset,
                                 .quantity = quantity});
    std::mt19937 random(9);
    auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) codes[i] = static_cast<Code>(random() % 250);
    return volume;
}

VolumeOnGpuOptions wanted_of(const VolumeGrid& grid, const std::optional<SpeckleFilter>& filter) {
    VolumeOnGpuOptions wanted{grid, {}, stored_power(grid, StoredAs::automatic), {}, {}};
    wanted.power_of_codes = power_of_codes(wanted.stored, grid.type);
    if (filter) wanted.filter = tables_of({grid.depth, grid.a_scans, grid.b_scans}, *filter, 0);
    return wanted;
}

// The resulting voxels and peaks.
struct Shown {
    std::vector<std::byte> voxels, peaks;
};

Shown shown_by_gpu(const Volume& volume, const std::optional<SpeckleFilter>& filter, bool reads, TargetKind kind) {
    const VolumeGrid& grid = volume.grid;
    VolumeGrid of_peaks = grid;
    of_peaks.depth = peaks_of(grid.depth, 8);
    const auto work = required_gpu().volume(wanted_of(grid, filter), on_gpu_choice);
    const OnDevice from(volume.voxels.size());
    Shown shown{std::vector<std::byte>(volume.voxels.size()), std::vector<std::byte>(index(of_peaks.bytes()))};
    const OnDevice to(shown.voxels.size()), peaks(shown.peaks.size());
    const bool on_device = kind == TargetKind::device_linear;
    VoxelTargets targets(packed_target(on_device ? to.data() : shown.voxels.data(), grid, 0, kind));
    targets.peaks = Peaks{packed_target(on_device ? peaks.data() : shown.peaks.data(), of_peaks, 0, kind), 8};
    for (int twice = 0; twice < 2; ++twice) {
        copy_memory(from.data(), volume.voxels.data(), grid.bytes());
        if (reads) work->read(from.data());
        if (filter) work->filter();
        work->write(from.data(), nullptr, targets);
    }
    if (on_device) {
        copy_memory(shown.voxels.data(), to.data(), grid.bytes());
        copy_memory(shown.peaks.data(), peaks.data(), of_peaks.bytes());
    }
    return shown;
}

void expect_peaks_of(const Shown& shown, const VolumeGrid& grid) {
    std::vector<std::byte> expected(shown.peaks.size());
    const std::int64_t bytes = peaks_of(grid.depth, 8) * bytes_of(grid.type);
    for (std::int64_t line = 0; line < grid.a_scans * grid.b_scans; ++line)
        store_peaks(grid.type, shown.voxels.data() + line * grid.a_scan_bytes(), grid.depth, 8,
                    expected.data() + line * bytes);
    EXPECT_EQ(shown.peaks, expected);
}

class VolumeWork : public GpuTest {};

template <class Code>
void expect_the_cpus(VoxelType type, const char* quantity, double scale, double offset) {
    const Volume volume = volume_of<Code>(type, quantity, scale, offset);
    for (const FilterMethod method : {FilterMethod::nlm, FilterMethod::median, FilterMethod::bilateral}) {
        SpeckleFilter filter = with(SpeckleFilter{}, "search_depth=7 search_a_scans=7 search_b_scans=3 patch=3");
        filter.method = method;
        Volume expected = volume;
        SilentProgress silent;
        filter_volume(expected, filter, silent);
        for (const TargetKind kind : {TargetKind::device_linear, TargetKind::host_linear}) {
            const Shown shown = shown_by_gpu(volume, filter, true, kind);
            const auto* found = reinterpret_cast<const Code*>(shown.voxels.data());
            const auto* truth = reinterpret_cast<const Code*>(expected.voxels.data());
            std::int64_t others = 0;
            for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
                const double apart = std::abs(static_cast<double>(found[i]) - static_cast<double>(truth[i]));
                if constexpr (std::is_integral_v<Code>) {
                    ASSERT_LE(apart, 1) << i;
                    others += apart > 0;
                } else {
                    ASSERT_LE(apart, 1e-3 * (1 + std::abs(static_cast<double>(truth[i])))) << i;
                }
            }
            EXPECT_LE(others, volume.grid.voxels() / 500) << quantity << ", method " << static_cast<int>(method);
            expect_peaks_of(shown, volume.grid);
        }
    }
}

TEST_F(VolumeWork, FilteredCodesMatchCpu) {
    expect_the_cpus<std::uint8_t>(VoxelType::u8, "db", 60.0 / 255, -5);
    expect_the_cpus<std::uint8_t>(VoxelType::u8, "amplitude", 2, 0);
    expect_the_cpus<std::uint16_t>(VoxelType::u16, "db", 0.2, 3);
    expect_the_cpus<float>(VoxelType::f32, "intensity", 1, 0);
}

TEST_F(VolumeWork, KeepsCodesWithoutFilter) {
    const Volume volume = volume_of<std::uint8_t>(VoxelType::u8, "db", 60.0 / 255, -5);
    for (const bool reads : {false, true}) {
        const Shown shown = shown_by_gpu(volume, {}, reads, TargetKind::device_linear);
        EXPECT_EQ(shown.voxels, volume.voxels);
        expect_peaks_of(shown, volume.grid);
    }
}

TEST_F(VolumeWork, StoresExternalPower) {
    const Volume volume = volume_of<std::uint16_t>(VoxelType::u16, "intensity", 0.5, 0);
    const auto work = required_gpu().volume(wanted_of(volume.grid, {}), on_gpu_choice);
    const OnDevice voxels(volume.voxels.size());
    copy_memory(voxels.data(), volume.voxels.data(), volume.grid.bytes());
    float* const power = work->read(voxels.data());
    std::vector<float> of_cpu = power_of(volume, StoredAs::automatic), found(of_cpu.size());
    const auto bytes = static_cast<std::int64_t>(found.size() * sizeof(float));
    copy_memory(reinterpret_cast<std::byte*>(found.data()), reinterpret_cast<const std::byte*>(power), bytes);
    EXPECT_EQ(found, of_cpu);
    for (float& value : of_cpu) value += 10;
    copy_memory(reinterpret_cast<std::byte*>(power), reinterpret_cast<const std::byte*>(of_cpu.data()), bytes);
    std::vector<std::byte> shown(volume.voxels.size());
    work->write(voxels.data(), nullptr, VoxelTargets(packed_target(shown.data(), volume.grid)));
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
        ASSERT_EQ(reinterpret_cast<const std::uint16_t*>(shown.data())[i],
                  reinterpret_cast<const std::uint16_t*>(volume.voxels.data())[i] + 20);
    }
}

TEST_F(VolumeWork, WritesFlowToItsPlace) {
    const Volume volume = volume_of<std::uint8_t>(VoxelType::u8, "db", 60.0 / 255, -5);
    Volume flow = volume_of<std::uint16_t>(VoxelType::u16, "", 1, 0);
    flow.grid.type = VoxelType::f16;
    VolumeOnGpuOptions wanted = wanted_of(volume.grid, {});
    wanted.flow = flow.grid;
    const auto work = required_gpu().volume(wanted, on_gpu_choice);
    const OnDevice voxels(volume.voxels.size()), flow_there(flow.voxels.size());
    copy_memory(voxels.data(), volume.voxels.data(), volume.grid.bytes());
    copy_memory(flow_there.data(), flow.voxels.data(), flow.grid.bytes());
    std::vector<std::byte> shown(volume.voxels.size()), shown_flow(flow.voxels.size());
    work->write(voxels.data(), flow_there.data(),
                VoxelTargets(packed_target(shown.data(), volume.grid), packed_target(shown_flow.data(), flow.grid)));
    EXPECT_EQ(shown, volume.voxels);
    EXPECT_EQ(shown_flow, flow.voxels);
}

// A wavy layer in speckle that is partly shared by neighbouring B-scans, shifted by `z` and `x` voxels.
Volume tissue_moved(std::int64_t z, std::int64_t x) {
    constexpr std::int64_t border = 16, depth = 128, a_scans = 96, b_scans = 16;
    constexpr std::int64_t long_z = depth + 2 * border, plane = long_z * (a_scans + 2 * border);
    std::mt19937 random(4);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> looks(index(plane * (b_scans + 3)));
    for (float& look : looks) look = speckle(random);
    Volume volume = make_volume({.depth = depth,
                                 .a_scans = a_scans,
                                 .b_scans = b_scans,
                                 .type = VoxelType::u16,
                                 .scale = 60.0 / 65535,
                                 .quantity = "db"});
    auto* out = reinterpret_cast<std::uint16_t*>(volume.voxels.data());
    for (std::int64_t b = 0; b < b_scans; ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            for (std::int64_t d = 0; d < depth; ++d) {
                const std::int64_t across = a + border - x, down = d + border - z;
                const double place = static_cast<double>(down) + 6 * std::sin(static_cast<double>(across) / 6);
                const bool is_layer = place > 50 && place < 90;
                double power = 1;
                for (std::int64_t k = 0; k < 3; ++k)
                    power += (is_layer ? 300 : 2) *
                             static_cast<double>(looks[index((b + k) * plane + across * long_z + down)]);
                *out++ =
                    static_cast<std::uint16_t>(std::clamp(10 * std::log10(power) / volume.grid.scale, 0.0, 65535.0));
            }
        }
    }
    return volume;
}

TEST_F(VolumeWork, StabilisedVolumesAndFlowMatchCpu) {
    LiveTissue tissue{.stabilises = true, .registration = {.axial_range = 12, .lateral_range = 8, .row_range = 2}};
    CpuPostprocessor on_cpu;
    GpuPostprocessor on_gpu(DeviceId{});
    on_cpu.set(tissue);
    on_gpu.set(tissue);
    SilentProgress silent;
    for (const auto& [z, x] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {4, -3}, {-2, 5}}) {
        Volume expected = tissue_moved(z, x), expected_flow = expected;
        expected_flow.grid.type = VoxelType::f16;
        const Volume volume = expected, flow = expected_flow;
        const PostprocessingResult of_cpu =
            on_cpu.apply(0, expected, &expected_flow, {.backend = Backend::cpu}, silent);
        ASSERT_TRUE(of_cpu.is_stabilised) << of_cpu.unsteady;
        DeviceVolume there{volume.grid, flow.grid, device_memory(volume.grid.bytes()),
                           device_memory(flow.grid.bytes())};
        copy_memory(there.structure.data, volume.voxels.data(), volume.grid.bytes());
        copy_memory(there.flow.data, flow.voxels.data(), flow.grid.bytes());
        std::vector<std::byte> shown(volume.voxels.size()), shown_flow(flow.voxels.size());
        const PostprocessingResult done = on_gpu.apply(0, there, silent, [&](const GpuPostprocessor::Write& write) {
            write(VoxelTargets(packed_target(shown.data(), volume.grid), packed_target(shown_flow.data(), flow.grid)));
        });
        ASSERT_TRUE(done.is_stabilised) << done.unsteady;
        EXPECT_EQ(done.used, of_cpu.used);
        for (std::size_t b = 0; b < done.rows.size(); ++b) {
            EXPECT_NEAR(done.rows[b].z, of_cpu.rows[b].z, 0.01) << b;
            EXPECT_NEAR(done.rows[b].x, of_cpu.rows[b].x, 0.01) << b;
            EXPECT_EQ(done.rows[b].reason, of_cpu.rows[b].reason) << b;
        }
        EXPECT_EQ(shown_flow, expected_flow.voxels);
        std::int64_t others = 0;
        for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
            others +=
                std::abs(static_cast<int>(reinterpret_cast<const std::uint16_t*>(shown.data())[i]) -
                         static_cast<int>(reinterpret_cast<const std::uint16_t*>(expected.voxels.data())[i])) > 300;
        }
        EXPECT_LE(others, volume.grid.voxels() / 200) << "0.3 dB";
    }
}

}  // namespace
}  // namespace echolux
