#include "engine/contrast/displacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <queue>
#include <utility>

#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "engine/contrast/window_sum.h"
#include "engine/flow/time_series.h"

namespace echolux {

template <>
const std::vector<Field<DisplacementRecipe>>& describe<DisplacementRecipe>() {
    using R = DisplacementRecipe;
    constexpr Effect effect = Effect::view;
    static const std::vector<Field<R>> fields{
        integer("window_depth", &R::window_depth, 1, 255, "rows", effect,
                "depth rows of the kernel of complex products")
            .odd(),
        integer("window_a_scans", &R::window_a_scans, 1, 255, "A-scans", effect,
                "A-scans of the kernel, also of the strain")
            .odd(),
        number("min_quality", &R::min_quality, 0, 1, "", effect,
               "coherence below which a voxel has no value; noise has one over the root of the voxels in the kernel"),
        flag("unwrap_space", &R::unwrap_space, effect,
             "unwrap steps between moments along A-scans and depth too, for motion of more than a quarter of the "
             "wavelength per step"),
        integer("strain_window", &R::strain_window, 3, 1023, "rows", effect, "depth rows of the fit of the strain")
            .odd(),
        integer("surface_depth", &R::surface_depth, 0, 100, "rows", effect,
                "rows above and below a surface that count as the surface"),
    };
    return fields;
}

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
constexpr double turn = 2 * std::numbers::pi;

ComplexPlane product(const ComplexPlane& later, const ComplexPlane& earlier) {
    ComplexPlane products(later.size());
    for (std::size_t i = 0; i < later.size(); ++i) products[i] = later[i] * std::conj(earlier[i]);
    return products;
}

std::vector<float> power(const ComplexPlane& plane) {
    std::vector<float> powers(plane.size());
    for (std::size_t i = 0; i < plane.size(); ++i) powers[i] = std::norm(plane[i]);
    return powers;
}

// Kernels of one B-scan.
struct Kernel {
    std::int64_t a_scans, depth;
    const DisplacementRecipe& recipe;

    template <class T>
    std::vector<T> across(const std::vector<T>& in) const {
        return window_sum(in, a_scans, depth, recipe.window_a_scans);
    }
    template <class T>
    std::vector<T> both(const std::vector<T>& in) const {
        return window_sum(across(in), depth, 1, recipe.window_depth);
    }
};

// Fits the slope of the phase of `count` products; see displacement.h. 0 without light.
double slope_of(const std::complex<float>* products, std::int64_t count) {
    std::complex<double> pairs{};
    double weight = 0, moment = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::complex<double> one = products[i];
        if (i > 0) pairs += one * std::conj(std::complex<double>(products[i - 1]));
        weight += std::abs(one);
        moment += std::abs(one) * static_cast<double>(i);
    }
    if (weight <= 0) return 0;
    const double centre = moment / weight;
    double slope = std::arg(pairs);
    for (int step = 0; step < 2; ++step) {
        const std::complex<double> by_row = std::polar(1.0, -slope);
        std::complex<double> turned = std::polar(1.0, slope * centre), sum{}, along{};
        double squares = 0;
        for (std::int64_t i = 0; i < count; ++i, turned *= by_row) {
            const std::complex<double> one = products[i];
            const double from_centre = static_cast<double>(i) - centre;
            const std::complex<double> level = one * turned;
            sum += level;
            along += level * from_centre;
            squares += std::abs(one) * from_centre * from_centre;
        }
        if (squares <= 0 || std::abs(sum) <= 0) return slope;
        slope += (along * std::conj(sum)).imag() / std::abs(sum) / squares;
    }
    return slope;
}

std::vector<float> slopes_of(const ComplexPlane& products, const std::vector<float>& phase, std::int64_t a_scans,
                             std::int64_t depth, std::int64_t rows) {
    std::vector<float> slopes(products.size(), unknown);
    for (std::int64_t a = 0; a < a_scans; ++a) {
        for (std::int64_t z = rows / 2; z + rows / 2 < depth; ++z) {
            const std::int64_t voxel = a * depth + z;
            if (std::isnan(phase[index(voxel)])) continue;
            slopes[index(voxel)] = static_cast<float>(slope_of(products.data() + voxel - rows / 2, rows));
        }
    }
    return slopes;
}

}  // namespace

