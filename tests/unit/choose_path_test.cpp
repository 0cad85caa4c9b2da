// The kernels that a GPU uses for a recipe, and the table of them in docs/performance.md.
#include "compute/choose_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/reconstructor.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t kib = 1024, large = 227 * kib, medium = 99 * kib, small = 64 * kib;

// The chain of the bench: stored background, Lagrange-3, dispersion, Hann, dB, u8.
ReconstructionSpec chain(std::int64_t samples) {
    ReconstructionSpec spec;
    spec.geometry.samples = samples;
    set(spec, "a_scans=32 b_scans=2");
    spec.calibration.background.assign(index(samples), 1000.0);
    const auto last = static_cast<double>(samples - 1);
    spec.calibration.k_polynomial = {0, 0.95 * last, 0.05 * last};
    set(spec, "a2_rad=10 voxel=u8");
    return spec;
}

struct Example {
    std::string recipe;  // as in a TOML file
    std::int64_t samples = 0;
    std::string settings = "";
};

const Example examples[] = {
    {"the chain of the bench", 2048},
    {"", 4096},
    {"", 8192},
    {"", 1000},
    {"", 3000},
    {"", 10000},
    {"", 65536},
    {"", 2039},
    {"dispersion = false", 2048, "dispersion=false"},
    {"precision = \"fast\"", 2048, "precision=fast"},
    {"", 1000, "precision=fast"},
    {"average = \"power\"", 2048, "average=power"},
    {"fixed_pattern = \"median\"", 2048, "fixed_pattern=median"},
    {"resample = \"spline\"", 2048, "resample=spline"},
    {"background = \"rolling\"", 2048, "background=rolling"},
    {"upsample = 2", 2048, "upsample=2"},
    {"upsample = 4", 2048, "upsample=4"},
    {"flow.method = \"doppler\"", 2048, "flow.method=doppler"},
    {"the same, voxel = \"f32\"", 2048, "flow.method=doppler voxel=f32"},
    {"flow.method = \"omag\"", 2048, "flow.method=omag b_repeats=4 average=power"},
    {"resample = \"nufft\"", 2048, "resample=nufft"},
    {"", 4096, "resample=nufft"},
    {"", 1000, "resample=nufft"},
    {"the same, precision = \"fast\"", 2048, "resample=nufft precision=fast"},
    {"resample = \"nudft\"", 2048, "resample=nudft"},
    {"method = \"defr\"", 2048, "method=defr"},
    {"", 8192, "method=defr"},
    {"", 1000, "method=defr"},
    {"the same, precision = \"fast\"", 2048, "method=defr precision=fast"},
    {"method = \"compressive\"", 2048, "method=compressive"},
    {"", 4096, "method=compressive"},
    {"", 1000, "method=compressive"},
    {"the same, compressive.transform = \"exact\"", 2048, "method=compressive compressive.transform=exact"},
};

std::string described(const GpuPath& path) {
    std::string text = name_of(path);
    if (path.to_voxels && path.voxels_form == cuda::LineForm::two_in_one) text += ", two lines in one transform";
    if (path.half_bins) text += ", bins of Doppler in half precision";
    return text;
}

// An empty cell repeats the one above (recipe) or on the left (kernels).
std::string table() {
    std::string text =
        "| `recipe` | samples | 227 KiB: H100, H200, B200 | 99 KiB: RTX 30 to 50 | 64 KiB: RTX 20, T4 |\n"
        "|---|---|---|---|---|\n";
    for (const Example& example : examples) {
        const ReconstructionSpec spec = with(chain(example.samples), example.settings);
        validate(spec);
        text += "| " + example.recipe + " | " + std::to_string(example.samples) + " |";
        std::string left;
        for (const std::int64_t shared_bytes : {large, medium, small}) {
            const std::string kernels = described(choose_path(spec, shared_bytes));
            text += kernels == left ? " |" : " " + kernels + " |";
            left = kernels;
        }
        text += "\n";
    }
    return text;
}

