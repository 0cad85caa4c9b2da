// Opening scans: the content of valid ones, and a clear error for each kind of invalid one.
#include "engine/scan/scan.h"

#include <cstdlib>

#include "compute/indexing.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view small_scan =
    "[scan]\nfile = \"s.raw\"\nsamples = 4\na_scans = 3\nb_scans = 5\nvolumes = 2\n";
constexpr std::uintmax_t small_bytes = 4 * 3 * 5 * 2 * 2;

class ScanTest : public testing::Test {
  protected:
    Caught opening(std::string_view more, std::vector<std::string> assignments = {}) {
        const auto path = folder_.write("scan.toml", std::string(small_scan) + std::string(more));
        return error_of([&] { scan_ = open_scan(path, assignments); });
    }

    TemporaryFolder folder_;
    Scan scan_;
};

TEST_F(ScanTest, OpensWithItsCalibrationAndAssignments) {
    folder_.zeros("s.raw", small_bytes);
    folder_.write("k.csv", "-0.01\n1\n2\n3\n");
    folder_.write("phase.csv", "0\n0.1\n0.2\n0.1\n");
    const Caught caught = opening(
        "[calibration]\nk_map = \"k.csv\"\ndispersion = \"phase.csv\"\ndispersion_holds = \"correction\"\n"
        "[recipe]\nwindow = \"rect\"\n",
        {"recipe.window=hamming", "recipe.zero_padding=2"});
    EXPECT_EQ(caught.line, "");
    EXPECT_EQ(scan_.spectra, folder_ / "s.raw");
    EXPECT_EQ(scan_.geometry.b_scans, 5);
    EXPECT_EQ(scan_.calibration.k_positions, (std::vector<double>{-0.01, 1, 2, 3}));
    EXPECT_EQ(scan_.calibration.dispersion_rad.at(2), 0.2);
    EXPECT_EQ(scan_.calibration.dispersion_holds, PhaseMeaning::correction);
    const ReconstructionSpec spec = scan_.spec(3);
    EXPECT_EQ(spec.recipe.window, Window::hamming);
    EXPECT_EQ(spec.recipe.zero_padding, 2);
    EXPECT_EQ(spec.geometry.a_scans, 3);
    EXPECT_EQ(spec.block_b_scans, 3);
}

TEST_F(ScanTest, AcceptsKJitterPerLineOrPerBScan) {
    folder_.zeros("s.raw", small_bytes);
    const std::string_view more = "[calibration]\nk_jitter = \"jitter.csv\"\n[recipe]\nresample = \"nufft\"\n";
    for (const int rows : {5, 10, 15, 30}) {
        std::string text = "offset,stretch\n";
        for (int row = 0; row < rows; ++row) text += "0.0" + std::to_string(row) + ",1\n";
        folder_.write("jitter.csv", text);
        ASSERT_EQ(opening(more).line, "") << rows;
        EXPECT_EQ(scan_.calibration.k_jitter.size(), 2U * static_cast<unsigned>(rows));
        EXPECT_EQ(scan_.calibration.k_jitter[4], 0.02);
    }
    EXPECT_EQ(provenance_of(scan_, "cpu").count("calibration.k_jitter_fnv1a64"), 1U);
    folder_.write("jitter.csv", "0,1\n0,1\n0,1\n");
    EXPECT_THAT(opening(more).line,
                AllOf(HasSubstr("jitter.csv, calibration.k_jitter: holds 3 rows, expected 5, "), HasSubstr("15, one")));
}

TEST_F(ScanTest, RoundTripsScans) {
    folder_.zeros("s.raw", small_bytes);
    ASSERT_EQ(opening("[recipe]\nwindow = \"tukey\"\n").line, "");
    scan_.path = folder_ / "again.toml";
    write_scan_toml(scan_);
    const Scan again = open_scan(scan_.path);
    EXPECT_EQ(again.spectra, scan_.spectra);
    EXPECT_EQ(again.geometry.volumes, 2);
    EXPECT_EQ(again.recipe.window, Window::tukey);
    EXPECT_EQ(folder_.entries(), 3u);
}

TEST_F(ScanTest, NamesMissingFilesAndKeys) {
    EXPECT_THAT(error_of([&] { open_scan(folder_ / "no.toml"); }).line, HasSubstr("no.toml: does not exist"));
    EXPECT_THAT(opening("").line, AllOf(HasSubstr("scan.toml, scan.file: "), HasSubstr("s.raw does not exist")));
    folder_.zeros("s.raw", small_bytes);
    EXPECT_THAT(opening("[calibration]\ndark = \"d.csv\"\n").line,
                AllOf(HasSubstr("scan.toml, calibration.dark: "),
                      HasSubstr("d.csv does not exist (correct the name, which is ")));
    EXPECT_THAT(opening("", {"scan.file="}).line, HasSubstr("scan.file: is missing"));
    EXPECT_THAT(opening("", {"scan.file=."}).line, HasSubstr("is not a file"));
    EXPECT_THAT(opening("", {"scan.samples=0"}).line,
                HasSubstr("scan.toml, scan.samples: is missing or 0 (set it to at least 1)"));
}

