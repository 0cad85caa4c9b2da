// Tables of a plan: lengths of the processing steps, the uniform k grid from wavelengths, positions or a polynomial,
// interpolation weights, and the spectral weight.
#include "compute/plan/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <optional>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/cubic.h"
#include "compute/plural.h"

namespace echolux {
namespace {

using std::numbers::pi;

// Computes k = 2 pi / lambda and inverts it by a spline at uniform k. The end points are exact.
KGrid grid_from_wavelengths(const std::vector<double>& wavelengths_nm) {
    const std::int64_t n = std::ssize(wavelengths_nm);
    std::vector<double> k(wavelengths_nm.size());
    std::transform(wavelengths_nm.begin(), wavelengths_nm.end(), k.begin(),
                   [](double nm) { return 2 * pi * 1000 / nm; });
    std::vector<double> sample = index_range(n);
    if (k.front() > k.back()) {
        std::reverse(k.begin(), k.end());
        std::reverse(sample.begin(), sample.end());
    }
    KGrid grid;
    grid.k_min_per_um = k.front();
    grid.k_max_per_um = k.back();
    const CubicSpline sample_at(k, sample);
    const double step = (k.back() - k.front()) / static_cast<double>(n - 1);
    for (std::int64_t j = 0; j < n; ++j) {
        grid.positions.push_back(sample_at(k.front() + step * static_cast<double>(j)));
    }
    grid.positions.front() = sample.front();
    grid.positions.back() = sample.back();
    grid.depth_pitch_um = pi / (step * static_cast<double>(n));
    return grid;
}

// Horner's scheme in u = j / (n - 1).
std::vector<double> polynomial_positions(const std::vector<double>& coefficients, std::int64_t samples) {
    std::vector<double> positions;
    for (std::int64_t j = 0; j < samples; ++j) {
        const double u = static_cast<double>(j) / static_cast<double>(samples - 1);
        double value = 0;
        for (std::size_t i = coefficients.size(); i-- > 0;) value = value * u + coefficients[i];
        positions.push_back(value);
    }
    return positions;
}

// Returns the grid point of each sample: the inverse of `positions`, which are monotone.
std::vector<double> inverse_positions(const std::vector<double>& positions) {
    std::vector<double> point = index_range(std::ssize(positions));
    std::vector<double> position = positions;
    if (position.front() > position.back()) {
        std::reverse(position.begin(), position.end());
        std::reverse(point.begin(), point.end());
    }
    const CubicSpline point_at(position, point);
    const std::size_t last = position.size() - 1;
    const double first_slope = (point[1] - point[0]) / (position[1] - position[0]);
    const double last_slope = (point[last] - point[last - 1]) / (position[last] - position[last - 1]);
    std::vector<double> inverse = index_range(std::ssize(positions));
    for (double& p : inverse) {
        if (p < position.front()) {
            p = point.front() + first_slope * (p - position.front());
        } else if (p > position.back()) {
            p = point.back() + last_slope * (p - position.back());
        } else {
            p = point_at(p);
        }
    }
    return inverse;
}

}  // namespace

SpectrumPoints points_of_grid(const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    SpectrumPoints points{index_range(n), grid.positions};
    for (double& position : points.samples) position = std::clamp(position, 0.0, static_cast<double>(n - 1));
    return points;
}

SpectrumPoints points_of_samples(const Calibration& calibration, const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    if (calibration.wavelengths_nm.empty()) return {inverse_positions(grid.positions), index_range(n)};
    SpectrumPoints points{{}, index_range(n)};
    const double step = (grid.k_max_per_um - grid.k_min_per_um) / static_cast<double>(n - 1);
    for (const double nm : calibration.wavelengths_nm) {
        points.on_grid.push_back((2 * pi * 1000 / nm - grid.k_min_per_um) / step);
    }
    return points;
}

Lengths lengths_of(const ScanGeometry& geometry, const Recipe& recipe) {
    Lengths lengths;
    lengths.samples = geometry.samples;
    lengths.padded = geometry.samples;
    if (recipe.upsample_pad) {
        lengths.padded = static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(geometry.samples, 2048))));
    }
    lengths.pad_left = (lengths.padded - lengths.samples) / 2;
    lengths.upsampled = lengths.padded * recipe.upsample;
    lengths.points = geometry.samples;
    lengths.transform = lengths.points * recipe.zero_padding;
    const std::int64_t half = lengths.transform / 2;
    const bool is_full_range = recipe.method == Method::defr;
    lengths.bins = is_full_range ? lengths.transform : half;
    lengths.zero_delay = is_full_range ? half : 0;
    return lengths;
}

