// A series far larger than memory plays all its steps in constant memory. It is a sparse file: each time point has some
// bright B-scans, whose value is its number.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "viewer_fixture.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 512, points = 80;  // 80 x 512^3 u16: 21.5 GB
constexpr std::int64_t point_bytes = 2 * edge * edge * edge;

double resident_bytes() {
    std::ifstream in("/proc/self/statm");
    double all = 0, resident = 0;
    in >> all >> resident;
    return resident * 4096;
}

// NIfTI-1 with the offsets of the standard, u16.
void write_sparse_series(const std::filesystem::path& path) {
    std::string header(352, '\0');
    const auto put = [&](std::size_t place, auto value) { std::memcpy(header.data() + place, &value, sizeof(value)); };
    put(0, std::int32_t{348});
    const std::array<std::int16_t, 8> dim{4, edge, edge, edge, points, 1, 1, 1};
    std::memcpy(header.data() + 40, dim.data(), sizeof(dim));
    put(70, std::int16_t{512});
    put(72, std::int16_t{16});
    const std::array<float, 8> pixdim{1, 1, 1, 1, 0.1f, 1, 1, 1};
    std::memcpy(header.data() + 76, pixdim.data(), sizeof(pixdim));
    put(108, 352.0f);
    header[123] = 2 + 8;  // mm, s
    std::memcpy(header.data() + 344, "n+1", 4);
    std::ofstream out(path, std::ios::binary);
    out.write(header.data(), 352);
    for (std::int64_t point = 0; point < points; ++point) {
        const std::vector<std::uint16_t> slice(edge * edge, static_cast<std::uint16_t>(1000 + point));
        for (std::int64_t b_scan = 0; b_scan < 8; ++b_scan) {
            out.seekp(352 + point * point_bytes + b_scan * 64 * 2 * edge * edge);
            out.write(reinterpret_cast<const char*>(slice.data()), 2 * edge * edge);
        }
    }
    out.close();
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(352 + points * point_bytes));
}

class LongSeries : public ViewerTest {};

TEST_F(LongSeries, SlowTwentyGigabytesPlayInConstantMemory) {
    constexpr double gb = 1e9;
    write_sparse_series(folder_ / "long.nii");
    open(folder_ / "long.nii", {}, {.bytes = 4LL << 30, .gpu_bytes = 1LL << 30});
    ASSERT_EQ(view_source().timeline()->steps(), points);
    std::vector<double> memory;
    for (std::int64_t step = 0; step < points; ++step) {
        view_source().timeline()->go_to(step);
        turn_until_shown(step);
        memory.push_back(resident_bytes());
    }
    const auto most = [&](std::int64_t first, std::int64_t end) {
        return *std::max_element(memory.begin() + first, memory.begin() + end);
    };
    const double before = most(points / 4, points / 2), after = most(points / 2, points);
    std::printf("resident: %.2f GB at most in the second quarter, %.2f GB afterwards\n", before / gb, after / gb);
    EXPECT_LT(after, 1.1 * before) << "memory grows";
    EXPECT_LT(after, 8 * gb) << "budgets of 4 and 1 GiB, what is shown, what is just being read and uploaded";
    EXPECT_TRUE(view_source().take_problems().empty());
}

}  // namespace
}  // namespace echolux::test
