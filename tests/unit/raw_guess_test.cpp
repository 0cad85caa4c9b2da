// Guessing the shape of undescribed raw spectra: simulated scans of several shapes and storage formats, and real ones.
// The proposed scan is valid and never overwrites files.
#include "engine/io/raw_guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "app/open/description.h"
#include "compute/indexing.h"
#include "engine/scan/scan.h"
#include "engine/simulate/simulator.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Shape {
    std::string scene;
    std::int64_t samples, a_scans, b_scans;
};

void PrintTo(const Shape& shape, std::ostream* stream) {
    *stream << shape.samples << " x " << shape.a_scans << " x " << shape.b_scans;
}

// Returns the counts of a simulated scan, line by line. Each scan is simulated once.
const std::vector<std::uint16_t>& counts_of(const Shape& shape) {
    static std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>, std::vector<std::uint16_t>> made;
    std::vector<std::uint16_t>& counts = made[{shape.scene, shape.samples, shape.a_scans, shape.b_scans}];
    if (!counts.empty()) return counts;
    const TemporaryFolder folder;
    Simulation simulation;
    simulation.scene = shape.scene;
    simulation.samples = shape.samples;
    simulation.a_scans = shape.a_scans;
    simulation.b_scans = shape.b_scans;
    SilentProgress silent;
    simulate(simulation, folder / "scan.toml", silent);
    const Scan scan = open_scan(folder / "scan.toml");
    SpectraReader reader(scan);
    std::vector<std::byte> bytes(index(shape.b_scans * reader.bytes_per_b_scan()));
    reader.read(0, 0, shape.b_scans, bytes);
    counts.resize(bytes.size() / 2);
    std::memcpy(counts.data(), bytes.data(), bytes.size());
    return counts;
}

template <class T, class Convert>
std::string stored(const std::vector<std::uint16_t>& counts, const Convert& convert) {
    std::vector<T> values;
    for (const std::uint16_t count : counts) values.push_back(static_cast<T>(convert(count)));
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string as_u16(const std::vector<std::uint16_t>& counts) {
    return stored<std::uint16_t>(counts, [](std::uint16_t count) { return count; });
}

std::string packed(const std::vector<std::uint16_t>& counts) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < counts.size(); i += 2) {
        const unsigned a = counts[i], b = counts[i + 1];
        for (const unsigned byte : {a & 0xff, (a >> 8) | ((b & 0xf) << 4), b >> 4}) {
            bytes.push_back(static_cast<char>(byte));
        }
    }
    return bytes;
}

std::string random_bytes(std::size_t count) {
    std::mt19937 random(3);
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(random()));
    return bytes;
}

RawGuess first_guess(const std::string& bytes) {
    const TemporaryFolder folder;
    const std::vector<RawGuess> guesses = guess_raw(folder.write("unknown.raw", bytes));
    return guesses.empty() ? RawGuess{} : guesses.front();
}

void expect_shape(const std::string& bytes, SampleFormat format, std::int64_t offset, const Shape& shape,
                  const char* what) {
    const RawGuess guess = first_guess(bytes);
    EXPECT_EQ(guess.sample_format, format) << what;
    EXPECT_EQ(guess.offset_bytes, offset) << what;
    EXPECT_EQ(guess.samples, shape.samples) << what;
    EXPECT_EQ(guess.a_scans, shape.a_scans) << what;
    EXPECT_EQ(guess.b_scans, shape.b_scans) << what;
    EXPECT_GT(guess.likeness, 0.9) << what;
    EXPECT_LE(guess.likeness, 1) << what;
}

// Swaps the byte order of the samples.
std::string swapped(std::string bytes, std::size_t size) {
    for (std::size_t i = 0; i + size <= bytes.size(); i += size)
        std::reverse(bytes.begin() + i, bytes.begin() + i + size);
    return bytes;
}

