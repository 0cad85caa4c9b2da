// Validations of the iterative methods: compressive sensing and dispersion-encoded full range.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <tuple>
#include <utility>

#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/validation/scenes.h"
#include "engine/validation/validation.h"

namespace echolux {

// ---- Validates compressive sensing (docs/transforms.md 9): compares the result of a third of the samples with the
// least squares profile of all samples, found by conjugate gradients over explicit sums in double precision.

namespace {

using std::numbers::pi;
using Profile = std::vector<std::complex<double>>;

constexpr std::int64_t n = ModelInstrument::samples;
constexpr std::size_t modes = n / 2;

// Returns 20 reflectors over 30 dB, the strongest with at most 800 counts, and noise of 2 counts. None is so deep that
// neighbouring samples differ by more than half a fringe.
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

// The operator y[p] = Re(sum over m of w[m] x[m] exp(2 pi i m x_p / n)) / sqrt(n) with w[0] = 1 and w[m] = 2, and its
// adjoint, as explicit sums.
class ExplicitSums {
  public:
    explicit ExplicitSums(const std::vector<double>& points) : factors_(points.size() * modes) {
        parallel_for(0, std::ssize(points), [&](std::int64_t p) {
            for (std::size_t m = 0; m < modes; ++m) {
                const double turn = -2 * pi * points[index(p)] * static_cast<double>(m) / n;
                factors_[index(p) * modes + m] = std::polar(1 / std::sqrt(double{n}), turn);
            }
        });
    }

    // Conjugate gradients on the normal equations.
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

// Returns the PSNR of amplitudes. `bins` is a profile divided by sqrt(n).
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

// Computes scenes and their least squares profiles, in parallel over scenes.
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
        const auto at = index(i);
        scenes.truths[at] = sums.least_squares(lines[at]);
    });
    run.progress().advance(0);
    return scenes;
}

// Returns the mean over the scenes.
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
        at_most("the first estimate: the scene is not too easy", "dB", psnr_db(run, spec, scenes), 30));
    return table;
}

// ---- Validates how far dispersion-encoded full range suppresses false images per iteration (docs/transforms.md 8).

namespace {

using std::numbers::pi;

constexpr std::int64_t length = 2048;
constexpr double a2 = 160, a3 = 30;  // convergence factor gamma = 0.10

// A reflector of a scene; bins are negative on the other side of zero delay.
struct Reflector {
    double bin, amplitude, phase;
};
using Scene = std::vector<Reflector>;

// Appends the spectrum of the scene with dispersion.
void add_spectrum(const Scene& scene, std::vector<float>& spectra) {
    for (std::int64_t j = 0; j < length; ++j) {
        const double kappa = 2 * static_cast<double>(j) / (length - 1) - 1;
        const double theta = (a2 + a3 * kappa) * kappa * kappa;
        double sum = 0;
        for (const Reflector& r : scene) {
            sum += r.amplitude * std::cos(2 * pi * r.bin * static_cast<double>(j) / length + r.phase + theta);
        }
        spectra.push_back(static_cast<float>(sum));
    }
}

// Returns the sum of exp(2 pi i cycles j) over 0 <= j < length.
std::complex<double> dirichlet(double cycles) {
    if (std::abs(cycles - std::nearbyint(cycles)) < 1e-12) return length;
    return (1.0 - std::polar(1.0, 2 * pi * cycles * length)) / (1.0 - std::polar(1.0, 2 * pi * cycles));
}

// Returns the one-sided profile in closed form, with zero delay in the centre. A Hann window is three exponentials.
Profile truth_of(const Scene& scene) {
    constexpr double side = 1.0 / (length - 1), sum_of_window = (length - 1) / 2.0;
    Profile profile(length);
    for (std::int64_t row = 0; row < length; ++row) {
        for (const Reflector& r : scene) {
            const double cycles = (r.bin - static_cast<double>(row - length / 2)) / length;
            const auto windowed =
                0.5 * dirichlet(cycles) - 0.25 * (dirichlet(cycles + side) + dirichlet(cycles - side));
            profile[index(row)] += 0.5 * r.amplitude * std::polar(1.0, r.phase) * windowed / sum_of_window;
        }
    }
    return profile;
}

// Returns the energy of the truth over that of the error, in dB.
double suppression_db(const std::complex<float>* found, const Profile& truth) {
    double error = 0, energy = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        error += std::norm(std::complex<double>(found[i]) - truth[i]);
        energy += std::norm(truth[i]);
    }
    return 10 * std::log10(energy / error);
}

