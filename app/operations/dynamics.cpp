// Operation `dynamics`: maps of how the light of each voxel fluctuates over a series or over repeats.
#include "engine/contrast/dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "app/operations/series_parts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/memory.h"
#include "engine/registration/registration.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

constexpr std::string_view curves_heading = "curve,x,value\n";
constexpr double speckle_liv_db2 = 31.03;  // of speckle that is new at each moment

struct DynamicsOperation {
    VolumeInput input;
    std::int64_t repeats = 0, b_scan = -1;
    double step_s = 0;
    bool align = false;
    DynamicsRecipe dynamics;
    RegistrationSettings registration;
    FigureStyle figure;
    OperationOutput liv, aliv, swiftness, ocds, mean_frequency, bandwidth, low, mid, high, curves, picture;

    std::int64_t moments = 0, shown_b_scan = 0;
    double used_step_s = 0;
    DynamicsCurves found;
    std::array<double, dynamics_map_count> medians{};
    std::array<double, dynamics_map_count> known{};

    static void describe(OperationParts<DynamicsOperation>& parts);

    static constexpr std::array<OperationOutput DynamicsOperation::*, dynamics_map_count> outputs() {
        using D = DynamicsOperation;
        return {&D::liv,       &D::aliv, &D::swiftness, &D::ocds, &D::mean_frequency,
                &D::bandwidth, &D::low,  &D::mid,       &D::high};
    }

    void run(Context& context) {
        check(dynamics, "dynamics");
        const auto series = std::make_unique<Moments>(input, MomentOptions{repeats, step_s}, Dynamics::min_moments);
        shown_b_scan = chosen_b_scan(b_scan, series->grid());
        moments = series->count();
        used_step_s = series->step_s();
        Dynamics measured(moments, used_step_s, dynamics);
        const VolumeGrid grid = series->grid();
        const std::vector<std::vector<float>> aligned =
            align ? registered(*series, context) : std::vector<std::vector<float>>{};
        const auto maps =
            with_file_context(input.name(), "volume", [&] { return measure(*series, aligned, measured, context); });
        found = measured.curves();
        summarise(maps);
        if (known[0] == 0) {
            throw Error(ErrorCode::bad_setting, "no voxel has light above the threshold at all moments", input.name(),
                        "reduce dynamics.threshold_db, or choose another series");
        }
        if (moments < 16)
            context.warn(
                {fmt::format("{} are few: swiftness and frequencies are uncertain", plural(moments, "moments"))});
        say(context);
        write(context, *series, maps);
    }

    using Maps = std::array<std::vector<float>, dynamics_map_count>;

    Maps measure(const Moments& series, const std::vector<std::vector<float>>& aligned, Dynamics& measured,
                 Context& context) const {
        const VolumeGrid& grid = series.grid();
        const auto plane = index(grid.a_scans * grid.depth);
        Maps all;
        require_memory(grid.voxels() * std::ssize(all) * static_cast<std::int64_t>(sizeof(float)),
                       "the maps of " + input.name(), "crop it first");
        context.progress.begin("dynamics", grid.b_scans, "B-scans");
        for (std::int64_t begin = 0; begin < grid.b_scans; begin += series.b_scans_together()) {
            const Interval block{begin, std::min(grid.b_scans, begin + series.b_scans_together())};
            std::vector<std::vector<float>> light;
            if (aligned.empty()) {
                for (const Volume& volume : series.read(block)) light.push_back(intensity_of(volume, series.name()));
            }
            for (std::int64_t b = block.begin; b < block.end; ++b) {
                std::vector<std::vector<float>> power;
                const std::size_t first = index(aligned.empty() ? b - block.begin : b) * plane;
                for (const std::vector<float>& moment : aligned.empty() ? light : aligned) {
                    const auto from = moment.begin() + static_cast<std::ptrdiff_t>(first);
                    power.emplace_back(from, from + static_cast<std::ptrdiff_t>(plane));
                }
                const Maps maps = measured.add(power, grid.a_scans, grid.depth);
                for (std::size_t m = 0; m < maps.size(); ++m)
                    all[m].insert(all[m].end(), maps[m].begin(), maps[m].end());
                context.progress.advance(1);
            }
        }
        context.progress.end();
        return all;
    }

    // Intensities of all moments at their positions in the first one, as `register` finds them.
    std::vector<std::vector<float>> registered(const Moments& series, Context& context) const {
        const VolumeGrid& grid = series.grid();
        std::vector<Volume> volumes = series.read({0, grid.b_scans});
        VolumeGrid as_power = grid;
        as_power.type = VoxelType::f32;
        as_power.quantity = "intensity";
        as_power.scale = 1;
        as_power.offset = 0;
        const auto power = [&](const Volume& volume) {
            return PowerVolume{as_power, intensity_of(volume, series.name())};
        };
        const PowerVolume first = power(volumes.front());
        const Reference reference =
            with_file_context(series.name(), "registration", [&] { return Reference(first, registration); });
        std::vector<std::vector<float>> all{first.power};
        context.progress.begin("register", grid.b_scans * (series.count() - 1), "B-scans");
        for (std::size_t t = 1; t < volumes.size(); ++t) {
            const PowerVolume moment = power(volumes[t]);
            const std::vector<RowShift> rows = with_file_context(
                series.name(), "registration", [&] { return reference.register_rows(moment, context.progress); });
            RegisteredMean at_first(as_power);
            at_first.add(moment, rows);
            all.push_back(at_first.power());
            volumes[t].voxels = {};
            const auto lost = std::ranges::count_if(rows, [](const RowShift& row) { return !row.is_valid(); });
            if (lost > 0)
                context.warn(
                    {fmt::format("moment {}: {} have no position in the first one", t, plural(lost, "B-scans"))});
        }
        context.progress.end();
        return all;
    }

