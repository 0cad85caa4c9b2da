// Settings, calibration and layouts that cannot be right, or are unlikely: refused or warned of, with the likely cause.
#include "engine/scan/scan_checks.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "compute/calibrate/calibrate.h"
#include "compute/indexing.h"
#include "engine/scan/scan.h"
#include "engine/simulate/simulator.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Scan usual_scan() {
    Scan scan = with(Scan{},
                     "samples=256 a_scans=32 b_scans=2 spacing_a_um=12 spacing_b_um=12 line_rate_hz=76000 "
                     "depth_pitch_um=3.5 centre_wavelength_nm=1310");
    for (int i = 0; i < 256; ++i) {
        scan.calibration.k_positions.push_back(i + 4 * std::sin(i * 3.14159 / 255));
        scan.calibration.background.push_back(9000);
        scan.calibration.dark.push_back(300);
    }
    return scan;
}

std::vector<std::string> lines_with(const std::function<void(Scan&)>& change) {
    Scan scan = usual_scan();
    change(scan);
    return implausible_settings(scan);
}

TEST(Plausibility, UsualSettingsAreNotWarnedOf) {
    EXPECT_THAT(lines_with([](Scan&) {}), IsEmpty());
    EXPECT_THAT(implausible_settings(Scan()), IsEmpty());  // unknown is not unlikely
}

