// Operation `displacement`: motion in nanometres, strain, wave speed and motion between surfaces, from phases of
// complex volumes over time.
#include "engine/contrast/displacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "app/operations/series_parts.h"
#include "app/settings/short_texts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/layers/layers.h"
#include "engine/memory.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

constexpr std::string_view times_heading =
    "moment,time_s,displacement_nm,quality,strain,between_nm,between_error_nm,between_quality\n";
constexpr std::string_view wave_heading = "a_scan,moment,displacement_nm\n";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

enum class DisplacementMap { displacement, quality, strain };
constexpr std::size_t map_count = 3;
constexpr std::array<std::pair<const char*, const char*>, map_count> map_texts{
    {{"displacement", "nm"}, {"quality", ""}, {"strain", ""}}};

double median_of(std::vector<float> values) {
    std::erase_if(values, [](float value) { return !std::isfinite(value); });
    if (values.empty()) return unknown;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return static_cast<double>(*middle);
}

struct Displacement {
    VolumeInput input, surfaces;
    std::int64_t repeats = 0, b_scan = -1, moment = -1;
    double step_s = 0, wavelength_nm = 0, refractive_index = 0;
    bool all_moments = false;
    std::string upper, lower, a_scans, rows;
    DisplacementRecipe displacement;
    FigureStyle figure;
    OperationOutput displaced, quality, strain, table, wave, plot, picture;

    std::int64_t moments = 0, used_moment = 0, used_b_scan = 0;
    double used_wavelength_nm = 0, used_index = 0, nm_per_rad = 0, strain_per_slope = unknown;
    std::vector<double> times_s, mean_nm, mean_quality, median_strain;
    SurfaceMotion between;
    WaveSpeed speed;
    double speed_m_s = unknown, speed_error_m_s = unknown;
    double known = 0;  // share of voxels of the moment

    static void describe(OperationParts<Displacement>& parts);
    static void describe_results(OperationParts<Displacement>& parts);

    static constexpr std::array<OperationOutput Displacement::*, map_count> outputs() {
        return {&Displacement::displaced, &Displacement::quality, &Displacement::strain};
    }

    void run(Context& context) {
        check(displacement, "displacement");
        const auto series = std::make_unique<Moments>(input, MomentOptions{repeats, step_s}, 2);
        require_complex(series->grid());
        const VolumeGrid& grid = series->grid();
        moments = series->count();
        times_s = series->times_s();
        used_moment = chosen_moment();
        used_b_scan = chosen_b_scan(b_scan, grid);
        find_scale(*series);
        require_room();
        for (const auto& [key, value] : {std::pair{"upper", &upper}, {"lower", &lower}, {"a_scans", &a_scans}}) {
            if (surfaces.is_given() || value->empty()) continue;
            throw Error(ErrorCode::bad_setting, "has no effect without surfaces", key, "give `surfaces` too");
        }
        const Interval of_rows = rows_in(grid);
        const std::optional<Layers> layers = surfaces.is_given() ? std::optional(layers_in(grid)) : std::nullopt;
        measure(*series, layers, context);
        if (known == 0) {
            throw Error(ErrorCode::bad_setting, "no voxel keeps its phase: the quality is below min_quality everywhere",
                        input.name(), "align the moments, reduce displacement.min_quality or enlarge the kernel");
        }
        find_wave(*series, of_rows);
        say(context);
        write(context, *series);
    }

    void require_complex(const VolumeGrid& grid) const {
        if (grid.type == VoxelType::complex64) return;
        throw Error(ErrorCode::bad_setting, "its voxels are not complex, so they have no phase", input.name(),
                    "reconstruct with recipe.quantity = complex");
    }

    std::int64_t chosen_moment() const {
        if (moment < 0) return moments - 1;
        if (moment < moments) return moment;
        throw Error(ErrorCode::bad_setting, fmt::format("there is no moment {}", moment), "moment",
                    fmt::format("they are numbered 0 to {}", moments - 1));
    }

    void require_room() const {
        for (const auto output : outputs()) {
            if (!all_moments || !(this->*output).is_kept) continue;
            throw Error(ErrorCode::bad_setting, fmt::format("would hold {} in memory", plural(moments, "moments")),
                        "all_moments", "choose one with `moment`, or name a file");
        }
    }

