// The fast transform of nonuniform samples on the GPU, on chip and in passes, compared with the CPU and with sums in
// double. A line has the same bits wherever it is.
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/nufft_truths.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using Field = std::vector<std::complex<float>>;

constexpr double max_error = 1e-10;  // mean square; a thousand times the rounding of floats

struct Scan {
    NufftRecipe nufft;
    std::int64_t samples;
    double a2 = 0;
    std::int64_t zero_padding = 1, depth_begin = 0, depth_end = 0;
    SampleFormat format = SampleFormat::u16;
    bool on_chip = true;
};

std::ostream& operator<<(std::ostream& out, const Scan& scan) {
    return out << scan.samples << " samples, R " << scan.nufft.oversampling << ", W " << scan.nufft.width << ", a2 "
               << scan.a2;
}

class NufftOnGpu : public GpuTest, public testing::WithParamInterface<Scan> {
  protected:
    static ReconstructionSpec spec_of(const Scan& scan, std::int64_t a_scans, std::int64_t b_scans) {
        ReconstructionSpec spec;
        set(spec, "resample=nufft background=frame_mean levels=fixed quantity=complex voxel=complex64");
        spec.format.sample_format = scan.format;
        spec.geometry = {.samples = scan.samples, .a_scans = a_scans, .b_scans = b_scans};
        spec.recipe.a2_rad = scan.a2;
        spec.recipe.zero_padding = scan.zero_padding;
        spec.recipe.depth_begin = scan.depth_begin;
        spec.recipe.depth_end = scan.depth_end;
        spec.nufft = scan.nufft;
        const auto last = static_cast<double>(scan.samples - 1);
        spec.calibration.k_polynomial = {0.01 * last, 0.94 * last, 0.04 * last};
        return spec;
    }
};

TEST_P(NufftOnGpu, AgreesWithCpuForBothPaths) {
    const Scan& scan = GetParam();
    const ReconstructionSpec spec = spec_of(scan, 13, 3);
    std::vector<std::uint16_t> spectra = moving_reflectors(scan.samples, 13 * 3);
    const std::vector<float> as_floats(spectra.begin(), spectra.end());
    const auto bytes = scan.format == SampleFormat::f32 ? bytes_of_lines(as_floats) : bytes_of_lines(spectra);
    const auto cpu = voxels_of<std::complex<float>>(spec, bytes, run_on_cpu());
    for (const bool fused : {true, false}) {
        const GpuRun run = run_on_gpu(fused, 2);
        EXPECT_NE(way_of(spec, run.choice).find(fused && scan.on_chip ? "nufft on chip" : "nufft in passes"),
                  std::string::npos);
        const double error = normalised_error(voxels_of<std::complex<float>>(spec, bytes, run), cpu);
        RecordProperty(fused ? "nmse_fused" : "nmse_passes", std::to_string(error * 1e12) + "e-12");
        EXPECT_LE(error, max_error) << (fused ? "fused" : "in passes");
    }
}

constexpr NufftRecipe kb(double oversampling, std::int64_t width) {
    return {GridKernel::kaiser_bessel, oversampling, width};
}

INSTANTIATE_TEST_SUITE_P(
    Scans, NufftOnGpu,
    testing::Values(Scan{kb(2, 3), 2048}, Scan{kb(2, 3), 2048, 12}, Scan{kb(2, 12), 2048, 12}, Scan{kb(2, 2), 512},
                    Scan{kb(2, 5), 1024, 0, 2, 100, 300}, Scan{kb(2, 5), 1024, 9, 2, 100, 300}, Scan{kb(2, 3), 4096},
                    Scan{kb(2, 3), 8192, 9},  // 8192 points per thread block
                    Scan{kb(2, 4), 512, 0, 4}, Scan{kb(2, 4), 256, 5}, Scan{kb(1.6, 4), 640}, Scan{kb(1.6, 4), 1280, 5},
                    Scan{kb(2, 3), 2048, 0, 1, 0, 0, SampleFormat::f32}, Scan{{GridKernel::gaussian, 2, 6}, 2048, 3},
                    Scan{{GridKernel::exponential, 2, 6}, 2048},
                    // products of small primes
                    Scan{kb(1.5, 5), 2048}, Scan{kb(1.25, 5), 2048, 12}, Scan{kb(2, 3), 832},
                    Scan{kb(2, 3), 832, 0, 1, 0, 0, SampleFormat::f32}, Scan{kb(2, 3), 1000, 12},
                    Scan{kb(2, 12), 1536, 0, 1, 100, 300}, Scan{kb(2, 4), 100}, Scan{kb(2, 6), 169, 5},
                    Scan{kb(2, 4), 500, 3, 4}, Scan{.nufft = kb(2, 3), .samples = 509, .a2 = 3, .on_chip = false},
                    Scan{.nufft = kb(2, 3), .samples = 16384, .a2 = 3, .on_chip = false}));