    void summarise(const Maps& maps) {
        for (std::size_t m = 0; m < maps.size(); ++m) {
            std::vector<float> values;
            std::ranges::copy_if(maps[m], std::back_inserter(values), [](float value) { return std::isfinite(value); });
            known[m] = static_cast<double>(values.size()) / static_cast<double>(maps[m].size());
            medians[m] = std::numeric_limits<double>::quiet_NaN();
            if (values.empty()) continue;
            const auto middle = values.begin() + std::ssize(values) / 2;
            std::ranges::nth_element(values, middle);
            medians[m] = static_cast<double>(*middle);
        }
    }

    double median(DynamicsMap map) const { return medians[static_cast<std::size_t>(map)]; }

    void say(Context& context) const {
        context.say(fmt::format(
            "{} in steps of {:.4g} s; medians: LIV {:.3g} dB^2, aLIV {:.3g} dB^2, swiftness {:.3g} 1/s, OCDS "
            "{:.3g} 1/s, mean frequency {:.3g} Hz",
            plural(moments, "moments"), used_step_s, median(DynamicsMap::liv), median(DynamicsMap::aliv),
            median(DynamicsMap::swiftness), median(DynamicsMap::ocds), median(DynamicsMap::mean_frequency)));
        const double resolved = known[static_cast<std::size_t>(DynamicsMap::swiftness)] / known[0];
        if (resolved < 0.99)
            context.say(fmt::format("swiftness found in {:.0f} % of the voxels with light", 100 * resolved));
    }

    // ---- Outputs

    void write(Context& context, const Moments& series, const Maps& maps) {
        VolumeGrid grid = map_grid(series.grid());
        std::map<std::string, std::string> provenance = series.provenance();
        provenance["echolux"] = version;
        provenance["dynamics"] = section_toml("dynamics", dynamics);
        provenance["dynamics_moments"] = std::to_string(moments);
        provenance["dynamics_step_s"] = fmt::format("{:.9g}", used_step_s);
        for (std::size_t m = 0; m < maps.size(); ++m) {
            OperationOutput& output = this->*outputs()[m];
            if (!output.is_wanted()) continue;
            const DynamicsMapText& text = text_of(static_cast<DynamicsMap>(m));
            grid.quantity = text.name;
            grid.unit = text.unit;
            Volume volume{grid, std::vector<std::byte>(index(grid.bytes())), provenance};
            std::memcpy(volume.voxels.data(), maps[m].data(), volume.voxels.size());
            context.write(output, std::move(volume));
        }
        if (curves.is_wanted()) context.write(curves, table());
        if (!picture.is_wanted()) return;
        const PictureTexts texts{{text_program, version}, {"source", input.name()}};
        context.write(picture, ".png", [&](const std::filesystem::path& path) {
            write_figure(path, panels(grid, maps), figure, texts);
        });
    }

    std::string table() const {
        std::string text(curves_heading);
        const auto add = [&](const char* name, const std::vector<double>& x, const std::vector<double>& y) {
            for (std::size_t i = 0; i < x.size(); ++i) text += fmt::format("{},{:.9g},{:.9g}\n", name, x[i], y[i]);
        };
        add("liv_db2_of_window_s", found.window_s, found.liv_db2);
        add("correlation_of_delay_s", found.delay_s, found.correlation);
        add("power_db_of_hz", found.frequency_hz, found.power_db);
        return text;
    }

    std::vector<FigureRow> panels(const VolumeGrid& grid, const Maps& maps) const {
        const auto plane_of = [&](DynamicsMap map) {
            return map_plane(maps[static_cast<std::size_t>(map)], grid, shown_b_scan);
        };
        const auto panel_of = [&](DynamicsMap map, const std::string& heading,
                                  std::optional<GrayRange> range = std::nullopt) {
            const Figure plane = plane_of(map);
            FigurePanel panel = b_scan_panel(plane, grid, figure);
            paint(panel, plane, {"viridis", range, text_of(map).unit}, figure);
            panel.heading = heading;
            return panel;
        };
        return {
            {panel_of(DynamicsMap::liv, "LIV", GrayRange{0, speckle_liv_db2}),
             panel_of(DynamicsMap::aliv, "aLIV", GrayRange{0, speckle_liv_db2})},
            {panel_of(DynamicsMap::swiftness, "Swiftness"), panel_of(DynamicsMap::mean_frequency, "Mean frequency")},
            {bands_panel(plane_of, grid), frequency_panel(plane_of, grid)}};
    }

