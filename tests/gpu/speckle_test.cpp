// Speckle filters on the GPU compared with the CPU's: volumes that fill no tile, volumes of one B-scan, one A-scan and
// one voxel, parameters beyond the limits of the tiles, and codes.
#include "compute/speckle.h"

#include <limits>

#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "engine/speckle/speckle_filter.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

const BackendChoice on_gpu{.backend = Backend::cuda}, on_cpu{.backend = Backend::cpu};

// Speckle of layers, with some zero voxels and one very bright voxel.
std::vector<float> speckle_of(const Size3& size, unsigned seed = 3) {
    std::mt19937 random(seed);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> power(index(size[0] * size[1] * size[2]));
    for (std::size_t i = 0; i < power.size(); ++i) {
        const auto z = static_cast<std::int64_t>(i) % size[0];
        power[i] = i % 97 == 5 ? 0 : speckle(random) * (z * 3 / size[0] == 1 ? 30.0f : 0.4f);
    }
    power[power.size() / 2] = 3e5f;
    return power;
}

// Larger patches select similar voxels more sharply, so rounding of their sums matters more.
void expect_close(const std::vector<float>& found, const std::vector<float>& expected, double margin,
                  const std::string& of, double most = 1e-5) {
    ASSERT_EQ(found.size(), expected.size());
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto truth = static_cast<double>(expected[i]);
        const double error = std::abs(static_cast<double>(found[i]) - truth) / (std::abs(truth) + margin);
        if (error <= worst) continue;
        worst = error;
        at = i;
    }
    EXPECT_LE(worst, most) << of << ": voxel " << at << ", " << found[at] << " instead of " << expected[at];
    ::testing::Test::RecordProperty(of, std::to_string(worst));
}

void expect_same(const Size3& size, const SpeckleFilter& filter, const std::string& of) {
    SilentProgress silent;
    const std::vector<float> power = speckle_of(size);
    const FilteredPower gpu = filtered(power, size, filter, on_gpu, silent);
    EXPECT_EQ(gpu.used.backend, Backend::cuda);
    const std::string name =
        of + " " + std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
    expect_close(gpu.power, filtered(power, size, filter, on_cpu, silent).power, static_cast<double>(log_margin(power)),
                 name, filter.method == FilterMethod::nlm && filter.patch > 3 ? 3e-5 : 1e-5);
}

const Size3 sizes[] = {{64, 60, 8}, {77, 61, 9},  {33, 31, 1}, {130, 1, 1},
                       {1, 45, 5},  {200, 1, 11}, {1, 1, 1},   {31, 5, 3}};

SpeckleFilter non_local(std::int64_t across, std::int64_t b_scans, std::int64_t patch, double strength) {
    SpeckleFilter filter{.search_depth = across,
                         .search_a_scans = across,
                         .search_b_scans = b_scans,
                         .patch = patch,
                         .strength = strength};
    return filter;
}

class SpeckleOnGpu : public GpuTest {};

TEST_F(SpeckleOnGpu, NonLocalMeansMatchCpu) {
    for (const Size3& size : sizes) {
        expect_same(size, non_local(7, 3, 3, 0.2), "7x7x3 patch 3");
        expect_same(size, non_local(7, 3, 5, 0.1), "7x7x3 patch 5");
    }
    expect_same({50, 40, 12}, non_local(11, 7, 5, 0.1), "11x11x7 patch 5");
    expect_same({50, 40, 12}, non_local(1, 1, 3, 0.2), "1x1x1 patch 3");
    expect_same({50, 40, 12}, non_local(3, 5, 3, 0.2), "3x3x5 patch 3");
}

// Beyond the limits of the tiles: other patches, wide searches, and powers whose products would overflow.
TEST_F(SpeckleOnGpu, NonLocalMeansOfAnyPatchMatchCpu) {
    expect_same({37, 21, 5}, non_local(5, 3, 1, 0.2), "5x5x3 patch 1");
    expect_same({37, 21, 5}, non_local(5, 3, 7, 0.1), "5x5x3 patch 7");
    expect_same({90, 80, 7}, non_local(29, 7, 3, 0.2), "29x29x7 patch 3");
    SilentProgress silent;
    const Size3 size{40, 30, 4};
    std::vector<float> power(index(size[0] * size[1] * size[2]));
    for (std::size_t i = 0; i < power.size(); i += 211) power[i] = 1 + static_cast<float>(i % 7);
    const SpeckleFilter filter = non_local(7, 3, 3, 0.2);
    expect_close(filtered(power, size, filter, on_gpu, silent).power,
                 filtered(power, size, filter, on_cpu, silent).power, 1e-20, "hardly any power");
}

TEST_F(SpeckleOnGpu, ManyLooksMatchCpu) {
    SpeckleFilter filter = non_local(5, 3, 3, 0.1);
    filter.looks = 1000;
    SilentProgress silent;
    const Size3 size{40, 33, 6};
    std::mt19937 random(6);
    std::gamma_distribution<float> speckle(1000, 1e-3f);
    std::vector<float> power(index(size[0] * size[1] * size[2]));
    for (float& value : power) value = 40 * speckle(random);
    expect_close(filtered(power, size, filter, on_gpu, silent).power,
                 filtered(power, size, filter, on_cpu, silent).power, 1e-20, "1000 looks");
}

class CountsSlices : public SilentProgress {
  public:
    explicit CountsSlices(int most) : most_(most) {}
    void advance(std::int64_t count) override {
        slices += count;
        if (++told_ >= most_) throw Error(ErrorCode::cancelled, "stopped", "test");
    }
    std::int64_t slices = 0;