class NufftTruthOnGpu : public GpuTest, protected SampledNoise {};

TEST_F(NufftTruthOnGpu, HasAccuracyOfKernel) {
    const auto expected = direct_sum();
    for (const PublishedNufftError& row : published_nufft_errors()) {
        for (std::size_t i = 0; i < nufft_kernels.size(); ++i) {
            const ReconstructionSpec spec = spec_for({nufft_kernels[i], row.oversampling, row.width});
            const double error =
                relative_l2(voxels_of<std::complex<float>>(spec, bytes_of_lines(noise), GpuRun{}), expected);
            EXPECT_LE(error, std::max(1.5 * row.errors[i], floor_of_float(row.oversampling)))
                << "R " << row.oversampling << ", W " << row.width << ", kernel " << i;
        }
    }
}

TEST_F(NufftTruthOnGpu, CompensatesDispersion) {
    ReconstructionSpec spec = with(spec_for(kb(2, 6)), "dispersion=true a2_rad=40");
    const auto field = voxels_of<std::complex<float>>(spec, bytes_of_lines(noise), GpuRun{});
    EXPECT_LE(relative_l2(field, direct_sum(40)), 1e-5);
}

Field field_of(const ReconstructionSpec& spec, const std::vector<std::uint16_t>& spectra, std::int64_t block,
               int streams) {
    return voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run_on_gpu(true, block, streams));
}

// More lines than one call takes, B-scans with odd numbers of lines, each with its own background.
class NufftBits : public NufftOnGpu {};

TEST_P(NufftBits, DoNotDependOnBlocksAndStreams) {
    const ReconstructionSpec spec = spec_of(GetParam(), 997, 7);
    const auto spectra = moving_reflectors(GetParam().samples, 997 * 7);
    const auto field = [&](std::int64_t block, int streams) { return field_of(spec, spectra, block, streams); };
    const Field whole = field(7, 1);
    for (const std::int64_t block : {1, 3}) {
        for (const int streams : {1, 3}) {
            EXPECT_TRUE(same_bits(field(block, streams), whole)) << block << " B-scans, " << streams;
        }
    }
}

// Lines are processed in pairs by a thread block; a line's bits must not depend on its partner. A dark line stays
// exactly zero.
TEST_P(NufftBits, LineIsIndependentOfNeighbour) {
    ReconstructionSpec spec = spec_of(GetParam(), 5, 1);
    spec.recipe.background = Background::none;
    const std::int64_t samples = GetParam().samples;
    std::vector<std::uint16_t> spectra = moving_reflectors(samples, 5);
    const auto line = [&](std::int64_t l) { return spectra.begin() + l * samples; };
    std::copy_n(line(0), samples, line(3));
    std::copy_n(line(0), samples, line(4));
    std::fill_n(line(2), samples, std::uint16_t{0});
    const Field field = voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), GpuRun{});
    const std::size_t depth = field.size() / 5;
    const auto bins = [&](std::size_t l) {
        return Field(field.begin() + static_cast<std::ptrdiff_t>(l * depth),
                     field.begin() + static_cast<std::ptrdiff_t>((l + 1) * depth));
    };
    EXPECT_TRUE(same_bits(bins(0), bins(3)));
    EXPECT_TRUE(same_bits(bins(0), bins(4)));
    for (const std::complex<float> bin : bins(2)) ASSERT_EQ(bin, std::complex<float>{});
}

INSTANTIATE_TEST_SUITE_P(Weights, NufftBits,
                         testing::Values(Scan{kb(2, 3), 2048}, Scan{kb(2, 3), 2048, 12}, Scan{kb(2, 3), 832},
                                         Scan{kb(2, 3), 1000, 12}, Scan{kb(2, 3), 96}));

