// Alignment of repeats on the GPU compared with the CPU's: the same reasons, positions and flow for any torn repeat,
// for sizes that fill no tile, and for any blocks and streams.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "compute/repeat_report.h"
#include "engine/validation/scenes.h"
#include "tests/gpu/flow_scan.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

RepeatsScene moving_scene() {
    RepeatsScene scene{.b_scans = 4, .motion_um = 3};
    return scene;
}

// Real spectra, as sums of cosines, whose transform has the painted bins.
std::vector<float> spectra_of(const RepeatsScene& scene, const std::vector<std::complex<float>>& bins) {
    const std::int64_t samples = 2 * scene.depth;
    std::vector<std::complex<double>> turns(index(samples));
    for (std::size_t i = 0; i < turns.size(); ++i)
        turns[i] = std::polar(2.0, 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(samples));
    std::vector<float> spectra;
    spectra.reserve(2 * bins.size());
    for (auto line = bins.begin(); line != bins.end(); line += scene.depth) {
        for (std::int64_t n = 0; n < samples; ++n) {
            double sum = 0;
            for (std::int64_t z = 1; z < scene.depth; ++z) {
                const std::complex<double> turn = turns[index(n * z % samples)];
                sum += std::real(std::complex<double>(line[z]) * turn);
            }
            spectra.push_back(static_cast<float>(sum));
        }
    }
    return spectra;
}

struct AlignedFlow {
    std::vector<std::uint16_t> flow;
    std::vector<RepeatReport> reports;
};

AlignedFlow aligned_flow(ReconstructionSpec spec, const std::vector<float>& spectra, const GpuRun& run) {
    spec.block_b_scans = run.block_b_scans;
    const auto reconstructor = make_reconstructor(spec, run.choice);
    std::vector<std::byte> structure(index(reconstructor->grid().bytes()));
    AlignedFlow found;
    found.flow.resize(index(reconstructor->flow_grid()->voxels()), 0xcdcd);
    found.reports.resize(index(spec.geometry.b_scans * spec.geometry.b_repeats));
    VoxelTargets targets(place_of(structure, reconstructor->grid()), place_of(found.flow, *reconstructor->flow_grid()));
    targets.repeats = RepeatReports{found.reports.data(), 0};
    run_blocks(*reconstructor, spec, std::as_bytes(std::span(spectra)), run, targets);
    return found;
}

void expect_same_reports(const std::vector<RepeatReport>& gpu, const std::vector<RepeatReport>& cpu) {
    ASSERT_EQ(gpu.size(), cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) {
        EXPECT_STREQ(name_of(gpu[i].reason), name_of(cpu[i].reason)) << i;
        EXPECT_NEAR(gpu[i].match, cpu[i].match, 1e-4) << i;
        EXPECT_EQ(std::isnan(gpu[i].bulk_decorrelation), std::isnan(cpu[i].bulk_decorrelation)) << i;
        if (!std::isnan(cpu[i].bulk_decorrelation)) {
            EXPECT_NEAR(gpu[i].bulk_decorrelation, cpu[i].bulk_decorrelation, 1e-3) << i;
        }
        if (!cpu[i].is_used()) continue;
        EXPECT_NEAR(gpu[i].depth_rows, cpu[i].depth_rows, 2e-3) << i;
        EXPECT_NEAR(gpu[i].a_scans, cpu[i].a_scans, 2e-3) << i;
    }
}

struct AlignedVariant {
    std::string name;
    void (*choose)(FlowRecipe&);
    double motion_um = 3;
};

std::ostream& operator<<(std::ostream& out, const AlignedVariant& one) {
    return out << one.name;
}

class AlignedRepeatsOnGpu : public GpuTest, public testing::WithParamInterface<std::tuple<AlignedVariant, bool>> {
  protected:
    AlignedRepeatsOnGpu() {
        flow.method = FlowMethod::complex_decorrelation;
        flow.window_depth = flow.window_lines = 3;
        flow.align = true;
    }

    FlowRecipe flow;
};

// A first repeat and a later one are from other positions; another one is dark.
std::vector<std::complex<float>> torn_bins(const RepeatsScene& scene) {
    const PaintedRepeats painted = painted_repeats(scene);
    std::vector<std::complex<float>> bins = painted.bins;
    const auto length = static_cast<std::ptrdiff_t>(painted.line(scene, 0, 1));
    const auto at = [&](std::int64_t b, std::int64_t r) {
        return static_cast<std::ptrdiff_t>(painted.line(scene, b, r));
    };
    std::copy_n(painted.bins.begin() + at(3, 2), length, bins.begin() + at(0, 0));
    std::copy_n(painted.bins.begin() + at(3, 1), length, bins.begin() + at(1, 3));
    std::fill_n(bins.begin() + at(2, 1), length, std::complex<float>{});
    return bins;
}