TEST_F(ScanTest, AbsurdSizesAreRefusedWithoutAllocation) {
    folder_.zeros("s.raw", small_bytes);
    const std::vector<std::string> absurd{"scan.samples=1048576", "scan.a_scans=16777216", "scan.b_scans=16777216",
                                          "scan.volumes=16777216", "scan.b_repeats=4096"};
    EXPECT_THAT(opening("", absurd).line, HasSubstr("describes more bytes than any file can hold"));
    EXPECT_THAT(opening("", {"scan.a_scans=16777217"}).line, HasSubstr("expected a whole number from 0 to 16777216"));
    EXPECT_THAT(opening("", {"scan.a_scans=16777216", "scan.b_scans=16777216"}).line, HasSubstr("ends in volume 0"));
    EXPECT_THAT(opening("", {"scan.offset_bytes=9223372036854775807"}).code, ErrorCode::bad_setting);
    EXPECT_THAT(opening("", {"scan.line_bytes=7"}).line, HasSubstr("scan.line_bytes: expected at least 8"));
}

TEST_F(ScanTest, ReportsAScanAtWhichFileEnds) {
    const auto refusal_at = [&](std::uintmax_t bytes, std::vector<std::string> assignments = {}) {
        folder_.zeros("s.raw", bytes);
        const Caught caught = opening("", std::move(assignments));
        EXPECT_EQ(caught.code, ErrorCode::bad_file);
        return caught.line;
    };
    // A line has 8 bytes, a B-scan 24, a volume 120.
    EXPECT_EQ(refusal_at(120 + 24 * 2 + 8 + 3),
              (folder_ / "s.raw").string() +
                  ": ends in volume 1, B-scan 2, A-scan 1 (counted from 0): 179 of 240 bytes (check scan.samples and "
                  "sample_format; set scan.volumes and scan.b_scans to what was recorded, or copy the file again)");
    EXPECT_THAT(refusal_at(239), HasSubstr("volume 1, B-scan 4, A-scan 2 "));
    EXPECT_THAT(refusal_at(1), HasSubstr("volume 0, B-scan 0, A-scan 0 "));
    EXPECT_THAT(refusal_at(0), HasSubstr("is empty, 240 bytes are expected"));
    EXPECT_THAT(refusal_at(10, {"scan.offset_bytes=11"}), HasSubstr("before the first spectrum: 10 of 251 bytes"));
    EXPECT_THAT(refusal_at(245, {"scan.trailer_bytes=6"}), HasSubstr("within its last 6 bytes: 245 of 246 bytes"));
    // With 2 x 2 repeats, a position has 4 lines in two frames of 48 bytes, each behind 5 header bytes.
    const std::vector<std::string> repeats{"scan.a_repeats=2", "scan.b_repeats=2", "scan.frame_offset_bytes=5"};
    EXPECT_THAT(refusal_at(53 * 3 + 5 + 16, repeats), HasSubstr("volume 0, B-scan 1, A-scan 1 "));
    EXPECT_THAT(refusal_at(53 * 3 + 2, repeats), HasSubstr("volume 0, B-scan 1, A-scan 0 "));
}

TEST_F(ScanTest, AcceptsOnlyWholeExtraVolumes) {
    folder_.zeros("s.raw", small_bytes + 120);
    EXPECT_EQ(opening("").line, "");
    folder_.zeros("s.raw", small_bytes + 24);
    EXPECT_THAT(opening("").line, HasSubstr("s.raw: is 264 bytes long, 24 more than the scan describes (check "));
    folder_.zeros("s.raw", small_bytes + 24);
    EXPECT_EQ(opening("", {"scan.offset_bytes=24"}).line, "");
    EXPECT_EQ(opening("", {"scan.trailer_bytes=24"}).line, "");
}

