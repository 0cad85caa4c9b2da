// Motion of simulated tissue: the spectra match the motion, the truth files match the applied motion, and the bits
// depend on the settings alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>
#include <sstream>
#include <tuple>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/motion.h"
#include "simulator_recording.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using std::numbers::pi;
using test::SimulatedRecording;

// ---- truth files ----------------------------------------------------------------------------------------------------

std::vector<std::vector<double>> rows_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<std::vector<double>> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#' || std::isalpha(static_cast<unsigned char>(line[0])) != 0) continue;
        std::istringstream words(line);
        auto& row = rows.emplace_back();
        for (std::string word; std::getline(words, word, ',');) row.push_back(std::stod(word));
    }
    return rows;
}

Simulation noiseless(const std::string& scene) {
    Simulation s;
    set(s, "samples=512 a_scans=20 b_scans=20 adc_bits=16 full_well_electrons=0 read_noise_electrons=0 relief=flat");
    s.scene = scene;
    return s;
}

// The phase of the mirror's fringes is 2 k n m_z at all samples, so they are in phase at the mirror's current depth.
TEST(SimulatorMotion, ShiftsPhaseOfMirror) {
    Simulation s = noiseless("mirror");
    set(s, "mirror_um=200 mirror_amplitude=0.3 motion_axial_um=30 motion_lateral_um=15");
    s.line_rate_hz = 10'000;  // at a lower rate, the mean of the tremor over an exposure differs from its midpoint
    const SimulatedRecording recording(s);
    const auto rows = rows_of(recording.folder() / "truth/motion.csv");
    ASSERT_EQ(rows.size(), 400U);
    double least = 0, greatest = 0;
    const auto depth = [&](std::size_t line) { return 200 + rows[line][4]; };
    for (std::size_t line = 0; line + 1 < rows.size(); ++line) {
        const auto here = recording.amplitude(line, depth(line)), next = recording.amplitude(line + 1, depth(line + 1));
        ASSERT_NEAR(std::arg(here), 0, 3e-3) << line;
        ASSERT_NEAR(std::arg(next * std::conj(here)), 0, 1e-3) << line;
        least = std::min(least, rows[line][4]);
        greatest = std::max(greatest, rows[line][4]);
    }
    EXPECT_GT(greatest - least, 0.5);
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
}

TEST(SimulatorMotion, MotionDuringExposureReducesFringes) {
    const TemporaryFolder folder;
    Simulation s = with(noiseless("mirror"), "b_scans=1 mirror_um=200 mirror_amplitude=0.3 line_rate_hz=1000");
    const double still = std::abs(SimulatedRecording(s).amplitude(3, 200));
    write_file(folder / "m.csv", "t_s,x_um,y_um,z_um\n0,0,0,0\n1,0,0,100\n");  // 0.1 um per line
    s.motion_file = (folder / "m.csv").string();
    const SimulatedRecording recording(s);
    const double half_phase = recording.centroid_per_um() * recording.simulation().refractive_index * 0.1;
    EXPECT_NEAR(std::abs(recording.amplitude(3, 200.3)) / still, std::sin(half_phase) / half_phase, 0.01);
}