TEST(Plausibility, WarnsOfNumbersInOtherUnits) {
    EXPECT_THAT(lines_with([](Scan& scan) { scan.geometry.spacing_a_um = 0.012; }),
                ElementsAre("scan.spacing_a_um: 0.012 um is unlikely, 0.05 to 2000 are usual (is it in mm?)"));
    EXPECT_THAT(lines_with([](Scan& scan) { scan.geometry.spacing_b_um = 12'000; }),
                ElementsAre(HasSubstr("is it in nm?")));
    EXPECT_THAT(lines_with([](Scan& scan) { scan.geometry.line_rate_hz = 76; }),
                ElementsAre(HasSubstr("is it in kHz?")));
    EXPECT_THAT(lines_with([](Scan& scan) { scan.calibration.depth_pitch_um = 0.0035; }),
                ElementsAre(HasSubstr("calibration.depth_pitch_um: 0.0035 um is unlikely")));
}

TEST(Plausibility, WarnsOfUnlikelyCalibration) {
    EXPECT_THAT(lines_with([](Scan& scan) {
                    for (double& position : scan.calibration.k_positions) position = 100 + position / 4;
                }),
                ElementsAre(HasSubstr("calibration.k_map: positions 100 to 163.75 use 25 % of the line, 256 samples")));
    EXPECT_THAT(lines_with([](Scan& scan) {
                    scan.calibration.k_positions.assign(256, 0);
                    for (int i = 0; i < 256; ++i)  // every tenth number lost its decimals
                        scan.calibration.k_positions[index(i)] = i % 10 == 9 ? i : i / 10 * 10 + i % 10 * 0.01;
                }),
                ElementsAre(HasSubstr("calibration.k_map: neighbouring numbers differ by up to")));
    const auto wavelengths = [](double first, double last) {
        return lines_with([&](Scan& scan) {
            scan.calibration.k_positions.clear();
            for (int i = 0; i < 256; ++i) scan.calibration.wavelengths_nm.push_back(first + (last - first) * i / 255);
        });
    };
    EXPECT_THAT(wavelengths(800, 880), IsEmpty());
    EXPECT_THAT(wavelengths(2600, 2800), ElementsAre(HasSubstr("2600 to 2800 nm are unlikely")));
    EXPECT_THAT(wavelengths(800, 801), ElementsAre(HasSubstr("a bandwidth that OCT does not have")));
    EXPECT_THAT(
        lines_with([](Scan& scan) {
            for (double& count : scan.calibration.background) count /= 65535;
            scan.calibration.dark.clear();
        }),
        ElementsAre(HasSubstr("calibration.background: its values are 0.137 to 0.137, the samples count to 65535")));
    EXPECT_THAT(
        lines_with([](Scan& scan) { scan.format.bits = 12; }),
        ElementsAre(HasSubstr("calibration.background: its values are 9000 to 9000, the samples count to 4095")));
    EXPECT_THAT(lines_with([](Scan& scan) { std::swap(scan.calibration.dark, scan.calibration.background); }),
                ElementsAre(HasSubstr("are the two files swapped?")));
}

// ---- layouts --------------------------------------------------------------------------------------------------------

// The doubts about some B-scans of a scan, after `change`.
class LayoutCheck : public testing::Test {
  protected:
    void simulate_scan(const std::string& scene, std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans,
                       double mirror_um = 120) {
        Simulation simulation;
        simulation.mirror_um = {mirror_um};
        simulation.mirror_amplitude = {0.2};
        simulation.scene = scene;
        simulation.samples = samples;
        simulation.a_scans = a_scans;
        simulation.b_scans = b_scans;
        SilentProgress silent;
        simulate(simulation, folder_ / "scan.toml", silent);
    }

    struct Middle {
        Scan scan;
        std::vector<std::byte> bytes{};
        Block block{};
    };

    Middle middle(const std::filesystem::path& path, std::vector<std::string> changes) const {
        Middle made{open_scan(path, changes)};
        SpectraReader reader(made.scan);
        made.bytes.resize(index(reader.bytes_per_b_scan()));
        reader.read(0, made.scan.geometry.b_scans / 2, 1, made.bytes);
        made.block.data = made.bytes.data();
        made.block.bytes = std::ssize(made.bytes);
        made.block.b_scans = 1;
        return made;
    }

    std::vector<std::string> doubts(const std::vector<std::string>& changes = {}) const {
        const Middle made = middle(folder_ / "scan.toml", changes);
        return layout_doubts(made.scan, made.block);
    }

    double zero_share(const std::vector<std::string>& changes = {}) const {
        const Middle made = middle(folder_ / "scan.toml", changes);
        return share_at_zero_delay(made.scan.spec(1), made.block);
    }

    TemporaryFolder folder_;
};

TEST_F(LayoutCheck, RightLayoutsAreNotDoubted) {
    for (const char* scene : {"vessel", "layers", "retina", "mirror", "capillary"}) {
        simulate_scan(scene, 512, 64, 4);
        EXPECT_THAT(doubts(), IsEmpty()) << scene;
        EXPECT_LT(zero_share(), 0.2) << scene;
    }
}

TEST_F(LayoutCheck, DoubtsOtherLineLengths) {
    simulate_scan("layers", 512, 64, 4);
    const std::vector<std::string> no_calibration{
        "calibration.k_map=", "calibration.wavelengths=", "calibration.background=", "calibration.dispersion=",
        "calibration.dark="};
    const auto with = [&](std::vector<std::string> changes) {
        changes.insert(changes.end(), no_calibration.begin(), no_calibration.end());
        return doubts(changes);
    };
    EXPECT_THAT(with({"scan.samples=1024", "scan.a_scans=32"}),
                ElementsAre(HasSubstr("lines of 512 samples look alike")));
    EXPECT_THAT(with({"scan.samples=256", "scan.a_scans=128"}),
                ElementsAre(HasSubstr("lines of 512 samples look alike")));
    EXPECT_THAT(with({"scan.samples=128", "scan.a_scans=256"}),
                ElementsAre(HasSubstr("lines of 512 samples look alike")));
}

TEST_F(LayoutCheck, WrongByteOrdersAreDoubted) {
    simulate_scan("layers", 512, 64, 4);
    EXPECT_THAT(doubts({"scan.byte_order=big"}), ElementsAre(HasSubstr("set scan.byte_order = little")));
}

TEST_F(LayoutCheck, LightWithoutDepthIsNoticed) {
    simulate_scan("mirror", 512, 64, 4, 40);
    EXPECT_LT(zero_share(), 0.2);
    Middle made = middle(folder_ / "scan.toml", {});
    ReconstructionSpec spec = made.scan.spec(1);
    spec.calibration.wavelengths_nm.clear();
    spec.calibration.k_positions.clear();
    for (int i = 0; i < 512; ++i)
        spec.calibration.k_positions.push_back(200 + 26.0 * i / 511);  // the smallest accepted range
    EXPECT_GT(share_at_zero_delay(spec, made.block), 0.5);
}

TEST_F(LayoutCheck, RealRecordingsAreNotDoubted) {
    const char* data = std::getenv("ECHOLUX_DATA");
    if (data == nullptr) GTEST_SKIP() << "ECHOLUX_DATA names no folder with real data";
    const auto real = std::filesystem::path(data);
    folder_.write("scan.toml", "[scan]\nfile = \"" + (real / "sd-oct-volume/spectra_u16_100x100x1024.raw").string() +
                                   "\"\nsamples = 1024\na_scans = 100\nb_scans = 100\n[calibration]\nk_map = \"" +
                                   (real / "sd-oct-volume/k_linear_positions.csv").string() + "\"\n");
    for (const auto& path : {folder_ / "scan.toml", real / "ocp930-bscans/pdms.raw", real / "ocp930-bscans/wood.raw",
                             real / "ocp930-bscans/shifted.raw"}) {
        const Middle made = middle(path, {});
        EXPECT_THAT(made.scan.remarks, IsEmpty()) << path;
        EXPECT_THAT(layout_doubts(made.scan, made.block), IsEmpty()) << path;
        EXPECT_LT(share_at_zero_delay(made.scan.spec(1), made.block), 0.3) << path;
    }
}

}  // namespace
}  // namespace echolux
