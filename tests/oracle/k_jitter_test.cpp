// Sweeps with individual k maps (docs/transforms.md 7.1), compared with fringes in closed form: one mirror, recorded
// with a random offset and stretch per sweep, has one complex depth profile.
#include <gtest/gtest.h>

#include <functional>

#include "compute/cpu/nonuniform.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/methods/k_jitter.h"
#include "compute/parallel_for.h"
#include "tests/oracle/nufft_truths.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using std::numbers::pi;
using Field = std::vector<std::complex<float>>;

class KJitterTest : public testing::Test, protected SampledNoise {
  protected:
    static constexpr double mirror_um = 431.7;

    ~KJitterTest() override { set_thread_count(0); }

    // Two volumes of 3 x 2 acquired B-scans of 4 x 2 lines.
    ReconstructionSpec mirror_spec() const {
        ReconstructionSpec spec = spec_for({GridKernel::kaiser_bessel, 2, 6});
        set(spec, "a_scans=4 a_repeats=2 b_scans=3 b_repeats=2 volumes=2 bidirectional=true window=hann");
        return spec;
    }

    static std::vector<double> random_rows(std::int64_t count) {
        std::mt19937 random(7);
        std::uniform_real_distribution<double> offset(-4, 4), stretch(0.998, 1.002);
        std::vector<double> rows;
        for (std::int64_t row = 0; row < count; ++row) {
            rows.push_back(offset(random));
            rows.push_back(stretch(random));
        }
        return rows;
    }

    // Spectra of both volumes; each row of the file applies to `lines_a_row` lines.
    std::vector<float> spectra(const std::vector<double>& rows, std::int64_t lines_a_row,
                               const std::vector<double>& nominal_k) const {
        const double k_min = instrument.uniform_k.front(), step = instrument.uniform_k[1] - k_min;
        std::vector<float> lines;
        for (std::size_t row = 0; row < rows.size(); row += 2) {
            std::vector<double> k = nominal_k;
            for (double& value : k) value = k_min + step * rows[row] + rows[row + 1] * (value - k_min);
            const std::vector<float> line = instrument.fringe(k, mirror_um);
            for (std::int64_t l = 0; l < lines_a_row; ++l) lines.insert(lines.end(), line.begin(), line.end());
        }
        return lines;
    }

    // Reconstructs both volumes in blocks.
    static Field both_volumes(ReconstructionSpec spec, const std::vector<float>& lines, std::int64_t block_b_scans) {
        spec.block_b_scans = block_b_scans;
        const ScanGeometry& geometry = spec.geometry;
        const auto reconstructor = plan_on_cpu(spec);
        const auto voxels_a_volume = index(reconstructor->grid().voxels());
        const std::int64_t b_scan_bytes = geometry.b_repeats * geometry.lines_per_b_scan() * n * 4;
        Field all;
        for (std::int64_t volume = 0; volume < geometry.volumes; ++volume) {
            Field voxels(voxels_a_volume);
            for (std::int64_t b = 0; b < geometry.b_scans; b += block_b_scans) {
                const std::int64_t count = std::min(block_b_scans, geometry.b_scans - b);
                const auto first = index((volume * geometry.b_scans + b) * b_scan_bytes);
                Block block = block_of(bytes_of_lines(lines).subspan(first, index(count * b_scan_bytes)), b, count);
                block.volume = volume;
                reconstructor->wait(reconstructor->submit(block, place_of(voxels, reconstructor->grid())));
            }
            all.insert(all.end(), voxels.begin(), voxels.end());
        }
        return all;
    }

    // Largest angle between an A-scan and the mean, at the mirror's bin and its two neighbours.
    double phase_spread(const Field& field) const {
        const std::size_t depth = n / 2, lines = field.size() / depth;
        const auto peak = index(std::lround(instrument.bin_of(mirror_um)));
        double most = 0;
        for (std::size_t z = peak - 1; z <= peak + 1; ++z) {
            std::complex<double> mean;
            for (std::size_t l = 0; l < lines; ++l) mean += std::complex<double>(field[l * depth + z]);
            for (std::size_t l = 0; l < lines; ++l) {
                most = std::max(most, std::abs(std::arg(std::complex<double>(field[l * depth + z]) / mean)));
            }
        }
        return most;
    }