TEST(ChoosePath, PageShowsItsTable) {
    std::ifstream file(ECHOLUX_SOURCE_DIR "/docs/performance.md", std::ios::binary);
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(page.find(table()) != std::string::npos) << "put this table into docs/performance.md:\n" << table();
}

bool is_on_chip(GpuKernels kernels) {
    return kernels == GpuKernels::fused || kernels == GpuKernels::two_passes || kernels == GpuKernels::nufft_on_chip ||
           kernels == GpuKernels::full_range_on_chip || kernels == GpuKernels::compressive_on_chip;
}

bool is_valid(const ReconstructionSpec& spec) {
    try {
        validate(spec);
        return true;
    } catch (const Error&) {
        return false;
    }
}

// The kernels that may run a spec, the fastest first.
std::vector<GpuKernels> possible(const ReconstructionSpec& spec) {
    using enum GpuKernels;
    if (spec.recipe.method == Method::defr) return {full_range_on_chip, full_range_in_passes};
    if (spec.recipe.method == Method::compressive && spec.compressive.transform == SensingTransform::exact)
        return {compressive_by_matrix};
    if (spec.recipe.method == Method::compressive) return {compressive_on_chip, compressive_in_passes};
    if (spec.recipe.resample == Resample::nudft) return {matrix_product};
    if (spec.recipe.resample == Resample::nufft) return {nufft_on_chip, nufft_in_passes};
    return {fused, two_passes, separate_passes};
}

void expect_consistent(const ReconstructionSpec& spec) {
    const GpuPath path = choose_path(spec, large), on_small = choose_path(spec, small),
                  plain = choose_path(spec, large, false);
    const std::vector<GpuKernels> all = possible(spec);
    EXPECT_THAT(all, testing::Contains(path.kernels));
    EXPECT_THAT(all, testing::Contains(on_small.kernels));
    EXPECT_EQ(plain.kernels, all.back());
    EXPECT_FALSE(is_on_chip(plain.kernels) || plain.in_halves || plain.half_bins || plain.grid_on_chip || plain.shape);
    EXPECT_LE(is_on_chip(on_small.kernels), is_on_chip(path.kernels)) << "more memory never hurts";
    for (const GpuPath& one : {path, on_small}) {
        const bool is_fused = one.kernels == GpuKernels::fused, has_flow = spec.flow.method != FlowMethod::none;
        EXPECT_STRNE(name_of(one), "");
        if (one.in_halves) {
            EXPECT_TRUE(is_on_chip(one.kernels));
            EXPECT_EQ(spec.recipe.precision, Precision::fast);
            EXPECT_NE(spec.recipe.quantity, Quantity::complex);
            EXPECT_FALSE(has_flow);
            EXPECT_NE(spec.format.sample_format, SampleFormat::f32);
        }
        EXPECT_TRUE(is_fused || !one.to_voxels);
        EXPECT_TRUE((one.to_voxels && has_flow) || !one.half_bins);
        EXPECT_TRUE(one.kernels == GpuKernels::nufft_on_chip ||
                    one.shape.has_value() == (is_fused && !cuda::has_transform_size(spec.geometry.samples)));
        EXPECT_TRUE(is_fused || one.bins_form == cuda::LineForm::subtracted);
    }
}

TEST(ChoosePath, EveryMethodHasKernels) {
    for (const Method method : {Method::plain, Method::defr, Method::compressive}) {
        int checked = 0;
        for (const Resample resample : {Resample::nearest, Resample::linear, Resample::lagrange3, Resample::spline,
                                        Resample::nufft, Resample::nudft}) {
            for (const std::int64_t samples : {64, 500, 512, 1024, 2048, 2310}) {
                for (const Precision precision : {Precision::exact, Precision::fast}) {
                    ReconstructionSpec spec = chain(samples);
                    spec.recipe.method = method;
                    spec.recipe.resample = resample;
                    spec.recipe.precision = precision;
                    SCOPED_TRACE(testing::Message() << static_cast<int>(method) << ", " << static_cast<int>(resample)
                                                    << ", " << samples << ", " << static_cast<int>(precision));
                    if (!is_valid(spec)) continue;
                    expect_consistent(spec);
                    ++checked;
                }
            }
        }
        EXPECT_GE(checked, 10) << static_cast<int>(method);
    }
}

