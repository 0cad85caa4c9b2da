// Scans and their settings: opened, described, read, changed by key.
#include <algorithm>
#include <limits>

#include "compute/indexing.h"
#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

TEST(LibraryScan, DescribesFile) {
    const TemporaryFolder folder;
    const lux::Scan scan = lux::Scan::open(scan_in(folder.path(), {.volumes = 2}));
    const echolux_scan_shape shape = scan.shape();
    EXPECT_EQ(shape.samples, 256);
    EXPECT_EQ(shape.a_scans, 12);
    EXPECT_EQ(shape.b_scans, 6);
    EXPECT_EQ(shape.volumes, 2);
    EXPECT_EQ(shape.line_bytes, 512);
    EXPECT_EQ(shape.b_scan_bytes, 12 * 512);
    EXPECT_EQ(shape.has_spectra, 1);
    EXPECT_EQ(shape.was_recorded, 0);
}

TEST(LibraryScan, IsCreatedWithoutFile) {
    const lux::Scan scan = lux::Scan::create(2048, 100, 50, "packed12", {"scan.b_repeats=2"});
    EXPECT_EQ(scan.shape().line_bytes, 3072);
    EXPECT_EQ(scan.shape().b_scan_bytes, 3072 * 200);
    EXPECT_EQ(scan.shape().has_spectra, 0);
    EXPECT_EQ(scan.plan().depth, 1024);
    EXPECT_EQ(status_of([] { lux::Scan::create(0, 100, 50); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([] { lux::Scan::create(2048, -1, 50); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([] { lux::Scan::create(2048, 10, 50, "u13"); }), ECHOLUX_BAD_SETTING);
}

TEST(LibraryScan, CalibrationIsSetAndReadAsArrays) {
    lux::Scan scan = described();
    const std::vector<double> dark(256, 12.5);
    scan.set_calibration("dark", dark);
    EXPECT_EQ(scan.calibration("dark"), dark);
    scan.set_calibration("dark", {});
    EXPECT_TRUE(scan.calibration("dark").empty());
    EXPECT_EQ(status_of([&] { scan.set_calibration("drak", dark); }), ECHOLUX_BAD_SETTING);
    std::vector<double> broken = dark;
    broken[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(status_of([&] { scan.set_calibration("dark", broken); }), ECHOLUX_BAD_SETTING);
    EXPECT_TRUE(scan.calibration("dark").empty()) << "what is refused changes nothing";
    scan.set_calibration("background", std::vector<double>(255, 1.0));
    scan.settings().set("recipe.background", "stored");
    EXPECT_EQ(status_of([&] { lux::Reconstructor work(scan); }), ECHOLUX_BAD_SETTING) << "of the wrong length";
}

TEST(LibraryScan, ArrayReplacesFile) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "dark.csv").string();
    std::ofstream dark(file);
    for (int i = 0; i < 256; ++i) dark << "7\n";
    dark.close();
    lux::Scan scan = described();
    scan.settings().set("calibration.dark", file);
    EXPECT_EQ(scan.calibration("dark"), std::vector<double>(256, 7));
    const std::vector<double> of_caller(256, 12.5);
    scan.set_calibration("dark", of_caller);
    EXPECT_EQ(scan.settings().text("calibration.dark"), "");
    scan.settings().set("calibration.mask", "");
    EXPECT_EQ(scan.calibration("dark"), of_caller) << "the file is not read again";
}

TEST(LibrarySettings, AreDescribed) {
    lux::Scan scan = described();
    const auto all = scan.settings().all();
    EXPECT_GT(all.size(), 60u);
    const auto window = std::ranges::find_if(all, [](const auto& s) { return std::string(s.key) == "recipe.window"; });
    ASSERT_NE(window, all.end());
    EXPECT_EQ(window->type, ECHOLUX_TEXT);
    EXPECT_STREQ(window->default_text, "hann");
    ASSERT_GT(window->choice_count, 3u);
    EXPECT_STREQ(window->choices[0], "rect");
    EXPECT_NE(std::string(window->help), "");
    std::size_t index = 0;
    echolux_settings* settings = nullptr;
    ASSERT_EQ(echolux_scan_settings(scan.get(), &settings, nullptr), ECHOLUX_OK);
    ASSERT_EQ(echolux_settings_find(settings, "recipe.window", &index, nullptr), ECHOLUX_OK);
    EXPECT_EQ(index, static_cast<std::size_t>(window - all.begin()));
    EXPECT_EQ(echolux_settings_find(settings, "recipe.windw", &index, nullptr), ECHOLUX_BAD_SETTING);
    auto one = lux::make<echolux_setting>();
    EXPECT_EQ(echolux_settings_describe(settings, all.size(), &one, nullptr), ECHOLUX_BAD_ARGUMENT);
}

TEST(LibrarySettings, EveryDefaultCanBeSetAgain) {
    lux::Scan scan = described();
    for (const echolux_setting& one : scan.settings().all()) {
        if (std::string(one.key).starts_with("scan.")) continue;  // sizes of 0 are invalid
        EXPECT_EQ(status_of([&] { scan.settings().set(one.key, one.default_text); }), ECHOLUX_OK) << one.key;
        EXPECT_EQ(scan.settings().text(one.key), one.default_text) << one.key;
    }
}

TEST(LibrarySettings, TextsAndNumbers) {
    lux::Scan scan = described();
    lux::Settings settings = scan.settings();
    settings.set("recipe.low", -3.5);
    EXPECT_EQ(settings.number("recipe.low"), -3.5);
    EXPECT_EQ(settings.text("recipe.low"), "-3.5");
    settings.set("recipe.zero_padding", 2);
    EXPECT_EQ(settings.number("recipe.zero_padding"), 2);
    settings.set("recipe.dispersion", 0);
    EXPECT_EQ(settings.text("recipe.dispersion"), "false");
    settings.set("recipe.dispersion", "true");
    EXPECT_EQ(settings.number("recipe.dispersion"), 1);
    EXPECT_EQ(status_of([&] { settings.set("recipe.low", std::numeric_limits<double>::quiet_NaN()); }),
              ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { settings.set("recipe.low", std::numeric_limits<double>::infinity()); }),
              ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { settings.set("recipe.zero_padding", 1.5); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { settings.set("recipe.window", 3); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { settings.set("recipe.window", "hannn"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { settings.number("recipe.window"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(settings.number("recipe.low"), -3.5) << "what is refused changes nothing";
}

TEST(LibrarySettings, WritesOnlyDifferences) {
    lux::Scan scan = lux::Scan::create(256, 12, 6);
    EXPECT_EQ(scan.settings().toml().find("window"), std::string::npos);
    scan.settings().set("recipe.window", "rect");
    EXPECT_NE(scan.settings().toml().find("[recipe]\nwindow = \"rect\"\n"), std::string::npos);
    EXPECT_GT(scan.settings().toml(true).size(), 2 * scan.settings().toml().size());
}

TEST(LibrarySettings, ReportsTooSmallBuffer) {
    lux::Scan scan = described();
    echolux_settings* settings = nullptr;
    ASSERT_EQ(echolux_scan_settings(scan.get(), &settings, nullptr), ECHOLUX_OK);
    char text[4] = "###";
    std::size_t needed = 0;
    EXPECT_EQ(echolux_settings_get_text(settings, "recipe.window", text, 4, &needed, nullptr), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(needed, 5u);
    EXPECT_STREQ(text, "han");
    EXPECT_EQ(echolux_settings_get_text(settings, "recipe.window", nullptr, 4, &needed, nullptr), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_settings_get_text(settings, "recipe.window", nullptr, 0, &needed, nullptr), ECHOLUX_OK);
}

}  // namespace
}  // namespace echolux::test