TEST(SimulatorMotion, RowsAreMeansAndSaccadesAreFast) {
    Simulation s = noiseless("mirror");
    set(s,
        "mirror_um=200 mirror_amplitude=0.3 motion_axial_um=30 motion_lateral_um=15 motion_saccade_rate_hz=10 "
        "line_rate_hz=4000 b_repeats=2 flyback_lines=3 volumes=4");
    const SimulatedRecording recording(s);
    const auto lines = rows_of(recording.folder() / "truth/motion.csv");
    const auto rows = rows_of(recording.folder() / "truth/motion_rows.csv");
    ASSERT_EQ(lines.size(), 4U * 40 * 23);
    ASSERT_EQ(rows.size(), 160U);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        EXPECT_EQ(rows[row][0], static_cast<double>(row / 40));
        EXPECT_EQ(rows[row][1], static_cast<double>(row % 40));
        for (std::size_t column = 1; column < 6; ++column) {
            double sum = 0;
            for (std::size_t line = 0; line < 20; ++line) sum += lines[row * 23 + line][column];
            EXPECT_NEAR(rows[row][column + 1], sum / 20, 1e-4);
        }
    }
    const Motion motion(s, duration_s(s));
    double saccades = 0, fast = 0;
    for (std::size_t line = 1; line + 1 < lines.size(); ++line) {
        const double t = lines[line][1];
        const Displacement before = motion.tremor(t - 0.00025), after = motion.tremor(t + 0.00025);
        const double dx = lines[line + 1][2] - lines[line - 1][2] - (after.x_um - before.x_um);
        const double dy = lines[line + 1][3] - lines[line - 1][3] - (after.y_um - before.y_um);
        const bool is_fast = std::hypot(dx, dy) / 0.5 > 0.3;  // um in 0.5 ms
        saccades += lines[line][5];
        fast += is_fast ? 1 : 0;
    }
    EXPECT_GT(saccades, 20);
    EXPECT_NEAR(saccades, fast, 0.02 * fast + 2);
}

// ---- tissue

// Consecutive volumes, each held at its own position x, y, z.
class Held {
  public:
    Held(Simulation s, const std::vector<std::array<double, 3>>& places) {
        s.volumes = std::ssize(places);
        s.line_rate_hz = static_cast<double>(s.a_scans * s.b_scans);  // 1 s per volume
        std::ofstream file(folder_ / "m.csv");
        for (std::size_t v = 0; v < places.size(); ++v) {
            const auto& [x, y, z] = places[v];
            const double t = static_cast<double>(v);
            file << t - 0.001 / 512 << ',' << x << ',' << y << ',' << z << '\n';
            file << t + 0.99 << ',' << x << ',' << y << ',' << z << '\n';
        }
        file.close();
        s.motion_file = (folder_ / "m.csv").string();
        lines_ = index(s.a_scans * s.b_scans);
        recording_.emplace(s);
    }
    const SimulatedRecording& recording() const { return *recording_; }
    std::size_t line(std::size_t volume, std::size_t b, std::size_t a) const {
        return volume * lines_ + b * index(recording_->simulation().a_scans) + a;
    }

    // Correlates the complex amplitudes of a volume, `shift_um` deeper, with those of the first.
    std::complex<double> correlation(std::size_t volume, double shift_um = 0) const {
        std::complex<double> product = 0;
        double first = 0, other = 0;
        for (std::size_t line = 0; line < lines_ - 8; ++line) {  // the last lines may be in transition
            for (double part = 0.43; part < 0.575; part += 0.035) {
                const double depth = part * recording_->depth_range_um();
                const auto a = recording_->amplitude(line, depth);
                const auto b = recording_->amplitude(volume * lines_ + line, depth + shift_um);
                product += b * std::conj(a);
                first += std::norm(a);
                other += std::norm(b);
            }
        }
        return product / std::sqrt(first * other);
    }

  private:
    TemporaryFolder folder_;
    std::size_t lines_;
    std::optional<SimulatedRecording> recording_;
};

Simulation flat_tissue() {
    return with(noiseless("layers"), "samples=256 a_scans=30 b_scans=30 spacing_a_um=25 spacing_b_um=25");
}

TEST(SimulatorMotion, FieldCorrelatesByBeamProfile) {
    const Held held(flat_tissue(), {{0, 0, 0}, {4, 0, 0}, {0, -8, 0}, {6, 6, 0}, {0, 0, 12}});
    EXPECT_NEAR(std::abs(held.correlation(1)), std::exp(-0.16), 0.02);
    EXPECT_NEAR(std::abs(held.correlation(2)), std::exp(-0.64), 0.02);
    EXPECT_NEAR(std::abs(held.correlation(3)), std::exp(-0.72), 0.02);
    const std::complex<double> deeper = held.correlation(4, 12);
    EXPECT_GT(deeper.real(), 0.999);  // the same tissue, 12 um deeper, with the phase of that depth
    EXPECT_NEAR(deeper.imag(), 0, 0.01);
}

