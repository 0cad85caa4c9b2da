// Compressive sensing (docs/transforms.md 9): what a third of the samples gives, against the least-squares profile of
// all samples, found by conjugate gradients over explicit sums in double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <tuple>
#include <utility>

#include "compute/parallel_for.h"
#include "engine/validation/model_instrument.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

using std::numbers::pi;
using Profile = std::vector<std::complex<double>>;

constexpr std::int64_t n = ModelInstrument::samples;
constexpr std::size_t modes = n / 2;

// 20 reflectors over 30 dB, the strongest of 800 counts at most, noise of 2 counts; none so deep that neighbouring
// samples see more than half a fringe.
std::vector<double> scene(const ModelInstrument& instrument, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> bin(20, 768), level_db(-30, 0), phase(0, 2 * pi);
    std::normal_distribution<double> noise(0, 2);
    std::vector<double> line(n);
    for (int i = 0; i < 20; ++i) {
        const double z = bin(random), a = 800 * std::pow(10, level_db(random) / 20), start = phase(random);
        for (std::size_t p = 0; p < line.size(); ++p) {
            line[p] += a * instrument.source()[p] * std::cos(2 * pi * z * instrument.points()[p] / n + start);
        }
    }
    for (double& value : line) value += noise(random);
    return line;
}

// y[p] = Re(sum over m of w[m] x[m] exp(2 pi i m x_p / n)) / sqrt(n), w[0] = 1, w[m] = 2, and its adjoint, as sums.
class ExplicitSums {
  public:
    explicit ExplicitSums(const std::vector<double>& points) : factors_(points.size() * modes) {
        parallel_for(0, std::ssize(points), [&](std::int64_t p) {
            for (std::size_t m = 0; m < modes; ++m) {
                const double turn = -2 * pi * points[static_cast<std::size_t>(p)] * static_cast<double>(m) / n;
                factors_[static_cast<std::size_t>(p) * modes + m] = std::polar(1 / std::sqrt(double{n}), turn);
            }
        });
    }

    Profile least_squares(const std::vector<double>& samples) const {
        constexpr int steps = 25;
        Profile x(modes), r = to_depth(samples), direction = r;
        double square = product(r, r);
        for (int i = 0; i < steps && square > 0; ++i) {
            const Profile seen = to_depth(to_samples(direction));
            const double length = square / product(direction, seen);
            for (std::size_t m = 0; m < modes; ++m) {
                x[m] += length * direction[m];
                r[m] -= length * seen[m];
            }
            const double before = std::exchange(square, product(r, r));
            for (std::size_t m = 0; m < modes; ++m) direction[m] = r[m] + square / before * direction[m];
        }
        return x;
    }

  private:
    static double product(const Profile& a, const Profile& b) {
        double sum = 0;
        for (std::size_t m = 0; m < modes; ++m) sum += (m == 0 ? 1 : 2) * real_part(a[m], b[m]);
        return sum;
    }

    static double real_part(std::complex<double> a, std::complex<double> b) {  // of conj(a) b
        return a.real() * b.real() + a.imag() * b.imag();
    }

    std::vector<double> to_samples(const Profile& profile) const {
        std::vector<double> samples(factors_.size() / modes);
        for (std::size_t p = 0; p < samples.size(); ++p) {
            double sum = 0;
            for (std::size_t m = 0; m < modes; ++m) sum += 2 * real_part(factors_[p * modes + m], profile[m]);
            samples[p] = sum - real_part(factors_[p * modes], profile[0]);
        }
        return samples;
    }

    Profile to_depth(const std::vector<double>& samples) const {
        Profile profile(modes);
        for (std::size_t p = 0; p < samples.size(); ++p) {
            for (std::size_t m = 0; m < modes; ++m) profile[m] += samples[p] * factors_[p * modes + m];
        }
        return profile;
    }

    std::vector<std::complex<double>> factors_;  // [samples][modes]
};

// Of amplitudes; `bins` are a profile divided by sqrt(n).
double psnr_db(const std::complex<float>* bins, const Profile& truth) {
    double max = 0, error = 0;
    for (std::size_t m = 0; m < truth.size(); ++m) {
        const double expected = std::abs(truth[m]);
        const double found = std::abs(std::complex<double>(bins[m])) * std::sqrt(double{n});
        max = std::max(max, expected);
        error += (found - expected) * (found - expected) / static_cast<double>(truth.size());
    }
    return 10 * std::log10(max * max / error);
}

struct Scenes {
    std::vector<float> spectra;
    std::vector<Profile> truths;
};

Scenes solved_scenes(ValidationRun& run, const ModelInstrument& instrument, std::int64_t count) {
    const ExplicitSums sums(instrument.points());
    Scenes scenes;
    std::vector<std::vector<double>> lines;
    for (std::int64_t i = 0; i < count; ++i) {
        lines.push_back(scene(instrument, static_cast<unsigned>(i)));
        scenes.spectra.insert(scenes.spectra.end(), lines.back().begin(), lines.back().end());
    }
    scenes.truths.resize(lines.size());
    parallel_for(0, count, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        scenes.truths[at] = sums.least_squares(lines[at]);
    });
    run.progress().advance(0);
    return scenes;
}

// Mean over the scenes.
double psnr_db(ValidationRun& run, const ReconstructionSpec& spec, const Scenes& scenes) {
    const auto bins = run.bins(spec, scenes.spectra);
    double sum = 0;
    for (std::size_t i = 0; i < scenes.truths.size(); ++i) sum += psnr_db(bins.data() + i * modes, scenes.truths[i]);
    return sum / static_cast<double>(scenes.truths.size());
}

}  // namespace

CheckTable validated_sensing(ValidationRun& run) {
    CheckTable table{"Compressive sensing",
                     "20 reflectors over 30 dB, 800 counts, noise of 2 counts; 30 % of the samples, variable density, "
                     "NUFFT (Kaiser-Bessel, R = 2, W = 3).\nMean PSNR against the least-squares profile of all samples "
                     "(conjugate gradients over explicit sums). Expected: a float64 model of other scenes;\nbounds: 3 "
                     "dB less, and 38 "
                     "dB from 15 iterations on, 45 dB with continuation.",
                     {}};
    const ModelInstrument instrument;
    const Scenes scenes = solved_scenes(run, instrument, run.quick() ? 8 : 24);
    ReconstructionSpec spec = instrument.spec(std::ssize(scenes.truths));
    spec.recipe.method = Method::compressive;
    for (const double light : instrument.source()) spec.calibration.background.push_back(4000 * light);
    spec.compressive.mask = SensingMask::variable;
    constexpr double none = -300, min_db = 38, min_continued_db = 45;
    for (const auto& [iterations, expected_db, demanded_db] :
         {std::tuple{10, 33.8, none}, {15, 39.2, min_db}, {20, 45.7, min_db}, {40, 47.4, min_db}}) {
        spec.compressive.iterations = iterations;
        table.checks.push_back(about("clamped steps, " + std::to_string(iterations) + " iterations",
                                     psnr_db(run, spec, scenes), expected_db, demanded_db));
    }
    spec.compressive.continuation = true;
    spec.compressive.iterations = 15;
    table.checks.push_back(about("continuation, 15 iterations", psnr_db(run, spec, scenes), 47.2, min_continued_db));
    spec.compressive.continuation = false;
    spec.compressive.iterations = 1;
    spec.compressive.tau_relative = 0;
    table.checks.push_back(
        at_most("the first guess alone: the scene is not too easy", "dB", psnr_db(run, spec, scenes), 30));
    return table;
}

}  // namespace echolux