KGrid k_grid(const Calibration& calibration, std::int64_t samples) {
    KGrid grid;
    if (!calibration.wavelengths_nm.empty()) {
        grid = grid_from_wavelengths(calibration.wavelengths_nm);
    } else if (!calibration.k_positions.empty()) {
        grid.positions = calibration.k_positions;
    } else if (!calibration.k_polynomial.empty()) {
        grid.positions = polynomial_positions(calibration.k_polynomial, samples);
    } else {
        grid.positions = index_range(samples);
    }
    if (calibration.depth_pitch_um > 0) grid.depth_pitch_um = calibration.depth_pitch_um;
    const bool scale_from_pitch =
        grid.k_max_per_um == 0 && grid.depth_pitch_um > 0 && calibration.centre_wavelength_nm > 0;
    if (scale_from_pitch) {
        const auto points = static_cast<double>(grid.positions.size());
        const double half_span = pi / (points * grid.depth_pitch_um) * (points - 1) / 2;
        const double centre = 2 * pi * 1000 / calibration.centre_wavelength_nm;
        grid.k_min_per_um = centre - half_span;
        grid.k_max_per_um = centre + half_span;
    }
    return grid;
}

// ---- Interpolation weights of all methods, one row of taps per point of the k grid (docs/algorithms.md 3.1-3.5).