// A beam shifted by one A-scan or B-scan sees what the next A-scan or B-scan saw.
TEST(SimulatorMotion, MovesBeamOverTissue) {
    Simulation s = flat_tissue();
    s.a_scans = s.b_scans = 6;
    const Held held(s, {{0, 0, 0}, {25, 0, 0}, {0, 25, 0}});
    const auto& lines = held.recording().lines();
    const auto largest_difference = [&](std::size_t one, std::size_t other) {
        int largest = 0;
        for (std::size_t p = 0; p < 256; ++p) largest = std::max(largest, std::abs(lines[one][p] - lines[other][p]));
        return largest;
    };
    for (std::size_t b = 0; b < 5; ++b) {
        for (std::size_t a = 0; a < 5; ++a) {
            EXPECT_LE(largest_difference(held.line(1, b, a), held.line(0, b, a + 1)), 1);
            EXPECT_LE(largest_difference(held.line(2, b, a), held.line(0, b + 1, a)), 1);
            EXPECT_GT(largest_difference(held.line(1, b, a), held.line(0, b, a)), 100);
        }
    }
}

TEST(SimulatorMotion, SlowSpeckleRenews) {
    Simulation s = flat_tissue();
    s.volumes = 4;
    s.line_rate_hz = 900;  // 1 s per volume
    s.renewal_s = 2;
    const SimulatedRecording recording(s);
    const auto correlation = [&](std::size_t volume, std::size_t from) {
        std::complex<double> product = 0;
        double power = 0;
        for (std::size_t line = 0; line < 900; ++line) {
            for (double part = 0.43; part < 0.575; part += 0.035) {
                const auto a = recording.amplitude(from * 900 + line, part * recording.depth_range_um());
                const auto b = recording.amplitude(volume * 900 + line, part * recording.depth_range_um());
                product += b * std::conj(a);
                power += (std::norm(a) + std::norm(b)) / 2;
            }
        }
        return product / power;
    };
    EXPECT_NEAR(correlation(1, 0).real(), std::exp(-0.5), 0.02);
    EXPECT_NEAR(correlation(2, 1).real(), std::exp(-0.5), 0.02);
    EXPECT_NEAR(correlation(2, 0).real(), std::exp(-1.0), 0.02);
    EXPECT_NEAR(correlation(3, 0).real(), std::exp(-1.5), 0.02);
}

// ---- reproducible bits

std::vector<std::uint16_t> recorded(const Simulation& s, std::int64_t pieces) {
    Instrument instrument(s);
    SilentProgress silent;
    const std::int64_t frames = instrument.pattern().frames();
    const auto frame = index(instrument.pattern().lines_per_frame() * s.samples);
    std::vector<std::uint16_t> all;
    for (std::int64_t first = 0; first < frames; first += pieces) {
        const std::int64_t count = std::min(pieces, frames - first);
        std::vector<std::uint16_t> counts(index(count) * frame);
        instrument.record(0, first, count, counts, silent);
        all.insert(all.end(), counts.begin(), counts.end());
    }
    return all;
}

Simulation lively() {
    Simulation s;
    set(s,
        "scene=vessel samples=512 a_scans=24 b_scans=12 b_repeats=2 motion_axial_um=10 motion_lateral_um=15 "
        "motion_saccade_rate_hz=40 renewal_s=0.2 line_rate_hz=4000");
    return s;
}

TEST(SimulatorMotion, HasSameBitsForAnyPiecesAndThreads) {
    const Simulation s = lively();
    const auto whole = recorded(s, 24);
    EXPECT_EQ(recorded(s, 1), whole);
    EXPECT_EQ(recorded(s, 7), whole);
    const int threads = thread_count();
    set_thread_count(1);
    EXPECT_EQ(recorded(s, 24), whole);
    set_thread_count(threads);
}