// Adds headers like those of instruments: a word, a count, a time, and zeros.
std::string with_frame_headers(const std::string& bytes, const Shape& shape, std::size_t header) {
    const auto frame = index(shape.samples * shape.a_scans * 2);
    std::string whole;
    for (std::size_t b = 0; b < index(shape.b_scans); ++b) {
        std::string before = "FRAME" + std::string(header - 5, '\0');
        before[8] = static_cast<char>(b);
        before[16] = static_cast<char>(37 * b);
        whole += before + bytes.substr(b * frame, frame);
    }
    return whole;
}

class RawGuesses : public testing::TestWithParam<Shape> {};

TEST_P(RawGuesses, FindsShapeInAnyEncoding) {
    const Shape& shape = GetParam();
    const std::vector<std::uint16_t> counts = counts_of(shape);
    const std::string u16 = as_u16(counts);
    expect_shape(u16, SampleFormat::u16, 0, shape, "u16");
    expect_shape(packed(counts), SampleFormat::packed12, 0, shape, "packed12");
    expect_shape(stored<std::uint8_t>(counts, [](int count) { return count >> 4; }), SampleFormat::u8, 0, shape, "u8");
    expect_shape(stored<std::int16_t>(counts, [](int count) { return count - 1500; }), SampleFormat::i16, 0, shape,
                 "i16");
    expect_shape(stored<float>(counts, [](int count) { return 0.25 * count; }), SampleFormat::f32, 0, shape, "f32");
    expect_shape(stored<std::uint32_t>(counts, [](int count) { return 16 * count; }), SampleFormat::u32, 0, shape,
                 "u32");
    expect_shape(random_bytes(512) + u16, SampleFormat::u16, 512, shape, "header of 512 bytes");
    expect_shape(std::string(4096, '\0') + u16, SampleFormat::u16, 4096, shape, "header of 4096 bytes");
}

TEST_P(RawGuesses, SlowDistinguishesBigEndianSamples) {
    const Shape& shape = GetParam();
    const std::vector<std::uint16_t> counts = counts_of(shape);
    const auto reals = stored<float>(counts, [](int count) { return 0.25 * count; });
    for (const auto& [bytes, format] :
         {std::pair{swapped(as_u16(counts), 2), SampleFormat::u16}, {swapped(reals, 4), SampleFormat::f32}}) {
        expect_shape(bytes, format, 0, shape, "big-endian");
        EXPECT_EQ(first_guess(bytes).byte_order, ByteOrder::big);
    }
    EXPECT_EQ(first_guess(as_u16(counts)).byte_order, ByteOrder::little);
}

TEST_P(RawGuesses, SlowHeadersBeforeEachBScanAreFound) {
    const Shape& shape = GetParam();
    const std::string u16 = as_u16(counts_of(shape));
    EXPECT_EQ(first_guess(u16).frame_offset_bytes, 0);
    for (const std::size_t header : {32U, 100U, 512U}) {
        const std::string framed = with_frame_headers(u16, shape, header);
        expect_shape(framed, SampleFormat::u16, 0, shape, "headers");
        EXPECT_EQ(first_guess(framed).frame_offset_bytes, header);
        expect_shape(random_bytes(256) + framed, SampleFormat::u16, 256, shape, "and one of the file");
    }
}

// As written by the simulator, with a header before each B-scan.
TEST(RawGuess, SlowRecognizesOwnFiles) {
    for (const char* scene : {"retina", "vessel", "layers", "mirror"}) {
        const TemporaryFolder folder;
        Simulation simulation = with(Simulation{}, "a_scans=50 b_scans=20");
        simulation.scene = scene;
        SilentProgress silent;
        simulate(simulation, folder / "scan.toml", silent);
        const Scan scan = open_scan(folder / "scan.toml");
        const std::vector<RawGuess> guesses = guess_raw(scan.spectra);
        ASSERT_FALSE(guesses.empty()) << scene;
        EXPECT_EQ(guesses[0].sample_format, SampleFormat::u16) << scene;
        EXPECT_EQ(guesses[0].frame_offset_bytes, scan.file.frame_offset_bytes) << scene;
        EXPECT_EQ(guesses[0].offset_bytes, scan.file.offset_bytes) << scene;
        EXPECT_EQ(guesses[0].samples, 1024) << scene;
        EXPECT_EQ(guesses[0].a_scans, 50) << scene;
        EXPECT_EQ(guesses[0].b_scans, 20) << scene;
    }
}

