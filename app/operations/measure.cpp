// Operation `measure`: statistics of the voxels in regions of interest, over time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "app/operations/series_parts.h"
#include "app/settings/short_texts.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/analysis/stored_brightness.h"
#include "engine/build.h"
#include "engine/flow/flow_measurement.h"
#include "engine/io/file_name.h"
#include "engine/regions/regions.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view table_heading = "region,volume,time_s,voxels,unknown,volume_mm3,mean,sd,min,median,max";
constexpr std::string_view json_heading = "{\"echolux\":\"regions\"";
constexpr std::string_view histogram_heading = "region,volume,from,to,count\n";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Values of a region at one time.
struct RegionRow {
    std::size_t region = 0;
    std::int64_t volume = 0;
    double time_s = 0;  // since the first volume; NaN: unknown
    std::int64_t voxels = 0, unknown = 0;
    double volume_mm3 = 0;
    RegionStats stats{};  // its first percentile is the median
    double mean_db = 0, flux_ul_s = 0;
    RegionHistogram histogram{};
};

struct Measure {
    VolumeInput input, labels, surfaces;
    std::string regions_file, range;
    RegionDomain domain = RegionDomain::stored;
    std::vector<double> percentiles{5, 25, 75, 95}, times_s;
    std::int64_t bins = 64;
    double step_s = 0;
    FigureStyle figure;
    OperationOutput output, histogram, plot, mask;

    VolumeGrid grid;  // of the first volume
    std::vector<Region> regions;
    std::vector<RegionRow> rows;  // volume by volume

    static void describe(OperationParts<Measure>& parts);

    void run(Context& context) {
        const std::pair<double, double> limits = range.empty() ? std::pair(0.0, 0.0) : range_argument(range, "range");
        const VolumeSeries series(input);
        const SeriesTimes times = times_of(series, step_s, times_s);
        for (const VolumeSeries::Point& point : series.points()) require_alike(series.grid(), point.grid, point.name);
        find_regions(series.grid(), context);
        context.progress.begin("measure", series.count(), "volumes");
        for (std::int64_t number = 0; number < series.count(); ++number) {
            measure(*read(series.points()[index(number)]), number, times.since_start(number), limits);
            context.progress.advance(1);
        }
        context.progress.end();
        warn(context);
        write(context);
        for (const RegionRow& row : rows) {
            if (row.volume == 0) context.say(line_of(row));
        }
    }

    std::shared_ptr<const Volume> read(const VolumeSeries::Point& point) const {
        if (input.stored_as == StoredAs::automatic) return point.read();
        Volume volume = *point.read();
        state_quantity(volume, input.stored_as);
        return std::make_shared<const Volume>(std::move(volume));
    }

    // ---- Regions

    void find_regions(const VolumeGrid& of, Context& context) {
        if (regions_file.empty() && !labels.is_given())
            throw Error(ErrorCode::bad_setting, "nothing to measure", "regions", "name a file of regions, or `labels`");
        std::optional<Surfaces> layers;
        if (surfaces.is_given()) layers = read_surfaces(surfaces.names.front(), of);
        if (!regions_file.empty()) {
            for (const RegionSpec& spec : read_regions(regions_file))
                regions.push_back(region_of(spec, of, layers ? &*layers : nullptr));
        }
        if (!labels.is_given()) return;
        const std::shared_ptr<const Volume> painted = context.volume(labels);
        for (Region& region : regions_of_labels(*painted, of, labels.name())) regions.push_back(std::move(region));
    }

    // ---- Values

    void measure(const Volume& volume, std::int64_t number, double time_s, const std::pair<double, double>& limits) {
        if (number == 0) grid = volume.grid;
        std::vector<double> wanted{50};
        wanted.insert(wanted.end(), percentiles.begin(), percentiles.end());
        for (std::size_t i = 0; i < regions.size(); ++i) {
            RegionValues found = region_values(regions[i], volume, domain);
            RegionRow row{i, number, time_s, regions[i].voxels(), found.unknown};
            row.volume_mm3 = static_cast<double>(row.voxels) * voxel_mm3();
            row.stats = region_stats(found.values, wanted);
            row.histogram = region_histogram(found.values, bins, limits);
            row.mean_db = is_linear_db() ? 10 * std::log10(row.stats.mean) : unknown;
            row.flux_ul_s = is_velocity() ? region_flux_ul_s(regions[i], volume) : unknown;
            rows.push_back(std::move(row));
        }
    }

