// Speckle filters: compared with plain sums over all neighbours in double, on speckle of known mean, and on volumes
// without speckle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/steps/speckle.h"
#include "engine/speckle/speckle_filter.h"
#include "engine/validation/scenes.h"
#include "tests/support/set_fields.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

std::vector<float> exponentials(const Size3& size, unsigned seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> power(index(size[0] * size[1] * size[2]));
    for (float& value : power) value = speckle(random);
    return power;
}

std::vector<float> filtered_by(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter) {
    SilentProgress silent;
    return filtered(power, size, filter, silent);
}

double mean_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value);
    return sum / static_cast<double>(values.size());
}

double looks_of(const std::vector<float>& values) {
    const double mean = mean_of(values);
    double square = 0;
    for (const float value : values) square += std::pow(static_cast<double>(value) - mean, 2);
    return mean * mean * static_cast<double>(values.size()) / square;
}

// Calls use(neighbour) for all existing neighbours within reach; at() repeats the outermost values.
struct Box {
    const std::vector<float>& values;
    Size3 size;

    bool has(std::int64_t z, std::int64_t a, std::int64_t b) const {
        return z >= 0 && z < size[0] && a >= 0 && a < size[1] && b >= 0 && b < size[2];
    }
    double at(std::int64_t z, std::int64_t a, std::int64_t b) const {
        z = std::clamp<std::int64_t>(z, 0, size[0] - 1);
        a = std::clamp<std::int64_t>(a, 0, size[1] - 1);
        b = std::clamp<std::int64_t>(b, 0, size[2] - 1);
        return static_cast<double>(values[index((b * size[1] + a) * size[0] + z)]);
    }
};

template <class Use>
void each_within(std::int64_t z_reach, std::int64_t a_reach, std::int64_t b_reach, const Use& use) {
    for (std::int64_t b = -b_reach; b <= b_reach; ++b)
        for (std::int64_t a = -a_reach; a <= a_reach; ++a)
            for (std::int64_t z = -z_reach; z <= z_reach; ++z) use(z, a, b);
}

TEST(SpeckleSteps, ComputePowersOfTwo) {
    for (double x = -120; x < 120; x += 0.37) {
        EXPECT_NEAR(Exp2{}(static_cast<float>(x)) / std::exp2(static_cast<double>(static_cast<float>(x))), 1, 2e-7)
            << x;
    }
    EXPECT_LT(Exp2{}(-1000), 1e-37f);
}

TEST(SpeckleSteps, ComputeMedianInAnyOrder) {
    std::mt19937 random(2);
    for (int run = 0; run < 200; ++run) {
        std::array<float, 27> values{};
        for (float& value : values) value = static_cast<float>(random() % 40);
        auto sorted = values;
        std::ranges::sort(sorted);
        EXPECT_EQ(MedianOf<27>::of<float>([&](int i) { return values[index(i)]; }), sorted[13]);
    }
}

// Weight of a patch of 27 pairs with `looks` looks, in long double.
long double exact_weight(const std::vector<float>& a, const std::vector<float>& b, const PatchWeight& weight) {
    long double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto x = static_cast<long double>(a[i]), y = static_cast<long double>(b[i]);
        sum += std::log2((x + y) * (x + y) / (4 * x * y));
    }
    const long double more = sum / static_cast<long double>(a.size()) - static_cast<long double>(weight.expected);
    return more > 0 ? std::exp2(-more * static_cast<long double>(weight.per_h)) : 1;
}

TEST(SpeckleSteps, CompareManyLooksExactly) {
    std::mt19937 random(5);
    for (const double looks : {50.0, 200.0, 1000.0, 1e4}) {
        const std::vector<float> some(1000, 1.0f);
        SpeckleFilter filter;
        filter.looks = looks;
        const PatchWeight weight = std::get<NonLocalMeansTables>(tables_of(some, {10, 10, 10}, filter)).weight;
        EXPECT_TRUE(weight.is_close());
        std::gamma_distribution<double> speckle(looks, 1 / looks);
        for (int patch = 0; patch < 200; ++patch) {
            std::vector<float> a, b;
            float distance = 0;
            for (int i = 0; i < 27; ++i) {
                a.push_back(static_cast<float>(700 * speckle(random)));
                b.push_back(static_cast<float>((700 + patch) * speckle(random)));
                distance += CloseSpeckleDistance{}(a.back(), b.back(), 0, 0);
            }
            EXPECT_NEAR(static_cast<double>(weight(distance / 27)), static_cast<double>(exact_weight(a, b, weight)),
                        1e-4)
                << looks << ' ' << patch;
        }
    }
    for (const float x : {0.0f, 1e-12f, 1e-5f, 0.3f, 0.499f, 0.5f, 0.501f, 3.0f, 1e4f}) {
        const double exact = std::log1p(static_cast<double>(x)) / std::log(2.0);
        EXPECT_NEAR(static_cast<double>(Log2OnePlus{}(x)), exact, 5e-7 * exact) << x;
    }
}