    void find_scale(const Moments& series) {
        const auto stored = series.provenance().find("centre_wavelength_nm");
        used_wavelength_nm = wavelength_nm;
        if (used_wavelength_nm == 0 && stored != series.provenance().end())
            used_wavelength_nm = std::strtod(stored->second.c_str(), nullptr);
        if (!(used_wavelength_nm > 0)) {
            throw Error(ErrorCode::bad_setting, "the wavelength is unknown, so phases are not displacements",
                        input.name(),
                        "give it as `wavelength_nm`, or set calibration.wavelengths and reconstruct again");
        }
        used_index = refractive_index > 0 ? refractive_index : series.scan().refractive_index;
        nm_per_rad = used_wavelength_nm / (4 * std::numbers::pi * used_index);
        // Depths of a scan were divided by its own index.
        const bool is_of_scan =
            std::ranges::any_of(series.provenance(), [](const auto& one) { return one.first.starts_with("scan."); });
        const double row_um =
            series.grid().spacing_um[0] * (is_of_scan ? series.scan().refractive_index / used_index : 1);
        if (row_um > 0) strain_per_slope = nm_per_rad / (1000 * row_um);
        if (strain.is_wanted() && std::isnan(strain_per_slope)) {
            throw Error(ErrorCode::bad_setting, "strain needs the depth pitch, which is unknown", input.name(),
                        "set calibration.wavelengths or depth_pitch_um and reconstruct again");
        }
        if (strain.is_wanted() && displacement.strain_window > series.grid().depth) {
            throw Error(ErrorCode::bad_setting,
                        "does not fit in the depth of the volume, " + plural(series.grid().depth, "rows"),
                        "displacement.strain_window", "choose a smaller odd number");
        }
    }

    double at_moment(const std::vector<double>& values) const {
        return index(used_moment) < values.size() ? values[index(used_moment)] : unknown;
    }

    // ---- Surfaces

    struct Layers {
        Surfaces all;
        LayerBounds bounds;
        Interval a_scans;
    };

    Layers layers_in(const VolumeGrid& grid) const {
        Layers layers{surfaces.is_in_memory() ? surfaces_of(*surfaces.held.front(), grid, "surfaces")
                                              : read_surfaces(surfaces.names.front(), grid),
                      {},
                      {}};
        layers.bounds = bounds_of(layers.all, {upper, lower});
        if (layers.bounds.first == layers.bounds.second) {
            throw Error(ErrorCode::bad_setting, "are one surface", "upper, lower", "name two of them");
        }
        if (!a_scans.empty())
            std::tie(layers.a_scans.begin, layers.a_scans.end) = interval_argument(a_scans, "a_scans");
        if (layers.a_scans.end == 0) layers.a_scans.end = grid.a_scans;
        if (layers.a_scans.begin < 0 || layers.a_scans.begin >= layers.a_scans.end ||
            layers.a_scans.end > grid.a_scans) {
            throw Error(ErrorCode::bad_setting, fmt::format("the A-scans are 0 to {}", grid.a_scans - 1), "a_scans",
                        "give A:B for A-scans A to B-1");
        }
        return layers;
    }

    // ---- Measurement

    using Maps = std::array<std::vector<std::vector<float>>, map_count>;  // [map][moment][voxel]
    Maps maps;
    std::size_t slopes_apart = 1;                 // voxels between slopes that count for the median
    std::vector<DisplacedPlane> shown;            // of used_b_scan
    std::vector<std::vector<double>> space_time;  // [a_scan][moment], nm

