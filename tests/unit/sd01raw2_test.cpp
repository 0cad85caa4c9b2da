// SD01RAW2 files, both synthetic and recorded by an instrument.
#include "engine/scan/foreign_scans.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "compute/indexing.h"
#include "engine/scan/scan.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t samples = 8;
constexpr std::uint32_t a_scans = 3;
constexpr std::uint16_t background_lines = 2;

template <class T>
void put(std::string& bytes, std::size_t place, T number) {
    std::memcpy(bytes.data() + place, &number, sizeof(T));
}

// Position of sample p on the uniform k grid.
float place_on_grid(float p) {
    return 7 * std::pow(p / 7, 1.25F);
}

std::string small_file() {
    std::string bytes(512 + 40 + (background_lines + a_scans) * samples * 2 + 2 * samples * 4, '\0');
    bytes.replace(0, 8, "SD01RAW2");
    put(bytes, 0x14, samples);
    put(bytes, 0x24, a_scans);
    put(bytes, 0x54, background_lines);
    for (std::uint32_t i = 0; i < samples; ++i) {
        put(bytes, 552 + i * 2, static_cast<std::uint16_t>(100 + i));              // background lines: 100 + i
        put(bytes, 552 + (samples + i) * 2, static_cast<std::uint16_t>(103 + i));  // and 103 + i
        put(bytes, bytes.size() - (samples - i) * 4, place_on_grid(static_cast<float>(i)));
    }
    for (std::uint32_t i = 0; i < a_scans * samples; ++i) {
        put(bytes, 552 + (background_lines * samples + i) * 2, static_cast<std::uint16_t>(1000 + i));
    }
    return bytes;
}

Caught opening(const std::string& bytes) {
    const TemporaryFolder folder;
    return error_of([&] { open_scan(folder.write("x.raw", bytes)); });
}

TEST(Sd01Raw2, OpensWithoutDescription) {
    const TemporaryFolder folder;
    const Scan scan = open_scan(folder.write("x.raw", small_file()));
    EXPECT_EQ(scan.geometry.samples, samples);
    EXPECT_EQ(scan.geometry.a_scans, a_scans);
    EXPECT_EQ(scan.geometry.b_scans, 1);
    EXPECT_EQ(scan.calibration.background.at(3), 104.5);
    for (std::size_t j = 0; j < samples; ++j) {  // inverse map: the sample of each grid point
        const double sample = 7 * std::pow(static_cast<double>(j) / 7, 0.8);
        EXPECT_NEAR(scan.calibration.k_positions.at(j), sample, 0.05) << j;
    }
    EXPECT_TRUE(scan.calibration.dark.empty());
    SpectraReader reader(scan);
    std::vector<std::byte> bytes(a_scans * samples * 2);
    reader.read(0, 0, 1, bytes);
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    std::memcpy(&first, bytes.data(), 2);
    std::memcpy(&last, bytes.data() + bytes.size() - 2, 2);
    EXPECT_EQ(first, 1000);
    EXPECT_EQ(last, 1000 + a_scans * samples - 1);
}

TEST(Sd01Raw2, AssignmentsReplaceValuesOfFile) {
    const TemporaryFolder folder;
    folder.write("k.csv", "0\n1\n2\n3\n4\n5\n6\n7\n");
    const std::vector<std::string> k_map{"calibration.k_map=k.csv", "recipe.window=rect"};
    const Scan scan = open_scan(folder.write("x.raw", small_file()), k_map);
    EXPECT_EQ(scan.calibration.k_positions.at(7), 7);
    EXPECT_EQ(scan.recipe.window, Window::rect);
    const std::vector<std::string> polynomial{"calibration.k_polynomial=[0,7]"};
    EXPECT_TRUE(open_scan(folder / "x.raw", polynomial).calibration.k_positions.empty());
}

TEST(Sd01Raw2, DamagedFilesAreRefused) {
    const std::string good = small_file();
    EXPECT_EQ(opening(good).line, "");
    EXPECT_THAT(opening(good.substr(0, 300)).line, HasSubstr("x.raw: ends within its 512-byte header"));
    EXPECT_THAT(opening(good.substr(0, 552 + 3 * 16 + 1)).line, HasSubstr("ends in volume 0, B-scan 0, A-scan 1 "));
    EXPECT_THAT(opening(good.substr(0, good.size() - 1)).line, HasSubstr("ends within its last 64 bytes"));
    EXPECT_THAT(opening(good + "x").line, HasSubstr("1 more than the scan describes"));
    const auto damaged = [&](std::size_t place, auto number) {
        std::string bytes = good;
        put(bytes, place, number);
        return opening(bytes).line;
    };
    EXPECT_THAT(damaged(0x14, std::uint32_t{0}), HasSubstr("scan.samples: is missing or 0"));
    EXPECT_THAT(damaged(0x14, ~std::uint32_t{0}), HasSubstr("scan.samples: expected a whole number from 0 to"));
    EXPECT_THAT(damaged(0x24, std::uint32_t{1} << 24), HasSubstr("ends in volume 0"));
    EXPECT_THAT(damaged(good.size() - 4, std::numeric_limits<float>::quiet_NaN()), HasSubstr("are not finite"));
    EXPECT_THAT(damaged(good.size() - 4, 0.0f), HasSubstr("x.raw, k-linear positions: must rise or fall throughout"));
    EXPECT_THAT(damaged(0, 'X'), HasSubstr("x.raw"));  // no longer this format, and not TOML
}

TEST(Sd01Raw2, OpensRecordedFiles) {
    const char* place = std::getenv("ECHOLUX_DATA");
    if (place == nullptr) GTEST_SKIP() << "ECHOLUX_DATA is not set: recorded SD01RAW2 files are not tested";
    for (const std::string name : {"pdms", "wood", "shifted"}) {
        const Scan scan = open_scan(std::string(place) + "/ocp930-bscans/" + name + ".raw");
        EXPECT_EQ(scan.geometry.samples, 1024);
        EXPECT_EQ(scan.geometry.a_scans, 1024);
        EXPECT_EQ(scan.calibration.k_positions.front(), 0);
        EXPECT_EQ(scan.calibration.k_positions.back(), 1023);
        // The published map of the instrument has the same curvature: 44.1 samples in the middle.
        EXPECT_NEAR(scan.calibration.k_positions.at(512) - 512, -44.1, 0.3);
        SpectraReader reader(scan);
        std::vector<std::byte> bytes(index(reader.bytes_per_b_scan()));
        reader.read(0, 0, 1, bytes);
        double difference = 0;  // the background lines were recorded with the same light
        for (std::size_t i = 0; i < 1024; ++i) {
            double mean = 0;
            for (std::size_t line = 0; line < 1024; ++line) {
                std::uint16_t count = 0;
                std::memcpy(&count, bytes.data() + (line * 1024 + i) * 2, 2);
                mean += count / 1024.0;
            }
            difference = std::max(difference, std::abs(mean - scan.calibration.background[i]));
        }
        EXPECT_LT(difference, 20) << name;  // of about 10000 counts
    }
}

}  // namespace
}  // namespace echolux