TEST_F(ScanTest, RejectsInvalidCalibrations) {
    folder_.zeros("s.raw", small_bytes);
    folder_.write("three.csv", "0\n1\n2\n");
    folder_.write("folded.csv", "0\n2\n1\n3\n");
    folder_.write("nan.csv", "0\n1\nnan\n3\n");
    folder_.write("rising.csv", "0\n1\n2\n3\n");
    const auto refusal = [&](const std::string& lines) { return opening("[calibration]\n" + lines).line; };
    for (const std::string key : {"background", "dark", "k_map", "wavelengths", "dispersion"}) {
        EXPECT_THAT(refusal(key + " = \"three.csv\""),
                    HasSubstr("three.csv, calibration." + key + ": holds 3 numbers, expected 4 (scan.samples)"));
        EXPECT_THAT(refusal(key + " = \"nan.csv\""),
                    HasSubstr("nan.csv line 3, calibration." + key + ": expected a finite number, got \"nan\""));
    }
    EXPECT_THAT(refusal("k_map = \"folded.csv\""),
                HasSubstr("folded.csv, calibration.k_map: must rise or fall throughout, but number 2"));
    EXPECT_THAT(refusal("wavelengths = \"rising.csv\""),
                HasSubstr("rising.csv, calibration.wavelengths: 0 nm is not a wavelength of OCT"));
    EXPECT_THAT(refusal("k_map = \"rising.csv\"\nwavelengths = \"rising.csv\""),
                HasSubstr("k_map, wavelengths and k_polynomial exclude each other"));
    EXPECT_THAT(refusal("k_map = \"rising.csv\"\nk_polynomial = [0, 3]"), HasSubstr("exclude each other"));
}

TEST_F(ScanTest, WavelengthsInAnyUnitAreSame) {
    folder_.zeros("s.raw", small_bytes);
    const std::string given = "[calibration]\nwavelengths = \"w.csv\"\n";
    folder_.write("w.csv", "800\n810.5\n821\n832\n");
    EXPECT_EQ(opening(given).line, "");
    EXPECT_TRUE(scan_.remarks.empty());
    const std::vector<double> nm = scan_.calibration.wavelengths_nm;
    for (const auto& [numbers, unit] : {std::pair{"0.8\n0.8105\n0.821\n0.832\n", "um"},
                                        {"8e-7\n8.105e-7\n8.21e-7\n8.32e-7\n", "m"},
                                        {"8000\n8105\n8210\n8320\n", "Angstrom"}}) {
        folder_.write("w.csv", numbers);
        EXPECT_EQ(opening(given).line, "") << unit;
        for (std::size_t p = 0; p < 4; ++p) EXPECT_NEAR(scan_.calibration.wavelengths_nm.at(p), nm[p], 1e-9) << unit;
        ASSERT_EQ(scan_.remarks.size(), 1) << unit;
        EXPECT_THAT(scan_.remarks[0], HasSubstr(std::string("interpreted as ") + unit + ", 800.0 to 832.0 nm"));
    }
    for (const char* absurd : {"0.001\n0.002\n0.003\n0.004\n", "8e8\n8.1e8\n8.2e8\n8.3e8\n", "-8\n-7\n-6\n-5\n"}) {
        folder_.write("w.csv", absurd);
        EXPECT_THAT(opening(given).line, HasSubstr("w.csv, calibration.wavelengths: ")) << absurd;
    }
}

// Pairs of settings in which one overrides the other: the overridden one is reported as having no effect, and no others
// are.
TEST_F(ScanTest, ReportsSettingsWithoutEffect) {
    folder_.zeros("s.raw", small_bytes);
    const std::vector<std::pair<std::string, std::string>> pairs{
        {"defr.iterations=3", "recipe.method=defr"},
        {"compressive.tau=3", "recipe.method=compressive"},
        {"nufft.width=4", "recipe.resample=nufft"},
        {"flow.invert=true", "flow.method=doppler"},
        {"flow.sub_bands=2", "flow.method=decorrelation"},
        {"flow.correlation_reach=3", "flow.method=correlation"},
        {"flow.window_depth=5", "flow.method=cdv"},
        {"flow.window_lines=5", "flow.method=doppler"},
        {"flow.bulk_motion=true", "flow.method=power_doppler"},
        {"flow.angle_deg=60", "flow.method=doppler"},
        {"flow.unwrap=true", "flow.method=doppler"},
        {"recipe.upsample_pad=true", "recipe.upsample=2"},
        {"recipe.running_alpha=0.2", "recipe.background=running"},
        {"recipe.rolling_width=3", "recipe.background=rolling"},
        {"recipe.fixed_pattern_segments=4", "recipe.fixed_pattern=minimum_variance"},
        {"recipe.tukey_alpha=0.3", "recipe.window=tukey"},
        {"recipe.gaussian_sigma=0.3", "recipe.window=gaussian"},
        {"recipe.shaping_fwhm=0.3", "recipe.shaping=gaussian"},
        {"recipe.shaping_floor=0.3", "recipe.shaping=hann"},
        {"recipe.shaping_smooth=3", "recipe.shaping=hann"},
        {"recipe.a2_rad=1", "recipe.dispersion=true"},
        {"recipe.low=1", "recipe.voxel=u8"},
        {"recipe.high=20", "recipe.voxel=u16"},
    };
    folder_.write("k.csv", "0\n1.1\n2.1\n3\n");
    const std::string mapped = "[calibration]\nk_map = \"k.csv\"\n";
    for (const auto& [setting, decision] : pairs) {
        EXPECT_EQ(opening(mapped, {setting, decision}).line, "") << setting;
        EXPECT_TRUE(scan_.remarks.empty()) << setting << ": " << (scan_.remarks.empty() ? "" : scan_.remarks[0]);
        if (decision == "recipe.dispersion=true") continue;
        EXPECT_EQ(opening(mapped, {setting}).line, "") << setting;
        ASSERT_EQ(scan_.remarks.size(), 1) << setting;
        EXPECT_THAT(scan_.remarks[0], HasSubstr(setting.substr(0, setting.find('=')) + " has no effect: ")) << setting;
    }
    EXPECT_EQ(opening("", {"recipe.a2_rad=3", "recipe.dispersion=false"}).line, "");
    EXPECT_THAT(scan_.remarks.at(0), HasSubstr("recipe.a2_rad has no effect: recipe.dispersion is false"));
    EXPECT_EQ(opening("", {"recipe.window=rect", "recipe.shaping=hann"}).line, "");
    EXPECT_THAT(scan_.remarks.at(0), HasSubstr("recipe.window has no effect: recipe.shaping is hann"));
}