TEST(SpeckleFilters, MedianMatchesMedianOfCube) {
    const Size3 size{21, 6, 5};
    const std::vector<float> power = exponentials(size, 3);
    const Box box{power, size};
    for (const std::int64_t edge : {3, 5}) {
        SpeckleFilter filter{.method = FilterMethod::median, .median_size = edge};
        const std::vector<float> out = filtered_by(power, size, filter);
        std::size_t i = 0;
        for (std::int64_t b = 0; b < size[2]; ++b) {
            for (std::int64_t a = 0; a < size[1]; ++a) {
                for (std::int64_t z = 0; z < size[0]; ++z) {
                    std::vector<double> near;
                    each_within(edge / 2, edge / 2, edge / 2, [&](std::int64_t dz, std::int64_t da, std::int64_t db) {
                        near.push_back(box.at(z + dz, a + da, b + db));
                    });
                    std::ranges::sort(near);
                    ASSERT_NEAR(out[i++], near[near.size() / 2] / std::log(2.0), 1e-5);
                }
            }
        }
    }
}

TEST(SpeckleFilters, NonLocalMeansMatchFormula) {
    const Size3 size{18, 40, 6};
    const std::vector<float> power = exponentials(size, 4);
    const Box box{power, size};
    SpeckleFilter filter;
    set(filter, "search_depth=5 search_a_scans=3 search_b_scans=3 patch=3 strength=0.2");
    const std::vector<float> out = filtered_by(power, size, filter);
    constexpr double expected = 0.6137056388801094;  // 2 psi(2) - 2 psi(1) - ln 4 = 2 - ln 4
    const auto margin = static_cast<double>(log_margin(power));
    std::size_t i = 0;
    for (std::int64_t b = 0; b < size[2]; ++b) {
        for (std::int64_t a = 0; a < size[1]; ++a) {
            for (std::int64_t z = 0; z < size[0]; ++z) {
                double sum = 0, weights = 0;
                each_within(2, 1, 1, [&](std::int64_t dz, std::int64_t da, std::int64_t db) {
                    if (!box.has(z + dz, a + da, b + db)) return;
                    double distance = 0;
                    each_within(1, 1, 1, [&](std::int64_t pz, std::int64_t pa, std::int64_t pb) {
                        const double one = box.at(z + pz, a + pa, b + pb) + margin;
                        const double other = box.at(z + pz + dz, a + pa + da, b + pb + db) + margin;
                        distance += std::log((one + other) * (one + other) / (4 * one * other)) / 27;
                    });
                    const double weight = std::exp(-std::max(distance - expected, 0.0) / filter.strength);
                    sum += weight * box.at(z + dz, a + da, b + db);
                    weights += weight;
                });
                ASSERT_NEAR(out[i++], sum / weights, 2e-5) << z << " " << a << " " << b;
            }
        }
    }
}

// One B-scan of two layers, the upper half 20 dB darker.
std::vector<float> two_layers(const Size3& size, unsigned seed) {
    std::vector<float> power = exponentials(size, seed);
    for (std::size_t i = 0; i < power.size(); ++i) {
        if (static_cast<std::int64_t>(i) % size[0] < size[0] / 2) power[i] *= 0.01f;
    }
    return power;
}

// Mean square of the error in dB over rows [begin, end) of an image whose rows have the mean `truth`.
double square_db(const std::vector<float>& power, const Size3& size, std::int64_t begin, std::int64_t end,
                 double truth) {
    double sum = 0;
    for (std::int64_t a = 0; a < size[1]; ++a) {
        for (std::int64_t z = begin; z < end; ++z)
            sum += std::pow(10 * std::log10(static_cast<double>(power[index(a * size[0] + z)]) / truth), 2);
    }
    return sum / static_cast<double>(size[1] * (end - begin));
}

TEST(SpeckleFilters, BlendGaussianIntoUniformTissueOfOneBScan) {
    const Size3 size{120, 160, 1};
    const std::vector<float> power = two_layers(size, 11);
    SpeckleFilter filter;
    const std::vector<float> blended = filtered_by(power, size, filter);
    filter.blend = false;
    const std::vector<float> pure = filtered_by(power, size, filter);
    std::vector<float> gaussian = power;
    smooth(gaussian, size, {4, 4, 0});
    // Far from the edge the Gaussian decides, at the edge the non-local mean.
    EXPECT_LT(square_db(blended, size, 80, 120, 1), 0.7 * square_db(pure, size, 80, 120, 1));
    EXPECT_LT(square_db(blended, size, 60, 63, 1), 1.2 * square_db(pure, size, 60, 63, 1));
    EXPECT_LT(square_db(blended, size, 56, 60, 0.01), 0.1 * square_db(gaussian, size, 56, 60, 0.01));
}

