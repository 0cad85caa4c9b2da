#include "engine/validation/real_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "engine/io/npz_file.h"
#include "engine/layers/find_surfaces.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"
#include "engine/validation/scenes.h"

namespace echolux {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ---- Files

// Laws by which files store brightness, with the arrays that identify them.
enum class StoredPicture { linear, log_8_bit, db_16_bit };

StoredPicture picture_of(const NpzFile& file) {
    if (file.holds("surface")) return StoredPicture::db_16_bit;
    return file.holds("mask") ? StoredPicture::log_8_bit : StoredPicture::linear;
}

// Returns the value of a scalar, or `otherwise` if the file lacks it or it is not a number.
double scalar(NpzFile& file, const std::string& name, double lacking, double unknown) {
    if (!file.holds(name)) return lacking;
    const double value = file.array(name).numbers.at(0);
    return std::isfinite(value) ? value : unknown;
}

// Converts codes to intensity. 8 bits hold 50 dB; 16 bits hold the range of `clim_dB`, 0 means no data.
std::vector<double> intensity_of(NpzFile& file, StoredPicture picture) {
    std::vector<double> values = file.array("image").numbers;
    if (picture == StoredPicture::linear) return values;
    if (picture == StoredPicture::log_8_bit) {
        for (double& value : values) value = std::pow(10, value / 255 * 5);
        return values;
    }
    const std::vector<double> range = file.array("clim_dB").numbers;
    for (double& value : values)
        value = value > 0 ? std::pow(10, (value / 65535 * (range.at(1) - range.at(0)) + range.at(0)) / 10) : nan;
    return values;
}

// Returns the row of a 2-D array, moved down by `shift` rows.
std::vector<double> row_of(const NpzArray& array, std::size_t row, double shift) {
    const std::size_t width = index(array.shape.at(1));
    std::vector<double> values(array.numbers.begin() + static_cast<std::ptrdiff_t>(row * width),
                               array.numbers.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    for (double& value : values) value += shift;
    return values;
}

// Boundaries by the names of the presets. People outlined pixels: the edge of a pixel is half a row beside its centre.
std::vector<KnownBoundary> boundaries_of(NpzFile& file, StoredPicture picture) {
    if (picture == StoredPicture::db_16_bit) {
        KnownBoundary surface{"surface", file.array("surface").numbers};
        for (double& value : surface.rows) value += 0.5;
        return {surface};
    }
    const NpzArray lines = file.array("lines");
    std::vector<KnownBoundary> known;
    if (picture == StoredPicture::log_8_bit) {
        constexpr const char* names[] = {"ILM", "NFL", "IPL", "INL", "OPL", "ISOS", nullptr, nullptr, "RPE-bottom"};
        for (std::size_t i = 0; i < std::size(names); ++i) {
            if (names[i] != nullptr) known.push_back({names[i], row_of(lines, i, -0.5)});
        }
        return known;
    }
    const std::map<std::string, std::string> own{{"BM", "RPE-bottom"}, {"RNFL", "NFL"}};
    const std::vector<std::string> names = file.array("line_names").texts;
    for (std::size_t i = 0; i < names.size(); ++i)
        known.push_back({own.contains(names[i]) ? own.at(names[i]) : names[i], row_of(lines, i, 0)});
    return known;
}

// ---- Surfaces

LayerRecipe recipe_of(const std::string& preset) {
    LayerRecipe recipe;
    Settings settings;
    settings.bind("layers", recipe);
    for (const std::string& line : layer_preset_named(preset).assignments) settings.set_assignment(line);
    if (preset == "layers") {
        recipe.count = 1;
        recipe.polarity = {1};
    }
    return recipe;
}

// Errors of one boundary, to be averaged.
struct KnownErrors {
    std::string kind, boundary;
    BoundaryErrors errors;
};

// A boundary that was not searched has no positions.
BoundaryErrors errors_in(const Surfaces& surfaces, const KnownBoundary& known) {
    const auto found = std::ranges::find_if(
        surfaces.all, [&](const Surface& surface) { return surface.name == known.name || surfaces.all.size() == 1; });
    if (found == surfaces.all.end()) {
        return errors_of(std::vector<float>(known.rows.size(), std::numeric_limits<float>::quiet_NaN()),
                         std::vector<bool>(known.rows.size()), known);
    }
    std::vector<bool> is_ok;
    for (const Reason reason : found->reasons) is_ok.push_back(reason == Reason::ok);
    return errors_of(found->rows, is_ok, known);
}

// A search without a result or that refuses the recording counts as missing everywhere.
Surfaces searched(const KnownRecording& recording, const std::string& preset) {
    SilentProgress silent;
    try {
        Surfaces surfaces = find_surfaces(recording.volume, recipe_of(preset), silent);
        return share_found(surfaces) > 0 ? surfaces : Surfaces{};
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        return {};
    }
}

// The most specific preset: nerve fibres are known around the disc.
std::string specific_preset(const KnownRecording& recording) {
    if (recording.preset != "retina") return "surface";
    const bool is_disc =
        std::ranges::find(recording.boundaries, "NFL", &KnownBoundary::name) != recording.boundaries.end();
    return is_disc ? "retina-disc" : "retina-macula";
}

// Counts the positions of a boundary by their confidence.
void count_places(const Surface& surface, const KnownBoundary& known, RealSection::Reliability& counts) {
    constexpr double far = 8;
    for (std::size_t a = 0; a < known.rows.size(); ++a) {
        const double error = std::abs(static_cast<double>(surface.rows[a]) - known.rows[a]);
        if (!std::isfinite(error)) continue;
        const auto above = std::ranges::upper_bound(counts.edges, static_cast<double>(surface.quality[a]));
        const auto bin = std::clamp<std::ptrdiff_t>(above - counts.edges.begin() - 1, 0, std::ssize(counts.places) - 1);
        ++counts.places[index(bin)];
        counts.wrong[index(bin)] += error > far ? 1 : 0;
    }
}

// Adds the positions of a recording to those of its preset.
void add_reliability(const KnownRecording& recording, std::vector<RealSection::Reliability>& all) {
    const std::string preset = specific_preset(recording);
    auto counts = std::ranges::find(all, preset, &RealSection::Reliability::preset);
    if (counts == all.end()) counts = all.insert(all.end(), {preset, {}, {}});
    const Surfaces surfaces = searched(recording, preset);
    for (const KnownBoundary& known : recording.boundaries) {
        const auto surface = std::ranges::find(surfaces.all, known.name, &Surface::name);
        if (surface != surfaces.all.end()) count_places(*surface, known, *counts);
    }
}

RealSection::Row mean_of(const std::string& kind, const std::string& boundary, const std::vector<KnownErrors>& all) {
    RealSection::Row row{kind, boundary, 0, {}};
    double with_places = 0, sum_rows = 0;
    for (const KnownErrors& one : all) {
        if (one.kind != kind || (!boundary.empty() && one.boundary != boundary)) continue;
        ++row.count;
        row.errors.within_3 += one.errors.within_3;
        row.errors.within_5 += one.errors.within_5;
        row.errors.ok += one.errors.ok;
        row.errors.false_ok += one.errors.false_ok;
        if (std::isnan(one.errors.mean_rows)) continue;
        sum_rows += one.errors.mean_rows;
        ++with_places;
    }
    for (double* share : {&row.errors.within_3, &row.errors.within_5, &row.errors.ok, &row.errors.false_ok})
        *share /= static_cast<double>(std::max<std::int64_t>(row.count, 1));
    row.errors.mean_rows = with_places > 0 ? sum_rows / with_places : nan;
    return row;
}

// Returns a row per boundary of each kind, in order of appearance, then one over all of them.
std::vector<RealSection::Row> rows_of(const std::vector<KnownErrors>& all) {
    std::vector<std::string> kinds;
    std::map<std::string, std::vector<std::string>> boundaries;
    for (const KnownErrors& one : all) {
        if (std::ranges::find(kinds, one.kind) == kinds.end()) kinds.push_back(one.kind);
        std::vector<std::string>& names = boundaries[one.kind];
        if (std::ranges::find(names, one.boundary) == names.end()) names.push_back(one.boundary);
    }
    std::vector<RealSection::Row> rows;
    for (const std::string& kind : kinds) {
        for (const std::string& name : boundaries[kind])
            if (boundaries[kind].size() > 1) rows.push_back(mean_of(kind, name, all));
        rows.push_back(mean_of(kind, "", all));
    }
    return rows;
}

// ---- Filters. A picture that the device averaged is taken as the reflectivity and gets single-look speckle.

constexpr double shown_db = 40;       // below the 99.9th percentile of the average
constexpr float floor_power = 2e-4f;  // of the noise, relative to the brightest code of the device

// Returns power in dB above the lowest one shown.
std::vector<float> in_db(const std::vector<float>& power, double top_db) {
    std::vector<float> db(power.size());
    for (std::size_t i = 0; i < power.size(); ++i) {
        const double level = 10 * std::log10(std::max(static_cast<double>(power[i]), 1e-30));
        db[i] = static_cast<float>(level - top_db + shown_db);
    }
    return db;
}

double top_of(std::vector<float> power) {
    const auto place = power.begin() + std::lround(0.999 * static_cast<double>(power.size() - 1));
    std::ranges::nth_element(power, place);
    return 10 * std::log10(static_cast<double>(*place));
}

// Returns the PSNR over the shown range with the gain that fits best.
double best_psnr(const std::vector<float>& power, const std::vector<float>& average) {
    const double top = top_of(average);
    const std::vector<float> found = in_db(power, top), truth = in_db(average, top);
    constexpr auto most = static_cast<float>(shown_db);
    double best = 0;
    for (float gain = -3; gain < 3.05f; gain += 0.1f) {
        double square = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const float off = std::clamp(found[i] + gain, 0.0f, most) - std::clamp(truth[i], 0.0f, most);
            square += static_cast<double>(off * off);
        }
        best = std::max(best, 10 * std::log10(shown_db * shown_db * static_cast<double>(found.size()) / square));
    }
    return best;
}

// Returns a look at `average`: developed speckle with the point spread of painted scenes, and noise.
std::vector<float> single_look(const std::vector<float>& average, const Size3& size, unsigned seed) {
    std::mt19937 random(seed);
    const std::vector<float> real = random_field(size, random), imaginary = random_field(size, random);
    NormalNoise noise(std::sqrt(static_cast<double>(floor_power) / 2));
    std::vector<float> power(average.size());
    for (std::size_t i = 0; i < power.size(); ++i) {
        const float amplitude = std::sqrt(average[i] - floor_power);
        const float re = amplitude * real[i] + noise(random), im = amplitude * imaginary[i] + noise(random);
        power[i] = re * re + im * im;
    }
    return power;
}

double best_gaussian(const std::vector<float>& look, const Size3& size, const std::vector<float>& average) {
    double best = 0;
    for (double sigma = 0.6; sigma < 5; sigma *= 1.25) {
        std::vector<float> blurred = look;
        smooth(blurred, size, {sigma, sigma, 0});
        best = std::max(best, best_psnr(blurred, average));
    }
    return best;
}

// Adds the checks of one averaged recording.
void add_filters(ValidationRun& run, const KnownRecording& recording, CheckTable& table) {
    const VolumeGrid& grid = recording.volume.grid;
    const Size3 size{grid.depth, grid.a_scans, 1};
    std::vector<float> average = linear_intensity(recording.volume);
    for (float& value : average) value = (std::isfinite(value) ? std::max(value, 0.0f) : 0) + floor_power;
    const std::vector<float> look = single_look(average, size, 1);
    const auto filtered_psnr = [&](const SpeckleFilter& filter) {
        SilentProgress silent;
        run.progress().advance(0);
        return best_psnr(filtered(look, size, filter, silent), average);
    };
    SpeckleFilter pure, bilateral;
    pure.blend = false;
    bilateral.method = FilterMethod::bilateral;
    const double gaussian = best_gaussian(look, size, average), found = filtered_psnr({});
    table.checks.push_back(reported(recording.file + ": unfiltered", "dB", best_psnr(look, average)));
    table.checks.push_back(reported(recording.file + ": the best Gaussian", "dB", gaussian));
    table.checks.push_back(reported(recording.file + ": bilateral", "dB", filtered_psnr(bilateral)));
    table.checks.push_back(reported(recording.file + ": non-local means without blend", "dB", filtered_psnr(pure)));
    table.checks.push_back(reported(recording.file + ": the default", "dB", found));
    table.checks.push_back(
        at_least(recording.file + ": the default over the best Gaussian", "dB", found - gaussian, 0));
}

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code problem;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, problem)) {
        if (entry.path().extension() == ".npz") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

bool has_known_boundaries(const std::filesystem::path& path) {
    const NpzFile file(path);
    return file.holds("image") && (file.holds("surface") || file.holds("lines"));
}

}  // namespace