void unwrap_from_best(std::vector<float>& phase, const std::vector<float>& quality, std::int64_t a_scans,
                      std::int64_t depth) {
    struct Next {
        float quality;
        std::int64_t voxel;
        float from;  // phase of the neighbour
        bool operator<(const Next& other) const {
            return quality != other.quality ? quality < other.quality : voxel > other.voxel;
        }
    };
    std::vector<std::int64_t> best_first(phase.size());
    std::iota(best_first.begin(), best_first.end(), std::int64_t{0});
    std::erase_if(best_first, [&](std::int64_t voxel) { return std::isnan(phase[index(voxel)]); });
    std::ranges::stable_sort(best_first,
                             [&](std::int64_t a, std::int64_t b) { return quality[index(a)] > quality[index(b)]; });
    std::vector<std::uint8_t> done(phase.size());
    std::priority_queue<Next> front;
    const auto reach = [&](std::int64_t voxel, float from) {
        if (done[index(voxel)] == 0 && !std::isnan(phase[index(voxel)]))
            front.push({quality[index(voxel)], voxel, from});
    };
    for (const std::int64_t seed : best_first) {
        reach(seed, phase[index(seed)]);
        while (!front.empty()) {
            const Next next = front.top();
            front.pop();
            if (done[index(next.voxel)] != 0) continue;
            done[index(next.voxel)] = 1;
            float& here = phase[index(next.voxel)];
            here += static_cast<float>(turn * std::round(static_cast<double>(next.from - here) / turn));
            const std::int64_t a = next.voxel / depth, z = next.voxel % depth;
            if (z > 0) reach(next.voxel - 1, here);
            if (z + 1 < depth) reach(next.voxel + 1, here);
            if (a > 0) reach(next.voxel - depth, here);
            if (a + 1 < a_scans) reach(next.voxel + depth, here);
        }
    }
}

std::vector<DisplacedPlane> displaced_planes(const std::vector<ComplexPlane>& moments, std::int64_t a_scans,
                                             std::int64_t depth, const DisplacementRecipe& recipe, bool wants_slope) {
    const std::size_t voxels = moments.front().size();
    const Kernel kernel{a_scans, depth, recipe};
    std::vector<std::vector<float>> energy(moments.size());
    parallel_for(0, std::ssize(moments),
                 [&](std::int64_t t) { energy[index(t)] = kernel.both(power(moments[index(t)])); });
    std::vector<DisplacedPlane> planes(moments.size());
    std::vector<std::vector<float>> steps(moments.size(), std::vector<float>(voxels));
    parallel_for(0, std::ssize(moments), [&](std::int64_t number) {
        const std::size_t t = index(number);
        DisplacedPlane& plane = planes[t];
        const ComplexPlane along = kernel.across(product(moments[t], moments.front()));
        const ComplexPlane to_first = window_sum(along, depth, 1, recipe.window_depth);
        plane.quality.resize(voxels);
        plane.phase.assign(voxels, unknown);
        for (std::size_t i = 0; i < voxels; ++i) {
            const double energies = std::sqrt(static_cast<double>(energy[t][i]) * static_cast<double>(energy[0][i]));
            if (energies > 0)
                plane.quality[i] =
                    std::min(1.0f, static_cast<float>(static_cast<double>(std::abs(to_first[i])) / energies));
            if (plane.quality[i] > 0 && static_cast<double>(plane.quality[i]) >= recipe.min_quality)
                plane.phase[i] = std::arg(to_first[i]);
        }
        if (wants_slope) plane.slope = slopes_of(along, plane.phase, a_scans, depth, recipe.strain_window);
        if (t == 0) return;
        const ComplexPlane to_previous = kernel.both(product(moments[t], moments[t - 1]));
        for (std::size_t i = 0; i < voxels; ++i)
            steps[t][i] = std::isnan(plane.phase[i]) ? unknown : std::arg(to_previous[i]);
        if (recipe.unwrap_space) unwrap_from_best(steps[t], plane.quality, a_scans, depth);
        for (std::size_t i = 0; i < voxels; ++i) {
            if (std::isnan(steps[t][i])) steps[t][i] = std::arg(to_previous[i]);  // of a dark moment, for the sum
        }
    });
    std::vector<double> sum(voxels);
    for (std::size_t t = 0; t < planes.size(); ++t) {
        for (std::size_t i = 0; i < voxels; ++i) {
            sum[i] += static_cast<double>(steps[t][i]);
            float& phase = planes[t].phase[i];
            phase += static_cast<float>(turn * std::round((sum[i] - static_cast<double>(phase)) / turn));
        }
    }
    return planes;
}

// ---- Between two surfaces