// Returns twelve layers with a range of 35 dB on both sides of zero delay.
Scene layers(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> bin(-800, 800), level_db(-35, 0), phase(0, 2 * pi);
    Scene scene;
    for (int i = 0; i < 12; ++i) {
        const double place = bin(random), amplitude = std::pow(10, level_db(random) / 20);
        scene.push_back({place, amplitude, phase(random)});
    }
    return scene;
}

// Returns the median over the scenes.
double suppression_db(ValidationRun& run, const std::vector<Scene>& scenes, const std::vector<Profile>& truths,
                      std::int64_t iterations) {
    ReconstructionSpec spec = bare_spec(length, std::ssize(scenes));
    spec.recipe.method = Method::defr;
    spec.recipe.window = Window::hann;
    spec.recipe.dispersion = true;
    spec.recipe.a2_rad = a2;
    spec.recipe.a3_rad = a3;
    spec.defr.iterations = iterations;
    std::vector<float> spectra;
    for (const Scene& scene : scenes) add_spectrum(scene, spectra);
    const auto bins = run.bins(spec, spectra);
    std::vector<double> reached;
    for (std::size_t i = 0; i < scenes.size(); ++i)
        reached.push_back(suppression_db(bins.data() + i * length, truths[i]));
    std::ranges::nth_element(reached, reached.begin() + std::ssize(reached) / 2);
    return reached[reached.size() / 2];
}

// Published suppression after some iterations.
struct Published {
    std::int64_t iterations;
    double expected_db;
    double demanded_db = -300;  // for every scene (docs/algorithms.md 6)
};

// Adds a check per number of iterations.
void add_checks(CheckTable& table, ValidationRun& run, const std::vector<Scene>& scenes,
                const std::vector<Published>& published) {
    std::vector<Profile> truths;
    for (const Scene& scene : scenes) truths.push_back(truth_of(scene));
    for (const auto& [iterations, expected_db, demanded_db] : published) {
        table.checks.push_back(about(fmt::format("after {} iteration{}", iterations, iterations == 1 ? "" : "s"),
                                     suppression_db(run, scenes, truths, iterations), expected_db, demanded_db));
    }
}

}  // namespace

std::vector<CheckTable> validated_full_range(ValidationRun& run) {
    CheckTable mirror{
        "Full range: a mirror",
        "A mirror at bin -300.3 of 2048, θ = 160 κ² + 30 κ³ rad, δ = 0.5: energy of the true profile (closed "
        "form) over that of the error.\nExpected: a float64 model; bounds: 3 dB less, and 45 dB after 5 iterations, 65 "
        "dB after 10.",
        {}};
    add_checks(mirror, run, {{{-300.3, 1, 0.7}}},
               {{1, 13.2}, {2, 20.6}, {3, 30.9}, {5, 46.4, 45}, {8, 61.5}, {10, 71.9, 65}});
    CheckTable twelve{
        "Full range: twelve layers",
        "Twelve layers over 35 dB on both sides, the same dispersion; median over scenes. Expected: a "
        "float64 model of other scenes; bounds: 3 dB less, and\n42 dB after 10 iterations, 50 dB from 15 on.",
        {}};
    std::vector<Scene> scenes;
    for (unsigned seed = 0; seed < (run.quick() ? 12U : 40U); ++seed) scenes.push_back(layers(seed));
    add_checks(twelve, run, scenes,
               {{1, 5.1}, {3, 16.0}, {5, 25.3}, {8, 38.7}, {10, 46.2, 42}, {15, 54.0, 50}, {20, 54.5, 50}});
    return {mirror, twelve};
}

}  // namespace echolux
