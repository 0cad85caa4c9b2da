// Requirements for the full-range search on scenes of known profile, for either backend. Includers instantiate
// FullRange.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "compute/indexing.h"
#include "tests/oracle/full_range_scenes.h"

namespace echolux {

// A search under test.
struct FullRangeMachine {
    std::string name;
    std::unique_ptr<Reconstructor> (*plan)(const ReconstructionSpec&);
};

inline std::ostream& operator<<(std::ostream& out, const FullRangeMachine& one) {
    return out << one.name;
}

class FullRange : public testing::TestWithParam<FullRangeMachine> {
  protected:
    static constexpr std::int64_t n = full_range::n;
    using Profile = full_range::Profile;

    // `spectra` contains one or more spectra in sequence.
    Profile found(ReconstructionSpec spec, const std::vector<float>& spectra) const {
        spec.geometry.a_scans = std::ssize(spectra) / n;
        const auto reconstructor = GetParam().plan(spec);
        const VolumeGrid& grid = reconstructor->grid();
        std::vector<std::complex<float>> bins(index(grid.depth * grid.a_scans));
        reconstructor->wait(reconstructor->submit(block_of(bytes_of_lines(spectra), 0, 1), place_of(bins, grid)));
        return {bins.begin(), bins.end()};
    }

    // Median suppression of the scenes' false images.
    double median_suppression_db(std::int64_t iterations,
                                 const std::vector<std::vector<full_range::Reflector>>& scenes) const {
        std::vector<float> spectra;
        for (const auto& scene : scenes) {
            const auto spectrum = full_range::spectrum_of(scene, 160, 30);
            spectra.insert(spectra.end(), spectrum.begin(), spectrum.end());
        }
        const Profile all = found(full_range::spec_of(160, 30, iterations), spectra);
        std::vector<double> suppression;
        for (std::size_t i = 0; i < scenes.size(); ++i) {
            const auto first = all.begin() + static_cast<std::ptrdiff_t>(i) * n;
            suppression.push_back(full_range::suppression_db({first, first + n}, full_range::truth_of(scenes[i])));
        }
        return full_range::median(suppression);
    }
};

TEST_P(FullRange, SuppressesFalseImageOfMirror) {
    const std::vector<full_range::Reflector> mirror{{-300.3, 1, 0.7}};
    const Profile truth = full_range::truth_of(mirror);
    const std::vector<float> spectrum = full_range::spectrum_of(mirror, 160, 30);
    double before = full_range::suppression_db(found(full_range::spec_of(160, 30, 0), spectrum), truth);
    EXPECT_NEAR(before, 0, 0.1);  // the false image has the energy of the true one
    for (const auto& [iterations, least] : {std::pair{1, 12.0}, {2, 18.0}, {3, 28.0}, {5, 45.0}, {10, 65.0}}) {
        const double after =
            full_range::suppression_db(found(full_range::spec_of(160, 30, iterations), spectrum), truth);
        EXPECT_GE(after, least) << iterations << " iterations";
        EXPECT_GT(after, before);
        before = after;
    }
}

TEST_P(FullRange, SuppressesThoseOfTwelveLayers) {
    std::vector<std::vector<full_range::Reflector>> scenes;
    for (unsigned seed = 0; seed < 40; ++seed) scenes.push_back(full_range::layers(seed));
    EXPECT_GE(median_suppression_db(10, scenes), 42);
    EXPECT_GE(median_suppression_db(15, scenes), 50);
}

TEST_P(FullRange, EqualsCompensatedTransformWithoutIterations) {
    const std::vector<float> spectrum = full_range::spectrum_of(full_range::layers(7), 80, -20);
    const Profile full = found(full_range::spec_of(80, -20, 0), spectrum);
    ReconstructionSpec spec = full_range::spec_of(80, -20, 0);
    spec.recipe.method = Method::plain;
    const Profile half = found(spec, spectrum);
    ASSERT_EQ(full.size(), 2 * half.size());
    double off = 0;
    for (std::size_t z = 0; z < half.size(); ++z) off = std::max(off, std::abs(full[half.size() + z] - half[z]));
    EXPECT_LE(off, 1e-6 * std::sqrt(full_range::energy(half)));
}

TEST_P(FullRange, OppositeDispersionMirrorsDepth) {
    const std::vector<float> spectrum = full_range::spectrum_of({{300, 1, 0.2}}, 160, 0);
    const auto strongest = [](const Profile& profile) {
        const auto place = std::ranges::max_element(profile, {}, [](const auto& value) { return std::norm(value); });
        return place - profile.begin() - n / 2;
    };
    EXPECT_EQ(strongest(found(full_range::spec_of(160, 0, 10), spectrum)), 300);
    EXPECT_EQ(strongest(found(full_range::spec_of(-160, 0, 10), spectrum)), -300);
}

TEST_P(FullRange, ZeroDelayIsInMiddle) {
    ReconstructionSpec spec = full_range::spec_of(160, 0, 5);
    spec.calibration.depth_pitch_um = 2;
    EXPECT_EQ(planned_grid(spec).depth, n);
    EXPECT_DOUBLE_EQ(planned_grid(spec).first_depth_um, -n);  // n / 2 bins of 2 um
    spec.recipe.depth_begin = n / 2 - 10;
    spec.recipe.depth_end = n / 2 + 30;
    EXPECT_EQ(planned_grid(spec).depth, 40);
    EXPECT_DOUBLE_EQ(planned_grid(spec).first_depth_um, -20);
    const std::vector<float> spectrum = full_range::spectrum_of({{25, 1, 0}}, 160, 0);
    EXPECT_GT(std::abs(found(spec, spectrum)[35]), 0.45);
    spec.geometry.depth_flip = true;
    EXPECT_DOUBLE_EQ(planned_grid(spec).first_depth_um, -58);
    EXPECT_GT(std::abs(found(spec, spectrum)[4]), 0.45);
}

TEST_P(FullRange, SingleAndDoublePrecisionAgree) {
    const std::vector<float> spectrum = full_range::spectrum_of(full_range::layers(11), 160, 30);
    for (const auto& [iterations, limit_db] : {std::pair{10, -40.0}, {20, -8.2}}) {
        ReconstructionSpec spec = full_range::spec_of(160, 30, iterations);
        const Profile single = found(spec, spectrum);
        spec.defr.double_precision = true;
        const Profile precise = found(spec, spectrum);
        double difference = 0;
        std::vector<double> levels;
        for (std::size_t z = 0; z < single.size(); ++z) {
            difference += std::abs(std::abs(single[z]) - std::abs(precise[z])) / n;
            levels.push_back(std::abs(precise[z]));
        }
        EXPECT_LE(20 * std::log10(difference / full_range::median(levels)), limit_db) << iterations;
    }
}

// The two outputs of a search differ by the transform of the residual.
TEST_P(FullRange, ResidualNeverGrows) {
    std::mt19937 random(3);
    std::normal_distribution<float> noise;
    std::vector<float> spectrum(n);
    for (float& value : spectrum) value = noise(random);
    for (const double delta : {0.0, 0.3, 1.0}) {
        double before = INFINITY;
        for (std::int64_t iterations = 1; iterations <= 12; ++iterations) {
            ReconstructionSpec spec = full_range::spec_of(60, 10, iterations);
            spec.defr.delta = delta;
            Profile left = found(spec, spectrum);
            spec.defr.residual = false;
            const Profile peaks = found(spec, spectrum);
            for (std::size_t z = 0; z < left.size(); ++z) left[z] -= peaks[z];
            const double energy = full_range::energy(left);
            EXPECT_GT(energy, 0);
            EXPECT_LE(energy, before * (1 + 1e-6)) << "delta " << delta << ", " << iterations;
            before = energy;
        }
    }
}

TEST_P(FullRange, ZeroSpectraGiveZero) {
    for (const bool residual : {false, true}) {
        ReconstructionSpec spec = full_range::spec_of(160, 30, 10);
        spec.defr.residual = residual;
        for (const auto& value : found(spec, std::vector<float>(n))) EXPECT_EQ(value, 0.0);
    }
}

}  // namespace echolux