TEST_P(AlignedRepeatsOnGpu, MatchCpu) {
    const auto& [variant, fused] = GetParam();
    variant.choose(flow);
    RepeatsScene scene = moving_scene();
    scene.motion_um = variant.motion_um;
    const ReconstructionSpec spec = spec_of(scene, flow);
    const std::vector<float> spectra = spectra_of(scene, torn_bins(scene));
    GpuRun run{.block_b_scans = scene.b_scans};
    run.choice.fused = fused;
    const AlignedFlow gpu = aligned_flow(spec, spectra, run);
    const AlignedFlow cpu = aligned_flow(spec, spectra, {.choice = {.backend = Backend::cpu}, .block_b_scans = 4});
    ASSERT_EQ(cpu.reports[0].is_used(), !flow.align) << "the first repeat was not torn, or is left out unaligned";
    ASSERT_TRUE(cpu.reports[1].is_used()) << "none of the others fit";
    expect_same_reports(gpu.reports, cpu.reports);
    const FlowDifference difference(gpu.flow, cpu.flow, false);
    EXPECT_GT(difference.shown, std::ssize(cpu.flow) / 200) << "next to nothing is shown";
    EXPECT_LE(difference.far, difference.shown / 200);
    run.block_b_scans = 1;
    run.choice.streams = 3;
    EXPECT_EQ(aligned_flow(spec, spectra, run).flow, gpu.flow) << "blocks or streams change bits";
}

std::vector<AlignedVariant> aligned_variants() {
    return {
        {"complex", [](FlowRecipe&) {}},
        // Without motion only noise is left, which is masked.
        {"not_aligned", [](FlowRecipe& flow) { flow.align = false; }, 0},
        {"wide_ranges", [](FlowRecipe& flow) { flow.align_depth = 40, flow.align_lines = 20; }},
        {"no_ranges", [](FlowRecipe& flow) { flow.align_depth = flow.align_lines = 0; }},
        {"speckle_variance", [](FlowRecipe& flow) { flow.method = FlowMethod::speckle_variance; }},
        {"decorrelation", [](FlowRecipe& flow) { flow.method = FlowMethod::decorrelation; }},
        {"omag", [](FlowRecipe& flow) { flow.method = FlowMethod::omag; }},
        {"cdv", [](FlowRecipe& flow) { flow.method = FlowMethod::cdv; }},
        {"correlation", [](FlowRecipe& flow) { flow.method = FlowMethod::correlation; }},
        {"phase_variance", [](FlowRecipe& flow) { flow.method = FlowMethod::phase_variance; }},
    };
}

INSTANTIATE_TEST_SUITE_P(Variants, AlignedRepeatsOnGpu,
                         testing::Combine(testing::ValuesIn(aligned_variants()), testing::Bool()),
                         [](const auto& test) {
                             return std::get<0>(test.param).name + (std::get<1>(test.param) ? "_fused" : "_separate");
                         });

class AlignedSizesOnGpu : public GpuTest {};

void expect_aligned_as_by_the_cpu(const RepeatsScene& scene) {
    FlowRecipe flow = with(FlowRecipe{}, "method=complex_decorrelation align=true");
    const ReconstructionSpec spec = spec_of(scene, flow);
    const std::vector<float> spectra = spectra_of(scene, painted_repeats(scene).bins);
    const AlignedFlow gpu = aligned_flow(spec, spectra, {.block_b_scans = 3});
    const AlignedFlow cpu = aligned_flow(spec, spectra, {.choice = {.backend = Backend::cpu}, .block_b_scans = 4});
    expect_same_reports(gpu.reports, cpu.reports);
    const FlowDifference difference(gpu.flow, cpu.flow, false);
    EXPECT_LE(difference.far, difference.shown / 200);
}

TEST_F(AlignedSizesOnGpu, AcceptPartialTiles) {
    RepeatsScene scene = moving_scene();
    scene.depth = 131;
    scene.a_scans = 37;
    expect_aligned_as_by_the_cpu(scene);
}

TEST_F(AlignedSizesOnGpu, AcceptSeveralTiles) {
    RepeatsScene scene = moving_scene();
    scene.b_scans = 1;
    scene.depth = 600;
    scene.a_scans = 70;
    expect_aligned_as_by_the_cpu(scene);
}

}  // namespace
}  // namespace echolux
