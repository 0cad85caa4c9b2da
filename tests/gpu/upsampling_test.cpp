// Up-sampling on chip compared with up-sampling through memory with cuFFT, and with the CPU.
#include "tests/gpu/gpu_run.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr double max_error = 1e-10;  // mean square; a thousand times the rounding of floats

struct Chain {
    std::int64_t samples;
    std::int64_t upsample;
    bool pad;
    Resample resample;
    double a2;
    bool on_chip = true;
    std::int64_t zero_padding = 1;
};

std::ostream& operator<<(std::ostream& out, const Chain& chain) {
    return out << chain.samples << " samples, x" << chain.upsample << (chain.pad ? ", padded" : "");
}

class UpsamplingBits : public GpuTest {
  protected:
    static ReconstructionSpec spec_of(const Chain& chain, std::int64_t a_scans, std::int64_t b_scans) {
        ReconstructionSpec spec;
        set(spec, "background=frame_mean levels=fixed quantity=complex voxel=complex64");
        spec.geometry = {.samples = chain.samples, .a_scans = a_scans, .b_scans = b_scans};
        spec.recipe.upsample = chain.upsample;
        spec.recipe.upsample_pad = chain.pad;
        spec.recipe.resample = chain.resample;
        spec.recipe.a2_rad = chain.a2;
        spec.recipe.zero_padding = chain.zero_padding;
        for (std::int64_t p = 0; p < chain.samples; ++p) {
            const double u = 2.0 * static_cast<double>(p) / static_cast<double>(chain.samples - 1) - 1;
            spec.calibration.wavelengths_nm.push_back(845 + 95 * u + 2.5 * (u * u - 1));
        }
        return spec;
    }
};

class UpsamplingOnGpu : public UpsamplingBits, public testing::WithParamInterface<Chain> {};

TEST_P(UpsamplingOnGpu, AgreesWithCpuForBothPaths) {
    const Chain& chain = GetParam();
    const ReconstructionSpec spec = spec_of(chain, 13, 3);
    const auto spectra = moving_reflectors(chain.samples, 13 * 3);
    const auto cpu =
        voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), {.choice = {.backend = Backend::cpu}});
    for (const bool fused : {true, false}) {
        GpuRun run{.block_b_scans = 2};
        run.choice.fused = fused;
        const std::string way = make_reconstructor(spec, run.choice)->backend_description();
        EXPECT_EQ(way.find("up-sampled on chip") != std::string::npos, fused && chain.on_chip) << way;
        const double error = normalised_error(voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run), cpu);
        RecordProperty(fused ? "nmse_fused" : "nmse_passes", std::to_string(error * 1e12) + "e-12");
        EXPECT_LE(error, max_error) << (fused ? "fused" : "in passes");
    }
}

// The first is the chain of the adaptive-optics instrument.
INSTANTIATE_TEST_SUITE_P(
    Chains, UpsamplingOnGpu,
    testing::Values(Chain{832, 2, true, Resample::linear_wavelength, 8}, Chain{832, 2, true, Resample::linear, 0},
                    Chain{2048, 2, false, Resample::linear, 0}, Chain{2048, 4, false, Resample::lagrange3, 9},
                    Chain{1024, 2, false, Resample::nearest, 5}, Chain{1024, 4, false, Resample::linear, 0, true, 2},
                    Chain{3001, 2, true, Resample::lagrange3, 4}, Chain{5000, 2, true, Resample::linear, 4},
                    Chain{5000, 4, true, Resample::linear, 4, false}, Chain{832, 2, false, Resample::linear, 4, false},
                    Chain{2048, 2, false, Resample::spline, 0, false}));

using Field = std::vector<std::complex<float>>;

TEST_F(UpsamplingBits, DoNotDependOnBlocksAndStreams) {
    const ReconstructionSpec spec = spec_of({832, 2, true, Resample::linear_wavelength, 8}, 1501, 7);
    const auto spectra = moving_reflectors(832, 1501 * 7);
    const auto field = [&](std::int64_t block, int streams) {
        GpuRun run{.block_b_scans = block};
        run.choice.streams = streams;
        return voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run);
    };
    const Field whole = field(7, 1);
    for (const std::int64_t block : {1, 3}) {
        for (const int streams : {1, 3}) EXPECT_EQ(field(block, streams), whole) << block << " B-scans, " << streams;
    }
}

}  // namespace
}  // namespace echolux
