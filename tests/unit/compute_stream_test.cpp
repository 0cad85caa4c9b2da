// Blocks of a scan: the same bits for any block size, number of threads and devices, and starting point, with offsets
// beyond 32 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/several_devices.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/variants.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 256, a_scans = 9, b_scans = 7;

const std::vector<Variant> variants = variants_and({
    {"nudft", "resample=nudft k_polynomial=1,246,6"},
    {"no_background", "background=none"},
    {"stored", "background=stored"},
});

class Stream : public testing::TestWithParam<Variant> {
  protected:
    ReconstructionSpec spec;
    std::vector<std::uint16_t> spectra;  // of two volumes

    Stream() {
        set(spec, "a2_rad=12 levels=fixed background=frame_mean");
        spec.geometry = {.samples = n, .a_scans = a_scans, .b_scans = b_scans, .volumes = 2};
        spec.calibration.background.assign(n, 2250.25);  // if it is stored
        set(spec, GetParam().assignments);
        std::mt19937 random(21);
        spectra.resize(2 * volume_samples());
        for (auto& x : spectra) x = static_cast<std::uint16_t>(2000 + random() % 500);
    }
    ~Stream() override { set_thread_count(0); }

    std::size_t b_scan_samples() const { return index(n * spec.geometry.lines_per_b_scan() * spec.geometry.b_repeats); }
    std::size_t volume_samples() const { return b_scan_samples() * b_scans; }

    Block block(std::int64_t volume, std::int64_t first, std::int64_t count) const {
        const auto begin = index(volume) * volume_samples() + index(first) * b_scan_samples();
        const auto part = std::span(spectra).subspan(begin, index(count) * b_scan_samples());
        Block one = block_of(std::as_bytes(part), first, count);
        one.volume = volume;
        return one;
    }

    // Returns both volumes in sequence. The first `skipped` B-scans of the first volume are only primed.
    std::vector<std::byte> voxels(std::int64_t block_b_scans, int threads, std::int64_t skipped = 0, int devices = 1) {
        set_thread_count(threads);
        spec.block_b_scans = block_b_scans;
        std::vector<std::unique_ptr<Reconstructor>> all;
        for (int i = 0; i < devices; ++i) all.push_back(plan_on_cpu(spec));
        const auto reconstructor = over_devices(spec, std::move(all));
        std::vector<Completion> completions;
        const auto bytes = index(reconstructor->grid().bytes());
        std::vector<std::byte> both(2 * bytes);
        for (std::int64_t volume = 0; volume < 2; ++volume) {
            VoxelTarget target = place_of(both, reconstructor->grid());
            target.data = both.data() + index(volume) * bytes;
            for (std::int64_t first = 0; first < b_scans; first += block_b_scans) {
                const Block one = block(volume, first, std::min(block_b_scans, b_scans - first));
                if (volume == 0 && first < skipped) {
                    reconstructor->prime(one);
                } else {
                    completions.push_back(reconstructor->submit(one, target));
                }
            }
        }
        for (const Completion completion : completions) reconstructor->wait(completion);
        return both;
    }
};

TEST_P(Stream, BlockSizeChangesNoBit) {
    const auto whole = voxels(b_scans, 1);
    for (const std::int64_t size : {1, 2, 3, 5}) EXPECT_EQ(voxels(size, 1), whole) << size;
}

TEST_P(Stream, NumberOfThreadsChangesNoBit) {
    const auto one = voxels(3, 1);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(voxels(3, threads), one) << threads;
}

TEST_P(Stream, NumberOfDevicesChangesNoBit) {
    const auto one = voxels(b_scans, 2);
    for (const int devices : {2, 3, 4}) {
        for (const std::int64_t size : {1, 2, 5}) {
            EXPECT_EQ(voxels(size, 2, 0, devices), one) << devices << " devices, blocks of " << size;
        }
    }
}

TEST_P(Stream, PrimedStartChangesNoBit) {
    const auto whole = voxels(1, 2);
    const std::size_t skipped = whole.size() / 2 / b_scans * 4;
    for (const int devices : {1, 3}) {
        const auto primed = voxels(1, 2, 4, devices);
        EXPECT_TRUE(std::equal(whole.begin() + static_cast<std::ptrdiff_t>(skipped), whole.end(),
                               primed.begin() + static_cast<std::ptrdiff_t>(skipped)));
        for (std::size_t i = 0; i < skipped; ++i) ASSERT_EQ(primed[i], std::byte{0});
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, Stream, testing::ValuesIn(variants),
                         [](const auto& test) { return test.param.name; });

// Processes 2^31 samples: the same memory repeatedly, at increasing positions.
TEST(StreamOfTwoToThe31Samples, SlowHasSameBitsInEveryBlock) {
    ReconstructionSpec spec;
    spec.geometry = {.samples = 2048, .a_scans = 1024, .b_scans = 1024};
    set(spec, "sample_format=u8 voxel=u8");
    spec.recipe.levels = Levels::fixed;
    set(spec, "dispersion=false depth_end=64");
    spec.block_b_scans = 8;
    ASSERT_EQ(spec.geometry.samples * spec.geometry.a_scans * spec.geometry.b_scans, std::int64_t{1} << 31);
    std::mt19937 random(2);
    std::vector<std::uint8_t> spectra(2048 * 1024 * 8);
    for (auto& x : spectra) x = static_cast<std::uint8_t>(random());

    const auto reconstructor = plan_on_cpu(spec);
    std::vector<std::uint8_t> first, voxels(64 * 1024 * 8);
    for (std::int64_t b = 0; b < spec.geometry.b_scans; b += 8) {
        VoxelTarget target = place_of(voxels, reconstructor->grid());
        target.first_b_scan = b;
        reconstructor->wait(reconstructor->submit(block_of(bytes_of_lines(spectra), b, 8), target));
        if (b == 0) first = voxels;
        ASSERT_EQ(voxels, first) << b;
        std::fill(voxels.begin(), voxels.end(), std::uint8_t{0});
    }
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

// Four lines 1.5 GiB apart, written to B-scans 1.5 GiB apart. Only the touched pages of this memory exist.
TEST(LargeOffsets, LinesAndPlacesBeyond32Bits) {
    constexpr std::int64_t gap = std::int64_t{3} << 29;
    ReconstructionSpec spec = plain_spec(64, 1);
    spec.geometry.b_scans = 4;
    spec.block_b_scans = 4;
    spec.format.line_bytes = gap;
    const std::unique_ptr<void, Free> in(std::calloc(4, gap)), out(std::calloc(4, gap));
    if (!in || !out) GTEST_SKIP() << "12 GiB of address space are not to be had";
    const auto at = [](const auto& memory, std::int64_t b) {
        return reinterpret_cast<float*>(static_cast<std::byte*>(memory.get()) + b * gap);
    };
    for (std::int64_t b = 0; b < 4; ++b) at(in, b)[0] = static_cast<float>(64 * (b + 1));

    const auto reconstructor = plan_on_cpu(spec);
    VoxelTarget target{.data = out.get(), .a_scan_bytes = reconstructor->grid().depth * 8, .b_scan_bytes = gap};
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(in.get()), 4 * gap);
    reconstructor->wait(reconstructor->submit(block_of(bytes, 0, 4), target));
    for (std::int64_t b = 0; b < 4; ++b) {
        for (std::int64_t z = 0; z < 32; ++z) EXPECT_EQ(at(out, b)[2 * z], static_cast<float>(b + 1));
    }
}

}  // namespace
}  // namespace echolux
