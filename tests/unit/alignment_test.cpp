// The alignment view of a mirror, compared with mirrors whose peak, width, contrast and noise are known in closed form,
// and with the simulated instrument.
#include "engine/analysis/alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "compute/indexing.h"
#include "engine/simulate/instrument.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using std::numbers::pi;

constexpr std::int64_t n = 1024;
constexpr double light = 1000, dark = 50, contrast = 0.2, bin = 200.3;

double decibels(double power) {
    return 10 * std::log10(power);
}

// Lines of a mirror, linear in k, from a source with a flat spectrum.
class AlignmentOfAMirror : public testing::Test {
  protected:
    ReconstructionSpec spec;
    std::mt19937 random{7};

    AlignmentOfAMirror() {
        set(spec, "sample_format=f32 a_scans=64 b_scans=4");
        spec.geometry.samples = n;
        spec.block_b_scans = 4;
        spec.calibration.background.assign(n, dark + light);
        spec.calibration.dark.assign(n, dark);
        spec.recipe.background = Background::frame_mean;  // of the volume; not used here
    }

    // `phase_step` is the phase of the fringe per line.
    std::vector<float> lines(std::int64_t count, double noise, double phase_step = 0) {
        std::normal_distribution<double> normal(0, 1);
        std::vector<float> counts;
        for (std::int64_t l = 0; l < count; ++l) {
            for (std::int64_t j = 0; j < n; ++j) {
                const double phase = 2 * pi * bin * static_cast<double>(j) / n + phase_step * static_cast<double>(l);
                counts.push_back(
                    static_cast<float>(dark + light * (1 + contrast * std::cos(phase)) + noise * normal(random)));
            }
        }
        return counts;
    }

    template <class Sample>
    static Block block_of(const std::vector<Sample>& counts, std::int64_t b_scans = 1) {
        return Block{.data = reinterpret_cast<const std::byte*>(counts.data()),
                     .bytes = std::ssize(counts) * static_cast<std::int64_t>(sizeof(Sample)),
                     .b_scans = b_scans};
    }
};

TEST_F(AlignmentOfAMirror, ReportsFiguresOfFringe) {
    set(spec, "depth_pitch_um=2.5 refractive_index=1.25");
    const std::vector<float> counts = lines(64, 0);
    Alignment alignment(spec);
    const AlignmentReading reading = alignment.read(block_of(counts), {.line = 10, .average = 4});
    const AlignmentStats& stats = reading.stats;
    EXPECT_EQ(reading.lines, 4);
    EXPECT_TRUE(stats.has_peak);
    EXPECT_NEAR(stats.peak_bin, bin, 0.005);
    EXPECT_NEAR(stats.peak_um, bin * 2, 0.01);
    EXPECT_NEAR(stats.fwhm_bins, 2.002, 0.01);  // for |A| and a Hann window
    EXPECT_NEAR(stats.fwhm_um, 2 * stats.fwhm_bins, 1e-9);
    EXPECT_NEAR(stats.contrast, contrast, 0.002);
    EXPECT_NEAR(stats.peak_db, decibels(std::pow(contrast * light / 2, 2)), 0.01);
    EXPECT_FALSE(stats.saturation_percent.has_value()) << "real samples have no end";
}

TEST_F(AlignmentOfAMirror, ShowsWindowedFringe) {
    Alignment alignment(spec);
    const std::vector<float> counts = lines(64, 0);
    const AlignmentReading reading = alignment.read(block_of(counts), {});
    ASSERT_EQ(reading.windowed.size(), index(n));
    for (std::int64_t j = 0; j < n; ++j) {
        const double x = static_cast<double>(j) / n;
        const double window = 0.5 - 0.5 * std::cos(2 * pi * static_cast<double>(j) / (n - 1));
        EXPECT_NEAR(double{reading.windowed[index(j)]}, window * light * contrast * std::cos(2 * pi * bin * x), 0.05);
    }
    EXPECT_NEAR(reading.spectrum[0], dark + light * (1 + contrast), 1e-3);
    EXPECT_EQ(reading.background[0], dark + light);
    EXPECT_TRUE(reading.has_background);
}

// A Hann window of n samples passes 1.5 / n of white noise.
TEST_F(AlignmentOfAMirror, SnrIsPeakOverMeanNoise) {
    constexpr double noise = 20;
    const double expected = decibels(std::pow(contrast * light / 2, 2) / (noise * noise * 1.5 / n));
    Alignment alignment(spec);
    const std::vector<float> counts = lines(64, noise);
    EXPECT_NEAR(alignment.read(block_of(counts), {.average = 64}).stats.snr_db, expected, 0.2);
    double mean = 0;  // of single lines, whose median needs another correction
    for (std::int64_t line = 0; line < 64; ++line) {
        alignment.forget();
        mean += alignment.read(block_of(counts), {.line = line, .average = 1}).stats.snr_db / 64;
    }
    EXPECT_NEAR(mean, expected, 0.2);
}