    void measure(const Moments& series, const std::optional<Layers>& layers, Context& context) {
        const VolumeGrid& grid = series.grid();
        mean_nm.assign(index(moments), 0);
        mean_quality.assign(index(moments), 0);
        std::vector<double> counts(index(moments));
        std::vector<std::vector<float>> slopes(index(moments));
        const std::int64_t kept = all_moments ? moments : 1;
        for (std::size_t m = 0; m < map_count; ++m) maps[m].resize(index(kept));
        const auto wanted = std::ranges::count_if(outputs(), [&](const auto one) { return (this->*one).is_wanted(); });
        require_memory(wanted * kept * grid.voxels() * static_cast<std::int64_t>(sizeof(float)),
                       "the maps of " + input.name(), all_moments ? "leave out `all_moments`" : "crop it first");
        // An odd number, so that all rows of the usual depths count.
        constexpr std::int64_t enough = 64'000'000;
        slopes_apart = index(grid.voxels() * moments / enough | 1);
        BetweenSurfaces motion(moments, displacement.surface_depth);
        const bool wants_slope =
            !std::isnan(strain_per_slope) && (strain.is_wanted() || table.is_wanted() || picture.is_wanted());
        context.progress.begin("displacement", grid.b_scans, "B-scans");
        for (std::int64_t begin = 0; begin < grid.b_scans; begin += series.b_scans_together()) {
            const std::int64_t end = std::min(grid.b_scans, begin + series.b_scans_together());
            std::vector<std::vector<std::complex<float>>> fields;
            for (const Volume& volume : series.read({begin, end})) fields.push_back(field_of(volume, series.name()));
            for (std::int64_t b = begin; b < end; ++b) {
                const std::vector<ComplexPlane> planes = planes_of(fields, grid, b - begin);
                std::vector<DisplacedPlane> found =
                    displaced_planes(planes, grid.a_scans, grid.depth, displacement, wants_slope);
                if (layers) {
                    const auto line = b * grid.a_scans;
                    motion.add(planes, grid.depth, layers->all.all[layers->bounds.first].rows.data() + line,
                               layers->all.all[layers->bounds.second].rows.data() + line, layers->a_scans);
                }
                for (std::size_t t = 0; t < found.size(); ++t) take(found[t], t, counts, slopes);
                if (b == used_b_scan) shown = std::move(found);
                context.progress.advance(1);
            }
        }
        context.progress.end();
        for (std::size_t t = 0; t < counts.size(); ++t) {
            mean_nm[t] = counts[t] > 0 ? mean_nm[t] / counts[t] : unknown;
            mean_quality[t] /= static_cast<double>(grid.voxels());
            median_strain.push_back(median_of(std::move(slopes[t])) * strain_per_slope);
        }
        known = counts[index(used_moment)] / static_cast<double>(grid.voxels());
        if (layers) take_motion(motion);
    }

    static std::vector<ComplexPlane> planes_of(const std::vector<std::vector<std::complex<float>>>& fields,
                                               const VolumeGrid& grid, std::int64_t b) {
        const std::int64_t size = grid.a_scans * grid.depth;
        std::vector<ComplexPlane> planes;
        for (const auto& field : fields) {
            planes.emplace_back(field.begin() + b * size, field.begin() + (b + 1) * size);
            for (std::complex<float>& voxel : planes.back()) {
                if (!std::isfinite(voxel.real() + voxel.imag())) voxel = 0;
            }
        }
        return planes;
    }

    void take(const DisplacedPlane& plane, std::size_t t, std::vector<double>& counts,
              std::vector<std::vector<float>>& slopes) {
        for (std::size_t i = 0; i < plane.phase.size(); ++i) {
            mean_quality[t] += static_cast<double>(plane.quality[i]);
            if (std::isnan(plane.phase[i])) continue;
            mean_nm[t] += nm_per_rad * static_cast<double>(plane.phase[i]);
            counts[t] += 1;
        }
        for (std::size_t i = 0; i < plane.slope.size(); i += slopes_apart) slopes[t].push_back(plane.slope[i]);
        if (!all_moments && t != index(used_moment)) return;
        for (std::size_t m = 0; m < map_count; ++m) {
            if (!(this->*outputs()[m]).is_wanted()) continue;
            std::vector<float>& to = maps[m][all_moments ? t : 0];
            const std::vector<float> values = values_of(plane, static_cast<DisplacementMap>(m));
            to.insert(to.end(), values.begin(), values.end());
        }
    }

    std::vector<float> values_of(const DisplacedPlane& plane, DisplacementMap map) const {
        if (map == DisplacementMap::quality) return plane.quality;
        std::vector<float> values = map == DisplacementMap::strain ? plane.slope : plane.phase;
        const double factor = map == DisplacementMap::strain ? strain_per_slope : nm_per_rad;
        for (float& value : values) value = static_cast<float>(static_cast<double>(value) * factor);
        return values;
    }