KnownRecording read_known_recording(const std::filesystem::path& path) {
    NpzFile file(path);
    const StoredPicture picture = picture_of(file);
    const NpzArray image = file.array("image");
    if (image.shape.size() != 2) throw Error(ErrorCode::bad_file, "`image` is not a B-scan", path.string());
    const std::vector<double> values = intensity_of(file, picture);
    KnownRecording recording{path.parent_path().filename().string(),
                             path.stem().string(),
                             picture == StoredPicture::db_16_bit ? "layers" : "retina",
                             {},
                             {}};
    VolumeGrid& grid = recording.volume.grid;
    grid.depth = image.shape[0];
    grid.a_scans = image.shape[1];
    grid.b_scans = 1;
    grid.spacing_um = {1000 * scalar(file, "scale_z_mm", 0.004, 0.001), 1000 * scalar(file, "scale_x_mm", 0.01, 0.001),
                       10};
    recording.volume.voxels.resize(index(grid.bytes()));
    auto* voxels = reinterpret_cast<float*>(recording.volume.voxels.data());
    for (std::int64_t z = 0; z < grid.depth; ++z) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a)
            voxels[a * grid.depth + z] = static_cast<float>(values[index(z * grid.a_scans + a)]);
    }
    recording.boundaries = boundaries_of(file, picture);
    return recording;
}