TEST_F(AlignmentOfAMirror, AveragesLinesOfSeveralBlocks) {
    Alignment alignment(spec);
    AlignmentReading reading;
    const auto noise_spread = [&] {  // standard deviation of the noise power, relative to its mean
        double sum = 0, squares = 0, count = 0;
        for (std::size_t z = 4 * 260; z < reading.a_scan_db.size(); z += 4) {
            const double power = std::pow(10, double{reading.a_scan_db[z]} / 10);
            sum += power;
            squares += power * power;
            ++count;
        }
        return std::sqrt(squares / count - std::pow(sum / count, 2)) / (sum / count);
    };
    for (int block = 0; block < 4; ++block) {
        const std::vector<float> counts = lines(64, 20);
        reading = alignment.read(block_of(counts), {.average = 256});
    }
    EXPECT_NEAR(noise_spread(), 1 / 16.0, 0.015);
    for (int block = 0; block < 8; ++block) {
        const std::vector<float> counts = lines(64, 20);
        reading = alignment.read(block_of(counts), {.average = 256});
    }
    EXPECT_LT(noise_spread(), 1 / 16.0 + 0.015);
    alignment.forget();
    const std::vector<float> counts = lines(64, 20);
    reading = alignment.read(block_of(counts), {.average = 256});
    EXPECT_NEAR(noise_spread(), 1 / 8.0, 0.03);
}

// The power is averaged, so a vibrating mirror keeps its peak.
TEST_F(AlignmentOfAMirror, VibratingMirrorKeepsItsPeak) {
    Alignment alignment(spec);
    const std::vector<float> counts = lines(64, 0, 2 * pi / 64);
    const AlignmentStats stats = alignment.read(block_of(counts), {.average = 64}).stats;
    EXPECT_NEAR(stats.peak_db, decibels(std::pow(contrast * light / 2, 2)), 0.01);
    EXPECT_NEAR(stats.contrast, contrast, 0.002);
}

TEST_F(AlignmentOfAMirror, FindsMirrorWithoutBackground) {
    spec.calibration.background.clear();
    for (const Background background : {Background::automatic, Background::frame_mean, Background::running}) {
        spec.recipe.background = background;
        Alignment alignment(spec);
        const std::vector<float> counts = lines(64, 2);
        const AlignmentReading reading = alignment.read(block_of(counts), {.average = 16});
        EXPECT_FALSE(reading.has_background);
        EXPECT_NEAR(reading.stats.peak_bin, bin, 0.01);
        EXPECT_NEAR(reading.stats.contrast, contrast, 0.01);
    }
}

TEST_F(AlignmentOfAMirror, ReportsLargestSampleAsSaturation) {
    set(spec, "sample_format=u16 bits=12");
    std::vector<std::uint16_t> counts(index(n * 64), 2000);
    counts[5 * n + 7] = 3000;
    counts[6 * n + 7] = 4095;
    Alignment alignment(spec);
    AlignmentStats stats = alignment.read(block_of(counts), {.line = 5, .average = 1}).stats;
    EXPECT_NEAR(*stats.saturation_percent, 100 * 3000 / 4095.0, 1e-9);
    EXPECT_EQ(stats.clipped_percent, 0);
    stats = alignment.read(block_of(counts), {.line = 5, .average = 2}).stats;
    EXPECT_EQ(*stats.saturation_percent, 100);
    EXPECT_NEAR(stats.clipped_percent, 100 / (2.0 * n), 1e-9);
}

TEST_F(AlignmentOfAMirror, AveragesOnlyLinesOfOneFrame) {
    Alignment alignment(spec);
    std::vector<float> counts = lines(128, 0);
    for (std::size_t i = 64 * n; i < counts.size(); ++i) counts[i] += 7;  // second B-scan
    const Block block = block_of(counts, 2);
    AlignmentReading reading = alignment.read(block, {.line = 60, .average = 50});
    EXPECT_EQ(reading.lines, 4);
    EXPECT_NEAR(reading.spectrum[0], dark + light * (1 + contrast), 1e-3);
    reading = alignment.read(block, {.line = 1000});
    EXPECT_EQ(reading.lines, 1);
    EXPECT_NEAR(reading.spectrum[0], dark + light * (1 + contrast) + 7, 1e-3);
}

TEST_F(AlignmentOfAMirror, SearchesPeakInGivenDepthRange) {
    std::vector<float> counts = lines(64, 0);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double x = static_cast<double>(i % n) / n;
        counts[i] += static_cast<float>(30 * std::cos(2 * pi * 350 * x));
    }
    Alignment alignment(spec);
    EXPECT_NEAR(alignment.read(block_of(counts), {}).stats.peak_bin, bin, 0.01);
    EXPECT_NEAR(alignment.read(block_of(counts), {.depth_begin = 300}).stats.peak_bin, 350, 0.01);
}

TEST_F(AlignmentOfAMirror, FindsNoPeakInDarkness) {
    const std::vector<float> counts(index(n * 64), static_cast<float>(dark));
    spec.calibration.background.assign(n, dark);
    Alignment alignment(spec);
    const AlignmentStats stats = alignment.read(block_of(counts), {}).stats;
    EXPECT_FALSE(stats.has_peak);
    EXPECT_TRUE(std::isfinite(stats.snr_db) && std::isfinite(stats.peak_db) && std::isfinite(stats.contrast));
}

