// Validations of tissue analysis: surfaces between layers, and speckle filters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "engine/layers/find_surfaces.h"
#include "engine/speckle/speckle_filter.h"
#include "engine/validation/scenes.h"
#include "engine/validation/topics.h"

namespace echolux {

// Validates surfaces between layers against painted boundaries, by the mean absolute error in voxels as in
// publications.

namespace {

struct MeanErrors {
    double all = 0, worst = 0;  // mean over all surfaces, and of the worst one, in rows
    double missing = 0;         // share of all positions
};

// Searches the surfaces of a scene and compares them with the painted boundaries.
MeanErrors errors_of(const LayeredScene& scene) {
    SurfaceSearch search;
    for (std::size_t k = 0; k < retina_polarities.size(); ++k)
        search.wanted.push_back({std::to_string(k + 1), retina_polarities[k], k == 0 ? 0.0 : 3.0, 0, 1});
    SilentProgress silent;
    const Surfaces surfaces = find_surfaces(scene.intensity, scene.size, search, silent);
    MeanErrors errors;
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        double sum = 0, count = 0;
        for (std::size_t i = 0; i < scene.boundaries[k].size(); ++i) {
            const auto row = static_cast<double>(surfaces.all[k].rows[i]);
            if (std::isnan(row)) continue;  // reported as not found
            sum += std::abs(row - static_cast<double>(scene.boundaries[k][i]));
            ++count;
        }
        const double mean = sum / count;
        errors.all += mean / static_cast<double>(surfaces.all.size());
        errors.worst = std::max(errors.worst, mean);
    }
    errors.missing = 1 - share_found(surfaces);
    return errors;
}

}  // namespace

CheckTable validated_surfaces(ValidationRun& run) {
    constexpr double most = 0.8, most_of_worst = 1.2;  // rows
    constexpr double most_missing = 0.02;
    const unsigned seeds = run.quick() ? 1 : 5;
    CheckTable table{"Surfaces between layers",
                     "Retinas painted with speckle, 256 x 128 x 64 voxels, ten boundaries with a foveal pit and a "
                     "waviness of one voxel. Mean absolute error, the\nlargest of all seeds. Expected: a float64 "
                     "model of the same search.",
                     {}};
    for (const auto& [snr_db, expected, expected_worst] :
         {std::tuple{25.0, 0.71, 1.21}, std::tuple{15.0, 0.64, 1.21}}) {
        MeanErrors greatest;
        for (unsigned seed = 1; seed <= seeds; ++seed) {
            const MeanErrors errors = errors_of(retina_scene({256, 128, 64}, seed, snr_db));
            greatest = {std::max(greatest.all, errors.all), std::max(greatest.worst, errors.worst),
                        std::max(greatest.missing, errors.missing)};
            run.progress().advance(0);
        }
        const std::string at = fmt::format("{:g} dB: ", snr_db);
        table.checks.push_back(at_most(at + "over all surfaces", "voxels", greatest.all, most, expected));
        table.checks.push_back(at_most(at + "worst surface", "voxels", greatest.worst, most_of_worst, expected_worst));
        table.checks.push_back(at_most(at + "places without a surface", "", greatest.missing, most_missing));
    }
    return table;
}

// Validates speckle filters against the mean of many realisations of speckle. Measures both contrast and edges, because
// blur alone can raise contrast.

namespace {

constexpr Size3 size{128, 96, 24};
constexpr double snr_db = 25;
constexpr std::int64_t flat_margin = 5;  // rows of the flat layer excluded at its boundaries
constexpr std::size_t flat_above = 8, flat_below = 9;

using Powers = std::vector<float>;

// Returns a retina with a dark tube across B-scans and a bright fibre.
LayeredScene painted_scene() {
    LayeredScene scene = painted_retina(size, 5, 0);
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        for (std::int64_t z = 0; z < size[0]; ++z) {
            const std::int64_t a = line % size[1];
            float& power = scene.intensity[static_cast<std::size_t>(line * size[0] + z)];
            if ((a - 70) * (a - 70) + (z - 60) * (z - 60) < 16) power = 0.005f;
            if (std::abs(a - 30) < 2 && std::abs(z - 95) < 2) power = 3;
        }
    }
    return scene;
}

// Returns the painted scene with new speckle.
Powers realisation(const LayeredScene& painted, unsigned seed) {
    LayeredScene scene = painted;
    std::mt19937 random(seed);
    add_speckle(scene, snr_db, random);
    return std::move(scene.intensity);
}

// Returns power in dB over a range of 40 dB, as a display shows it.
Powers shown(const Powers& power) {
    Powers db(power.size());
    for (std::size_t i = 0; i < power.size(); ++i)
        db[i] = std::clamp(10 * std::log10(std::max(power[i], 1e-9f)), -30.0f, 10.0f) + 30;
    return db;
}

constexpr double db_range = 40;