TEST(ChoosePath, EveryOutputHasKernels) {
    for (const SampleFormat format : {SampleFormat::u8, SampleFormat::u16, SampleFormat::u32, SampleFormat::i16,
                                      SampleFormat::f32, SampleFormat::packed12}) {
        for (const auto& [quantity, voxel] : std::vector<std::pair<Quantity, VoxelType>>{
                 {Quantity::db, VoxelType::u8}, {Quantity::db, VoxelType::f32}, {Quantity::complex, VoxelType::f32}}) {
            for (const FlowMethod flow : {FlowMethod::none, FlowMethod::doppler, FlowMethod::power_doppler}) {
                for (const Precision precision : {Precision::exact, Precision::fast}) {
                    for (const std::int64_t samples : {512, 1000, 4096}) {
                        ReconstructionSpec spec = chain(samples);
                        spec.format.sample_format = format;
                        spec.recipe.quantity = quantity;
                        spec.recipe.voxel = voxel;
                        spec.flow.method = flow;
                        spec.recipe.precision = precision;
                        ASSERT_TRUE(is_valid(spec));
                        SCOPED_TRACE(testing::Message() << static_cast<int>(format) << ", "
                                                        << static_cast<int>(quantity) << ", " << samples);
                        expect_consistent(spec);
                    }
                }
            }
        }
    }
}

// Words are read whole, without shift and mask, from lines of one channel.
TEST(ChoosePath, ReadsWordsOfSimpleFormats) {
    ReconstructionSpec spec = chain(2048);
    EXPECT_EQ(choose_path(spec, large).bins_form, cuda::LineForm::as_recorded);
    spec.format.sample_format = SampleFormat::packed12;
    EXPECT_EQ(choose_path(spec, large).bins_form, cuda::LineForm::as_recorded);
    spec.format = {.shift = 4};
    EXPECT_EQ(choose_path(spec, large).bins_form, cuda::LineForm::subtracted);
    spec.format = {.channels = 2};
    EXPECT_EQ(choose_path(spec, large).bins_form, cuda::LineForm::subtracted);
}

// The kernel of Doppler compares neighbouring lines over a small window. Everything else stores sums.
TEST(ChoosePath, DopplerKernelNeedsSmallWindowOfNeighbours) {
    ReconstructionSpec spec = chain(2048);
    EXPECT_FALSE(has_doppler_kernel(spec));
    spec.flow.method = FlowMethod::doppler;
    EXPECT_TRUE(has_doppler_kernel(spec));
    for (const char* other : {"window_lines=9", "window_depth=17", "bulk_motion=true", "fast_axis=sinusoidal",
                              "b_repeats=2", "flow.method=power_doppler"}) {
        EXPECT_FALSE(has_doppler_kernel(with(spec, other))) << other;
    }
    spec.format.sample_format = SampleFormat::f32;
    EXPECT_FALSE(choose_path(spec, large).half_bins) << "the range of samples is unknown";
}

TEST(ChoosePath, LinesWithOwnCalibrationAreSpreadInPasses) {
    ReconstructionSpec spec = chain(1024);
    spec.recipe.resample = Resample::nufft;
    spec.calibration.k_jitter = {0, 1, 0.1, 1.001};
    validate(spec);
    EXPECT_EQ(choose_path(spec, large).kernels, GpuKernels::nufft_in_passes);
}

}  // namespace
}  // namespace echolux