// Two volumes whose lines each have their own k map: a row of k_jitter per A-scan or per B-scan.
class NufftMoved : public NufftOnGpu {
  protected:
    static ReconstructionSpec moved_spec(const Scan& scan, std::int64_t a_scans, bool each_b_scan) {
        ReconstructionSpec spec = with(spec_of(scan, a_scans, 3), "volumes=2 bidirectional=true");
        std::mt19937 random(7);
        std::uniform_real_distribution<double> offset(-4, 4), stretch(0.998, 1.002);
        for (std::int64_t row = 0; row < 6 * (each_b_scan ? 1 : a_scans); ++row) {
            spec.calibration.k_jitter.insert(spec.calibration.k_jitter.end(), {offset(random), stretch(random)});
        }
        return spec;
    }
};

TEST_P(NufftMoved, AgreesWithCpu) {
    const std::vector<std::uint16_t> spectra = moving_reflectors(GetParam().samples, 13 * 6);
    for (const bool each_b_scan : {false, true}) {
        const ReconstructionSpec spec = moved_spec(GetParam(), 13, each_b_scan);
        const GpuRun run{.block_b_scans = 2};
        EXPECT_NE(way_of(spec, run.choice).find("nufft in passes"), std::string::npos) << way_of(spec, run.choice);
        const auto cpu = voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run_on_cpu(2));
        const double error = normalised_error(voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run), cpu);
        RecordProperty(each_b_scan ? "nmse_of_b_scans" : "nmse_of_a_scans", std::to_string(error * 1e12) + "e-12");
        EXPECT_LE(error, max_error);
        ReconstructionSpec nominal = spec;
        nominal.calibration.k_jitter.clear();
        EXPECT_GT(normalised_error(voxels_of<std::complex<float>>(nominal, bytes_of_lines(spectra), run), cpu), 1e-3)
            << "the rows change nothing";
    }
}

TEST_P(NufftMoved, BitsDoNotDependOnBlocksAndStreams) {
    const ReconstructionSpec spec = moved_spec(GetParam(), 301, false);
    const auto spectra = moving_reflectors(GetParam().samples, 301 * 6);
    const auto field = [&](std::int64_t block, int streams) { return field_of(spec, spectra, block, streams); };
    const Field whole = field(3, 1);
    for (const std::int64_t block : {1, 2}) {
        EXPECT_TRUE(same_bits(field(block, 3), whole)) << block << " B-scans";
    }
}

INSTANTIATE_TEST_SUITE_P(Scans, NufftMoved,
                         testing::Values(Scan{kb(2, 3), 2048}, Scan{kb(2, 6), 2048, 12}, Scan{kb(1.25, 5), 832},
                                         Scan{kb(2, 12), 509, 3}, Scan{kb(2, 4), 512, 5, 4},
                                         Scan{.nufft = {GridKernel::exponential, 1.5, 6}, .samples = 16384}));

// Byte codes are computed together with the bins. With one more depth row, not divisible by sixteen, they are
// computed from bins in memory.
class NufftCodes : public NufftOnGpu {};

TEST_P(NufftCodes, MatchBinsInMemory) {
    ReconstructionSpec spec = with(spec_of(GetParam(), 13, 4), "quantity=db voxel=u8");
    const auto spectra = moving_reflectors(GetParam().samples, 13 * 4);
    const auto volume = [&](std::int64_t depth_end, bool flip) {
        spec.recipe.depth_begin = 32;
        spec.recipe.depth_end = depth_end;
        spec.geometry.depth_flip = flip;
        return voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), {.block_b_scans = 3});
    };
    for (const bool bidirectional : {false, true}) {
        spec.geometry.bidirectional = bidirectional;
        const auto codes = volume(432, false), flipped = volume(432, true), of_bins = volume(433, false);
        std::size_t unlike = 0, by_more = 0;
        for (std::size_t line = 0; line < 13 * 4; ++line) {
            for (std::size_t z = 0; z < 400; ++z) {
                const int code = codes[line * 400 + z], other = of_bins[line * 401 + z];
                unlike += code != other;
                by_more += std::abs(code - other) > 1;
                ASSERT_EQ(code, flipped[line * 400 + 399 - z]);
            }
        }
        EXPECT_LE(unlike, codes.size() / 1000) << "the two ways round dB each for itself";
        EXPECT_EQ(by_more, 0u);
        EXPECT_NE(*std::ranges::max_element(codes), *std::ranges::min_element(codes));
    }
}

INSTANTIATE_TEST_SUITE_P(Weights, NufftCodes,
                         testing::Values(Scan{kb(2, 3), 2048}, Scan{kb(2, 3), 2048, 12}, Scan{kb(2, 3), 1000},
                                         Scan{kb(2, 3), 1000, 12}));

}  // namespace
}  // namespace echolux