    void take_motion(const BetweenSurfaces& motion) {
        between = motion.motion();
        if (between.a_scans == 0) {
            throw Error(ErrorCode::bad_setting, "no A-scan has both surfaces", surfaces.name(),
                        "choose other surfaces or A-scans");
        }
        for (std::size_t t = 0; t < between.phase.size(); ++t) {
            between.phase[t] *= nm_per_rad;
            between.error[t] *= nm_per_rad;
        }
    }

    // ---- Wave

    Interval rows_in(const VolumeGrid& grid) const {
        Interval of_rows;
        if (!rows.empty()) std::tie(of_rows.begin, of_rows.end) = interval_argument(rows, "rows");
        if (of_rows.end == 0) of_rows.end = grid.depth;
        if (of_rows.begin < 0 || of_rows.begin >= of_rows.end || of_rows.end > grid.depth) {
            throw Error(ErrorCode::bad_setting, fmt::format("the depth rows are 0 to {}", grid.depth - 1), "rows",
                        "give A:B for rows A to B-1");
        }
        return of_rows;
    }

    static std::string why_no_wave(const Moments& series) {
        if (series.grid().spacing_um[1] <= 0) return "the distance between A-scans is unknown";
        if (!series.are_even()) return "the moments are not evenly spaced in time";
        // The delay from one A-scan to the next changes its sign from B-scan to B-scan.
        if (series.a_scan_s() > 0 && series.scan().bidirectional) return "the scan runs in both directions";
        return "";
    }

