// Operation `angiogram`: vessel density, fractal dimension and foveal avascular zone of an en-face projection.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "compute/indexing.h"
#include "engine/analysis/figures.h"
#include "engine/angiography/foveal_zone.h"
#include "engine/build.h"

namespace echolux {
namespace {

constexpr std::string_view table_heading = "quantity,value,unit\n";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

enum class VesselMethod { otsu, local, level };

struct Angiogram {
    VolumeInput input;
    VesselMethod method = VesselMethod::otsu;
    double level = 0, window_mm = 0.1, gap_mm = 0.04, reach_mm = 0.5;
    std::int64_t box_factor = 2;
    std::vector<double> pixel_um, centre_mm;
    FigureStyle figure;
    OperationOutput output, mask, plot;

    EnFaceImage image;
    std::vector<std::uint8_t> vessels;
    double threshold = unknown, density = unknown, density_outside = unknown;
    std::optional<FovealZone> zone;
    BoxCounts boxes;

    static void describe(OperationParts<Angiogram>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        take_image(*volume);
        find_vessels();
        zone = foveal_zone(vessels, image, gap_mm, centre(), reach_mm);
        boxes = box_counts(vessels, image.columns, image.rows, box_factor);
        measure_density();
        warn(context);
        write(*volume, context);
        say_result(context);
    }

    // ---- Input

    void take_image(const Volume& volume) {
        const VolumeGrid& grid = volume.grid;
        if (grid.b_scans != 1 || grid.type == VoxelType::complex64 || grid.depth < 2 || grid.a_scans < 2) {
            throw Error(ErrorCode::bad_setting, "is not one en-face image", input.name(),
                        "make one with `segment` and `en_face`");
        }
        image = {grid.a_scans, grid.depth, {grid.spacing_um[1] / 1000, grid.spacing_um[0] / 1000}};
        if (pixel_um.size() > 2 || std::ranges::any_of(pixel_um, [](double um) { return um <= 0; }))
            throw Error(ErrorCode::bad_setting, "needs one or two numbers above 0", "pixel_um", "give width,height");
        if (!pixel_um.empty()) image.pixel_mm = {pixel_um.front() / 1000, pixel_um.back() / 1000};
        if (std::ranges::min(image.pixel_mm) <= 0) {
            throw Error(ErrorCode::bad_setting, "the size of a pixel is unknown", input.name(),
                        "give it as `pixel_um`");
        }
        image.values.resize(index(grid.voxels()));
        with_voxels(volume, [&](const auto* codes) {
            for (std::int64_t x = 0; x < image.columns; ++x) {
                for (std::int64_t y = 0; y < image.rows; ++y)
                    image.values[index(y * image.columns + x)] =
                        static_cast<float>(static_cast<double>(*codes++) * grid.scale + grid.offset);
            }
        });
    }

    void find_vessels() {
        if (method == VesselMethod::local) {
            vessels = vessels_above_mean(image, window_mm);
            return;
        }
        threshold = method == VesselMethod::level ? level : otsu_threshold(image.values);
        if (std::isnan(threshold))
            throw Error(ErrorCode::bad_setting, "all pixels have the same value", input.name(), "use another slab");
        vessels = vessels_above(image, threshold);
    }

    // Column and row around which the zone is searched.
    std::array<double, 2> centre() const {
        if (!centre_mm.empty() && centre_mm.size() != 2)
            throw Error(ErrorCode::bad_setting, "needs two numbers", "centre_mm", "give x,y from the first pixel");
        if (!centre_mm.empty()) return {centre_mm[0] / image.pixel_mm[0], centre_mm[1] / image.pixel_mm[1]};
        return {static_cast<double>(image.columns - 1) / 2, static_cast<double>(image.rows - 1) / 2};
    }

    void measure_density() {
        double all = 0, lit = 0, outside = 0, lit_outside = 0;
        for (std::size_t i = 0; i < vessels.size(); ++i) {
            if (std::isnan(image.values[i])) continue;
            ++all;
            lit += vessels[i];
            if (zone && zone->mask[i] != 0) continue;
            ++outside;
            lit_outside += vessels[i];
        }
        density = 100 * lit / all;
        density_outside = zone ? 100 * lit_outside / outside : unknown;
    }

    double unmeasured_percent() const {
        if (!zone) return 0;
        double all = 0, unmeasured = 0;
        for (std::size_t i = 0; i < vessels.size(); ++i) {
            all += zone->mask[i];
            if (zone->mask[i] != 0 && std::isnan(image.values[i])) ++unmeasured;
        }
        return 100 * unmeasured / all;
    }

