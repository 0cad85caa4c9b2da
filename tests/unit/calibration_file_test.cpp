// Calibration vectors from files, valid and invalid.
#include "compute/plan/choices.h"
#include "engine/io/number_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class CalibrationFileTest : public testing::Test {
  protected:
    std::vector<double> numbers(const std::string& name, std::string_view bytes, std::int64_t length = 0) {
        return read_calibration(folder_.write(name, bytes), length, "calibration.k_map");
    }
    std::string refusal(const std::string& name, std::string_view bytes, std::int64_t length = 0) {
        return error_of([&] { numbers(name, bytes, length); }).line;
    }

    TemporaryFolder folder_;
};

TEST_F(CalibrationFileTest, ReadsTextOfManyKinds) {
    const std::vector<double> expected{1, -2.5, 3000};
    EXPECT_EQ(numbers("a.csv", "# a comment\n1\n-2.5\n3e3\n"), expected);
    EXPECT_EQ(numbers("b.csv", "pixel,position\r\n0,1\r\n1, -2.5\r\n2,+3000"), expected);
    EXPECT_EQ(numbers("c.txt", "\xef\xbb\xbf 1\n\n\t-2.5 # behind\n7 3000\n"), expected);
    EXPECT_EQ(numbers("d.csv", "\"k\"\n\"1\";\"1\"\n-2.5\n3000\n"), expected);
}

TEST_F(CalibrationFileTest, ReadsRawNumbers) {
    const float single[] = {1.5f, -2};
    const double twice[] = {1.5, -2};
    const std::vector<double> expected{1.5, -2};
    const auto bytes = [](const auto& array) {
        std::string text(sizeof(array), '\0');
        std::copy_n(std::bit_cast<const char*>(&array[0]), sizeof(array), text.data());
        return text;
    };
    EXPECT_EQ(numbers("a.f32", bytes(single)), expected);
    EXPECT_EQ(numbers("a.f64", bytes(twice)), expected);
    EXPECT_THAT(refusal("b.f32", bytes(single).substr(0, 7)), HasSubstr("has 7 bytes, not a multiple of the 4 bytes"));
    const double bad[] = {0, std::nan("")};
    EXPECT_THAT(refusal("b.f64", bytes(bad)), HasSubstr("number 1 (counted from 0) is not finite"));
}

TEST_F(CalibrationFileTest, RefusalsNameFileLineAndKey) {
    const std::string file = (folder_ / "a.csv").string();
    const std::string how = " (write one number per line; comments begin with #)";
    EXPECT_EQ(refusal("a.csv", "1\n2\n3\n", 4),
              file + ", calibration.k_map: holds 3 numbers, expected 4 (scan.samples)");
    EXPECT_EQ(refusal("a.csv", "1\nnan\n"),
              file + " line 2, calibration.k_map: expected a finite number, got \"nan\"" + how);
    EXPECT_EQ(refusal("a.csv", "1\n2x\n"),
              file + " line 2, calibration.k_map: expected a finite number, got \"2x\"" + how);
    EXPECT_EQ(refusal("a.csv", ""), file + ", calibration.k_map: contains no numbers (write one number per line)");
    EXPECT_EQ(refusal("a.csv", "nan\n1\n"),
              file + " line 1, calibration.k_map: expected a finite number, got \"nan\"" + how);
    const auto reading = [](const std::filesystem::path& path) {
        return error_of([&] { read_calibration(path, 0, "calibration.dark"); }).line;
    };
    EXPECT_THAT(reading(folder_ / "missing.csv"), HasSubstr("missing.csv, calibration.dark: does not exist"));
    EXPECT_THAT(reading(folder_.path()), HasSubstr("is not a file"));
    EXPECT_THAT(reading(folder_.zeros("huge.f32", std::uintmax_t{1} << 40)), HasSubstr("is too large"));
}

