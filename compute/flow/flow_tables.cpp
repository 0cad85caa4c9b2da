#include "compute/flow/flow_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/plan/tables.h"
#include "compute/reconstructor.h"

namespace echolux {
namespace {

using std::numbers::pi;

bool is_doppler(FlowMethod method) {
    return method == FlowMethod::doppler || method == FlowMethod::power_doppler;
}

// Doppler uses the shortest interval, angiography the longest.
bool repeats_across_frames(const ReconstructionSpec& spec) {
    return spec.geometry.b_repeats > 1 && (!is_doppler(spec.flow.method) || spec.geometry.a_repeats == 1);
}

// Without repeats, each A-scan is compared with the next one.
Repeats repeats_of(const ReconstructionSpec& spec) {
    const ScanGeometry& geometry = spec.geometry;
    const std::int64_t frame = geometry.lines_per_b_scan();
    if (repeats_across_frames(spec)) {
        return {geometry.b_repeats, frame, geometry.a_repeats, 1, geometry.a_repeats, geometry.a_scans};
    }
    if (geometry.a_repeats > 1) {
        return {geometry.a_repeats, 1, geometry.b_repeats, frame, geometry.a_repeats, geometry.a_scans};
    }
    return {2, 1, 1, 0, 1, geometry.a_scans - 1};
}

// Returns the velocity in mm/s of a phase of pi, along the flow if its angle is known. 0 if unknown.
double v_max_mm_s(const ReconstructionSpec& spec) {
    const double interval_s = repeat_interval_s(spec);
    if (interval_s == 0) return 0;
    const double axial_um_s = effective_wavelength_um(spec) / (4 * spec.geometry.refractive_index * interval_s);
    return axial_um_s / 1000 / std::cos(spec.flow.angle_deg * pi / 180);
}

// Returns the mean noise power. The noise floor is a median (compute/calibrate). Noise power is exponentially
// distributed, with a mean 1.6 dB above its median.
double mean_noise_power(const Recipe& recipe) {
    return std::pow(10, recipe.noise_floor_db / 10) / std::numbers::ln2;
}

// Returns the effective number of independent voxel pairs in the window of complex_decorrelation. It is reduced because
// speckle extends over several voxels and neighbouring pairs share a repeat. Measured: 8 for a 3 x 3 window and four
// repeats.
double independent_pairs(const FlowRecipe& flow, const Repeats& repeats) {
    constexpr double share = 8.0 / 27;
    return share * static_cast<double>(flow.window_depth * flow.window_lines * repeats.pairs());
}

// Adds adjacent Gaussian bands whose FWHM equals their spacing. Multiplying the spectrum by a band is a convolution of
// the depth bins with the band's transform, which is short.
void add_sub_bands(FlowTables& tables, std::int64_t bands, std::int64_t zero_padding) {
    constexpr double sigmas = 4.5;  // extent of the filter in depth; the remainder is below 4e-5
    const double sigma = 1 / (static_cast<double>(bands) * std::sqrt(8 * std::numbers::ln2));
    const double sigma_bins = static_cast<double>(zero_padding) / (2 * pi * sigma);
    tables.bands = bands;
    tables.band_reach = static_cast<std::int64_t>(std::ceil(sigmas * sigma_bins));
    const double peak = 1 / (sigma_bins * std::sqrt(2 * pi));
    for (std::int64_t band = 0; band < bands; ++band) {
        const double centre = (static_cast<double>(band) + 0.5) / static_cast<double>(bands);
        for (std::int64_t d = -tables.band_reach; d <= tables.band_reach; ++d) {
            const double bins = static_cast<double>(d) / sigma_bins;
            const double turns = centre * static_cast<double>(d) / static_cast<double>(zero_padding);
            const std::complex<double> tap = std::polar(peak * std::exp(-bins * bins / 2), -2 * pi * turns);
            tables.filters.push_back({static_cast<float>(tap.real()), static_cast<float>(tap.imag())});
        }
    }
}

}  // namespace

FlowTables flow_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept) {
    const FlowRecipe& flow = spec.flow;
    FlowTables tables;
    tables.method = flow.method;
    tables.repeats = repeats_of(spec);
    tables.depth = kept.end - kept.begin;
    tables.window_depth = flow.window_depth;
    tables.window_positions = flow.window_lines;
    tables.reach = flow.correlation_reach;
    tables.removes_bulk = (is_doppler(flow.method) && flow.bulk_motion) || flow.method == FlowMethod::omag ||
                          flow.method == FlowMethod::phase_variance;
    tables.unwraps = flow.method == FlowMethod::doppler && flow.unwrap;
    tables.depth_flip = spec.geometry.depth_flip;
    // Beyond zero delay, the fringe phase decreases as the path grows.
    tables.negative = spec.geometry.depth_flip != flow.invert;
    const double noise = mean_noise_power(spec.recipe) * weight_sum * weight_sum;
    tables.noise_power = static_cast<float>(noise);
    tables.min_power = static_cast<float>(noise * std::pow(10, flow.threshold_db / 10));
    if (flow.method == FlowMethod::speckle_variance) tables.unit = tables.noise_power;
    if (flow.method == FlowMethod::omag) tables.unit = static_cast<float>(std::sqrt(noise));
    tables.aligns = flow.align;
    tables.align_depth = flow.align_depth;
    tables.align_lines = flow.align_lines;
    tables.min_match = static_cast<float>(flow.min_match);
    tables.carrier_turns = 0.5 / static_cast<double>(spec.recipe.zero_padding);  // the centre of the spectrum
    tables.deviations = static_cast<float>(flow.significance * std::sqrt(2 / independent_pairs(flow, tables.repeats)));
    tables.mm_s_per_rad = static_cast<float>(v_max_mm_s(spec) / pi);
    if (flow.method == FlowMethod::decorrelation && flow.sub_bands > 1) {
        add_sub_bands(tables, flow.sub_bands, spec.recipe.zero_padding);
    }
    return tables;
}