    void warn(Context& context) const {
        if (std::ranges::count(vessels, 1) == 0)
            context.warn({"no pixel is a vessel, so there is no avascular zone"});
        else if (!zone)
            context.warn(
                {fmt::format("no avascular zone: no disc of {:g} mm is free of vessels within {:g} mm of the "
                             "centre",
                             gap_mm, reach_mm)});
        else if (zone->touches_edge)
            context.warn({"the avascular zone reaches the edge of the image, so its area and perimeter are too small"});
        if (const double percent = unmeasured_percent(); percent > 0)
            context.warn(
                {fmt::format("{:.2g} % of the avascular zone was not measured and may hold vessels", percent)});
        const double aspect = image.pixel_mm[0] / image.pixel_mm[1];
        if (std::abs(aspect - 1) > 0.01)
            context.warn({fmt::format("pixels are not square ({:.3g}:1); the fractal dimension counts boxes of pixels",
                                      aspect)});
    }

    // ---- Outputs

    static std::optional<double> known(double value) {
        return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    std::optional<double> of_zone(double FovealZone::*member) const {
        return zone ? std::optional((*zone).*member) : std::nullopt;
    }
    std::vector<double> zone_centre() const {
        if (!zone) return {};
        return {zone->centre[0] * image.pixel_mm[0], zone->centre[1] * image.pixel_mm[1]};
    }

    std::string table() const {
        std::string text(table_heading);
        const auto add = [&](const char* name, const std::optional<double>& value, const char* unit) {
            text += fmt::format("{},{},{}\n", name, value ? fmt::format("{:.6g}", *value) : std::string(), unit);
        };
        add("threshold", known(threshold), "");
        add("vessel_density", known(density), "%");
        add("vessel_density_outside_zone", known(density_outside), "%");
        add("fractal_dimension", known(boxes.dimension), "");
        add("fractal_r_squared", known(boxes.r_squared), "");
        add("zone_area", of_zone(&FovealZone::area_mm2), "mm2");
        add("zone_perimeter", of_zone(&FovealZone::perimeter_mm), "mm");
        add("zone_circularity", of_zone(&FovealZone::circularity), "");
        return text;
    }

    void write(const Volume& volume, Context& context) {
        if (output.is_wanted()) context.write(output, table());
        if (mask.is_wanted()) context.write(mask, mask_volume(volume));
        if (!plot.is_wanted()) return;
        const PictureTexts texts{{text_program, version}, {"source", input.name()}};
        const std::vector<FigureRow> rows{{image_panel(), vessel_panel()}, {box_panel()}};
        context.write(plot, ".png",
                      [&](const std::filesystem::path& path) { write_figure(path, rows, figure, texts); });
    }

    Volume mask_volume(const Volume& volume) const {
        Volume labels{volume.grid, {}, volume.provenance};
        labels.grid.type = VoxelType::u8;
        labels.grid.scale = 1;
        labels.grid.offset = 0;
        labels.grid.quantity = "labels";
        labels.grid.unit = "";
        labels.grid.v_max = 0;
        for (std::int64_t x = 0; x < image.columns; ++x) {
            for (std::int64_t y = 0; y < image.rows; ++y) {
                const auto at = index(y * image.columns + x);
                const int label = zone && zone->mask[at] != 0 ? 2 : vessels[at];
                labels.voxels.push_back(static_cast<std::byte>(label));
            }
        }
        return labels;
    }

    // The last row, a B-scan, is at the top.
    FigurePanel panel_of(const std::vector<float>& values) const {
        Figure drawn{image.columns, image.rows, {}, image.pixel_mm[0] * 1000, image.pixel_mm[1] * 1000};
        for (std::int64_t y = image.rows - 1; y >= 0; --y)
            drawn.values.insert(drawn.values.end(), values.begin() + y * image.columns,
                                values.begin() + (y + 1) * image.columns);
        return en_face_panel(drawn, {}, figure);
    }

    FigurePanel image_panel() const {
        FigurePanel panel = panel_of(image.values);
        panel.bar.reset();
        panel.heading = "Projection, avascular zone";
        if (!zone) return panel;
        const double unit = panel.across->unit == "mm" ? 1 : 1000;
        for (const auto& [a, b] : zone->outline) {
            FigureCurve piece{"", {}, {}, plot_colours::vermilion, FigureCurve::Look::line};
            for (const auto& point : {a, b}) {
                piece.x.push_back(point[0] * image.pixel_mm[0] * unit);
                piece.y.push_back(point[1] * image.pixel_mm[1] * unit);
            }
            panel.overlay.push_back(std::move(piece));
        }
        return panel;
    }

    FigurePanel vessel_panel() const {
        FigurePanel panel = panel_of(std::vector<float>(vessels.begin(), vessels.end()));
        panel.bar.reset();
        panel.heading = fmt::format("Vessels, {:.1f} % of the area", density);
        return panel;
    }

    FigurePanel box_panel() const {
        std::vector<double> sizes, counts;
        for (std::size_t i = 0; i < boxes.pixels.size(); ++i) {
            if (boxes.boxes[i] == 0) continue;
            sizes.push_back(std::log2(static_cast<double>(boxes.pixels[i])));
            counts.push_back(std::log2(static_cast<double>(boxes.boxes[i])));
        }
        FigurePanel panel =
            curve_panel(axis_across("Side of the boxes", "log2 of pixels", range_with_margin(sizes)),
                        axis_upwards("Boxes with vessels", "log2", range_with_margin(counts)), 3,
                        std::isnan(boxes.dimension) ? "No fractal dimension"
                                                    : fmt::format("Fractal dimension {:.3f}", boxes.dimension));
        panel.curves.push_back({"", sizes, counts, plot_colours::blue, FigureCurve::Look::line});
        panel.curves.push_back({"", sizes, counts, plot_colours::blue, FigureCurve::Look::spots});
        return panel;
    }

    std::string dimension_text() const {
        return std::isnan(boxes.dimension) ? "no fractal dimension"
                                           : fmt::format("fractal dimension {:.3f}", boxes.dimension);
    }

    void say_result(Context& context) const {
        context.say(fmt::format("vessels: {:.1f} % of the area, {}", density, dimension_text()));
        if (zone)
            context.say(fmt::format("avascular zone: {:.4f} mm2, perimeter {:.3f} mm, circularity {:.3f}",
                                    zone->area_mm2, zone->perimeter_mm, zone->circularity));
    }

    static void describe_results(OperationParts<Angiogram>& parts);
};

void Angiogram::describe(OperationParts<Angiogram>& parts) {
    using A = Angiogram;
    constexpr Effect effect = Effect::file;
    parts.info.summary = "Vessel density, fractal dimension and foveal avascular zone of an en-face image";
    parts.info.examples = {"input=en-face.nrrd output=faz.csv mask=faz.nrrd plot=faz.png"};
    parts.info.details =
        "The zone is the area around the centre that a disc can reach without touching a vessel. Methods and papers: "
        "docs/retina-tables.md.";
    parts.info.may_write_nothing = true;
    parts
        .input({.name = "input",
                .help = "en-face image of vessels, as `segment` writes it with `en_face`",
                .takes_scans = false,
                .has_stored_as = false},
               &A::input)
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "table of all values",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, table_heading); }},
                &A::output)
        .output({.name = "mask", .help = "labels: 1 vessel, 2 avascular zone"}, &A::mask)
        .output({.name = "plot", .kind = OutputKind::figure, .help = "figure of image, vessels and box counts"},
                &A::plot)
        .argument(choice("method", &A::method, {"otsu", "local", "level"}, effect,
                         "vessels are above Otsu's threshold, above the mean around them, or above `level`"))
        .argument(number("level", &A::level, -1e30, 1e30, "", effect, "threshold of the method level")
                      .only_while("angiogram.method", {"level"}))
        .argument(number("window_mm", &A::window_mm, 0.001, 100, "mm", effect, "square of the method local")
                      .only_while("angiogram.method", {"local"}))
        .argument(number("gap_mm", &A::gap_mm, 0, 10, "mm", effect,
                         "diameter of the disc: gaps between capillaries up to this width are closed"))
        .argument(number("reach_mm", &A::reach_mm, 0, 100, "mm", effect,
                         "how far from the centre the middle of the zone may be"))
        .argument(integer("box_factor", &A::box_factor, 2, 10, "", effect,
                          "each box of the fractal dimension is this much larger than the one before"))
        .argument(numbers("centre_mm", &A::centre_mm, -1000, 1000, "mm", effect,
                          "x,y of the fovea from the first pixel; empty: the middle of the image"))
        .argument(numbers("pixel_um", &A::pixel_um, 0, 1e6, "um", effect,
                          "size of a pixel, or width,height; empty: as in the file"))
        .section("figure", "", &A::figure);
    describe_results(parts);
}