namespace {

// Returns the weights of samples i0 - 1 .. i0 + 2 at position i0 + t.
std::array<double, 4> lagrange3(double t) {
    double weights[4];
    LagrangeCubic<double>{}(t, weights);
    return std::to_array(weights);
}

// Catmull-Rom spline: interpolates with continuous first derivative.
std::array<double, 4> catmull_rom(double t) {
    return {((-t + 2) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2, ((-3 * t + 4) * t + 1) * t / 2,
            (t - 1) * t * t / 2};
}

// Cubic B-spline: smooths unless samples are prefiltered.
std::array<double, 4> b_spline(double t) {
    return {(1 - t) * (1 - t) * (1 - t) / 6, ((3 * t - 6) * t * t + 4) / 6, (((-3 * t + 3) * t + 3) * t + 1) / 6,
            t * t * t / 6};
}

std::int64_t floor_within(double position, std::int64_t low, std::int64_t high) {
    return std::clamp(static_cast<std::int64_t>(std::floor(position)), low, high);
}

// One row of a table. `first` is the sample of weights[0] and may be outside the spectrum.
struct Row {
    std::int64_t first;
    std::vector<double> weights;
    double offset = 0;  // distance of the point from sample first + 1
};

Row two_taps(std::int64_t left, double t) {
    return {left, {1 - t, t}};
}

Row four_taps(std::int64_t i0, const std::array<double, 4>& w) {
    return {i0 - 1, {w.begin(), w.end()}};
}

Row row_of(Resample method, double position, std::int64_t n) {
    const auto offset = [&](std::int64_t i0) { return position - static_cast<double>(i0); };
    const std::int64_t inner = floor_within(position, 0, n - 2);
    switch (method) {
        case Resample::linear: return two_taps(inner, offset(inner));
        case Resample::catmull_rom: return four_taps(inner, catmull_rom(offset(inner)));
        case Resample::lagrange3: {
            const std::int64_t i0 = floor_within(position, 1, n - 3);
            return {i0 - 1, four_taps(i0, lagrange3(offset(i0))).weights, offset(i0)};
        }
        // Coefficients start at sample -1, so sample i0 - 1 has coefficient i0.
        case Resample::spline: return {inner, four_taps(inner, b_spline(offset(inner))).weights};
        default: return {std::llround(position), {1.0}};
    }
}

// Repeats the end samples beyond the spectrum by adding the weights of missing samples to theirs.
Row folded(const Row& row, std::int64_t n) {
    const auto taps = std::ssize(row.weights);
    Row inside{std::clamp<std::int64_t>(row.first, 0, n - taps), std::vector<double>(row.weights.size(), 0.0),
               row.offset};
    for (std::int64_t m = 0; m < taps; ++m) {
        const std::int64_t sample = std::clamp<std::int64_t>(row.first + m, 0, n - 1);
        inside.weights[index(sample - inside.first)] += row.weights[index(m)];
    }
    return inside;
}

// Interpolates linearly in wavelength rather than in position, between neighbouring (up-sampled) samples.
class WavelengthRows {
  public:
    WavelengthRows(const KGrid& grid, const Calibration& calibration, const Lengths& lengths)
        : grid_(grid), lengths_(lengths), wavelength_at_(index_range(lengths.samples), calibration.wavelengths_nm) {}

    Row row(std::int64_t j, double position) const {
        const std::int64_t left = floor_within(position, 0, lengths_.upsampled - 2);
        const double a = wavelength_at_(recorded(left));
        const double b = wavelength_at_(recorded(left + 1));
        return two_taps(left, (wavelength_nm(j) - a) / (b - a));
    }

  private:
    double recorded(std::int64_t i) const {
        const double upsample = static_cast<double>(lengths_.upsampled) / static_cast<double>(lengths_.padded);
        return static_cast<double>(i) / upsample - static_cast<double>(lengths_.pad_left);
    }

    double wavelength_nm(std::int64_t j) const {
        const double share = static_cast<double>(j) / static_cast<double>(lengths_.points - 1);
        return 2 * std::numbers::pi * 1000 / std::lerp(grid_.k_min_per_um, grid_.k_max_per_um, share);
    }

    const KGrid& grid_;
    const Lengths& lengths_;
    CubicSpline wavelength_at_;
};

// Returns the position of k grid point j in the padded and up-sampled spectrum.
double position_of(std::int64_t j, Resample method, const KGrid& grid, const Lengths& lengths) {
    const double last = static_cast<double>(lengths.samples - 1);
    const double recorded =
        method == Resample::none ? static_cast<double>(j) : std::clamp(grid.positions[index(j)], 0.0, last);
    const double upsample = static_cast<double>(lengths.upsampled) / static_cast<double>(lengths.padded);
    return (recorded + static_cast<double>(lengths.pad_left)) * upsample;
}

// Spline rows are not folded, because the prefilter extends the coefficients beyond the ends.
std::vector<Row> rows_of(Resample method, const KGrid& grid, const Calibration& calibration, const Lengths& lengths) {
    std::optional<WavelengthRows> wavelength_rows;
    if (method == Resample::linear_wavelength) wavelength_rows.emplace(grid, calibration, lengths);
    std::vector<Row> rows;
    for (std::int64_t j = 0; j < lengths.points; ++j) {
        const double position = position_of(j, method, grid, lengths);
        const Row row =
            wavelength_rows ? wavelength_rows->row(j, position) : row_of(method, position, lengths.upsampled);
        rows.push_back(method == Resample::spline ? row : folded(row, lengths.upsampled));
    }
    return rows;
}

}  // namespace

ResampleTable resample_table(Resample method, const KGrid& grid, const Calibration& calibration,
                             const Lengths& lengths) {
    ResampleTable table;
    table.prefilter = method == Resample::spline;
    for (const Row& row : rows_of(method, grid, calibration, lengths)) {
        table.taps = std::ssize(row.weights);
        table.base.push_back(static_cast<std::int32_t>(row.first));
        for (const double weight : row.weights) table.weights.push_back(static_cast<float>(weight));
        if (method == Resample::lagrange3) table.offset.push_back(static_cast<float>(row.offset));
    }
    return table;
}

// ---- Combines the window or shaping with dispersion compensation into one complex vector on the k grid
// (docs/algorithms.md 3.8-3.10).

using std::numbers::pi;

// Sum of (-1)^i a_i cos(2 pi i u): the generalized cosine windows.
static double cosine_sum(std::initializer_list<double> a, double u) {
    double value = 0, sign = 1;
    int order = 0;
    for (const double coefficient : a) {
        value += sign * coefficient * std::cos(2 * pi * order * u);
        sign = -sign;
        ++order;
    }
    return value;
}

// Returns the window at u in 0..1 along the spectrum: symmetric with peak 1.
static double window_at(const Recipe& recipe, double u) {
    switch (recipe.window) {
        case Window::rect: return 1;
        case Window::hann: return cosine_sum({0.5, 0.5}, u);
        case Window::hamming: return cosine_sum({0.54, 0.46}, u);
        case Window::blackman: return cosine_sum({0.42, 0.5, 0.08}, u);
        case Window::blackman_harris: return cosine_sum({0.35875, 0.48829, 0.14128, 0.01168}, u);
        case Window::tukey: {
            const double edge = std::min(u, 1 - u);
            const bool tapered = edge < recipe.tukey_alpha / 2;
            return tapered ? 0.5 * (1 - std::cos(2 * pi * edge / recipe.tukey_alpha)) : 1;
        }
        case Window::gaussian: {
            const double x = (u - 0.5) / recipe.gaussian_sigma;
            return std::exp(-x * x / 2);
        }
    }
    return 1;
}

// Returns the target of spectral shaping at u in 0..1, with peak 1.
static double target_at(const Recipe& recipe, double u) {
    if (recipe.shaping == Shaping::hann) return 0.5 * (1 - std::cos(2 * pi * u));
    const double x = (u - 0.5) / recipe.shaping_fwhm;
    return std::exp(-4 * std::numbers::ln2 * x * x);
}

// Returns the final envelope of the spectrum: the window, or the target of shaping.
static double envelope_at(const Recipe& recipe, double u) {
    return recipe.shaping == Shaping::none ? window_at(recipe, u) : target_at(recipe, u);
}

// Maps grid points to 0..1. Fractions of a point beyond the ends are clamped.
static double share_of(double point, std::int64_t n) {
    return std::clamp(point / static_cast<double>(n - 1), 0.0, 1.0);
}

// Returns the source spectrum, background - dark, smoothed, at recorded sample positions 0..n-1.
static std::vector<double> source_at(const std::vector<double>& samples, const Recipe& recipe,
                                     const Calibration& calibration) {
    const auto n = std::ssize(calibration.background);
    std::vector<double> light = calibration.background;
    for (std::size_t p = 0; p < calibration.dark.size(); ++p) light[p] -= calibration.dark[p];
    std::vector<double> smooth(light.size());
    for (std::int64_t p = 0; p < n; ++p) {
        const std::int64_t first = std::max<std::int64_t>(0, p - recipe.shaping_smooth / 2);
        const std::int64_t last = std::min(n, p + recipe.shaping_smooth / 2 + 1);
        smooth[index(p)] =
            std::accumulate(light.begin() + first, light.begin() + last, 0.0) / static_cast<double>(last - first);
    }
    const CubicSpline light_at(index_range(n), smooth);
    std::vector<double> source(samples.size());
    std::transform(samples.begin(), samples.end(), source.begin(), light_at);
    return source;
}

// Returns g = target / max(source, floor), scaled so that g * source and the target have the same sum on the grid.
static std::vector<double> shaping_weights(const SpectrumPoints& points, const Recipe& recipe,
                                           const Calibration& calibration, const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    const std::vector<double> grid_source = source_at(points_of_grid(grid).samples, recipe, calibration);
    const double floor = recipe.shaping_floor * *std::max_element(grid_source.begin(), grid_source.end());
    const auto gain = [&](double point, double source) {
        return target_at(recipe, share_of(point, n)) / std::max(source, floor);
    };
    double shaped_sum = 0, target_sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        const auto point = static_cast<double>(j);
        shaped_sum += gain(point, grid_source[index(j)]) * grid_source[index(j)];
        target_sum += target_at(recipe, share_of(point, n));
    }
    const std::vector<double> source = source_at(points.samples, recipe, calibration);
    std::vector<double> g(source.size());
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = gain(points.on_grid[i], source[i]) * (target_sum / shaped_sum);
    return g;
}