TEST_F(CalibrationFileTest, RowsMayHaveSeveralColumns) {
    const auto pairs = [&](const std::string& name, std::string_view bytes) {
        return read_calibration(folder_.write(name, bytes), 0, "calibration.k_jitter", 2);
    };
    const auto refused = [&](const std::string& name, std::string_view bytes) {
        return error_of([&] { pairs(name, bytes); }).line;
    };
    const std::vector<double> expected{0.5, 1, -2.25, 0.999};
    EXPECT_EQ(pairs("a.csv", "sweep,offset,stretch\n0,0.5,1\n1, -2.25, 0.999 # late\n"), expected);
    EXPECT_EQ(pairs("b.txt", "0.5\t1\r\n-2.25 ;  +0.999\r\n"), expected);
    EXPECT_THAT(refused("c.csv", "0.5,1\n-2.25,nan\n"), HasSubstr("c.csv line 2, calibration.k_jitter: expected a f"));
    EXPECT_THAT(refused("c.csv", "0.5,1\nnan,1\n"), HasSubstr("line 2, calibration.k_jitter: expected a finite"));
    EXPECT_THAT(refused("c.csv", "0.5,1\n-2.25\n"), HasSubstr("line 2, calibration.k_jitter: expected a finite"));
    EXPECT_THAT(refused("c.f32", std::string(12, '\0')), HasSubstr("holds 3 numbers, not a multiple of 2 columns"));
}

TEST_F(CalibrationFileTest, RefusesDecimalCommas) {
    const auto refused = [&](const std::string& bytes, const std::string& line) {
        const std::string message = refusal("comma.csv", bytes);
        EXPECT_THAT(message, HasSubstr("comma.csv line " + line + ", calibration.k_map: ")) << bytes;
        EXPECT_THAT(message, HasSubstr("has a decimal comma (write decimal points (1.5, not 1,5)")) << bytes;
    };
    refused("0,5\n1,5\n2,5\n", "1");
    refused("0,98\n1,97\n2,95\n3,94\n4,9\n5,91\n7,04\n", "1");
    refused("0,05\n1,04\n2,02\n", "1");  // the whole numbers count, but 05 is not a whole number
    refused("k\n812,5\n", "2");
    refused("1;5\n2;6,25\n", "2");
    refused("1\t5,25\n", "1");
    refused("1 5,25 # late\n", "1");
    refused("\"1,5\"\n\"2,5\"\n", "1");
    EXPECT_EQ(numbers("a.csv", "0,7\n1,9\n2,12\n"), (std::vector<double>{7, 9, 12}));   // the rows are counted
    EXPECT_EQ(numbers("b.csv", "800.5,7\n801,9\n"), (std::vector<double>{7, 9}));       // points elsewhere
    EXPECT_EQ(numbers("c.csv", "800,7,1\n801,9,3\n"), (std::vector<double>{1, 3}));     // three columns
    EXPECT_EQ(numbers("d.csv", "5, 7\n5, 9\n"), (std::vector<double>{7, 9}));           // blanks after commas
    EXPECT_EQ(numbers("e.csv", "nm;1,5 mm\n5;7\n6;9\n"), (std::vector<double>{7, 9}));  // in a heading
    EXPECT_EQ(numbers("f.csv", "7 # 1,5\n9 # 2;2,5\n"), (std::vector<double>{7, 9}));   // in a comment
}