    bool is_velocity() const { return grid.unit == "mm/s"; }
    bool is_linear_db() const { return domain == RegionDomain::linear && grid.quantity == "db"; }
    double voxel_mm3() const {
        const auto& [z, x, y] = grid.spacing_um;
        return std::min({x, y, z}) > 0 ? x * y * z * 1e-9 : unknown;
    }

    std::string unit() const {
        if (domain == RegionDomain::linear) return "linear intensity";
        return grid.unit.empty() ? grid.quantity : grid.unit;
    }

    void warn(Context& context) const {
        for (const Region& region : regions) {
            if (region.is_cut)
                context.warn({region.name + ": reaches beyond the volume: only the part inside is measured"});
        }
        for (const RegionRow& row : rows) {
            if (row.unknown == row.voxels)
                context.warn({fmt::format("{}: no voxel of volume {} has a value", name_of(row), row.volume)});
        }
        if (domain == RegionDomain::linear && grid.quantity.empty())
            context.warn(
                {"domain: the volume does not state what it holds, so its values are taken as linear; set "
                 "`stored_as`"});
    }

    // ---- Outputs

    const std::string& name_of(const RegionRow& row) const { return regions[row.region].name; }

    void write(Context& context) {
        if (output.is_wanted()) context.write(output, lower_ending(output.file) == ".json" ? json_text() : table());
        if (histogram.is_wanted()) context.write(histogram, histogram_table());
        if (mask.is_wanted()) context.write(mask, labels_of(regions, grid));
        if (!plot.is_wanted()) return;
        const PictureTexts texts{{text_program, version}, {"source", input.name()}};
        context.write(plot, ".png",
                      [&](const std::filesystem::path& path) { write_figure(path, panels(), figure, texts); });
    }