TEST_F(ScanTest, ReadsUnpFilesWithXml) {
    const auto path = folder_.zeros("eye.unp", 32 * 10 * 8 * 2 * 2);
    const auto xml = [&](const char* frames, const char* repeats) {
        folder_.write("eye.xml",
                      std::string("<?xml version=\"1.0\"?>\n<MonsterList>\n <Monster>\n  <Volume_Size\n   "
                                  "BscanWidth=\"7\"\n   Width=\"32\"\n   Height=\"10\"\n   Number_of_Frames=\"") +
                          frames +
                          "\"\n   Number_of_Volumes=\"2\" />\n  <Scanning_Parameters\n   "
                          "Number_of_BM_scans=\"" +
                          repeats + "\" />\n </Monster>\n</MonsterList>\n");
    };
    for (const char* frames : {"8", "4"}) {  // with and without the repeats
        xml(frames, "2");
        const Scan scan = open_scan(path);
        EXPECT_EQ(scan.geometry.samples, 32);
        EXPECT_EQ(scan.geometry.a_scans, 10);
        EXPECT_EQ(scan.geometry.b_scans, 4);
        EXPECT_EQ(scan.geometry.b_repeats, 2);
        EXPECT_EQ(scan.geometry.volumes, 2);
    }
    xml("9", "1");
    EXPECT_THAT(error_of([&] { open_scan(path); }).line,
                HasSubstr("eye.unp: has 10240 bytes, eye.xml describes 11520"));
    folder_.write("eye.xml", "<Volume_Size Height=\"3\" />");
    EXPECT_THAT(error_of([&] { open_scan(path); }).line, HasSubstr("eye.xml: has no Width"));
}

TEST_F(ScanTest, OpensRealVolumeWithItsCalibration) {
    const char* place = std::getenv("ECHOLUX_DATA");
    if (place == nullptr) GTEST_SKIP() << "ECHOLUX_DATA is not set: the real volume is not tested";
    const std::string data = std::string(place) + "/sd-oct-volume/";
    const auto path = folder_.write("real.toml", "[scan]\nfile = \"" + data +
                                                     "spectra_u16_100x100x1024.raw\"\nsamples = 1024\na_scans = 100\n"
                                                     "b_scans = 100\n[calibration]\nk_map = \"" +
                                                     data + "k_linear_positions.csv\"\ndispersion = \"" + data +
                                                     "dispersion_phase_rad.csv\"\ndispersion_holds = \"correction\"\n");
    const Scan scan = open_scan(path);
    EXPECT_EQ(scan.calibration.k_positions.size(), 1024u);
    EXPECT_EQ(scan.calibration.k_positions.front(), -0.0559897751);
    EXPECT_EQ(scan.calibration.dispersion_rad.at(1), 1.36350436);
    SpectraReader reader(scan);
    std::vector<std::byte> b_scan(index(reader.bytes_per_b_scan()));
    int least = 65535;
    int most = 0;
    for (std::int64_t b = 0; b < 100; ++b) {
        reader.read(0, b, 1, b_scan);
        for (std::size_t i = 0; i < b_scan.size(); i += 2) {
            const int count = std::to_integer<int>(b_scan[i]) + 256 * std::to_integer<int>(b_scan[i + 1]);
            least = std::min(least, count);
            most = std::max(most, count);
        }
    }
    EXPECT_EQ(least, 5663);
    EXPECT_EQ(most, 16703);
}

}  // namespace
}  // namespace echolux