INSTANTIATE_TEST_SUITE_P(Simulated, RawGuesses, testing::Values(Shape{"capillary", 1000, 30, 50}));
INSTANTIATE_TEST_SUITE_P(SlowSimulated, RawGuesses,
                         testing::Values(Shape{"vessel", 1024, 96, 32}, Shape{"retina", 2048, 48, 20},
                                         Shape{"layers", 512, 100, 25}, Shape{"layers", 768, 40, 60},
                                         Shape{"retina", 1366, 40, 30}));

TEST(RawGuess, FindsNoLayoutInNoiseAndTinyFiles) {
    const TemporaryFolder folder;
    EXPECT_TRUE(guess_raw(folder.write("noise.raw", random_bytes(1 << 20))).empty());
    EXPECT_TRUE(guess_raw(folder.write("short.raw", "abc")).empty());
    EXPECT_TRUE(guess_raw(folder.zeros("zeros.raw", 1 << 20)).empty());
    EXPECT_EQ(error_of([&] { guess_raw(folder / "missing.raw"); }).code, ErrorCode::bad_file);
}

TEST(RawGuess, FindsShapeDespiteNonFiniteFloats) {
    const Shape shape{"layers", 512, 100, 25};
    constexpr float largest = std::numeric_limits<float>::max();
    const std::array odd{std::nanf(""), std::numeric_limits<float>::infinity(), largest, -largest};
    std::size_t at = 0;
    const auto with_odd = [&](int count) {
        return ++at % 251 == 0 ? odd.at(at / 251 % odd.size()) : 0.25f * static_cast<float>(count);
    };
    expect_shape(stored<float>(counts_of(shape), with_odd), SampleFormat::f32, 0, shape, "f32");
}

TEST(RawGuess, ReplacesImpossibleValuesByZero) {
    std::vector<float> values{1, std::nanf(""), -2, std::numeric_limits<float>::infinity(), -1e20f, 1e15f};
    silence_the_impossible(values);
    EXPECT_EQ(values, (std::vector<float>{1, 0, -2, 0, 0, 1e15f}));
}

// The list is read from the top, so the scores must not go up and down.
TEST(RawGuess, SlowSortsAlternativesByLikeness) {
    const TemporaryFolder folder;
    for (const Shape& shape : {Shape{"layers", 512, 100, 25}, Shape{"vessel", 1024, 96, 32}}) {
        const auto guesses = guess_raw(folder.write("unknown.raw", as_u16(counts_of(shape))));
        ASSERT_GT(guesses.size(), 2u);
        EXPECT_TRUE(std::ranges::is_sorted(guesses.begin() + 1, guesses.end(), std::greater{}, &RawGuess::likeness));
    }
}

// Counts that stay close to a multiple of 256: their low bytes, read as high bytes with a sign, are as smooth. Lines
// have fringes of any phase, so that B-scans of any width fit alike.
std::vector<std::uint16_t> narrow_counts() {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> pixel(-6, 6), turn(0, 6.2832);
    std::vector<double> pattern(512);
    for (double& count : pattern) count = pixel(random);
    std::vector<std::uint16_t> counts;
    for (int line = 0; line < 24 * 8; ++line) {
        const double phase = turn(random);
        for (int i = 0; i < 512; ++i) {
            const double envelope = std::exp(-std::pow((i - 256) / 110.0, 2));
            const double light = envelope * (60 + 30 * std::cos(0.1 * i + phase));
            counts.push_back(static_cast<std::uint16_t>(std::lround(0x16D0 + pattern[index(i)] + light)));
        }
    }
    return counts;
}