  private:
    int most_, told_ = 0;
};

// Volumes of many B-scans are filtered in batches: progress is reported, the filter can be stopped, and results at the
// seams are the same.
TEST_F(SpeckleOnGpu, FiltersManyBScansInBatches) {
    SpeckleFilter median, bilateral;
    median.method = FilterMethod::median;
    bilateral.method = FilterMethod::bilateral;
    const Size3 size{24, 20, 75};
    for (const SpeckleFilter& filter : {median, bilateral, non_local(5, 3, 3, 0.2), non_local(3, 1, 1, 0.2)})
        expect_same(size, filter, "75 B-scans, method " + std::to_string(static_cast<int>(filter.method)));
    const std::vector<float> power = speckle_of(size);
    CountsSlices all(1000), stops(2);
    filtered(power, size, median, on_gpu, all);
    EXPECT_EQ(all.slices, 75);
    EXPECT_THROW(filtered(power, size, median, on_gpu, stops), Error);
    EXPECT_LT(stops.slices, 75);
}

TEST_F(SpeckleOnGpu, ReportsInsufficientMemoryBeforehand) {
    SpeckleFilter filter;
    const SpeckleTables tables = tables_of({1, 1, 1}, {1, 1, 3}, filter);
    try {
        required_gpu().speckle_filter({100'000, 100'000, 1000}, tables, on_gpu);
        ADD_FAILURE() << "4 TB were found";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        EXPECT_NE(error.line().find("this filter needs"), std::string::npos) << error.line();
        EXPECT_NE(error.line().find("GiB"), std::string::npos) << error.line();
    }
}

TEST_F(SpeckleOnGpu, ZeroVolumeGivesZero) {
    SilentProgress silent;
    const std::vector<float> nothing(24 * 20 * 3);
    for (const FilterMethod method : {FilterMethod::nlm, FilterMethod::median, FilterMethod::bilateral}) {
        SpeckleFilter filter;
        filter.method = method;
        for (const float value : filtered(nothing, {24, 20, 3}, filter, on_gpu, silent).power)
            ASSERT_LE(value, 1e-35f);  // rounding of a margin of 1e-30
        EXPECT_TRUE(filtered({}, {24, 20, 0}, filter, on_gpu, silent).power.empty());
    }
}

TEST_F(SpeckleOnGpu, MediansMatchCpu) {
    SpeckleFilter filter;
    filter.method = FilterMethod::median;
    for (const Size3& size : sizes) {
        for (const std::int64_t edge : {3, 5}) {
            filter.median_size = edge;
            expect_same(size, filter, "median " + std::to_string(edge));
        }
    }
}

TEST_F(SpeckleOnGpu, BilateralMeansMatchCpu) {
    SpeckleFilter filter;
    filter.method = FilterMethod::bilateral;
    for (const Size3& size : sizes) {
        for (const double sigma : {0.5, 2.0}) {
            filter.sigma = sigma;
            expect_same(size, filter, "bilateral " + std::to_string(sigma));
        }
    }
}

// Codes equal the CPU's except where a value is halfway between two.
template <class Code>
void expect_same_codes(VoxelType type, const char* quantity, double scale, double offset) {
    SilentProgress silent;
    const Size3 size{50, 33, 5};
    Volume volume = make_volume({.depth = size[0],
                                 .a_scans = size[1],
                                 .b_scans = size[2],
                                 .type = type,
                                 .scale = scale,
                                 .offset = offset,
                                 .quantity = quantity});
    std::mt19937 random(9);
    auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) codes[i] = static_cast<Code>(random() % 250);
    if constexpr (std::is_floating_point_v<Code>) codes[77] = std::numeric_limits<Code>::quiet_NaN();
    for (const FilterMethod method : {FilterMethod::nlm, FilterMethod::median, FilterMethod::bilateral}) {
        SpeckleFilter filter;
        filter.method = method;
        Volume gpu = volume, cpu = volume;
        EXPECT_EQ(filter_volume(gpu, filter, silent, on_gpu).backend, Backend::cuda);
        EXPECT_EQ(filter_volume(cpu, filter, silent, on_cpu).backend, Backend::cpu);
        const auto *found = reinterpret_cast<const Code*>(gpu.voxels.data()),
                   *expected = reinterpret_cast<const Code*>(cpu.voxels.data());
        std::int64_t others = 0;
        for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
            const auto a = static_cast<double>(found[i]), b = static_cast<double>(expected[i]);
            if (std::isnan(b)) {
                EXPECT_TRUE(std::isnan(a));
                continue;
            }
            ASSERT_LE(std::abs(a - b), std::is_integral_v<Code> ? 1 : 1e-5 * std::abs(b) + 1e-4) << quantity << i;
            others += a != b ? 1 : 0;
        }
        if constexpr (std::is_integral_v<Code>) {
            EXPECT_LE(others, volume.grid.voxels() / 1000) << quantity;
        }
    }
}

TEST_F(SpeckleOnGpu, CodesMatchCpu) {
    expect_same_codes<std::uint8_t>(VoxelType::u8, "db", 0.2, -10);
    expect_same_codes<std::uint16_t>(VoxelType::u16, "amplitude", 0.01, 0);
    expect_same_codes<float>(VoxelType::f32, "intensity", 1, 0);
}

}  // namespace
}  // namespace echolux
