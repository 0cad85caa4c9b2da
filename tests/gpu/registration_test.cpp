// Registration on the GPU compared with the CPU's as the reference: the same reasons, positions within 0.01 voxel, and
// the same means. Covers strips, ranges and sizes that fill no tile, NaN voxels, noise and darkness.
#include "engine/registration/registration.h"

#include <cstring>
#include <limits>

#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "tests/gpu/gpu_run.h"
#include "tests/unit/moving_speckle.h"

namespace echolux {
namespace {

using namespace moving_speckle;

const BackendChoice on_gpu{.backend = Backend::cuda};

class RegistrationOnGpuTest : public GpuTest {};

constexpr double most_apart = 0.01;     // voxels, A-scans, B-scans
constexpr double most_unlike = 1e-4;    // of a correlation
constexpr float most_brighter = 1e-4f;  // of a mean, relative to the brightest voxel

void expect_same_rows(const std::vector<RowShift>& gpu, const std::vector<RowShift>& cpu, const std::string& of) {
    ASSERT_EQ(gpu.size(), cpu.size());
    for (std::size_t j = 0; j < cpu.size(); ++j) {
        EXPECT_EQ(name_of(gpu[j].reason), name_of(cpu[j].reason)) << of << ' ' << j;
        EXPECT_EQ(gpu[j].is_saccade, cpu[j].is_saccade) << of << ' ' << j;
        EXPECT_NEAR(gpu[j].quality, cpu[j].quality, most_unlike) << of << ' ' << j;
        if (!cpu[j].is_valid()) continue;
        EXPECT_NEAR(gpu[j].z, cpu[j].z, most_apart) << of << ' ' << j;
        EXPECT_NEAR(gpu[j].x, cpu[j].x, most_apart) << of << ' ' << j;
        EXPECT_NEAR(gpu[j].y, cpu[j].y, most_apart) << of << ' ' << j;
    }
}

std::int64_t found_of(const std::vector<RowShift>& rows) {
    return std::ranges::count_if(rows, &RowShift::is_valid);
}

// Returns the number of rows with a position; both backends must agree on them.
std::int64_t expect_same(const PowerVolume& reference, const PowerVolume& moving, const RegistrationSettings& settings,
                         const std::string& of) {
    SilentProgress silent;
    const Reference gpu(reference, settings, on_gpu), cpu(reference, settings);
    EXPECT_EQ(gpu.backend().backend, Backend::cuda);
    EXPECT_EQ(cpu.backend().backend, Backend::cpu);
    const auto rows = cpu.register_rows(moving, silent);
    expect_same_rows(gpu.register_rows(moving, silent), rows, of);
    const PowerCopy reference_there(reference, on_gpu), moving_there(moving, on_gpu);
    const Reference there(reference_there.on_gpu(), settings, on_gpu);
    expect_same_rows(there.register_rows(moving_there.on_gpu(), silent), rows, of + ", in the GPU's memory");
    return found_of(rows);
}

SeenAt jumping(double j) {
    return j < 20 ? SeenAt{1, -2, 0.5} : SeenAt{1, 4, -3.5};
}

TEST_F(RegistrationOnGpuTest, RowsMatchCpu) {
    const PowerVolume reference = speckle().seen(still);
    RegistrationSettings single = ranges(), thick = ranges(), wide = ranges(), none = ranges();
    single.strip = 1;
    thick.strip = 7;
    wide = {.axial_range = 70, .lateral_range = 63, .row_range = 39};
    none = {.axial_range = 0, .lateral_range = 0, .row_range = 0};
    const PowerVolume wandered = speckle().seen(wandering), jumped = speckle().seen(jumping);
    EXPECT_GE(expect_same(reference, wandered, ranges(), "wandering"), 34);
    EXPECT_GE(expect_same(reference, jumped, ranges(), "jumping"), 30);
    EXPECT_GE(expect_same(reference, wandered, single, "strips of one"), 30);
    EXPECT_GE(expect_same(reference, wandered, thick, "strips of seven"), 20);
    EXPECT_GE(expect_same(reference, wandered, wide, "all shifts"), 20);
    expect_same(reference, wandered, none, "no shifts");
}

// Smoothed noise, [b_scan][a_scan][depth], cut at the offsets `z` and `x`.
PowerVolume piece_of(std::int64_t rows, std::int64_t lines, std::int64_t slices, std::int64_t z, std::int64_t x) {
    constexpr std::int64_t room = 64;
    const std::int64_t all_rows = rows + room, all_lines = lines + room;
    std::mt19937 random(11);
    std::exponential_distribution<float> power(1);
    std::vector<float> noise(index(all_rows * all_lines * slices));
    for (float& value : noise) value = power(random);
    PowerVolume piece{grid_of(rows, lines, slices), {}};
    for (std::int64_t b = 0; b < slices; ++b) {
        for (std::int64_t a = 0; a < lines; ++a) {
            for (std::int64_t d = 0; d < rows; ++d) {
                float sum = 0;
                for (std::int64_t i = 0; i < 9; ++i) {
                    const std::int64_t at =
                        ((b * all_lines) + a + x + room / 2 + i / 3) * all_rows + d + z + room / 2 + i % 3;
                    sum += noise[index(at)];
                }
                piece.power.push_back(sum);
            }
        }
    }
    return piece;
}

TEST_F(RegistrationOnGpuTest, AcceptsSizesBesideTiles) {
    const RegistrationSettings far{.axial_range = 160, .lateral_range = 190, .row_range = 2};
    const RegistrationSettings near{.axial_range = 20, .lateral_range = 20, .row_range = 2};
    for (const auto& [rows, lines] : {std::pair<std::int64_t, std::int64_t>{131, 203}, {530, 67}, {16, 8}, {600, 33}}) {
        const PowerVolume reference = piece_of(rows, lines, 7, 0, 0), moving = piece_of(rows, lines, 7, 9, -5);
        const std::int64_t found = expect_same(reference, moving, near, std::to_string(rows));
        expect_same(reference, moving, far, std::to_string(rows) + ", far");
        EXPECT_EQ(found, rows > 16 ? 7 : found) << rows;
    }
}

void leave_gaps(PowerVolume& volume) {
    constexpr float lost = std::numeric_limits<float>::quiet_NaN();
    const VolumeGrid& grid = volume.grid;
    for (std::int64_t line = 0; line < grid.a_scans * grid.b_scans; ++line) {
        float* values = volume.power.data() + line * grid.depth;
        if (line % 5 == 1) std::fill_n(values, line % 20, lost);
        if (line % 37 == 2) std::fill_n(values, grid.depth, lost);
        if (line % 13 == 4) values[40] = std::numeric_limits<float>::infinity();
    }
}

TEST_F(RegistrationOnGpuTest, IgnoresNonFiniteValues) {
    PowerVolume reference = speckle().seen(still), moving = speckle().seen(wandering);
    leave_gaps(moving);
    EXPECT_GE(expect_same(reference, moving, ranges(), "gaps"), 30);
    leave_gaps(reference);
    EXPECT_GE(expect_same(reference, moving, ranges(), "gaps in both"), 25);
}

TEST_F(RegistrationOnGpuTest, NoiseAndDarkRowsHaveNoMatch) {
    const PowerVolume reference = speckle().seen(still);
    PowerVolume moving = speckle().seen(wandering);
    const std::int64_t of_row = moving.grid.depth * moving.grid.a_scans;
    for (const std::int64_t row : {7, 8, 9, 25}) std::fill_n(moving.power.begin() + row * of_row, of_row, 1e-6f);
    expect_same(reference, moving, ranges(), "dark rows");
    const PowerVolume noise = piece_of(depth, a_scans, b_scans, 0, 0);
    EXPECT_EQ(expect_same(reference, noise, ranges(), "noise"), 0);
    PowerVolume nothing = moving;
    std::ranges::fill(nothing.power, 0.0f);
    SilentProgress silent;
    const Reference gpu(reference, ranges(), on_gpu);
    EXPECT_THROW(gpu.register_rows(nothing, silent), Error);
    EXPECT_THROW(Reference(nothing, ranges(), on_gpu), Error);
}

TEST_F(RegistrationOnGpuTest, NeighboursMatchCpu) {
    const auto shaking = [](double j) { return SeenAt{1.5 * std::sin(1.3 * j), 0.8 * std::cos(1.9 * j), 0}; };
    const PowerVolume volume = speckle().seen(shaking);
    SilentProgress silent;
    const auto cpu = align_neighbours(volume, ranges(), silent);
    const PowerCopy there(volume, on_gpu);
    expect_same_rows(align_neighbours(there.on_gpu(), ranges(), silent, *required_gpu().registration(on_gpu)), cpu,
                     "neighbours");
    EXPECT_GE(found_of(cpu), 38);
}

const float* floats_of(const Volume& volume) {
    return reinterpret_cast<const float*>(volume.voxels.data());
}

// Each volume is shifted by its `rows` and added once.
void expect_same_mean(const std::vector<PowerVolume>& volumes, const std::vector<std::vector<RowShift>>& rows) {
    RegisteredMean cpu(volumes[0].grid), gpu(volumes[0].grid, on_gpu);
    for (int time = 0; time < 2; ++time) {  // again from the start
        gpu.clear();
        for (std::size_t i = 0; i < volumes.size(); ++i) {
            if (time == 0) cpu.add(volumes[i], rows[i]);
            gpu.add(PowerCopy(volumes[i], on_gpu).on_gpu(), rows[i]);
        }
    }
    EXPECT_EQ(gpu.b_scans_used(), cpu.b_scans_used());
    const Volume on_cpu = cpu.volume(), on_the_gpu = gpu.volume();
    const std::int64_t voxels = volumes[0].grid.voxels();
    const BlockMemory there = device_memory(voxels * 4);
    gpu.write_on_gpu(reinterpret_cast<float*>(there.data));
    std::vector<float> written(index(voxels));
    copy_memory(reinterpret_cast<std::byte*>(written.data()), there.data, voxels * 4);
    EXPECT_EQ(std::memcmp(written.data(), floats_of(on_the_gpu), written.size() * 4), 0);
    float brightest = 0;
    for (std::int64_t i = 0; i < voxels; ++i) brightest = std::fmax(brightest, floats_of(on_cpu)[i]);
    EXPECT_GT(brightest, 0);
    std::int64_t known = 0;
    for (std::int64_t i = 0; i < voxels; ++i) {
        const float expected = floats_of(on_cpu)[i], found = floats_of(on_the_gpu)[i];
        ASSERT_EQ(std::isnan(found), std::isnan(expected)) << i;
        if (std::isnan(expected)) continue;
        ++known;
        ASSERT_NEAR(found, expected, most_brighter * brightest) << i;
    }
    EXPECT_GT(known, voxels / 2);
}

std::vector<RowShift> shifts_of(std::int64_t count) {
    std::vector<RowShift> rows;
    for (std::int64_t j = 0; j < count; ++j) {
        const auto at = static_cast<double>(j);
        RowShift shift{.z = 3 * std::sin(at), .x = 2 * std::cos(at / 3), .y = 1.6 * std::sin(at / 5), .quality = 0.5};
        if (j % 4 == 0) shift.z = std::round(shift.z);
        if (j % 5 == 0) shift.x = std::round(shift.x);
        shift.quality += 0.4 * std::cos(at);
        if (j % 11 == 3) shift.reason = RowReason::weak_match;
        rows.push_back(shift);
    }
    return rows;
}

TEST_F(RegistrationOnGpuTest, MeansMatchCpu) {
    PowerVolume one = speckle().seen(still), other = speckle().seen(wandering);
    expect_same_mean({one, other}, {shifts_of(b_scans), shifts_of(b_scans)});
    leave_gaps(other);
    expect_same_mean({one, other}, {shifts_of(b_scans), shifts_of(b_scans)});
    expect_same_mean({piece_of(37, 130, 5, 0, 0)}, {shifts_of(5)});
    expect_same_mean({piece_of(600, 33, 3, 0, 0)}, {shifts_of(3)});
}

TEST_F(RegistrationOnGpuTest, SameBitsEveryTime) {
    const PowerVolume reference = speckle().seen(still), moving = speckle().seen(wandering);
    SilentProgress silent;
    const Reference gpu(reference, ranges(), on_gpu);
    const auto once = gpu.register_rows(moving, silent), again = gpu.register_rows(moving, silent);
    EXPECT_EQ(csv_of({once}, reference.grid), csv_of({again}, reference.grid));
}

class StopsAtOnce : public SilentProgress {
    void advance(std::int64_t) override { throw Error(ErrorCode::cancelled, "stopped", "test"); }
};

TEST_F(RegistrationOnGpuTest, CanBeStopped) {
    const PowerVolume reference = speckle().seen(still);
    const Reference gpu(reference, ranges(), on_gpu);
    StopsAtOnce stops;
    EXPECT_THROW(gpu.register_rows(reference, stops), Error);
    SilentProgress silent;
    EXPECT_EQ(found_of(gpu.register_rows(reference, silent)), b_scans);  // and still works
}

}  // namespace
}  // namespace echolux