// Weighted by window and source spectrum, because both determine the measured phase.
double effective_wavelength_um(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    if (grid.k_max_per_um == 0) return spec.calibration.centre_wavelength_nm / 1000;
    const SpectralWeight weight = spectral_weight(spec.recipe, spec.calibration, grid);
    std::vector<double> source(weight.values.size(), 1.0);
    if (!spec.calibration.background.empty()) source = source_on_grid(spec.recipe, spec.calibration, grid);
    const double step = (grid.k_max_per_um - grid.k_min_per_um) / static_cast<double>(source.size() - 1);
    double sum = 0, moment = 0;
    for (std::size_t j = 0; j < source.size(); ++j) {
        const double light = std::abs(std::complex<double>(weight.values[j])) * source[j];
        sum += light;
        moment += light * (grid.k_min_per_um + step * static_cast<double>(j));
    }
    return sum > 0 && moment > 0 ? 2 * pi * sum / moment : 0;
}

// Flyback lines count for repeats of B-scans, because they take time as well.
double repeat_interval_s(const ReconstructionSpec& spec) {
    const ScanGeometry& geometry = spec.geometry;
    if (geometry.line_rate_hz == 0) return 0;
    const std::int64_t lines = repeats_across_frames(spec) ? geometry.lines_per_frame() : std::int64_t{1};
    return static_cast<double>(lines) / geometry.line_rate_hz;
}

void validate_flow(const ReconstructionSpec& spec) {
    const ScanGeometry& geometry = spec.geometry;
    const FlowMethod method = spec.flow.method;
    if (method == FlowMethod::none) return;
    const std::string name = std::get<std::string>(value_of(spec.flow, "method"));
    const bool repeats = geometry.a_repeats > 1 || geometry.b_repeats > 1;
    require(!repeats || spec.recipe.average != Average::none,
            "unaveraged repeats make the structure larger than the flow", "recipe.average",
            "choose magnitude, power or complex");
    require(repeats || is_doppler(method), fmt::format("{} compares repeats, but the scan has none", name),
            "flow.method", "scan with b_repeats or a_repeats above 1, or choose doppler or power_doppler");
    require(repeats || geometry.a_scans >= 2, fmt::format("{} of a single A-scan has nothing to compare", name),
            "flow.method", "scan at least two A-scans, or with repeats");
    require(!geometry.bidirectional || geometry.b_repeats == 1,
            "in a bidirectional scan, the interval between repeats varies along the B-scan", "flow.method",
            "scan in one direction, or choose none");
    require(method != FlowMethod::phase_variance || repeats_of(spec).count >= 3,
            "the variance of phase steps needs two of them", "flow.method", "scan at least 3 repeats");
    require(!spec.flow.align || !is_doppler(method),
            "aligning removes the phase of bulk motion, which " + name + " would measure", "flow.align",
            "set it to false, or choose a method of angiography");
    require(!spec.flow.align || geometry.b_repeats > 1, "repeats of A-scans follow too fast for alignment",
            "flow.align", "set it to false, or scan with b_repeats above 1");
    const bool speeds = method == FlowMethod::doppler && spec.flow.unwrap;
    require(!speeds || geometry.line_rate_hz > 0, "velocities in mm/s need the line rate", "flow.unwrap",
            "set scan.line_rate_hz");
    require(!speeds || effective_wavelength_um(spec) > 0, "velocities in mm/s need the wavelength", "flow.unwrap",
            "set calibration.wavelengths or calibration.centre_wavelength_nm");
}

std::optional<VolumeGrid> planned_flow_grid(const ReconstructionSpec& spec) {
    VolumeGrid grid = planned_grid(spec);
    if (spec.flow.method == FlowMethod::none) return std::nullopt;
    const bool phasors = spec.flow.method == FlowMethod::doppler && !spec.flow.unwrap;
    grid.type = phasors ? VoxelType::phasor8 : VoxelType::f16;
    grid.scale = 1;
    grid.offset = 0;
    grid.quantity = std::get<std::string>(value_of(spec.flow, "method"));
    switch (spec.flow.method) {
        case FlowMethod::doppler: grid.unit = "mm/s"; break;
        case FlowMethod::power_doppler: grid.unit = "dB above noise"; break;
        case FlowMethod::speckle_variance: grid.unit = "noise power"; break;
        case FlowMethod::omag: grid.unit = "noise amplitude"; break;
        case FlowMethod::phase_variance: grid.unit = "rad^2"; break;
        default: grid.unit = "";
    }
    if (spec.flow.method == FlowMethod::doppler) grid.v_max = v_max_mm_s(spec);
    return grid;
}

}  // namespace echolux