void Angiogram::describe_results(OperationParts<Angiogram>& parts) {
    using A = Angiogram;
    parts
        .result("threshold", "", "value above which pixels are vessels; none: local",
                [](const A& one) { return known(one.threshold); })
        .result("vessel_density_percent", "%", "share of vessels in the measured area", &A::density)
        .result("density_outside_percent", "%", "the same without the avascular zone",
                [](const A& one) { return known(one.density_outside); })
        .result("fractal_dimension", "", "slope of the box counts",
                [](const A& one) { return known(one.boxes.dimension); })
        .result("fractal_r_squared", "", "squared correlation of the fit",
                [](const A& one) { return known(one.boxes.r_squared); })
        .result("zone.area_mm2", "mm2", "area of the avascular zone",
                [](const A& one) { return one.of_zone(&FovealZone::area_mm2); })
        .result("zone.perimeter_mm", "mm", "length of its outline",
                [](const A& one) { return one.of_zone(&FovealZone::perimeter_mm); })
        .result("zone.circularity", "", "4 pi area / perimeter^2, 1 for a disc",
                [](const A& one) { return one.of_zone(&FovealZone::circularity); })
        .result("zone.centre_mm", "mm", "its centre from the first pixel", &A::zone_centre);
}

}  // namespace

ECHOLUX_OPERATION(angiogram, Angiogram)

}  // namespace echolux
