// The maximum of each few voxels, as the CPU stores it with the voxels: for every type, depth and place, compared with
// the voxels themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 128, lines = 5, b_scans = 3;

std::vector<float> random_spectra() {
    std::mt19937 random(3);
    std::normal_distribution<float> value(0, 100);
    std::vector<float> spectra(n * lines * b_scans);
    for (float& sample : spectra) sample = value(random);
    return spectra;
}

ReconstructionSpec spec_of(VoxelType type) {
    ReconstructionSpec spec = plain_spec(n, lines);
    spec.geometry.b_scans = spec.block_b_scans = b_scans;
    spec.recipe.quantity = Quantity::db;
    spec.recipe.voxel = type;
    set(spec, "low=0 high=35");
    return spec;
}

double value_at(const std::byte* voxels, VoxelType type, std::int64_t i) {
    const auto as = [&](auto code) {
        std::memcpy(&code, voxels + i * static_cast<std::int64_t>(sizeof code), sizeof code);
        return code;
    };
    switch (type) {
        case VoxelType::u8: return as(std::uint8_t{});
        case VoxelType::u16: return as(std::uint16_t{});
        case VoxelType::f16: return value_of_half(as(std::uint16_t{}));
        default: return as(float{});
    }
}

// Peaks are stored with gaps, which must stay unchanged.
void expect_peaks(const ReconstructionSpec& spec, std::int64_t depths) {
    const auto spectra = random_spectra();
    const auto reconstructor = plan_on_cpu(spec);
    const VolumeGrid grid = reconstructor->grid();
    const std::int64_t bytes = bytes_of(grid.type), of_line = peaks_of(grid.depth, depths);
    std::vector<std::byte> voxels(index(grid.bytes()));
    const std::int64_t a_pitch = (of_line + 3) * bytes, b_pitch = a_pitch * lines + 8;
    std::vector<std::byte> peaks(index(b_pitch * b_scans), std::byte{0xA5});
    VoxelTargets targets(place_of(voxels, grid));
    targets.peaks = Peaks{{TargetKind::host_linear, peaks.data(), 0, a_pitch, b_pitch}, depths};
    reconstructor->wait(reconstructor->submit(block_of(bytes_of_lines(spectra), 0, b_scans), targets));
    std::vector<bool> known(peaks.size());
    for (std::int64_t line = 0; line < lines * b_scans; ++line) {
        const std::int64_t at = line / lines * b_pitch + line % lines * a_pitch;
        for (std::int64_t i = 0; i < of_line; ++i) {
            double expected = -1e30;
            for (std::int64_t z = i * depths; z < std::min((i + 1) * depths, grid.depth); ++z) {
                expected = std::max(expected, value_at(voxels.data(), grid.type, line * grid.depth + z));
            }
            ASSERT_EQ(value_at(peaks.data() + at, grid.type, i), expected) << "line " << line << ", peak " << i;
            for (std::int64_t byte = 0; byte < bytes; ++byte) known[index(at + i * bytes + byte)] = true;
        }
    }
    for (std::size_t i = 0; i < peaks.size(); ++i) {
        if (!known[i]) {
            ASSERT_EQ(peaks[i], std::byte{0xA5}) << i;
        }
    }
}

TEST(Peaks, HoldLargestVoxels) {
    for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f16, VoxelType::f32}) {
        for (const std::int64_t depths : {4, 8}) {
            for (const bool flip : {false, true}) {
                SCOPED_TRACE(testing::Message() << bytes_of(type) << " bytes, " << depths << " depths, flip " << flip);
                ReconstructionSpec spec = spec_of(type);
                spec.geometry.depth_flip = flip;
                expect_peaks(spec, depths);
                set(spec, "depth_begin=3 depth_end=50");
                expect_peaks(spec, depths);
            }
        }
    }
}

TEST(Peaks, AreWrittenByEveryVoxelPath) {
    ReconstructionSpec spec = with(spec_of(VoxelType::u8), "levels=frame quantity=amplitude");
    expect_peaks(spec, 8);
    spec = spec_of(VoxelType::f32);
    spec.recipe.fixed_pattern = FixedPattern::median;  // computed from bins
    expect_peaks(spec, 8);
}

TEST(Peaks, AreRejectedForVoxelsWithoutPeaks) {
    ReconstructionSpec spec = spec_of(VoxelType::u8);
    std::vector<std::byte> memory(1 << 20);
    const auto spectra = random_spectra();
    const auto submitted = [&](Peaks peaks) {
        const auto reconstructor = plan_on_cpu(spec);
        VoxelTargets targets(place_of(memory, reconstructor->grid()));
        targets.peaks = peaks;
        reconstructor->submit(block_of(bytes_of_lines(spectra), 0, b_scans), targets);
    };
    const VoxelTarget somewhere{TargetKind::host_linear, memory.data(), 0, 64, 64 * lines};
    EXPECT_NO_THROW(submitted({somewhere, 8}));
    EXPECT_THROW(submitted({somewhere, 6}), Error);
    EXPECT_THROW(submitted({{TargetKind::device_linear, memory.data(), 0, 64, 64 * lines}, 8}), Error);
    spec.recipe.quantity = Quantity::complex;
    EXPECT_THROW(submitted({somewhere, 8}), Error);
}

}  // namespace
}  // namespace echolux
