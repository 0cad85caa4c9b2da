// Calibrating an instrument from its own live spectra, with the actions of the window: means are recorded, files are
// written and entered in the settings, and two mirrors recover the simulated k map and dispersion.
#include <cmath>
#include <fstream>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "engine/io/number_file.h"
#include "engine/simulate/spectrometer.h"
#include "tests/support/set_fields.h"
#include "ui/workspace/calibrating.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

class WorkspaceCalibrating : public WorkspaceTest {
  protected:
    static constexpr std::int64_t samples = 512;

    // A mirror at the given depth, in front of a spectrometer with some dispersion.
    static SourceRequest mirror(double depth_um, double a2_rad, double amplitude = 0.2) {
        SourceRequest wanted;
        wanted.name = "sim:mirror";
        wanted.assignments = {"simulation.samples=512",
                              "simulation.a_scans=32",
                              "simulation.b_scans=4",
                              "simulation.line_rate_hz=4000",
                              "simulation.confocal=false",
                              "simulation.mirror_um=[" + std::to_string(depth_um) + "]",
                              "simulation.mirror_amplitude=[" + std::to_string(amplitude) + "]",
                              "simulation.a2_rad=" + std::to_string(a2_rad)};
        return wanted;
    }
    void open(const SourceRequest& source) {
        work().open_source(source);
        settle();
        ASSERT_TRUE(work().viewer().is_open()) << troubles();
        ASSERT_TRUE(work().change("window.record_folder", folder().path().string()));
        ASSERT_TRUE(until([&] { return calibrating().can_take(work()); }));
    }
    Calibrating& calibrating() { return work().calibrating(); }

    const MeanSpectrum* take(const std::string& action, Spectrum which) {
        EXPECT_TRUE(work().actions().run(action)) << action;
        EXPECT_TRUE(until([&] { return calibrating().measured(which) != nullptr && !work().is_busy(); })) << troubles();
        return calibrating().measured(which);
    }
};

TEST_F(WorkspaceCalibrating, TakesStoresAndNamesBackground) {
    open(mirror(100, 0));
    const std::vector<double> before = work().settings().scan()->calibration.background;
    const MeanSpectrum* taken = take("calibrate.take_background", Spectrum::background);
    ASSERT_NE(taken, nullptr);
    EXPECT_EQ(taken->lines, 1000);
    EXPECT_EQ(work().settings().scan()->calibration.background, taken->counts);
    EXPECT_NE(taken->counts, before);
    const std::string file = std::get<std::string>(value("calibration.background"));
    EXPECT_EQ(read_calibration(file, samples, "calibration.background"), taken->counts);
    EXPECT_EQ(std::filesystem::path(file).parent_path(), folder().path());
    work().undo();
    EXPECT_EQ(work().settings().scan()->calibration.background, before);
    EXPECT_EQ(standing("calibration") + standing("recipe"), "");
}

TEST_F(WorkspaceCalibrating, ReportsUnwritableFolder) {
    open(mirror(100, 0));
    ASSERT_TRUE(work().change("window.record_folder", volume_file().string()));
    take("calibrate.take_dark", Spectrum::dark);
    EXPECT_NE(standing("calibration"), "");
    EXPECT_EQ(value("calibration.dark"), Value(std::string()));
}

TEST_F(WorkspaceCalibrating, ReportsMissingFolder) {
    open(mirror(100, 0));
    std::ofstream(folder() / "gone") << "a file, where a folder was";
    ASSERT_TRUE(work().change("window.record_folder", (folder() / "gone").string()));
    take("calibrate.take_dark", Spectrum::dark);
    EXPECT_NE(standing("calibration"), "");
}

TEST_F(WorkspaceCalibrating, StoppedSourceKeepsMeanOfReceivedLines) {
    open(mirror(100, 0));
    ASSERT_TRUE(work().actions().run("calibrate.take_dark"));
    ASSERT_TRUE(until([&] { return calibrating().share_taken() > 0; })) << troubles();
    ASSERT_TRUE(work().actions().run("source.start_stop"));
    ASSERT_TRUE(until([&] { return !calibrating().taking(); })) << troubles();
    settle();
    ASSERT_NE(calibrating().measured(Spectrum::dark), nullptr);
    EXPECT_GT(calibrating().measured(Spectrum::dark)->lines, 0);
    EXPECT_NE(value("calibration.dark"), Value(std::string())) << troubles();
}