// Both in dB over db_range.
double psnr_db(const Powers& found, const Powers& truth) {
    double square = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        square += std::pow(static_cast<double>(found[i]) - static_cast<double>(truth[i]), 2);
    return 20 * std::log10(db_range / std::sqrt(square / static_cast<double>(found.size())));
}

// Returns the structural similarity of the central B-scan (Z. Wang et al., IEEE TIP 13, 600, 2004), with Gaussian
// windows of sigma 1.5.
double ssim(const Powers& found, const Powers& truth) {
    const Size3 slice{size[0], size[1], 1};
    const std::int64_t voxels = size[0] * size[1], begin = size[2] / 2 * voxels;
    const Powers a(found.begin() + begin, found.begin() + begin + voxels);
    const Powers b(truth.begin() + begin, truth.begin() + begin + voxels);
    const auto mean = [&](const auto& value) {
        Powers values(a.size());
        for (std::size_t i = 0; i < a.size(); ++i) values[i] = value(a[i], b[i]);
        smooth(values, slice, {1.5, 1.5, 0});
        return values;
    };
    const Powers mean_a = mean([](float x, float) { return x; }), mean_b = mean([](float, float y) { return y; }),
                 aa = mean([](float x, float) { return x * x; }), bb = mean([](float, float y) { return y * y; }),
                 ab = mean([](float x, float y) { return x * y; });
    constexpr double c1 = 0.01 * 0.01 * db_range * db_range, c2 = 0.03 * 0.03 * db_range * db_range;
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto x = static_cast<double>(mean_a[i]), y = static_cast<double>(mean_b[i]);
        const double var_x = static_cast<double>(aa[i]) - x * x, var_y = static_cast<double>(bb[i]) - y * y,
                     both = static_cast<double>(ab[i]) - x * y;
        sum += (2 * x * y + c1) * (2 * both + c2) / ((x * x + y * y + c1) * (var_x + var_y + c2));
    }
    return sum / static_cast<double>(a.size());
}

// Returns the equivalent number of looks, mean^2 / variance, in the layer below the pigment epithelium.
double looks(const Powers& power, const LayeredScene& scene) {
    double sum = 0, square = 0, count = 0;
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        const auto i = static_cast<std::size_t>(line);
        const auto begin = static_cast<std::int64_t>(scene.boundaries[flat_above][i]) + flat_margin + 1;
        const auto end = static_cast<std::int64_t>(scene.boundaries[flat_below][i]) - flat_margin;
        if (std::abs(line % size[1] - 30) <= 10) continue;  // exclude the fibre
        for (std::int64_t z = begin; z < end; ++z) {
            const auto value = static_cast<double>(power[static_cast<std::size_t>(line * size[0] + z)]);
            sum += value;
            square += value * value;
            ++count;
        }
    }
    const double mean = sum / count;
    return mean * mean / (square / count - mean * mean);
}

// Returns the number of rows in which the mean profile across the top boundary rises from 10 to 90 %.
double edge_rows(const Powers& power, const LayeredScene& scene) {
    constexpr std::int64_t reach = 12;
    std::array<double, 2 * reach> profile{};
    for (std::int64_t b = 2; b < size[2] - 2; ++b) {
        for (std::int64_t a = 4; a < size[1] - 4; ++a) {
            const std::int64_t line = b * size[1] + a;
            const std::int64_t at = std::lround(scene.boundaries[0][static_cast<std::size_t>(line)]);
            for (std::int64_t i = 0; i < 2 * reach; ++i)
                profile[static_cast<std::size_t>(i)] +=
                    static_cast<double>(power[static_cast<std::size_t>(line * size[0] + at - reach + i)]);
        }
    }
    const auto mean = [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += profile[i] / static_cast<double>(end - begin);
        return sum;
    };
    const double low = mean(0, 6), high = mean(14, 17);
    const auto crossing = [&](double share) {
        const double level = low + share * (high - low);
        for (std::size_t i = 4; i + 1 < 17; ++i) {
            if (profile[i + 1] > level)
                return static_cast<double>(i) + (level - profile[i]) / (profile[i + 1] - profile[i]);
        }
        return 17.0;
    };
    return crossing(0.9) - crossing(0.1);
}

struct Judged {
    double looks, psnr_db, ssim, edge;
};

class Judge {
  public:
    Judge(const LayeredScene& scene, const Powers& truth) : scene_(scene), truth_(shown(truth)) {}

    Judged operator()(const Powers& power) const {
        const Powers db = shown(power);
        return {looks(power, scene_), psnr_db(db, truth_), ssim(db, truth_), edge_rows(power, scene_)};
    }

  private:
    const LayeredScene& scene_;
    Powers truth_;
};

Powers blurred(Powers power, double sigma) {
    smooth(power, size, {sigma, sigma, sigma});
    return power;
}