static std::vector<double> amplitude_at(const SpectrumPoints& points, const Recipe& recipe,
                                        const Calibration& calibration, const KGrid& grid) {
    if (recipe.shaping != Shaping::none) return shaping_weights(points, recipe, calibration, grid);
    std::vector<double> amplitude(points.on_grid.size());
    std::transform(points.on_grid.begin(), points.on_grid.end(), amplitude.begin(),
                   [&](double point) { return window_at(recipe, share_of(point, std::ssize(grid.positions))); });
    return amplitude;
}

// Returns theta = (a2 + a3 kappa) kappa^2 plus the measured phase, with kappa in -1..1 along the grid.
static std::vector<double> phase_at(const std::vector<double>& on_grid, const Recipe& recipe,
                                    const Calibration& calibration, const KGrid& grid) {
    constexpr double light_um_per_fs = 0.299792458;
    std::vector<double> theta(on_grid.size(), 0.0);
    if (!recipe.dispersion) return theta;
    const auto last = static_cast<double>(grid.positions.size() - 1);
    const double half_span_per_fs = light_um_per_fs * (grid.k_max_per_um - grid.k_min_per_um) / 2;
    const double a2 = recipe.a2_rad + recipe.gdd_fs2 * half_span_per_fs * half_span_per_fs / 2;
    const double a3 = recipe.a3_rad + recipe.tod_fs3 * half_span_per_fs * half_span_per_fs * half_span_per_fs / 6;
    const double sign = calibration.dispersion_holds == PhaseMeaning::theta ? 1 : -1;
    std::optional<CubicSpline> measured;
    if (!calibration.dispersion_rad.empty()) {
        measured.emplace(index_range(std::ssize(grid.positions)), calibration.dispersion_rad);
    }
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const double kappa = 2 * on_grid[i] / last - 1;
        theta[i] = (a2 + a3 * kappa) * kappa * kappa;
        if (measured) theta[i] += sign * (*measured)(std::clamp(on_grid[i], 0.0, last));
    }
    return theta;
}