    // Red, green and blue are the bands high, mid and low, each in its own range.
    template <class PlaneOf>
    FigurePanel bands_panel(const PlaneOf& plane_of, const VolumeGrid& grid) const {
        FigurePanel panel = b_scan_panel(plane_of(DynamicsMap::liv), grid, figure);
        paint(panel, ColourModel::rgb,
              {levels_of(plane_of(DynamicsMap::high).values), levels_of(plane_of(DynamicsMap::mid).values),
               levels_of(plane_of(DynamicsMap::low).values)},
              grid.a_scans);
        panel.heading = "Bands: high red, mid green, low blue";
        return panel;
    }

    // Hue: the mean frequency, from blue to red. Saturation: the smaller the bandwidth, the fuller. Value: LIV.
    template <class PlaneOf>
    FigurePanel frequency_panel(const PlaneOf& plane_of, const VolumeGrid& grid) const {
        std::vector<float> hue = levels_of(plane_of(DynamicsMap::mean_frequency).values);
        std::vector<float> saturation = levels_of(plane_of(DynamicsMap::bandwidth).values);
        std::vector<float> value = plane_of(DynamicsMap::liv).values;
        for (float& one : hue) one = (1 - one) * 2 / 3;
        for (float& one : saturation) one = 1 - 0.8f * one;
        for (float& one : value) {
            const float level = one / static_cast<float>(speckle_liv_db2);
            if (std::isfinite(level)) one = std::min(1.0f, level);
        }
        FigurePanel panel = b_scan_panel(plane_of(DynamicsMap::liv), grid, figure);
        paint(panel, ColourModel::hsv, {hue, saturation, value}, grid.a_scans);
        panel.heading = "Hue: mean frequency, brightness: LIV";
        return panel;
    }
};

void DynamicsOperation::describe(OperationParts<DynamicsOperation>& parts) {
    using D = DynamicsOperation;
    parts.info.summary = "Fluctuations of living tissue: LIV, swiftness, decay of correlation, frequencies";
    parts.info.examples = {"input=cells.nrrd liv=liv.nrrd curves=curves.csv picture=cells.png"};
    parts.info.details =
        "LIV and OCDS after I. A. El-Sadek et al., Biomed. Opt. Express 11(11), 2020; aLIV and swiftness after R. "
        "Morishita et "
        "al., 14(5), 2023; frequencies after M. Muenter et al., Opt. Lett. 45(17), 2020, and H. M. Leung et al., "
        "Biomed. Opt. "
        "Express 11(5), 2020. Motion of the sample looks like fast tissue: align the moments. See docs/dynamics.md.";
    parts.info.may_write_nothing = true;
    parts.input(
        {.name = "input",
         .help = "series of volumes of one position in dB, intensities, amplitudes or complex bins, or one volume with "
                 "repeats that were not averaged",
         .takes_many = true,
         .takes_scans = false},
        &D::input);
    describe_moments(parts, &D::repeats, &D::step_s);
    parts.argument(flag("align", &D::align, Effect::file, "register the moments to the first one, with [registration]"))
        .argument(integer("b_scan", &D::b_scan, -1, 1'000'000, "", Effect::file, "B-scan of the picture")
                      .special(-1, "the middle one")
                      .written_as("N"));
    for (std::size_t m = 0; m < dynamics_map_count; ++m) {
        const DynamicsMapText& text = text_of(static_cast<DynamicsMap>(m));
        parts.output({.name = text.name, .help = text.help}, outputs()[m]);
    }
    parts
        .output({.name = "curves",
                 .kind = OutputKind::table,
                 .help = "mean LIV by window, correlation by delay, power by frequency",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, curves_heading); }},
                &D::curves)
        .output(
            {.name = "picture", .kind = OutputKind::figure, .help = "figure of a B-scan of all maps, with RGB and HSV"},
            &D::picture)
        .section("dynamics", "Dynamics", &D::dynamics)
        .section("registration", "", &D::registration)
        .section("figure", "", &D::figure)
        .result("moments", "", "number of moments", &D::moments)
        .result("step_s", "s", "time from one moment to the next", &D::used_step_s);
    static constexpr std::array<std::string_view, dynamics_map_count> names{
        "median_liv_db2",      "median_aliv_db2", "median_swiftness_per_s", "median_ocds_per_s", "median_frequency_hz",
        "median_bandwidth_hz", "median_low_db",   "median_mid_db",          "median_high_db"};
    for (std::size_t m = 0; m < dynamics_map_count; ++m) {
        parts.result(names[m], text_of(static_cast<DynamicsMap>(m)).unit, "median of all voxels with a value",
                     [m](const D& one) { return one.medians[m]; });
    }
}

}  // namespace

ECHOLUX_OPERATION(dynamics, DynamicsOperation)

}  // namespace echolux