namespace {

// Sum of products over the rows around a surface; 0 if it is missing or too close to the edge.
std::complex<double> at_surface(const ComplexPlane& later, const ComplexPlane& earlier, std::int64_t line,
                                std::int64_t depth, float row, std::int64_t rows) {
    if (std::isnan(row)) return 0;
    const auto middle = static_cast<std::int64_t>(std::lround(row));
    if (middle - rows < 0 || middle + rows >= depth) return 0;
    std::complex<double> sum{};
    for (std::int64_t z = middle - rows; z <= middle + rows; ++z) {
        const std::size_t voxel = index(line * depth + z);
        sum += std::complex<double>(later[voxel]) * std::conj(std::complex<double>(earlier[voxel]));
    }
    return sum;
}

}  // namespace

void BetweenSurfaces::add(const std::vector<ComplexPlane>& moments, std::int64_t depth, const float* upper,
                          const float* lower, Interval a_scans) {
    const auto between = [&](std::size_t later, std::size_t earlier, std::int64_t a) {
        const auto of = [&](float row) { return at_surface(moments[later], moments[earlier], a, depth, row, rows_); };
        const std::complex<double> both = of(lower[a]) * std::conj(of(upper[a]));
        const double modulus = std::abs(both);
        return modulus > 0 ? both / std::sqrt(modulus) : both;  // weighted by intensity, not by its square
    };
    for (std::size_t t = 0; t < moments.size(); ++t) {
        for (std::int64_t a = a_scans.begin; a < a_scans.end; ++a) {
            const std::complex<double> one = between(t, 0, a);
            if (one == 0.0) continue;
            Sums& of = sums_[t];
            of.to_first += one;
            of.modulus += std::abs(one);
            of.real_squares += one.real() * one.real();
            of.imaginary_squares += one.imag() * one.imag();
            of.real_times_imaginary += one.real() * one.imag();
            ++of.a_scans;
            if (t > 0) of.to_previous += between(t, t - 1, a);
        }
    }
}

SurfaceMotion BetweenSurfaces::motion() const {
    SurfaceMotion found;
    found.a_scans = sums_.front().a_scans;
    double sum = 0;
    for (std::size_t t = 0; t < sums_.size(); ++t) {
        const Sums& of = sums_[t];
        if (t > 0) sum += std::arg(of.to_previous);
        const double phase = std::arg(of.to_first);
        found.phase.push_back(phase + turn * std::round((sum - phase) / turn));
        // Sum of the squares of all products across the direction of their sum.
        const double c = std::cos(phase), s = std::sin(phase);
        const double squares =
            c * c * of.imaginary_squares + s * s * of.real_squares - 2 * c * s * of.real_times_imaginary;
        found.error.push_back(of.modulus > 0 ? std::sqrt(std::max(0.0, squares)) / std::abs(of.to_first) : 0);
        found.quality.push_back(of.modulus > 0 ? std::abs(of.to_first) / of.modulus : 0);
    }
    return found;
}

// ---- Waves