    void find_wave(const Moments& series, const Interval& of_rows) {
        const VolumeGrid& grid = series.grid();
        for (std::int64_t a = 0; a < grid.a_scans; ++a) space_time.push_back(over_time(a, grid.depth, of_rows));
        if (!wave.is_wanted() && !plot.is_wanted()) return;
        speed.problem = why_no_wave(series);
        if (!speed.problem.empty()) return;
        std::vector<std::vector<double>> inner = space_time;  // kernels at the edges are off centre
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            if (std::min(a, grid.a_scans - 1 - a) < displacement.window_a_scans / 2)
                inner[index(a)].assign(index(moments), unknown);
        }
        speed = wave_speed_of(inner);
        if (!speed.is_found()) return;
        const double step = series.mean_step_s();
        const double s_per_um = (speed.slowness * step + series.a_scan_s()) / grid.spacing_um[1];
        speed_m_s = 1e-6 / s_per_um;
        // Kernels that overlap share their noise.
        const double shared = std::sqrt(static_cast<double>(displacement.window_a_scans));
        speed_error_m_s = shared * std::abs(speed_m_s * speed.slowness_error * step / (s_per_um * grid.spacing_um[1]));
        if (std::abs(speed_error_m_s) < 0.3 * std::abs(speed_m_s)) return;
        speed.problem = fmt::format("the delays of the A-scans do not differ enough: {:.3g} ± {:.2g} m/s", speed_m_s,
                                    speed_error_m_s);
        speed_m_s = speed_error_m_s = unknown;
    }

    // Mean of the known rows of an A-scan, weighted by quality; NaN at all moments if a moment has none.
    std::vector<double> over_time(std::int64_t a, std::int64_t depth, const Interval& of_rows) const {
        std::vector<double> values;
        for (const DisplacedPlane& plane : shown) {
            double sum = 0, weight = 0;
            for (std::int64_t z = of_rows.begin; z < of_rows.end; ++z) {
                const std::size_t voxel = index(a * depth + z);
                if (std::isnan(plane.phase[voxel])) continue;
                sum += static_cast<double>(plane.quality[voxel]) * static_cast<double>(plane.phase[voxel]);
                weight += static_cast<double>(plane.quality[voxel]);
            }
            values.push_back(weight > 0 ? nm_per_rad * sum / weight : unknown);
        }
        return values;
    }

    // ---- Outputs

    void say(Context& context) const {
        const std::size_t t = index(used_moment);
        context.say(fmt::format(
            "moment {} after {:.4g} s: {:.4g} nm{}, {:.1f} % of the voxels have a phase", used_moment, times_s[t],
            mean_nm[t],
            std::isnan(median_strain[t]) ? std::string() : fmt::format(", median strain {:.3g}", median_strain[t]),
            100 * known));
        context.say(fmt::format("{:.4g} nm per rad, from {:.1f} nm and an index of {:.4g}", nm_per_rad,
                                used_wavelength_nm, used_index));
        if (surfaces.is_given()) {
            context.say(fmt::format("between the surfaces: {:.4g} ± {:.2g} nm at moment {}, of {}", between.phase[t],
                                    between.error[t], used_moment, plural(between.a_scans, "A-scans")));
        }
        if (speed.is_found() && std::isfinite(speed_m_s)) {
            context.say(fmt::format("wave speed {:.4g} ± {:.2g} m/s along the A-scans", speed_m_s, speed_error_m_s));
        } else if (!speed.problem.empty()) {
            context.say("no wave speed: " + speed.problem);
        }
    }

    void write(Context& context, const Moments& series) {
        VolumeGrid grid = map_grid(series.grid());
        std::map<std::string, std::string> provenance = series.provenance();
        provenance["echolux"] = version;
        provenance["displacement"] = section_toml("displacement", displacement);
        provenance["displacement_wavelength_nm"] = fmt::format("{:.4f}", used_wavelength_nm);
        provenance["displacement_index"] = fmt::format("{:.4f}", used_index);
        if (!all_moments) provenance["displacement_moment"] = std::to_string(used_moment);
        for (std::size_t m = 0; m < map_count; ++m) {
            if (!(this->*outputs()[m]).is_wanted()) continue;
            grid.quantity = map_texts[m].first;
            grid.unit = map_texts[m].second;
            write_map(context, this->*outputs()[m], grid, provenance, maps[m]);
        }
        if (table.is_wanted()) context.write(table, table_of());
        if (wave.is_wanted()) context.write(wave, wave_table());
        if (plot.is_wanted())
            context.write(plot, ".png", [&](const std::filesystem::path& path) { write_plot(path, curves(grid)); });
        if (!picture.is_wanted()) return;
        const PictureTexts texts{{text_program, version}, {"source", input.name()}};
        context.write(picture, ".png",
                      [&](const std::filesystem::path& path) { write_figure(path, panels(grid), figure, texts); });
    }

    void write_map(Context& context, OperationOutput& output, const VolumeGrid& grid,
                   const std::map<std::string, std::string>& provenance,
                   const std::vector<std::vector<float>>& values) const {
        const auto bytes = [](const std::vector<float>& moment) { return std::as_bytes(std::span(moment)); };
        if (!all_moments) {
            const auto voxels = bytes(values.front());
            return context.write(output, Volume{grid, {voxels.begin(), voxels.end()}, provenance});
        }
        SeriesHeader header{grid, moments, times_s.back() / static_cast<double>(moments - 1), times_s, provenance};
        SeriesWriter writer(output.file, header);
        for (const std::vector<float>& moment_values : values) writer.write(bytes(moment_values));
        writer.finish();
        context.files.push_back(output.file);
    }

    std::string table_of() const {
        const auto cell = [](const std::vector<double>& values, std::size_t t) {
            return t < values.size() && std::isfinite(values[t]) ? fmt::format("{:.6g}", values[t]) : std::string();
        };
        std::string text(times_heading);
        for (std::size_t t = 0; t < times_s.size(); ++t) {
            text += fmt::format("{},{:.9g},{},{},{},{},{},{}\n", t, times_s[t], cell(mean_nm, t), cell(mean_quality, t),
                                cell(median_strain, t), cell(between.phase, t), cell(between.error, t),
                                cell(between.quality, t));
        }
        return text;
    }

    std::string wave_table() const {
        std::string text(wave_heading);
        for (std::size_t a = 0; a < space_time.size(); ++a) {
            for (std::size_t t = 0; t < space_time[a].size(); ++t) {
                const double nm = space_time[a][t];
                text += fmt::format("{},{},{}\n", a, t, std::isfinite(nm) ? fmt::format("{:.6g}", nm) : std::string());
            }
        }
        return text;
    }

    // Displacement, quality and strain of the B-scan.
    std::vector<FigureRow> panels(const VolumeGrid& grid) const {
        std::vector<FigureRow> rows_of_two(1);
        for (std::size_t m = 0; m < map_count; ++m) {
            if (m == static_cast<std::size_t>(DisplacementMap::strain) && std::isnan(strain_per_slope)) continue;
            const std::vector<float> values = values_of(shown[index(used_moment)], static_cast<DisplacementMap>(m));
            const Figure plane = map_plane(values, grid, 0);
            if (rows_of_two.back().size() == 2) rows_of_two.emplace_back();
            FigurePanel& panel = rows_of_two.back().emplace_back(b_scan_panel(plane, grid, figure));
            paint(panel, plane, {"viridis", std::nullopt, map_texts[m].second}, figure);
            panel.heading = m == 0 ? "Displacement" : m == 1 ? "Quality" : "Strain";
        }
        return rows_of_two;
    }

    // Motion over time, and the map of the wave.
    std::vector<FigureRow> curves(const VolumeGrid& grid) const {
        std::vector<FigureRow> all;
        const bool has_surfaces = !between.phase.empty();
        const std::vector<double>& nm = has_surfaces ? between.phase : mean_nm;
        std::vector<double> times, values;
        for (std::size_t t = 0; t < nm.size(); ++t) {
            if (std::isfinite(nm[t])) times.push_back(times_s[t]), values.push_back(nm[t]);
        }
        FigurePanel over = curve_panel(axis_across("Time", "s", range_with_margin(times)),
                                       axis_upwards("Displacement", "nm", range_with_margin(values)), 2.4,
                                       has_surfaces ? "Between the surfaces" : "Mean of all voxels");
        over.curves.push_back({"", times, values, plot_colours::blue, FigureCurve::Look::line});
        all.push_back({std::move(over)});
        if (moments > 2) all.push_back({wave_panel(grid)});
        return all;
    }

    FigurePanel wave_panel(const VolumeGrid& grid) const {
        Figure plane{moments, grid.a_scans, {}, 0, 0};
        for (const std::vector<double>& line : space_time) {
            for (const double nm : line) plane.values.push_back(static_cast<float>(nm));
        }
        FigurePanel panel;
        panel.aspect = 2.4;
        const double step = times_s.back() / static_cast<double>(moments - 1);
        panel.across = FigureAxis{"Time", "s", -step / 2, times_s.back() + step / 2};
        const bool is_known = grid.spacing_um[1] > 0;
        panel.downwards = FigureAxis{"Along A-scans", is_known ? "µm" : "voxels", 0,
                                     static_cast<double>(grid.a_scans) * (is_known ? grid.spacing_um[1] : 1)};
        paint(panel, plane, {"viridis", std::nullopt, "nm"}, figure);
        panel.heading = std::isfinite(speed_m_s) ? fmt::format("Wave: {:.3g} ± {:.2g} m/s", speed_m_s, speed_error_m_s)
                                                 : "Displacement";
        return panel;
    }
};