    static std::string cell(double value) { return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value); }

    std::string table() const {
        std::string text(table_heading);
        for (const double percentile : percentiles) text += fmt::format(",p{:g}", percentile);
        text += ",mean_db,flux_ul_s\n";
        for (const RegionRow& row : rows) {
            const RegionStats& stats = row.stats;
            text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}", name_of(row), row.volume, cell(row.time_s),
                                row.voxels, row.unknown, cell(row.volume_mm3), cell(stats.mean), cell(stats.sd),
                                cell(stats.min), cell(stats.percentiles[0]), cell(stats.max));
            for (std::size_t i = 1; i < stats.percentiles.size(); ++i) text += "," + cell(stats.percentiles[i]);
            text += fmt::format(",{},{}\n", cell(row.mean_db), cell(row.flux_ul_s));
        }
        return text;
    }

    std::string histogram_table() const {
        std::string text(histogram_heading);
        for (const RegionRow& row : rows) {
            const RegionHistogram& bars = row.histogram;
            for (std::size_t bin = 0; bin < bars.counts.size(); ++bin) {
                text += fmt::format("{},{},{},{},{}\n", name_of(row), row.volume, cell(bars.edge(bin)),
                                    cell(bars.edge(bin + 1)), bars.counts[bin]);
            }
        }
        return text;
    }

    static Json number_of(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

    Json json_of(const RegionRow& row) const {
        Json one{{"region", name_of(row)},
                 {"volume", row.volume},
                 {"time_s", number_of(row.time_s)},
                 {"voxels", row.voxels},
                 {"unknown", row.unknown},
                 {"volume_mm3", number_of(row.volume_mm3)},
                 {"mean", number_of(row.stats.mean)},
                 {"sd", number_of(row.stats.sd)},
                 {"min", number_of(row.stats.min)},
                 {"median", number_of(row.stats.percentiles[0])},
                 {"max", number_of(row.stats.max)}};
        for (std::size_t i = 0; i < percentiles.size(); ++i)
            one[fmt::format("p{:g}", percentiles[i])] = number_of(row.stats.percentiles[i + 1]);
        if (is_linear_db()) one["mean_db"] = number_of(row.mean_db);
        if (is_velocity()) one["flux_ul_s"] = number_of(row.flux_ul_s);
        return one;
    }

    std::shared_ptr<const Json> list() const {
        auto all = std::make_shared<Json>(Json::array());
        for (const RegionRow& row : rows) all->push_back(json_of(row));
        return all;
    }

    std::string json_text() const {
        return Json{{"echolux", "regions"}, {"source", input.name()}, {"unit", unit()}, {"values", *list()}}.dump() +
               "\n";
    }

    static bool is_own(const std::filesystem::path& path) {
        return begins_with(path, table_heading) || begins_with(path, json_heading);
    }

    std::string line_of(const RegionRow& row) const {
        std::string line = fmt::format("{}: ", name_of(row));
        line += std::isnan(row.stats.mean) ? "no value"
                                           : fmt::format("{:.5g} ± {:.3g}{}", row.stats.mean, row.stats.sd,
                                                         unit().empty() ? "" : " " + unit());
        line += ", " + plural(row.voxels, "voxels");
        if (row.unknown > 0) line += fmt::format(" ({} without a value)", row.unknown);
        if (!std::isnan(row.volume_mm3)) line += fmt::format(", {:.4g} mm3", row.volume_mm3);
        if (!std::isnan(row.flux_ul_s)) line += fmt::format(", {:.4g} ul/s", row.flux_ul_s);
        return line;
    }

    // ---- Figure: means over time, and the histograms of the first volume.

    // The colours of M. Okabe and K. Ito; further regions repeat them.
    static Colour colour_of(std::size_t region) {
        static constexpr std::array<Colour, 6> colours{plot_colours::blue,       plot_colours::vermilion,
                                                       plot_colours::green,      Colour{0.80, 0.47, 0.65},
                                                       Colour{0.90, 0.62, 0.00}, Colour{0.34, 0.71, 0.91}};
        return colours.at(region % colours.size());
    }

    // Leaves room above the curves for the legend.
    ValueRange with_legend(ValueRange range) const {
        range.high +=
            (range.high - range.low) * (0.05 + 0.11 * static_cast<double>(std::min<std::size_t>(regions.size(), 8)));
        return range;
    }

    std::vector<FigureRow> panels() const {
        std::vector<FigureRow> all;
        if (rows.back().volume > 0) all.push_back({over_time()});
        all.push_back({histograms()});
        return all;
    }

    FigurePanel over_time() const {
        const bool has_times = std::isfinite(rows.back().time_s);
        std::vector<double> times, means;
        std::vector<FigureCurve> curves;
        for (std::size_t region = 0; region < regions.size(); ++region) {
            FigureCurve curve{regions[region].name, {}, {}, colour_of(region), FigureCurve::Look::line};
            for (const RegionRow& row : rows) {
                if (row.region != region || !std::isfinite(row.stats.mean)) continue;
                curve.x.push_back(has_times ? row.time_s : static_cast<double>(row.volume));
                curve.y.push_back(row.stats.mean);
            }
            times.insert(times.end(), curve.x.begin(), curve.x.end());
            means.insert(means.end(), curve.y.begin(), curve.y.end());
            FigureCurve spots = curve;
            spots.name.clear();
            spots.look = FigureCurve::Look::spots;
            curves.push_back(std::move(curve));
            curves.push_back(std::move(spots));
        }
        FigurePanel panel =
            curve_panel(axis_across(has_times ? "Time" : "Volume", has_times ? "s" : "", range_with_margin(times)),
                        axis_upwards("Mean", unit(), with_legend(range_with_margin(means))), 2.4, "Regions over time");
        panel.curves = std::move(curves);
        return panel;
    }

    FigurePanel histograms() const {
        std::vector<double> values, shares;
        std::vector<FigureCurve> curves;
        for (const RegionRow& row : rows) {
            if (row.volume > 0) break;
            const RegionHistogram& bars = row.histogram;
            FigureCurve curve{name_of(row), {}, {}, colour_of(row.region), FigureCurve::Look::line};
            const auto known = static_cast<double>(std::max<std::int64_t>(1, row.voxels - row.unknown));
            for (std::size_t bin = 0; bin < bars.counts.size(); ++bin) {
                const double share = 100 * static_cast<double>(bars.counts[bin]) / known;
                for (const double edge : {bars.edge(bin), bars.edge(bin + 1)}) {
                    curve.x.push_back(edge);
                    curve.y.push_back(share);
                }
            }
            values.insert(values.end(), curve.x.begin(), curve.x.end());
            shares.insert(shares.end(), curve.y.begin(), curve.y.end());
            curves.push_back(std::move(curve));
        }
        ValueRange upwards = range_with_margin(shares);
        upwards.low = 0;
        FigurePanel panel =
            curve_panel(axis_across("Value", unit(), range_with_margin(values)),
                        axis_upwards("Share of voxels", "%", with_legend(upwards)), 2.4, "Histograms, first volume");
        panel.curves = std::move(curves);
        return panel;
    }

    static void describe_files(OperationParts<Measure>& parts);
};