TEST(RawGuess, PrefersLittleEndianUnsignedOnTies) {
    const TemporaryFolder folder;
    const std::string u16 = as_u16(narrow_counts());
    const auto guesses = guess_raw(folder.write("unknown.raw", u16));
    ASSERT_GT(guesses.size(), 1u);
    EXPECT_EQ(guesses[0].sample_format, SampleFormat::u16);
    EXPECT_EQ(guesses[0].byte_order, ByteOrder::little);
    EXPECT_EQ(guesses[0].samples, 512);
    const auto rivals = rivals_of_first(guesses);
    EXPECT_TRUE(std::ranges::any_of(rivals, [&](std::size_t i) { return guesses[i].byte_order == ByteOrder::big; }));
    EXPECT_EQ(first_guess(swapped(u16, 2)).byte_order, ByteOrder::big);  // decided by the bytes
}

TEST(RawGuess, FileNameDecidesBetweenEqualFits) {
    const TemporaryFolder folder;
    const std::string u16 = as_u16(narrow_counts());
    EXPECT_EQ(guess_raw(folder.write("eye_512x16x12.raw", u16)).at(0).a_scans, 16);
    EXPECT_EQ(guess_raw(folder.write("eye_512x48x4.raw", u16)).at(0).a_scans, 48);
    EXPECT_EQ(guess_raw(folder.write("eye_512x50x4.raw", u16)).at(0).samples, 512);  // which does not fit
    EXPECT_EQ(guess_raw(folder.write("eye_i16be.raw", u16)).at(0).byte_order, ByteOrder::big);
}

TEST(RawGuess, NamesStateFormatAndSizes) {
    const RawName name = parsed_raw_name("Spectra_UINT16-be_100x90x1024.raw");
    EXPECT_EQ(name.format, SampleFormat::u16);
    EXPECT_EQ(name.order, ByteOrder::big);
    EXPECT_EQ(name.numbers, (std::vector<std::int64_t>{100, 90, 1024}));
    EXPECT_EQ(parsed_raw_name("a.f32").format, SampleFormat::f32);
    EXPECT_EQ(parsed_raw_name("a_i16le.bin").order, ByteOrder::little);
    const RawName nothing = parsed_raw_name("20261128_beach_little_eye.raw");
    EXPECT_FALSE(nothing.format);
    EXPECT_TRUE(nothing.numbers.empty());
    EXPECT_TRUE(nothing.allows(SampleFormat::f32, ByteOrder::little));
}

TEST(RawGuess, LimitsNumberOfGuesses) {
    const TemporaryFolder folder;
    const auto file = folder.write("unknown.raw", as_u16(counts_of({"layers", 512, 32, 16})));
    EXPECT_EQ(guess_raw(file, 2).size(), 2u);
}

TEST(RawGuess, FindsRealVolume) {
    const char* data = std::getenv("ECHOLUX_DATA");
    if (data == nullptr) GTEST_SKIP() << "ECHOLUX_DATA names no folder with real data";
    const auto folder = std::filesystem::path(data) / "sd-oct-volume";
    const RawGuess guess = guess_raw(folder / "spectra_u16_100x100x1024.raw").at(0);
    EXPECT_EQ(guess.sample_format, SampleFormat::u16);
    EXPECT_EQ(guess.samples, 1024);
    EXPECT_EQ(guess.a_scans, 100);
    EXPECT_EQ(guess.b_scans, 100);
    EXPECT_EQ(guess.offset_bytes, 0);
}

// Real data in SD01RAW2, with its identification removed: 512 and 40 bytes of headers, lines, and a trailer of floats.
TEST(RawGuess, FindsRealBScansWithHeaders) {
    const char* data = std::getenv("ECHOLUX_DATA");
    if (data == nullptr) GTEST_SKIP() << "ECHOLUX_DATA names no folder with real data";
    for (const char* name : {"pdms.raw", "wood.raw", "shifted.raw"}) {
        const RawGuess guess = guess_raw(std::filesystem::path(data) / "ocp930-bscans" / name).at(0);
        EXPECT_EQ(guess.sample_format, SampleFormat::u16) << name;
        EXPECT_EQ(guess.samples, 1024) << name;
        EXPECT_EQ(guess.offset_bytes, 552) << name;
    }
}