void Displacement::describe(OperationParts<Displacement>& parts) {
    using D = Displacement;
    constexpr Effect effect = Effect::file;
    parts.info.summary = "Motion in nanometres, strain, wave speed and motion between surfaces, from phases";
    parts.info.examples = {"input=moving.nrrd displacement=nm.nrrd table=times.csv plot=motion.png"};
    parts.info.details =
        "Phases of sums of complex products (vector method: V. Y. Zaitsev et al., J. Biophotonics 8(6), 2015; A. L. "
        "Matveyev et "
        "al., Laser Phys. Lett. 15(6), 2018), unwrapped by quality (M. A. Herraez et al., Appl. Opt. 41(35), 2002). "
        "Positive is "
        "away from zero delay. Motion of more than a few voxels loses the phase. See docs/displacement.md.";
    parts.info.may_write_nothing = true;
    parts
        .input({.name = "input",
                .help = "series of complex volumes of one position, or one complex volume with repeats; "
                        "recipe.quantity = complex",
                .takes_many = true,
                .takes_scans = false,
                .has_stored_as = false},
               &D::input)
        .input({.name = "surfaces",
                .help = "surfaces from `segment`, for the motion of one against another",
                .is_required = false,
                .takes_scans = false,
                .has_stored_as = false},
               &D::surfaces);
    describe_moments(parts, &D::repeats, &D::step_s);
    parts
        .argument(number("wavelength_nm", &D::wavelength_nm, 0, 1e5, "nm", effect, "centre wavelength")
                      .special(0, "from the file"))
        .argument(number("refractive_index", &D::refractive_index, 0, 5, "", effect, "group index of the tissue")
                      .special(0, "from the file"))
        .argument(integer("moment", &D::moment, -1, 1'000'000'000, "", effect, "moment of the maps")
                      .special(-1, "the last")
                      .written_as("N"))
        .argument(flag("all_moments", &D::all_moments, effect, "write all moments of the maps as series"))
        .argument(integer("b_scan", &D::b_scan, -1, 1'000'000'000, "", effect, "B-scan of picture and wave")
                      .special(-1, "the middle one")
                      .written_as("N"))
        .argument(text("upper", &D::upper, effect, "surface against which the other moves; empty: the first"))
        .argument(text("lower", &D::lower, effect, "surface that moves; empty: the last"))
        .argument(text("a_scans", &D::a_scans, effect, "A-scans A to B-1 of the surfaces [all]").written_as("A:B"))
        .argument(text("rows", &D::rows, effect, "depth rows A to B-1 of the wave [all]").written_as("A:B"))
        .output({.name = "displacement", .help = "nm since the first moment; NaN below min_quality"}, &D::displaced)
        .output({.name = "quality", .help = "coherence with the first moment, 0 to 1"}, &D::quality)
        .output({.name = "strain", .help = "strain along depth since the first moment"}, &D::strain)
        .output({.name = "table",
                 .kind = OutputKind::table,
                 .help = "mean displacement, quality, strain and motion between the surfaces over time",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, times_heading); }},
                &D::table)
        .output({.name = "wave",
                 .kind = OutputKind::table,
                 .help = "displacement of each A-scan of a B-scan over time; also measures the wave speed",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, wave_heading); }},
                &D::wave)
        .output({.name = "plot", .kind = OutputKind::figure, .help = "figure of the motion over time and of the wave"},
                &D::plot)
        .output({.name = "picture",
                 .kind = OutputKind::figure,
                 .help = "figure of a B-scan: displacement, quality, strain"},
                &D::picture)
        .section("displacement", "Displacement", &D::displacement)
        .section("figure", "", &D::figure);
    describe_results(parts);
}