void Measure::describe(OperationParts<Measure>& parts) {
    constexpr Effect effect = Effect::file;
    constexpr double far_s = 1e12;
    parts.info.summary = "Statistics, volume and flow of regions of interest, over time";
    parts.info.examples = {"input=v.nrrd regions=regions.toml output=values.csv plot=values.png",
                           "input=v.nrrd labels=painted.nii.gz domain=linear"};
    parts.info.details =
        "Regions are boxes, ellipsoids, polygons and slabs between surfaces in a file, or labels painted in another "
        "program. Voxels without a value (NaN, infinities, and 0 in velocities) are left out and counted. See "
        "docs/regions.md.";
    parts.info.may_write_nothing = true;
    describe_files(parts);
    parts
        .argument(text("regions", &Measure::regions_file, effect, "file of tables [[region]]")
                      .written_as("FILE.toml")
                      .file({".toml"}))
        .argument(choice("domain", &Measure::domain, {"stored", "linear"}, effect,
                         "statistics of the values as stored, or of linear intensity"))
        .argument(numbers("percentiles", &Measure::percentiles, 0, 100, "%", effect,
                          "further percentiles, interpolated between values")
                      .written_as("P,..."))
        .argument(integer("bins", &Measure::bins, 1, 65536, "", effect, "number of bins of the histograms"))
        .argument(
            text("range", &Measure::range, effect, "values that the histograms span [the smallest and largest of each]")
                .written_as("LOW:HIGH"))
        .argument(number("step_s", &Measure::step_s, 0, far_s, "s", effect, "time from one volume to the next")
                      .special(0, "from the files")
                      .written_as("SECONDS"))
        .argument(
            numbers("times_s", &Measure::times_s, -far_s, far_s, "s", effect, "start of each volume [from the files]")
                .written_as("SECONDS,..."))
        .section("figure", "", &Measure::figure)
        .result("unit", "", "unit of the statistics", [](const Measure& one) { return one.unit(); })
        .result("values", "", "statistics of each region in each volume", &Measure::list);
}

void Measure::describe_files(OperationParts<Measure>& parts) {
    parts
        .input({.name = "input",
                .help = "volumes, series, folders or patterns, in order of time",
                .takes_many = true,
                .takes_scans = false},
               &Measure::input)
        .input({.name = "labels",
                .help = "volume of whole numbers with the same voxels: a region per number above 0",
                .is_required = false,
                .takes_scans = false},
               &Measure::labels)
        .input({.name = "surfaces",
                .help = "surfaces of `segment` in the volume, for slabs",
                .is_required = false,
                .takes_scans = false,
                .is_file = true},
               &Measure::surfaces)
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "a line per region and volume, as CSV or JSON",
                 .is_own = &Measure::is_own,
                 .endings = {".csv", ".json"}},
                &Measure::output)
        .output({.name = "histogram",
                 .kind = OutputKind::table,
                 .help = "table of the histograms",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, histogram_heading); }},
                &Measure::histogram)
        .output({.name = "plot", .kind = OutputKind::figure, .help = "figure of means over time and histograms"},
                &Measure::plot)
        .output({.name = "mask", .help = "volume of labels: voxels of the Nth region hold N"}, &Measure::mask);
}

}  // namespace

ECHOLUX_OPERATION(measure, Measure)

}  // namespace echolux