    void expect_one_mirror(const Field& field) const {
        const std::size_t depth = n / 2;
        ASSERT_EQ(field.size(), 96 * depth);
        for (std::size_t l = 0; l < 96; ++l) {
            const auto line = field.begin() + static_cast<std::ptrdiff_t>(l * depth);
            const auto peak =
                std::max_element(line, line + depth, [](auto a, auto b) { return std::abs(a) < std::abs(b); });
            EXPECT_EQ(peak - line, std::lround(instrument.bin_of(mirror_um)));
            EXPECT_NEAR(std::abs(*peak) / std::abs(field[index(peak - line)]), 1, 1e-3);
        }
        EXPECT_LT(phase_spread(field), 1e-3);
    }
};

TEST_F(KJitterTest, ZeroJitterChangesNoVoxel) {
    struct Kernel {
        double oversampling;
        std::int64_t width;
    };
    for (const GridKernel which : nufft_kernels) {
        for (const auto [oversampling, width] : {Kernel{2, 2}, {2, 3}, {2, 8}, {2, 12}, {1.5, 5}, {1.25, 3}}) {
            for (const double a2 : {0.0, 40.0}) {
                ReconstructionSpec spec = spec_for({which, oversampling, width});
                set(spec, "window=hann zero_padding=2");
                spec.recipe.dispersion = a2 != 0;
                spec.recipe.a2_rad = a2;
                const Field tables = reconstructed<std::complex<float>>(spec, noise);
                spec.calibration.k_jitter = {0, 1};
                const Field moved = reconstructed<std::complex<float>>(spec, noise);
                EXPECT_LE(relative_l2(moved, {tables.begin(), tables.end()}), 1e-6)
                    << "R " << oversampling << ", W " << width << ", a2 " << a2;
            }
        }
    }
}

TEST_F(KJitterTest, IsCorrectedForEveryAScan) {
    ReconstructionSpec spec = mirror_spec();
    const std::vector<double> rows = random_rows(96);
    const std::vector<float> lines = spectra(rows, 1, instrument.pixel_k);
    EXPECT_GT(phase_spread(both_volumes(spec, lines, 3)), 0.5) << "there is nothing to take out";
    spec.calibration.k_jitter = rows;
    expect_one_mirror(both_volumes(spec, lines, 3));
}

TEST_F(KJitterTest, IsCorrectedForEveryBScan) {
    ReconstructionSpec spec = mirror_spec();
    const std::vector<double> rows = random_rows(12);
    spec.calibration.k_jitter = rows;
    expect_one_mirror(both_volumes(spec, spectra(rows, 8, instrument.pixel_k), 3));
}

TEST_F(KJitterTest, OneVolumeServesAll) {
    ReconstructionSpec spec = mirror_spec();
    const std::vector<double> rows = random_rows(48);
    spec.calibration.k_jitter = rows;
    std::vector<float> lines = spectra(rows, 1, instrument.pixel_k);
    const std::vector<float> again = lines;
    lines.insert(lines.end(), again.begin(), again.end());
    expect_one_mirror(both_volumes(spec, lines, 3));
}

TEST_F(KJitterTest, WorksWithoutKMap) {
    ReconstructionSpec spec = mirror_spec();
    spec.calibration.wavelengths_nm.clear();
    spec.calibration.k_jitter = random_rows(12);
    expect_one_mirror(both_volumes(spec, spectra(spec.calibration.k_jitter, 8, instrument.uniform_k), 3));
}

// Window and dispersion belong to positions on the k axis, so a dispersed mirror is equally sharp in every line.
TEST_F(KJitterTest, KeepsWindowAndDispersion) {
    constexpr double a2 = 60;
    const double k_min = instrument.uniform_k.front(), span = instrument.uniform_k.back() - k_min;
    ReconstructionSpec spec = spec_for({GridKernel::kaiser_bessel, 2, 8});
    set(spec, "a_scans=2 window=hann dispersion=true");
    spec.recipe.a2_rad = a2;
    spec.calibration.k_jitter = {0, 1, 12, 0.99};
    std::vector<float> lines;
    for (const bool moved : {false, true}) {
        std::vector<double> k = instrument.pixel_k, theta;
        for (double& value : k) {
            if (moved) value = k_min + 12 * span / (n - 1) + 0.99 * (value - k_min);
            const double kappa = 2 * (value - k_min) / span - 1;
            theta.push_back(a2 * kappa * kappa);
        }
        const std::vector<float> line = instrument.fringe(k, mirror_um, theta);
        lines.insert(lines.end(), line.begin(), line.end());
    }
    const Field field = reconstructed<std::complex<float>>(spec, lines);
    const auto half = field.begin() + n / 2;
    EXPECT_LE(relative_l2({field.begin(), half}, {half, field.end()}), 2e-4);
}