void Displacement::describe_results(OperationParts<Displacement>& parts) {
    using D = Displacement;
    const auto over_time = [&](std::string_view name, std::string_view unit, std::string_view help, auto of) {
        parts.result(name, unit, help, [of](const D& one) {
            const std::vector<double>& values = of(one);
            return std::make_shared<const ResultArray>(ResultArray{{std::ssize(values)}, values, {}});
        });
    };
    parts.result("moments", "", "number of moments", &D::moments)
        .result("moment", "", "moment of the maps", &D::used_moment)
        .result("nm_per_rad", "nm", "displacement of one radian", &D::nm_per_rad)
        .result("known", "", "share of the voxels with a phase at that moment", &D::known)
        .result("mean_displacement_nm", "nm", "mean of these voxels",
                [](const D& one) { return one.at_moment(one.mean_nm); })
        .result("median_strain", "", "median of these voxels; needs `strain`, `table` or `picture`",
                [](const D& one) { return one.at_moment(one.median_strain); })
        .result("between_nm", "nm", "motion of the lower surface away from the upper one",
                [](const D& one) { return one.at_moment(one.between.phase); })
        .result("between_error_nm", "nm", "standard error from the scatter of the A-scans",
                [](const D& one) { return one.at_moment(one.between.error); })
        .result("wave_speed_m_s", "m/s", "speed along the A-scans, negative against them; needs `wave` or `plot`",
                &D::speed_m_s)
        .result("wave_speed_error_m_s", "m/s", "standard error", &D::speed_error_m_s)
        .result("no_wave", "", "why there is no wave speed", [](const D& one) { return one.speed.problem; });
    over_time("times.time_s", "s", "time since the first moment",
              [](const D& one) -> const std::vector<double>& { return one.times_s; });
    over_time("times.displacement_nm", "nm", "mean displacement",
              [](const D& one) -> const std::vector<double>& { return one.mean_nm; });
    over_time("times.between_nm", "nm", "motion between the surfaces",
              [](const D& one) -> const std::vector<double>& { return one.between.phase; });
}

}  // namespace

ECHOLUX_OPERATION(displacement, Displacement)

}  // namespace echolux