// The time must grow with the number of lines, not with its square.
TEST_F(CalibrationFileTest, ReadsLongFilesInLinearTime) {
    const auto seconds_for = [&](int lines) {
        std::string text;
        for (int i = 0; i < lines; ++i) text += fmt::format("{},{}.5\n", i, i);
        const std::filesystem::path file = folder_.write("long.csv", text);
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(std::ssize(read_calibration(file, lines, "calibration.k_map")), lines);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const double short_s = seconds_for(20'000), long_s = seconds_for(400'000);
    EXPECT_LT(long_s, 60 * short_s + 0.5);  // linear: 20 times; quadratic: 400 times
}

TEST_F(CalibrationFileTest, RoundTripsNumbersBitForBit) {
    const std::vector<double> values{0.1, -1.0 / 3, 1e-300, 12345678901234567.0, 0};
    const auto path = folder_ / "new" / "written.csv";
    write_calibration(path, CalibrationKind::spectrum, values, "counts, mean of 1000 lines");
    EXPECT_EQ(read_calibration(path, 5, "calibration.dark"), values);
    EXPECT_EQ(
        error_of([&] { write_calibration(path / "below a file.csv", CalibrationKind::spectrum, values, ""); }).code,
        ErrorCode::output);
}

TEST_F(CalibrationFileTest, KMapsMustBeMonotoneAndInside) {
    const auto refusal_of = [](const std::vector<double>& positions, std::int64_t samples) {
        return error_of([&] { check_k_positions(positions, samples, "k.csv"); }).line;
    };
    EXPECT_EQ(refusal_of({0, 1, 2, 3}, 4), "");
    EXPECT_EQ(refusal_of({3, 2.5, 1, 0}, 4), "");
    EXPECT_EQ(refusal_of({-0.9, 50, 99.9}, 100), "");  // up to 1 % outside is clamped later
    EXPECT_EQ(refusal_of({-1.1, 50, 99}, 100),
              "k.csv: position -1.1 is outside 0..99 by more than 1 % of the samples (positions count samples of the "
              "raw spectrum from 0)");
    EXPECT_THAT(refusal_of({0, 50, 101}, 100), HasSubstr("position 101 is outside"));
    EXPECT_EQ(refusal_of({0, 1, 1, 3}, 4),
              "k.csv: must rise or fall throughout, but number 2 (counted from 0) is 1 after 1");
    EXPECT_THAT(refusal_of({3, 2, 2.5, 0}, 4), HasSubstr("number 2"));
}

TEST_F(CalibrationFileTest, RejectsKMapsInOtherUnitsWithHint) {
    const auto refusal_of = [](double first, double last) {
        std::vector<double> positions;
        for (int i = 0; i < 1024; ++i) positions.push_back(first + (last - first) * i / 1023);
        return error_of([&] { check_k_positions(positions, 1024, "k.csv"); }).line;
    };
    EXPECT_THAT(refusal_of(0, 1),
                HasSubstr("cover 0.098 % of the line (1024 samples) (these look like positions normalised"));
    EXPECT_THAT(refusal_of(0.0072, 0.0083), HasSubstr("look like wavenumbers in rad/nm"));
    EXPECT_THAT(refusal_of(7.2, 8.3), HasSubstr("look like wavenumbers in rad/um"));
    EXPECT_THAT(refusal_of(1.15, 1.3), HasSubstr("look like wavenumbers in 1/um"));
    EXPECT_THAT(refusal_of(800, 850), HasSubstr("look like wavelengths in nm"));
    EXPECT_THAT(refusal_of(7.2e6, 8.3e6), HasSubstr("look like wavenumbers in 1/m or rad/m"));
    EXPECT_THAT(refusal_of(11'000, 12'500), HasSubstr("look like wavenumbers in 1/cm"));
    EXPECT_EQ(refusal_of(100, 900), "");
    EXPECT_EQ(refusal_of(900, 100), "");
}

TEST_F(CalibrationFileTest, WavelengthsMustBeMonotoneAndPositive) {
    const auto refusal_of = [](const std::vector<double>& wavelengths) {
        return error_of([&] { check_wavelengths(wavelengths, "l.csv"); }).line;
    };
    EXPECT_EQ(refusal_of({800, 850, 900}), "");
    EXPECT_EQ(refusal_of({900, 850, 800}), "");
    EXPECT_THAT(refusal_of({800, 790, 900}), HasSubstr("number 2"));
    EXPECT_THAT(refusal_of({-1, 0, 1}), HasSubstr("-1 nm is not a wavelength of OCT"));
}

}  // namespace
}  // namespace echolux