TEST(SimulatorMotion, WithoutMotionEqualsStillScene) {
    Simulation still = lively();
    still.motion_axial_um = still.motion_lateral_um = still.renewal_s = 0;
    Simulation plain = with(Simulation{}, "scene=vessel samples=512 a_scans=24 b_scans=12 b_repeats=2");
    plain.line_rate_hz = still.line_rate_hz;
    EXPECT_EQ(recorded(still, 24), recorded(plain, 24));
    EXPECT_NE(recorded(still, 24), recorded(lively(), 24));
    const SimulatedRecording one(lively()), other(plain);
    EXPECT_TRUE(std::filesystem::exists(one.folder() / "truth/motion.csv"));
    EXPECT_FALSE(std::filesystem::exists(other.folder() / "truth/motion.csv"));
    SilentProgress silent;
    simulate(plain, one.folder() / "scan.toml", silent);  // replaces the moving one
    EXPECT_FALSE(std::filesystem::exists(one.folder() / "truth/motion.csv"));
    EXPECT_FALSE(std::filesystem::exists(one.folder() / "truth/motion_rows.csv"));
}

// ---- rejected settings

void expect_refused(const Simulation& s, ErrorCode code, const std::string& where, const std::string& problem) {
    const TemporaryFolder folder;
    SilentProgress silent;
    const Caught caught = error_of([&] { simulate(s, folder / "scan.toml", silent); });
    EXPECT_EQ(caught.code, code) << where;
    EXPECT_NE(caught.where.find(where), std::string::npos) << caught.line;
    EXPECT_NE(caught.line.find(problem), std::string::npos) << caught.line;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SimulatorMotion, RejectsMotionBeyondDepthRange) {
    Simulation s = with(Simulation{}, "scene=layers a_scans=4 b_scans=2000 line_rate_hz=1000 motion_axial_um=600");
    expect_refused(s, ErrorCode::bad_setting, "simulation.motion_axial_um", "zero delay");
    const TemporaryFolder folder;
    write_file(folder / "down.csv", "0,0,0,0\n1,0,0,400\n");
    s.motion_axial_um = 0;
    s.motion_file = (folder / "down.csv").string();
    expect_refused(s, ErrorCode::bad_setting, "simulation.motion_file", "beyond the depth range");
    write_file(folder / "back.csv", "0,0,0,0\n1,0,0,4\n1,0,0,5\n");
    s.motion_file = (folder / "back.csv").string();
    expect_refused(s, ErrorCode::bad_file, "back.csv", "time does not increase");
    write_file(folder / "word.csv", "0,0,0,0\n1,zero,0,4\n");
    s.motion_file = (folder / "word.csv").string();
    expect_refused(s, ErrorCode::bad_file, "word.csv", "");
    s.motion_file = (folder / "none.csv").string();
    expect_refused(s, ErrorCode::bad_file, "none.csv", "");
}

// ---- size, spectrum and statistics of each part ---------------------------------------------------------------------

Simulation moving() {
    Simulation s;
    set(s, "scene=mirror samples=256 a_scans=1 b_scans=1 motion_axial_um=30 motion_lateral_um=15");
    return s;
}

double rms(const std::function<double(double)>& of, double seconds, double step_s) {
    double sum = 0, square = 0, count = 0;
    for (double t = 0; t < seconds; t += step_s, ++count) {
        const double value = of(t);
        sum += value;
        square += value * value;
    }
    return std::sqrt(square / count - sum / count * (sum / count));
}