// ---- proposed scans -------------------------------------------------------------------------------------------------

// Spectra of 256 samples with fixed-pattern noise, 24 A-scans with a descending reflector, 6 equal B-scans.
std::string fringes() {
    std::string bytes;
    for (int line = 0; line < 6 * 24; ++line) {
        for (int i = 0; i < 256; ++i) {
            const double envelope = std::exp(-std::pow((i - 128) / 60.0, 2));
            const double depth = 0.2 + 0.004 * (line % 24);
            const double pixel = 20 * (i * 7919 % 97 - 48);
            const auto count =
                static_cast<std::uint16_t>(3000 + pixel + envelope * (8000 + 3000 * std::cos(depth * i)));
            bytes.append({static_cast<char>(count & 0xFF), static_cast<char>(count >> 8)});
        }
    }
    return bytes;
}

TEST(ProposedScan, OpensWithReasons) {
    const TemporaryFolder folder;
    const auto raw = folder.write("unknown.bin", fringes());
    std::filesystem::create_directory(folder / "elsewhere");
    const auto toml = folder / "elsewhere/scan.toml";
    write_proposed_toml(raw, toml);
    const Scan scan = open_scan(toml);
    EXPECT_EQ(scan.geometry.samples, 256);
    EXPECT_EQ(scan.geometry.a_scans * scan.geometry.b_scans, 144);
    EXPECT_EQ(scan.spectra, std::filesystem::absolute(raw));
    EXPECT_THAT(
        proposed_scan(raw, "unknown.bin").toml,
        AllOf(HasSubstr("# samples = 256: lines of this length are alike"), HasSubstr("file = \"unknown.bin\"")));
    EXPECT_THAT(error_of([&] { write_proposed_toml(raw, toml); }).line, HasSubstr("already exists"));
}

TEST(ProposedScan, ReportsUncertainProperties) {
    const RawGuess best{.samples = 512, .a_scans = 24, .b_scans = 8, .likeness = 0.9, .smoothness = 0.86, .fit = 1};
    RawGuess swapped = best, longer = best, wider = best;
    swapped.sample_format = SampleFormat::i16;
    swapped.byte_order = ByteOrder::big;
    longer.samples = 640;
    wider.a_scans = 48;  // a multiple is not a rival
    EXPECT_THAT(doubts_about({best, wider}, "x.raw"), testing::IsEmpty());
    EXPECT_THAT(doubts_about({best, swapped, longer}, "x.raw"),
                testing::ElementsAre("i16, big-endian fits about as well", "samples = 640 fits about as well"));
    EXPECT_THAT(doubts_about({best}, "x_f32.raw"),
                testing::ElementsAre("the file name indicates f32, its bytes look like u16"));
    swapped.smoothness = 0.7;
    longer.fit = 0.9;
    EXPECT_THAT(doubts_about({best, swapped, longer}, "x.raw"), testing::IsEmpty());
    RawGuess unsure = best;
    unsure.likeness = 0.4;
    EXPECT_THAT(doubts_about({unsure}, "x.raw"), testing::ElementsAre("neighbouring lines correlate by 0.40 only"));
}

TEST(ProposedScan, RefusesUnknownLayoutsAndKnownFormats) {
    const TemporaryFolder folder;
    EXPECT_THAT(error_of([&] { proposed_scan(folder.write("x.raw", "abc"), "x.raw"); }).line, HasSubstr("no layout"));
    EXPECT_THAT(error_of([&] { proposed_scan(folder.write("x.nrrd", "NRRD"), "x.nrrd"); }).line,
                HasSubstr("describes itself"));
}

}  // namespace
}  // namespace echolux