BoundaryErrors errors_of(const std::vector<float>& rows, const std::vector<bool>& is_ok, const KnownBoundary& known) {
    constexpr double far = 8;
    double places = 0, found = 0, sum = 0, ok = 0, wrong = 0;
    BoundaryErrors errors;
    for (std::size_t a = 0; a < known.rows.size(); ++a) {
        if (!std::isfinite(known.rows[a])) continue;
        const double error = std::abs(static_cast<double>(rows[a]) - known.rows[a]);
        ++places;
        ok += is_ok[a] ? 1 : 0;
        wrong += is_ok[a] && error > far ? 1 : 0;
        if (std::isnan(error)) continue;
        ++found;
        sum += error;
        errors.within_3 += error <= 3 ? 1 : 0;
        errors.within_5 += error <= 5 ? 1 : 0;
    }
    const double all = std::max(places, 1.0);
    errors.within_3 /= all;
    errors.within_5 /= all;
    errors.mean_rows = found > 0 ? sum / found : nan;
    errors.ok = ok / all;
    errors.false_ok = ok > 0 ? wrong / ok : 0;
    return errors;
}

RealSection validated_recordings(ValidationRun& run, const std::filesystem::path& folder) {
    std::vector<KnownErrors> all;
    CheckTable filters{
        "Speckle filters on real averages",
        fmt::format("B-scans that the device averaged, taken as the reflectivity: single-look speckle of the painted "
                    "scenes and a noise floor of {:g}\nof the device's scale are added. PSNR over {:g} dB with the "
                    "gain that fits best, against the average. Gaussians of any width from 0.6 to 5 pixels.",
                    floor_power, shown_db),
        {}};
    std::int64_t filtered = 0;
    std::vector<RealSection::Reliability> reliability;
    for (const std::filesystem::path& path : files_below(folder / "real")) {
        if (!has_known_boundaries(path)) continue;
        const KnownRecording recording = read_known_recording(path);
        const Surfaces surfaces = searched(recording, recording.preset);
        for (const KnownBoundary& known : recording.boundaries)
            all.push_back({recording.kind, known.name, errors_in(surfaces, known)});
        add_reliability(recording, reliability);
        const bool is_averaged = recording.kind == "spectralis";
        if (is_averaged && (filtered++ == 0 || !run.quick())) add_filters(run, recording, filters);
        run.progress().advance(0);
    }
    RealSection section{rows_of(all), std::move(reliability), {}};
    if (!filters.checks.empty()) section.tables.push_back(std::move(filters));
    return section;
}

}  // namespace echolux
