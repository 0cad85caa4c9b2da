// Both types of the NUFFT with every kernel, compared with FINUFFT (A. Barnett, J. Magland, L. af Klinteberg, SIAM J.
// Sci. Comput. 41, C479 (2019)), which shares no code with it. Limits are the published errors of the kernels and the
// precision of floats.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "compute/cpu/sparse.h"
#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"

namespace echolux {
namespace {

constexpr std::int64_t n = ClosedFormInstrument::samples, modes = n / 2;

template <class T>
void write(const std::filesystem::path& path, const std::vector<T>& values) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

template <class T>
std::vector<T> read(const std::filesystem::path& path, std::int64_t count) {
    std::vector<T> values(index(count));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

class Finufft : public testing::Test {
  protected:
    // Creates noise at the samples of the instrument and noise in depth, and transforms both by FINUFFT.
    void SetUp() override {
        const std::filesystem::path folder =
            std::filesystem::path(testing::TempDir()) / ("finufft-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder);
        std::mt19937 random(11);
        std::normal_distribution<float> value;
        const double first = instrument.uniform_k.front(), span = instrument.uniform_k.back() - first;
        std::vector<double> points, strengths;
        for (const double k : instrument.pixel_k) points.push_back((k - first) / span * double{n - 1});
        for (std::size_t p = 0; p < points.size(); ++p) {
            samples.push_back(value(random));
            const std::size_t left = p == 0 ? 0 : p - 1, right = std::min(p + 1, points.size() - 1);
            const double share = (points[left] - points[right]) / static_cast<double>(right - left);
            strengths.push_back(share * double{samples.back()} / double{n});
        }
        std::vector<std::complex<double>> both_sides;  // a bin also represents its mirror image
        for (std::int64_t m = 0; m < modes; ++m) {
            profile.emplace_back(value(random), m == 0 ? 0.0f : value(random));
            both_sides.push_back((m == 0 ? 1.0 : 2.0) / std::sqrt(double{n}) * std::complex<double>(profile.back()));
        }
        write(folder / "points.f64", points);
        write(folder / "strengths.f64", strengths);
        write(folder / "profile.f64", both_sides);
        const std::string python = ECHOLUX_SOURCE_DIR "/build/python/bin/python";
        const std::string script = ECHOLUX_SOURCE_DIR "/tests/oracle/finufft_peer.py";
        const bool is_there = std::filesystem::exists(ECHOLUX_SOURCE_DIR "/build/python/made");
        const int status =
            is_there ? std::system((python + " -B '" + script + "' '" + folder.string() + "'").c_str()) : 77 << 8;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            type1 = read<std::complex<double>>(folder / "type1.f64", modes);
            type2 = read<double>(folder / "type2.f64", n);
        }
        std::filesystem::remove_all(folder);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            GTEST_SKIP() << "build/python with finufft is not there: ./dev test makes it";
        }
        ASSERT_EQ(status, 0);
    }

    std::vector<std::complex<float>> found_by_type1(const NufftRecipe& nufft) const {
        ReconstructionSpec spec = plain_spec(n, 1);
        spec.calibration.wavelengths_nm = instrument.wavelengths_nm;
        spec.recipe.resample = Resample::nufft;
        spec.nufft = nufft;
        return reconstructed<std::complex<float>>(spec, samples);
    }

    std::vector<float> found_by_type2(const NufftRecipe& nufft) const {
        ReconstructionSpec spec = plain_spec(n, 1);
        spec.calibration.wavelengths_nm = instrument.wavelengths_nm;
        spec.recipe.method = Method::compressive;
        spec.nufft = nufft;
        std::vector<float> found(n);
        cpu::CompressiveTables(spec).sensing()->to_samples(profile.data(), found.data());
        return found;
    }

    const ClosedFormInstrument instrument;
    std::vector<float> samples;
    std::vector<std::complex<float>> profile;
    std::vector<std::complex<double>> type1;
    std::vector<double> type2;
};

struct Case {
    double oversampling;
    std::int64_t width;
    std::array<double, 3> published;  // by kernel
};

TEST_F(Finufft, MatchesBothTypesForEveryKernel) {
    constexpr std::array kernels{GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential};
    for (const Case& c : {Case{1.25, 5, {1.8e-2, 1.1e-3, 1.8e-3}}, Case{1.5, 6, {2.2e-3, 3.5e-5, 4.9e-5}},
                          Case{2, 3, {2.2e-2, 4.2e-3, 6.8e-3}}, Case{2, 6, {7.0e-4, 4.8e-6, 7.2e-6}},
                          Case{2, 10, {6.1e-6, 6.3e-10, 1.5e-9}}}) {
        const double floor = c.oversampling >= 2 ? 4e-7 : c.oversampling >= 1.5 ? 8e-7 : 6e-6;  // rounding of float
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const NufftRecipe nufft{kernels[i], c.oversampling, c.width};
            const double limit = std::max(1.5 * c.published[i], floor);
            EXPECT_LE(relative_l2(found_by_type1(nufft), type1), limit) << c.oversampling << " " << c.width << " " << i;
            EXPECT_LE(relative_l2(found_by_type2(nufft), type2), limit) << c.oversampling << " " << c.width << " " << i;
        }
    }
}

}  // namespace
}  // namespace echolux
