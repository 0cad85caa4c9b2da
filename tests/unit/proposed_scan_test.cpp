// `info --guess`: the proposal is a valid scan with reasons, and never overwrites files.
#include "app/open/description.h"

#include <cmath>
#include <cstdint>

#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