TEST(SpeckleFilters, DoNotBlendSeveralBScans) {
    const Size3 size{24, 20, 3};
    const std::vector<float> power = exponentials(size, 12);
    SpeckleFilter filter;
    const std::vector<float> with = filtered_by(power, size, filter);
    filter.blend = false;
    EXPECT_EQ(filtered_by(power, size, filter), with);
}

TEST(SpeckleFilters, BilateralMatchesFormula) {
    const Size3 size{16, 9, 4};
    const std::vector<float> power = exponentials(size, 5);
    std::vector<float> guide;
    for (const float value : power) guide.push_back(10 * std::log10(value + log_margin(power)));
    smooth(guide, size, {1, 1, 1});
    const Box box{power, size}, db_of{guide, size};
    SpeckleFilter filter = with(SpeckleFilter{}, "method=bilateral sigma=1");
    const std::vector<float> out = filtered_by(power, size, filter);
    std::size_t i = 0;
    for (std::int64_t b = 0; b < size[2]; ++b) {
        for (std::int64_t a = 0; a < size[1]; ++a) {
            for (std::int64_t z = 0; z < size[0]; ++z) {
                double sum = 0, weights = 0;
                each_within(2, 2, 2, [&](std::int64_t dz, std::int64_t da, std::int64_t db) {
                    if (!box.has(z + dz, a + da, b + db)) return;
                    const double db_apart = db_of.at(z + dz, a + da, b + db) - db_of.at(z, a, b);
                    const double weight =
                        std::exp(-0.5 * static_cast<double>(dz * dz + da * da + db * db) - db_apart * db_apart / 32);
                    sum += weight * box.at(z + dz, a + da, b + db);
                    weights += weight;
                });
                ASSERT_NEAR(out[i++], sum / weights, 2e-5);
            }
        }
    }
}

// The mean reflectivity is kept, with less variance.
TEST(SpeckleFilters, KeepMeanOfSpeckle) {
    const Size3 size{48, 40, 12};
    const std::vector<float> power = exponentials(size, 6);
    EXPECT_NEAR(looks_of(power), 1, 0.05);
    SpeckleFilter filter = with(SpeckleFilter{}, "search_depth=7 search_a_scans=7 search_b_scans=3");
    for (const auto& [method, least] : {std::pair{FilterMethod::nlm, 20.0}, std::pair{FilterMethod::median, 40.0},
                                        std::pair{FilterMethod::bilateral, 15.0}}) {
        filter.method = method;
        const std::vector<float> out = filtered_by(power, size, filter);
        EXPECT_NEAR(mean_of(out), 1, 0.03) << static_cast<int>(method);
        EXPECT_GT(looks_of(out), least) << static_cast<int>(method);
    }
}

TEST(SpeckleFilters, HaveSameBitsForAnyNumberOfThreads) {
    const Size3 size{30, 70, 18};
    const std::vector<float> power = exponentials(size, 7);
    for (const FilterMethod method : {FilterMethod::nlm, FilterMethod::median, FilterMethod::bilateral}) {
        SpeckleFilter filter = with(SpeckleFilter{}, "search_depth=3 search_a_scans=3 search_b_scans=3 median_size=3");
        filter.method = method;
        set_thread_count(1);
        const std::vector<float> one = filtered_by(power, size, filter);
        set_thread_count(3);
        EXPECT_EQ(filtered_by(power, size, filter), one);
        set_thread_count(0);
    }
}

TEST(SpeckleFilters, EvenWidthsAreRefused) {
    SpeckleFilter filter;
    filter.search_depth = 4;
    EXPECT_THROW(check_filter(filter), Error);
    filter = {};
    filter.patch = 2;
    EXPECT_THROW(check_filter(filter), Error);
}

Volume volume_of_codes(const std::string& quantity) {
    Volume volume;
    volume.grid.depth = 24;
    volume.grid.a_scans = 12;
    volume.grid.b_scans = 3;
    volume.grid.type = VoxelType::u8;
    volume.grid.scale = 0.2;
    volume.grid.offset = -5;
    volume.grid.quantity = quantity;
    std::mt19937 random(8);
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) volume.voxels.push_back(static_cast<std::byte>(random()));
    return volume;
}