// A filter with its expected result.
struct Wanted {
    std::string name;
    SpeckleFilter filter;
    Judged expected;
};

SpeckleFilter median(std::int64_t edge) {
    SpeckleFilter filter;
    filter.method = FilterMethod::median;
    filter.median_size = edge;
    return filter;
}

SpeckleFilter nlm(std::int64_t lateral, std::int64_t across, std::int64_t patch, double strength) {
    SpeckleFilter filter;
    filter.search_depth = filter.search_a_scans = lateral;
    filter.search_b_scans = across;
    filter.patch = patch;
    filter.strength = strength;
    return filter;
}

// Expected values are those of a float64 model of another scene of the same kind.
std::vector<Wanted> wanted_filters() {
    SpeckleFilter bilateral;
    bilateral.method = FilterMethod::bilateral;
    return {{"median 3 x 3 x 3", median(3), {2.3, 24.6, 0.61, 2.73}},
            {"median 5 x 5 x 5", median(5), {6.3, 26.5, 0.77, 3.09}},
            {"bilateral, sigma 2, 4 dB", bilateral, {7.2, 27.5, 0.79, 2.70}},
            {"non-local means 7 x 7 x 3, patch 3, h 0.2", nlm(7, 3, 3, 0.2), {6.7, 27.1, 0.77, 2.43}},
            {"non-local means 7 x 7 x 3, patch 5, h 0.1", nlm(7, 3, 5, 0.1), {7.9, 27.6, 0.79, 2.42}},
            {"non-local means 11 x 11 x 7, patch 5, h 0.1", nlm(11, 7, 5, 0.1), {20.7, 28.6, 0.83, 2.35}}};
}

void add_row(CheckTable& table, const std::string& name, const Judged& found, const std::optional<Judged>& expected) {
    const auto value = [&](double Judged::*member) {
        return expected ? std::optional((*expected).*member) : std::nullopt;
    };
    table.checks.push_back(reported(name + ": ENL", "", found.looks, value(&Judged::looks)));
    table.checks.push_back(reported(name + ": PSNR", "dB", found.psnr_db, value(&Judged::psnr_db)));
    table.checks.push_back(reported(name + ": SSIM", "", found.ssim, value(&Judged::ssim)));
    table.checks.push_back(reported(name + ": edge", "voxels", found.edge, value(&Judged::edge)));
}

// Returns the best result over all widths of a Gaussian.
Judged best_gaussian(const Powers& power, const Judge& judge) {
    Judged best{};
    for (double sigma = 0.5; sigma < 1.6; sigma += 0.1) {
        const Judged found = judge(blurred(power, sigma));
        if (found.psnr_db > best.psnr_db) best = found;
    }
    return best;
}

}  // namespace

CheckTable validated_filters(ValidationRun& run) {
    constexpr double over_raw_db = 3.5, over_gaussian_db = 2.5, wider = 1;
    const int realisations = run.quick() ? 16 : 64;
    CheckTable table{"Speckle filters",
                     fmt::format("A painted retina of 128 x 96 x 24 voxels with a vessel and a fibre, {:g} dB, against "
                                 "the mean of {} realisations. PSNR and SSIM over 40 dB;\nENL: mean^2 / variance in a "
                                 "flat layer; edge: 10 to 90 % across the uppermost boundary.",
                                 snr_db, realisations),
                     {}};
    const LayeredScene scene = painted_scene();
    Powers truth(scene.intensity.size());
    for (int i = 0; i < realisations; ++i) {
        const Powers one = realisation(scene, 100 + static_cast<unsigned>(i));
        for (std::size_t v = 0; v < truth.size(); ++v) truth[v] += one[v] / static_cast<float>(realisations);
        run.progress().advance(0);
    }
    const Powers raw = realisation(scene, 1);
    const Judge judge(scene, truth);
    const Judged of_raw = judge(raw), gaussian = best_gaussian(raw, judge);
    add_row(table, "unfiltered", of_raw, Judged{0.95, 17.6, 0, 2.23});
    table.checks.erase(table.checks.end() - 2);  // the model has no SSIM for it
    add_row(table, "the best Gaussian of any width", gaussian, {});
    Judged best{};
    for (const Wanted& wanted : wanted_filters()) {
        SilentProgress silent;
        const Judged found = judge(filtered(raw, size, wanted.filter, silent));
        add_row(table, wanted.name, found, wanted.expected);
        best = found;  // the last filter is the default
        run.progress().advance(0);
    }
    table.checks.push_back(
        at_least("the default over the unfiltered volume", "dB", best.psnr_db - of_raw.psnr_db, over_raw_db));
    table.checks.push_back(
        at_least("the default over the best Gaussian", "dB", best.psnr_db - gaussian.psnr_db, over_gaussian_db));
    table.checks.push_back(at_most("edges, by how much wider", "voxels", best.edge - of_raw.edge, wider));
    return table;
}

}  // namespace echolux