std::vector<double> source_on_grid(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    return source_at(points_of_grid(grid).samples, recipe, calibration);
}

std::vector<double> dispersion_phase(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    return phase_at(points_of_grid(grid).on_grid, recipe, calibration, grid);
}

std::vector<double> dispersion_phase_at(const SpectrumPoints& points, const Recipe& recipe,
                                        const Calibration& calibration, const KGrid& grid) {
    return phase_at(points.on_grid, recipe, calibration, grid);
}

std::vector<std::complex<double>> spectral_weight_at(const SpectrumPoints& points, const Recipe& recipe,
                                                     const Calibration& calibration, const KGrid& grid) {
    const std::vector<double> amplitude = amplitude_at(points, recipe, calibration, grid);
    const std::vector<double> theta = phase_at(points.on_grid, recipe, calibration, grid);
    std::vector<std::complex<double>> weight(amplitude.size());
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = std::polar(1.0, -theta[i]) * amplitude[i];
    return weight;
}

SpectralWeight spectral_weight(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    SpectralWeight weight;
    weight.sum = 0;
    for (std::int64_t j = 0; j < n; ++j) weight.sum += envelope_at(recipe, share_of(static_cast<double>(j), n));
    const std::vector<double> theta = dispersion_phase(recipe, calibration, grid);
    weight.real = std::all_of(theta.begin(), theta.end(), [](double t) { return t == 0; });
    for (const std::complex<double>& value : spectral_weight_at(points_of_grid(grid), recipe, calibration, grid)) {
        weight.values.emplace_back(value);
    }
    return weight;
}

// ---- data for runners -----------------------------------------------------------------------------------------------

PlainTables plain_tables(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    PlainTables tables;
    tables.lengths = lengths_of(spec.geometry, spec.recipe);
    tables.resample =
        resample_table(chosen_resample(spec.recipe, spec.calibration), grid, spec.calibration, tables.lengths);
    tables.weight = spectral_weight(spec.recipe, spec.calibration, grid);
    for (const std::complex<float>& value : tables.weight.values) tables.real_weight.push_back(value.real());
    tables.upsample = spec.recipe.upsample;
    const bool rolling = chosen_background(spec.recipe, spec.calibration) == Background::rolling;
    tables.rolling_width = rolling ? spec.recipe.rolling_width : 0;
    return tables;
}

VoxelTables voxel_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept) {
    VoxelTables tables;
    tables.depth = kept.end - kept.begin;
    tables.scale = static_cast<float>(1 / weight_sum);
    if (spec.recipe.noise_floor != NoiseFloor::none) {
        const auto& floor = spec.calibration.noise_floor;
        std::transform(floor.begin() + kept.begin, floor.begin() + kept.end, std::back_inserter(tables.noise_floor),
                       [](double value) { return static_cast<float>(value); });
    }
    if (spec.recipe.levels == Levels::noise_floor) tables.reference_db = spec.recipe.noise_floor_db;
    tables.recipe = spec.recipe;
    tables.depth_flip = spec.geometry.depth_flip;
    return tables;
}