namespace {

using Map = std::vector<std::vector<double>>;

// Value at a fractional step by cubic convolution (R. Keys, IEEE TASSP 29, 1153, 1981), because delays of linear
// interpolation lean towards whole steps. End values extend beyond the ends.
double value_at(const std::vector<double>& line, double step) {
    const double floor = std::floor(step), f = step - floor;
    const auto at = [&](int offset) {
        const auto last = static_cast<std::int64_t>(line.size()) - 1;
        return line[index(std::clamp<std::int64_t>(static_cast<std::int64_t>(floor) + offset, 0, last))];
    };
    const double a = at(-1), b = at(0), c = at(1), d = at(2);
    return b + 0.5 * f * (c - a + f * (2 * a - 5 * b + 4 * c - d + f * (3 * (b - c) + d - a)));
}

// Mean of all A-scans, each earlier by its delay.
std::vector<double> stacked(const Map& map, const std::vector<double>& delays) {
    std::vector<double> sum(map.front().size());
    for (std::size_t x = 0; x < map.size(); ++x) {
        for (std::size_t t = 0; t < sum.size(); ++t) sum[t] += value_at(map[x], static_cast<double>(t) + delays[x]);
    }
    for (double& value : sum) value /= static_cast<double>(map.size());
    return sum;
}

double energy_of(const std::vector<double>& values) {
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

std::vector<double> delays_of(const std::vector<double>& places, double slowness) {
    std::vector<double> delays;
    for (const double x : places) delays.push_back(slowness * x);
    return delays;
}

// Delay of a line against the wave near a guess, and the correlation there.
std::pair<double, double> delay_near(const std::vector<double>& line, const std::vector<double>& wave, double guess,
                                     int reach) {
    const auto correlation = [&](double delay) {
        double product = 0, of_line = 0, of_wave = 0;
        for (std::size_t t = 0; t < wave.size(); ++t) {
            const double value = value_at(line, static_cast<double>(t) + delay);
            product += value * wave[t];
            of_line += value * value;
            of_wave += wave[t] * wave[t];
        }
        return of_line > 0 && of_wave > 0 ? product / std::sqrt(of_line * of_wave) : 0;
    };
    constexpr int parts = 8;  // of a step
    int best = 0;
    std::vector<double> all;
    for (int k = -reach * parts; k <= reach * parts; ++k)
        all.push_back(correlation(guess + static_cast<double>(k) / parts));
    for (int k = 1; k < static_cast<int>(all.size()); ++k) {
        if (all[static_cast<std::size_t>(k)] > all[static_cast<std::size_t>(best)]) best = k;
    }
    const double peak = all[static_cast<std::size_t>(best)];
    double place = best;
    if (best > 0 && best + 1 < static_cast<int>(all.size())) {
        const double before = all[static_cast<std::size_t>(best - 1)], after = all[static_cast<std::size_t>(best + 1)];
        const double bend = before - 2 * peak + after;
        if (bend < 0) place += 0.5 * (before - after) / bend;
    }
    return {guess + place / parts - reach, peak};
}

// The slowness whose sum is strongest. Delays at the ends of the field are at most half of the series.
double strongest_slowness(const Map& map, const std::vector<double>& places) {
    const double half_field = std::max(std::abs(places.front()), std::abs(places.back()));
    const std::int64_t half_steps = std::ssize(map.front());
    const auto slowness_of = [&](std::int64_t number) {
        return 0.5 * static_cast<double>(number - half_steps) / half_field;
    };
    std::vector<double> energies(index(2 * half_steps + 1));
    parallel_for(0, std::ssize(energies), [&](std::int64_t number) {
        energies[index(number)] = energy_of(stacked(map, delays_of(places, slowness_of(number))));
    });
    return slowness_of(std::ranges::max_element(energies) - energies.begin());
}

}  // namespace

WaveSpeed wave_speed_of(const std::vector<std::vector<double>>& map) {
    WaveSpeed found;
    Map lines;
    std::vector<double> places;
    const double middle = static_cast<double>(std::ssize(map) - 1) / 2;
    for (std::size_t x = 0; x < map.size(); ++x) {
        if (std::ranges::any_of(map[x], [](double value) { return !std::isfinite(value); })) continue;
        const double mean = std::accumulate(map[x].begin(), map[x].end(), 0.0) / static_cast<double>(map[x].size());
        lines.push_back(map[x]);
        for (double& value : lines.back()) value -= mean;
        places.push_back(static_cast<double>(x) - middle);
    }
    constexpr std::size_t min_lines = 8, min_steps = 8;
    if (lines.size() < min_lines || lines.front().size() < min_steps) {
        found.problem = "fewer than eight A-scans with displacements, or fewer than eight moments";
        return found;
    }
    double slowness = strongest_slowness(lines, places), start = 0;
    std::vector<double> weights(lines.size(), 1), ones(lines.size(), 1);
    Coefficients line;
    for (int round = 0; round < 3; ++round) {
        const std::vector<double> guesses = delays_of(places, slowness);
        const std::vector<double> wave = stacked(lines, guesses);
        std::vector<double> delays, left;
        found.agreement = 0;
        for (std::size_t x = 0; x < lines.size(); ++x) {
            const auto [delay, peak] = delay_near(lines[x], wave, guesses[x], 3);
            delays.push_back(delay);
            found.agreement += peak / static_cast<double>(lines.size());
        }
        line = least_squares({ones, places}, delays, ones);
        for (std::size_t x = 0; x < lines.size(); ++x)
            left.push_back(delays[x] - line.values[0] - line.values[1] * places[x]);
        leave_out_outliers(left, weights);
        line = least_squares({ones, places}, delays, weights);
        if (line.values.empty()) break;
        slowness = line.values[1];
        const auto at_most = std::ranges::max_element(wave, {}, [](double value) { return std::abs(value); });
        start = static_cast<double>(at_most - wave.begin()) - slowness * middle;
    }
    const double used = std::accumulate(weights.begin(), weights.end(), 0.0);
    constexpr double min_agreement = 0.6;
    if (line.values.empty() || used < static_cast<double>(min_lines) || found.agreement < min_agreement) {
        found.problem =
            fmt::format("no wave is common to the A-scans: their mean correlation is {:.2f}", found.agreement);
        return found;
    }
    found.slowness = slowness;
    found.slowness_error = std::sqrt(line.residual / std::max(1.0, used - 2) * line.variance_factors[1]);
    found.start = start;
    return found;
}

}  // namespace echolux