TEST_F(WorkspaceCalibrating, AlignmentViewReadsNewestLines) {
    open(mirror(100, 0));
    calibrating().wanted.average = 32;
    calibrating().look(work());
    ASSERT_TRUE(calibrating().watch().newest().has_value());
    const AlignmentStats& stats = calibrating().watch().newest()->stats;
    EXPECT_TRUE(stats.has_peak);
    EXPECT_NEAR(stats.peak_um, 100, 0.5);
    const std::size_t moments = calibrating().watch().moments().size();
    ASSERT_TRUE(until([&] {
        calibrating().look(work());
        return calibrating().watch().moments().size() > moments + 2;
    }));
    calibrating().is_still = true;
    const std::size_t still = calibrating().watch().moments().size();
    const auto newest = [&] { return work().viewer().live()->newest_block()->sequence; };
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t before = newest();
        ASSERT_TRUE(until([&] { return newest() != before; })) << troubles();
        calibrating().look(work());
    }
    EXPECT_EQ(calibrating().watch().moments().size(), still);
}

TEST_F(WorkspaceCalibrating, CloseDiscardsTakenSpectra) {
    open(mirror(100, 0));
    take("calibrate.mirror_1", Spectrum::mirror_1);
    work().close();
    EXPECT_EQ(calibrating().measured(Spectrum::mirror_1), nullptr);
    EXPECT_FALSE(work().actions().run("calibrate.mirror_1"));
    EXPECT_FALSE(work().actions().run("calibrate.apply"));
}

// Noise-free spectrum of a mirror at another depth with the same camera.
MeanSpectrum mirror_seen(double depth_um, double a2_rad) {
    Simulation s = with(Simulation{}, "scene=mirror samples=512 a_scans=1 b_scans=1 roll_off=false");
    s.a2_rad = a2_rad;
    const Spectrometer spectrometer(s);
    MeanSpectrum taken;
    for (std::size_t p = 0; p < spectrometer.k_per_um.size(); ++p) {
        const double phase = 2 * spectrometer.k_per_um[p] * depth_um + spectrometer.theta_rad[p];
        taken.counts.push_back(s.dark_counts + 0.6 * 4095 * spectrometer.source[p] * (1 + 0.2 * std::cos(phase)));
    }
    return taken;
}

TEST_F(WorkspaceCalibrating, TwoMirrorsReplaceWavelengths) {
    open(mirror(100, 15));
    const std::vector<double> wavelengths = work().settings().scan()->calibration.wavelengths_nm;
    ASSERT_EQ(wavelengths.size(), index(samples));
    calibrating().set_spectrum(Spectrum::mirror_1, mirror_seen(60, 15));
    EXPECT_FALSE(work().actions().find("calibrate.apply")->is_possible()) << "one mirror says nothing of k";
    calibrating().set_spectrum(Spectrum::mirror_2, mirror_seen(190, 15));
    calibrating().facts.displacement_um = 130;
    calibrating().facts.centre_wavelength_nm = 845;
    ASSERT_TRUE(work().actions().run("calibrate.apply"));
    settle();
    EXPECT_EQ(standing("calibration") + standing("recipe"), "");

    const Scan& scan = *work().settings().scan();
    EXPECT_TRUE(scan.calibration.wavelengths_nm.empty());
    ASSERT_EQ(scan.calibration.k_positions.size(), index(samples));
    Simulation simulation;
    simulation.samples = samples;
    const Spectrometer truth(simulation);
    const auto middle = index(std::llround(scan.calibration.k_positions[samples / 2]));
    const double k_middle = (truth.k_per_um.front() + truth.k_per_um.back()) / 2;
    EXPECT_NEAR(truth.k_per_um[middle], k_middle, 0.01 * k_middle);
    EXPECT_NEAR(scan.calibration.depth_pitch_um, truth.pitch_um, 0.005 * truth.pitch_um);
    EXPECT_NEAR(scan.recipe.a2_rad, 15, 0.3);
    EXPECT_NEAR(scan.recipe.a3_rad, 0, 0.3);
    EXPECT_EQ(work().viewer().view_source()->live()->scan().calibration.wavelengths_nm, wavelengths)
        << "the source's own";

    calibrating().look(work());
    EXPECT_NEAR(calibrating().watch().newest()->stats.peak_um, 100, 1.0);
    work().undo();
    EXPECT_EQ(work().settings().scan()->calibration.wavelengths_nm, wavelengths);
    EXPECT_TRUE(work().settings().scan()->calibration.k_positions.empty());
}

// The search starts without dispersion and finds the simulated value.
TEST_F(WorkspaceCalibrating, DispersionOfBScanIsSearched) {
    open(mirror(150, 25));
    ASSERT_TRUE(work().change("recipe.a2_rad", 0.0));
    ASSERT_TRUE(work().actions().run("calibrate.dispersion"));
    EXPECT_FALSE(work().actions().find("calibrate.dispersion")->is_possible()) << "one search at a time";
    settle();
    EXPECT_NEAR(work().settings().scan()->recipe.a2_rad, 25, 0.7);
    EXPECT_TRUE(work().settings().scan()->recipe.dispersion);
    work().undo();
    EXPECT_EQ(work().settings().scan()->recipe.a2_rad, 0);
    EXPECT_EQ(standing("calibration") + standing("recipe"), "");
}

}  // namespace
}  // namespace echolux::test