TEST(FilteredVolumes, KeepCodesThroughPower) {
    for (const char* quantity : {"db", "amplitude", "intensity"}) {
        Volume volume = volume_of_codes(quantity);
        if (std::string(quantity) != "db") volume.grid.offset = 0;
        const Volume before = volume;
        set_power(volume, StoredAs::automatic, power_of(volume, StoredAs::automatic));
        EXPECT_EQ(volume.voxels, before.voxels) << quantity;
    }
}

TEST(FilteredVolumes, RejectUnknownQuantities) {
    SilentProgress silent;
    for (const char* quantity : {"", "velocity", "doppler"}) {
        Volume volume = volume_of_codes(quantity);
        EXPECT_THROW(filter_volume(volume, {}, silent), Error) << quantity;
    }
    Volume volume = volume_of_codes("");
    SpeckleFilter filter = with(SpeckleFilter{}, "stored_as=db search_depth=3 search_a_scans=3 search_b_scans=3");
    EXPECT_NO_THROW(filter_volume(volume, filter, silent));
}

Volume volume_of_power(const Size3& size, const std::vector<float>& power) {
    return make_volume(size, power, "intensity");
}

TEST(CompoundedVolumes, AreMeanAndEstimateLooks) {
    const Size3 size{40, 32, 8};
    Compound independent, same;
    std::vector<double> sum(index(40 * 32 * 8));
    for (unsigned look = 0; look < 4; ++look) {
        const std::vector<float> power = exponentials(size, 20 + look);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(power[i]) / 4;
        independent.add(volume_of_power(size, power), StoredAs::automatic);
        same.add(volume_of_power(size, exponentials(size, 20)), StoredAs::automatic);
    }
    EXPECT_NEAR(independent.effective_looks(1), 4, 0.2);
    EXPECT_NEAR(same.effective_looks(1), 1, 0.01);
    const Volume mean = independent.mean(StoredAs::automatic);
    for (std::size_t i = 0; i < sum.size(); ++i)
        ASSERT_NEAR(reinterpret_cast<const float*>(mean.voxels.data())[i], sum[i], 1e-5);
    Volume other = volume_of_power({20, 32, 16}, exponentials({20, 32, 16}, 1));
    EXPECT_THROW(same.add(other, StoredAs::automatic), Error);
}

// A look without a value is not a dark look.
TEST(CompoundedVolumes, CountOnlyLooksWithValue) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    for (const bool in_first : {true, false}) {
        Compound compound;
        const std::vector<float> holed{none, none, 4, 6}, whole{3, none, 2, 2};
        compound.add(volume_of_power({4, 1, 1}, in_first ? holed : whole), StoredAs::automatic);
        compound.add(volume_of_power({4, 1, 1}, in_first ? whole : holed), StoredAs::automatic);
        const Volume mean = compound.mean(StoredAs::automatic);
        const auto* values = reinterpret_cast<const float*>(mean.voxels.data());
        EXPECT_FLOAT_EQ(values[0], 3);
        EXPECT_TRUE(std::isnan(values[1]));
        EXPECT_FLOAT_EQ(values[2], 3);
        EXPECT_FLOAT_EQ(values[3], 4);
    }
}

// Speckle of tissue that is the same in each volume, in a quarter of the depth; changing noise elsewhere.
TEST(CompoundedVolumes, EstimateLooksFromTissueOnly) {
    const Size3 size{96, 32, 8};
    for (const float noise_power : {0.003f, 0.1f}) {
        for (const bool has_holes : {false, true}) {
            std::mt19937 tissue_random(5), noise_random(6);
            std::normal_distribution<float> normal(0, std::sqrt(0.5f));
            std::vector<std::complex<float>> tissue(index(96 * 32 * 8));
            for (std::size_t i = 0; i < tissue.size(); ++i) {
                if (i % 96 >= 36 && i % 96 < 60) tissue[i] = {normal(tissue_random), normal(tissue_random)};
            }
            Compound compound;
            for (int look = 0; look < 4; ++look) {
                std::vector<float> power(tissue.size());
                for (std::size_t i = 0; i < power.size(); ++i) {
                    const std::complex<float> noise(normal(noise_random), normal(noise_random));
                    power[i] = std::norm(tissue[i] + std::sqrt(noise_power) * noise);
                    if (has_holes && look == 1 && i % 96 < 48 && i / 96 % 32 < 16)
                        power[i] = std::numeric_limits<float>::quiet_NaN();
                }
                compound.add(volume_of_power(size, power), StoredAs::automatic);
            }
            const double r = 1 / ((1 + static_cast<double>(noise_power)) * (1 + static_cast<double>(noise_power)));
            EXPECT_NEAR(compound.effective_looks(1), 4 / (1 + 3 * r), 0.1) << noise_power << has_holes;
        }
    }
}

}  // namespace
}  // namespace echolux