TEST_F(KJitterTest, BlocksAndThreadsChangeNoBit) {
    ReconstructionSpec spec = mirror_spec();
    const std::vector<double> rows = random_rows(96);
    spec.calibration.k_jitter = rows;
    const std::vector<float> lines = spectra(rows, 1, instrument.pixel_k);
    const Field whole = both_volumes(spec, lines, 3);
    for (const int threads : {1, 2, 3}) {
        set_thread_count(threads);
        EXPECT_EQ(both_volumes(spec, lines, 1), whole);
        EXPECT_EQ(both_volumes(spec, lines, 2), whole);
    }
}

// Gathering, as on a GPU: every grid point sums the samples near it. Includes rising and falling maps and the most
// extreme rows.
TEST_F(KJitterTest, GatheringEqualsScattering) {
    for (const bool falls : {false, true}) {
        for (const auto& [oversampling, width] : {std::pair{2.0, 6}, {1.25, 3}, {2.0, 2}, {3.0, 12}}) {
            ReconstructionSpec spec = spec_for({GridKernel::kaiser_bessel, oversampling, width});
            spec.calibration.k_jitter = {0, 1, 100, 0.95, -102, 1.05};
            spec.geometry.b_scans = 3;
            if (falls) std::ranges::reverse(spec.calibration.wavelengths_nm);
            const MovedSamples moved = moved_samples(spec, nufft_tables(spec));
            const SortedSamples by_place = samples_by_place(moved.points);
            for (std::int64_t line = 0; line < 3; ++line) {
                const LineMap map = moved.jitter.of(line);
                std::vector<float> scattered(index(moved.grid));
                cpu::to_grid(moved, map, noise.data(), scattered.data());
                const float greatest =
                    std::abs(*std::ranges::max_element(scattered, {}, [](float value) { return std::abs(value); }));
                for (std::int64_t g = 0; g < moved.grid; ++g) {
                    float sum = 0;
                    by_place.view().each_near(moved.spreading(), map, g, [&](std::int32_t sample, double distance) {
                        const auto p = index(sample);
                        const float weight = cpu::weight_at<float>(moved, map(moved.points[p]));
                        sum += moved.spreading().kernel_at(distance) * weight *
                               (moved.shares[p] * static_cast<float>(map.stretch)) * noise[p];
                    });
                    ASSERT_NEAR(sum, scattered[index(g)], 2e-6 * greatest)
                        << (falls ? "falling" : "rising") << ", W " << width << ", row " << line << ", point " << g;
                }
            }
        }
    }
}

TEST_F(KJitterTest, RejectsInvalidJitter) {
    const auto refusal = [&](const std::vector<double>& rows, const std::string& settings = "") {
        ReconstructionSpec spec = with(mirror_spec(), settings);
        spec.calibration.k_jitter = rows;
        return error_of([&] { planned_grid(spec); });
    };
    const auto with_row = [&](double offset, double stretch) {
        std::vector<double> rows = random_rows(48);
        rows[6] = offset;
        rows[7] = stretch;
        return rows;
    };
    const std::string key = "calibration.k_jitter";
    for (const std::int64_t rows : {6, 12, 48, 96}) EXPECT_EQ(refusal(random_rows(rows)).line, "") << rows;
    for (const std::int64_t rows : {1, 3, 24, 47, 97}) EXPECT_EQ(refusal(random_rows(rows)).where, key) << rows;
    EXPECT_EQ(refusal(std::vector<double>(97, 1.0)).where, key);
    for (const auto& [offset, stretch] :
         {std::pair{std::nan(""), 1.0}, {0, std::nan("")}, {0, 0}, {0, -1}, {250, 1}, {0, 1.5}}) {
        EXPECT_EQ(refusal(with_row(offset, stretch)).line.find(key + ": row 3 (counted from 0)"), 0U)
            << offset << stretch;
    }
    for (const char* other : {"resample=spline", "resample=lagrange3", "resample=nudft", "resample=none",
                              "method=compressive", "method=defr"}) {
        EXPECT_EQ(refusal(random_rows(48), other).code, ErrorCode::bad_setting) << other;
    }
}

}  // namespace
}  // namespace echolux