TEST(SimulatorMotion, EachPartHasRequestedSize) {
    for (const std::int64_t seed : {1, 2, 3}) {
        Simulation s = moving();
        s.motion_seed = seed;
        const Motion m(s, 100);
        EXPECT_NEAR(rms([&](double t) { return m.drift(t).z_um; }, 100, 0.01), 12, 0.05 * 12);
        EXPECT_NEAR(rms([&](double t) { return m.drift(t).x_um; }, 100, 0.01), 6, 0.05 * 6);
        EXPECT_NEAR(rms([&](double t) { return m.drift(t).y_um; }, 100, 0.01), 6, 0.05 * 6);
        EXPECT_NEAR(rms([&](double t) { return m.tremor(t).z_um; }, 100, 0.0037), 0.2, 0.05 * 0.2);
        EXPECT_NEAR(rms([&](double t) { return m.tremor(t).y_um; }, 100, 0.0037), 0.3, 0.05 * 0.3);
        const double of_heart = std::sqrt((1 + 0.4 * 0.4) / 2);  // two sines
        EXPECT_NEAR(rms([&](double t) { return m.heart(t).z_um; }, 100, 0.01), 9 * of_heart, 0.05 * 9 * of_heart);
        EXPECT_NEAR(rms([&](double t) { return m.heart(t).x_um; }, 100, 0.01), 1.5 * of_heart, 0.1 * of_heart);
    }
    const Motion m(moving(), 10);
    EXPECT_NEAR(m.heart(0.3).z_um, 9 * (std::sin(2 * pi * 1.2 * 0.3) + 0.4 * std::sin(4 * pi * 1.2 * 0.3 + 1)), 1e-12);
}

// Compares the temporal correlation with the integral over the spectrum of a filtered Ornstein-Uhlenbeck process.
TEST(SimulatorMotion, DriftIsLowPassedOrnsteinUhlenbeck) {
    const Motion m(moving(), 400);
    for (const double lag_s : {0.1, 0.25, 0.5, 1.0}) {
        double expected = 0, power = 0;
        for (double f = 0.0005; f < 40; f += 0.001) {
            const double density = 1 / (1 + std::pow(pi * f, 2)) / (1 + std::pow(f / 5, 4));  // tau = 0.5 s
            expected += density * std::cos(2 * pi * f * lag_s);
            power += density;
        }
        double product = 0, square = 0;
        for (double t = 0; t < 400; t += 0.02) {
            product += m.drift(t).z_um * m.drift(t + lag_s).z_um;
            square += m.drift(t).z_um * m.drift(t).z_um;
        }
        EXPECT_NEAR(product / square, expected / power, 0.04) << lag_s;
    }
}

TEST(SimulatorMotion, SaccadesArePoissonProcessOfLogisticSteps) {
    Simulation s = moving();
    s.motion_saccade_rate_hz = 0.5;
    const double seconds = 4000;
    const Motion m(s, seconds);
    double count = 0, lengths = 0, last_length = 0;
    bool rests = true;
    double left_x = 0, left_y = 0;
    const double step_s = 0.02;
    for (double t = 0; t < seconds; t += step_s) {  // a movement between two rests is one saccade, sometimes two
        const Displacement now = m.saccades(t), next = m.saccades(t + step_s);
        const bool still = std::hypot(next.x_um - now.x_um, next.y_um - now.y_um) < 1e-3;
        if (!still && rests) std::tie(left_x, left_y) = std::tuple(now.x_um, now.y_um);
        if (still && !rests) {
            ++count;
            last_length = std::hypot(now.x_um - left_x, now.y_um - left_y);
            lengths += last_length;
        }
        rests = still;
    }
    EXPECT_NEAR(count / seconds, 0.5, 0.05);  // some overlap others, some are too small to be seen
    EXPECT_NEAR(lengths / count, 30, 2);

    Simulation one = moving();
    one.motion_saccade_rate_hz = 0.01;
    const Motion rare(one, 200);
    const auto length = [&rare](double t) { return std::hypot(rare.saccades(t).x_um, rare.saccades(t).y_um); };
    double found = 0;
    while (found < 200 && length(found) < 5) found += 0.05;
    ASSERT_LT(found, 200) << "another seed has a saccade to look at";
    const double whole = length(found + 0.2);
    double begin = 0, end = 0;
    for (double t = found - 0.2; t < found + 0.2; t += 1e-4) {
        if (length(t) < 0.1 * whole) begin = t;
        if (length(t) < 0.9 * whole) end = t;
    }
    EXPECT_NEAR(end - begin, 0.022, 3e-4);
}

}  // namespace
}  // namespace echolux