TEST_F(AlignmentOfAMirror, FitsUnchangedSpecOnly) {
    const Alignment alignment(spec);
    EXPECT_TRUE(alignment.fits(spec));
    ReconstructionSpec other = spec;
    other.recipe.a2_rad = 1;
    EXPECT_FALSE(alignment.fits(other));
    other = spec;
    other.calibration.dark[3] += 1;
    EXPECT_FALSE(alignment.fits(other));
}

TEST_F(AlignmentOfAMirror, WatchHoldsPeaksAndFreezes) {
    AlignmentWatch watch;
    AlignmentReading reading;
    reading.a_scan_db = {1, 5, 2};
    watch.add(reading, 0);
    watch.hold_peaks(true);
    watch.freeze();
    reading.a_scan_db = {3, 0, 2};
    reading.stats.snr_db = 42;
    watch.add(reading, 1);
    EXPECT_EQ(watch.held_db(), (std::vector<float>{3, 5, 2}));
    EXPECT_EQ(watch.frozen()->a_scan_db, (std::vector<float>{1, 5, 2}));
    EXPECT_EQ(watch.newest()->a_scan_db, reading.a_scan_db);
    EXPECT_EQ(watch.moments().back().snr_db, 42);
    for (std::size_t i = 0; i < 2 * AlignmentWatch::max_moments; ++i) watch.add(reading, 2);
    EXPECT_EQ(watch.moments().size(), AlignmentWatch::max_moments);
    reading.a_scan_db = {1, 2};
    watch.add(reading, 3);
    EXPECT_EQ(watch.moments().size(), 1U);
    EXPECT_FALSE(watch.frozen().has_value());
}

// The simulated spectrometer with roll-off, dispersion and camera noise.
TEST(AlignmentOfTheSimulator, MatchesSimulatedInstrument) {
    Simulation wanted = with(Simulation{},
                             "scene=mirror samples=2048 a_scans=64 b_scans=1 a2_rad=20 confocal=false "
                             "mirror_um=400 mirror_amplitude=0.2");
    Instrument instrument(wanted);
    const Simulation& s = instrument.simulation();
    std::vector<std::uint16_t> counts(index(s.samples * s.a_scans));
    SilentProgress silent;
    instrument.record(0, 0, 1, counts, silent);
    ReconstructionSpec spec = instrument.scan().spec(1);
    const std::vector<float> background = instrument.camera().background(), no_light = instrument.camera().dark();
    spec.calibration.background.assign(background.begin(), background.end());
    spec.calibration.dark.assign(no_light.begin(), no_light.end());
    spec.calibration.wavelengths_nm = instrument.spectrometer().wavelengths_nm;
    spec.recipe.resample = Resample::spline;

    Alignment alignment(spec);
    Block block{
        .data = reinterpret_cast<const std::byte*>(counts.data()), .bytes = std::ssize(counts) * 2, .b_scans = 1};
    const AlignmentStats stats = alignment.read(block, {.average = 64}).stats;

    const Spectrometer& spectrometer = instrument.spectrometer();
    const double pitch = spectrometer.pitch_um;
    EXPECT_NEAR(stats.peak_um, 400, 0.02 * pitch);
    EXPECT_NEAR(stats.contrast, 0.2 * spectrometer.roll_off(400), 0.002);
    EXPECT_GT(*stats.saturation_percent, 60);
    EXPECT_LT(*stats.saturation_percent, 90);

    // Camera noise under the window, sample by sample, and the peak of the fringe under the same window.
    const double gain = 4095 / s.full_well_electrons;
    double signal = 0, noise = 0, weights = 0;
    const std::vector<double>& k = spectrometer.k_per_um;
    for (std::size_t p = 1; p + 1 < k.size(); ++p) {
        const double share = (k[p - 1] - k[p + 1]) / 2 / ((k.front() - k.back()) / (static_cast<double>(n) * 2 - 1));
        const double edge = (k[p] - k.back()) / (k.front() - k.back());
        const double weight = share * (0.5 - 0.5 * std::cos(2 * pi * edge));  // of this sample on the k grid
        const double counts_of_light = spectrometer.source[p] * s.reference_level * 4095;
        const double variance = counts_of_light * gain + std::pow(s.read_noise_electrons * gain, 2) + 1 / 12.0;
        signal += weight * counts_of_light * 0.1 * spectrometer.roll_off(400);
        noise += weight * weight * variance;
        weights += weight;
    }
    EXPECT_NEAR(stats.peak_db, 20 * std::log10(signal / weights), 0.05);
    // Interpolation smooths the noise between samples, more so at larger depths.
    RecordProperty("snr_error_db", std::to_string(stats.snr_db - decibels(signal * signal / noise)));
    EXPECT_NEAR(stats.snr_db, decibels(signal * signal / noise), 0.7);
}

}  // namespace
}  // namespace echolux