BlockShape block_shape(const ReconstructionSpec& spec, const VolumeGrid& grid) {
    BlockShape shape;
    shape.frame_lines = spec.geometry.lines_per_b_scan();
    shape.frames = spec.block_b_scans * spec.geometry.b_repeats;
    shape.outputs_per_b_scan = grid.a_scans * slices_per_b_scan(grid, spec.geometry);
    if (spec.recipe.average != Average::none) shape.joined = spec.geometry.a_repeats * spec.geometry.b_repeats;
    return shape;
}

// Messages are built only on failure.
void check_block(const Block& block, const ReconstructionSpec& spec) {
    const auto require = [](bool holds, const auto& problem) {
        if (!holds) throw Error(ErrorCode::bad_setting, problem(), "block");
    };
    const ScanGeometry& geometry = spec.geometry;
    require(block.data != nullptr || is_missing(block), [] { return std::string("has no address"); });
    require(block.b_scans >= 1 && block.b_scans <= spec.block_b_scans, [&] {
        return fmt::format("has {}, 1 to {} are expected", plural(block.b_scans, "B-scans"), spec.block_b_scans);
    });
    require(block.volume >= 0 && block.first_b_scan >= 0 && block.b_scans <= geometry.b_scans - block.first_b_scan,
            [&] {
                return fmt::format("has {} from {} on of volume {}: a volume has {}", plural(block.b_scans, "B-scans"),
                                   block.first_b_scan, block.volume, geometry.b_scans);
            });
    if (is_missing(block)) return;
    const std::int64_t frame_bytes = geometry.lines_per_b_scan() * line_bytes(spec.format, geometry);
    const std::int64_t stride = block.frames.stride_bytes;
    require(block.frames.offset_bytes >= 0 && (stride == 0 || stride >= frame_bytes), [&] {
        return fmt::format("has B-scans of {} that begin {} apart, behind headers of {}", plural(frame_bytes, "bytes"),
                           plural(stride, "bytes"), plural(block.frames.offset_bytes, "bytes"));
    });
    const std::int64_t last = block.b_scans * geometry.b_repeats - 1;
    const std::int64_t end = frame_offset(block.frames, last, frame_bytes) + frame_bytes;
    require(block.bytes >= end, [&] {
        return fmt::format("has {}, its {} take {}", plural(block.bytes, "bytes"), plural(block.b_scans, "B-scans"),
                           end);
    });
}

// Returns the beam position at each recorded line.
static std::vector<double> beam_positions(const ScanGeometry& geometry, const Calibration& calibration) {
    if (geometry.fast_axis == FastAxis::file) return calibration.fast_axis;
    std::vector<double> positions = index_range(geometry.a_scans);
    const auto last = static_cast<double>(geometry.a_scans - 1);
    const double end = std::numbers::pi / 2 * geometry.sinusoidal_part;
    for (double& position : positions) position = std::sin(end * (2 * position / last - 1));
    return positions;
}

std::vector<LineMix> line_mixes(const ScanGeometry& geometry, const Calibration& calibration) {
    if (geometry.fast_axis == FastAxis::uniform) return {};
    const std::vector<double> beam = beam_positions(geometry, calibration);
    const double step = (beam.back() - beam.front()) / static_cast<double>(geometry.a_scans - 1);
    const auto along = [&](std::int64_t line) { return (beam[index(line)] - beam.front()) / step; };
    std::vector<LineMix> mixes;
    std::int64_t first = 0;
    for (std::int64_t a = 0; a < geometry.a_scans; ++a) {
        const auto wanted = static_cast<double>(a);
        while (first + 2 < geometry.a_scans && along(first + 1) <= wanted) ++first;
        const double next = (wanted - along(first)) / (along(first + 1) - along(first));
        mixes.push_back({static_cast<std::int32_t>(first), static_cast<float>(std::min(1.0, std::max(0.0, next)))});
    }
    return mixes;
}

}  // namespace echolux
