// Operation `retina`: tables of thickness between two surfaces, in the ETDRS grid around the fovea or along a circle
// around the optic disc.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numbers>
#include <tuple>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/io/file_name.h"
#include "engine/layers/layers.h"
#include "engine/retina/thickness_sectors.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view field_heading =
    "sector,from_mm,to_mm,mean_um,min_um,max_um,area_mm2,volume_mm3,known_percent\n";
constexpr std::string_view circle_heading = "kind,sector,from_deg,to_deg,mean_um,known_percent\n";
constexpr std::string_view profile_heading = "a_scan,angle_deg,thickness_um\n";
constexpr std::string_view json_heading = "{\"echolux\":\"retina\"";

enum class EyeChoice { automatic, right, left };
enum class ScanKind { automatic, field, circle };
enum class TopChoice { automatic, last, first };
enum class CircleStart { temporal, superior, nasal, inferior };

struct Retina {
    VolumeInput input;
    std::string between;
    EyeChoice eye = EyeChoice::automatic;
    ScanKind scan = ScanKind::automatic;
    std::vector<double> centre_mm;
    TopChoice top = TopChoice::automatic;
    bool is_mirrored = false, is_reversed = false;
    CircleStart start = CircleStart::temporal;
    FigureStyle figure;
    OperationOutput output, profile, plot;

    Eye side = Eye::right;
    VolumeGrid grid;  // of the volume in which the surfaces were found: spacings along A-scans and B-scans
    std::string layer;
    std::vector<float> thickness;  // [b_scan][a_scan] in um
    bool is_circle = false;
    std::vector<ThicknessSector> sectors;
    std::array<double, 2> centre{};  // of the field, in mm
    double centre_um = 0;            // thickness there
    std::vector<double> angles;      // of a circle
    std::vector<CircleSector> parts;

    static void describe(OperationParts<Retina>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        take_surfaces(*volume);
        is_circle = scan == ScanKind::circle || (scan == ScanKind::automatic && grid.b_scans == 1);
        check_pattern(*volume);
        if (profile.is_wanted() && !is_circle)
            throw Error(ErrorCode::bad_setting, "is of circle scans", "profile", "leave it out, or set `scan`");
        side = chosen_eye(*volume);
        if (is_circle)
            measure_circle();
        else
            measure_field(*volume);
        warn(*volume, context);
        write(context);
        say_result(context);
    }

    // ---- Input

    void take_surfaces(const Volume& volume) {
        const VolumeGrid& maps = volume.grid;
        if (maps.quantity != "depth" || maps.unit != "um") {
            throw Error(ErrorCode::bad_setting, "holds no surfaces in um", input.name(),
                        "write them with `segment -o`");
        }
        grid.depth = 2;
        grid.a_scans = maps.a_scans;
        grid.b_scans = maps.depth;
        grid.spacing_um = {1, maps.spacing_um[1], maps.spacing_um[0]};
        const Surfaces surfaces = surfaces_of(volume, grid, input.name());
        const std::size_t colon = between.find(':');
        const bool has_names = colon != std::string::npos && colon > 0 && colon + 1 < between.size();
        if (!between.empty() && !has_names)
            throw Error(ErrorCode::bad_setting, "expected UPPER:LOWER, got " + between, "between", "such as ILM:BM");
        BoundNames names;
        if (has_names) names = {between.substr(0, colon), between.substr(colon + 1)};
        const LayerBounds bounds = bounds_of(surfaces, names);
        if (surfaces.all.size() < 2) {
            throw Error(ErrorCode::bad_setting, "holds one surface, thickness needs two", input.name(),
                        "segment the lower boundary too");
        }
        if (bounds.first >= bounds.second) {
            throw Error(ErrorCode::bad_setting,
                        surfaces.all[bounds.second].name + " is not below " + surfaces.all[bounds.first].name,
                        "between", "name the upper surface first");
        }
        layer = name_of_layer(surfaces, bounds);
        thickness = thickness_between(surfaces, bounds.first, bounds.second, grid);
    }

    static std::string stored_text(const Volume& volume, const char* key) {
        const auto stored = volume.provenance.find(key);
        return stored == volume.provenance.end() ? "" : stored->second;
    }

    Eye chosen_eye(const Volume& volume) const {
        if (eye != EyeChoice::automatic) return eye == EyeChoice::right ? Eye::right : Eye::left;
        const std::string word = stored_text(volume, "eye");
        if (word == "OD") return Eye::right;
        if (word == "OS") return Eye::left;
        throw Error(ErrorCode::bad_setting, "the file does not state which eye it is", "eye",
                    "choose OD (right) or OS (left)");
    }

    // ---- Scans of Spectralis. The file states the pattern and the ends of the first and last B-scan on the fundus,
    // where y grows downwards.

    void check_pattern(const Volume& volume) const {
        constexpr std::string_view line = "1", radial = "5";
        const std::string pattern = stored_text(volume, "scan_pattern");
        if (is_circle && scan == ScanKind::automatic && pattern == line)
            throw Error(ErrorCode::bad_setting, "is a single line, neither a field nor a circle", input.name(),
                        "export a volume or circle scan, or set `scan`");
        if (is_circle) return;
        if (pattern == radial)
            throw Error(ErrorCode::bad_setting, "is a radial scan, the grid needs parallel B-scans", input.name(),
                        "export a volume scan");
        const double turned = std::abs(turned_deg(volume));
        if (turned > 135)
            throw Error(ErrorCode::bad_setting, "the B-scans run in the opposite direction", input.name(),
                        is_mirrored ? "leave out `mirrored`" : "set `mirrored`");
        if (turned > 45)
            throw Error(ErrorCode::bad_setting, "the B-scans run up or down, the grid needs horizontal ones",
                        input.name(), "export a scan with horizontal B-scans");
    }

    // Returns the angle from the expected direction to that of the first B-scan; 0 if unknown.
    double turned_deg(const Volume& volume) const {
        double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
        if (std::sscanf(stored_text(volume, "b_scans_end_mm").c_str(), "%lf %lf to %lf %lf", &x0, &y0, &x1, &y1) != 4)
            return 0;
        const double sign = is_mirrored ? -1 : 1;
        const double angle = std::atan2(sign * (y0 - y1), sign * (x1 - x0)) * 180 / std::numbers::pi;
        return std::isfinite(angle) ? angle : 0;
    }

    bool first_on_top(const Volume& volume) const {
        if (top != TopChoice::automatic) return top == TopChoice::first;
        double first = 0, last = 0;
        const bool is_known = std::sscanf(stored_text(volume, "b_scans_end_mm").c_str(), "%*f %lf to %*f %*f; %*f %lf",
                                          &first, &last) == 2;
        return is_known && first < last;
    }

    // ---- Tables

    void measure_field(const Volume& volume) {
        if (grid.b_scans < 2 || grid.spacing_um[1] <= 0 || grid.spacing_um[2] <= 0) {
            throw Error(ErrorCode::bad_setting, "covers no field with known spacings", input.name(),
                        "use surfaces of several B-scans, and set the spacings before segmenting");
        }
        const FundusMap map(thickness, grid.a_scans, grid.b_scans,
                            {grid.spacing_um[1] / 1000, grid.spacing_um[2] / 1000}, is_mirrored, first_on_top(volume));
        centre = chosen_centre(map);
        centre_um = map.at(centre[0], centre[1]);
        sectors = etdrs_sectors(map, centre, side);
        thickness = as_on_fundus(volume);
    }

    std::array<double, 2> chosen_centre(const FundusMap& map) const {
        if (centre_mm.size() == 2) {
            const double width = 2 * map.half_width_mm(), height = 2 * map.half_height_mm();
            if (2 * std::abs(centre_mm[0]) <= width && 2 * std::abs(centre_mm[1]) <= height)
                return {centre_mm[0], centre_mm[1]};
            throw Error(ErrorCode::bad_setting,
                        fmt::format("is outside the field of {:.3g} x {:.3g} mm", width, height), "centre_mm",
                        "give x,y from the centre of the field");
        }
        if (!centre_mm.empty())
            throw Error(ErrorCode::bad_setting, "needs two numbers", "centre_mm",
                        "give x,y from the centre of the field");
        const auto fovea = foveal_minimum(map);
        if (fovea) return *fovea;
        throw Error(ErrorCode::bad_setting, "no foveal pit within 1.5 mm of the centre of the field", input.name(),
                    "give its position as `centre_mm`");
    }

    // For the figure, whose top row is the last B-scan.
    std::vector<float> as_on_fundus(const Volume& volume) const {
        std::vector<float> turned(thickness.size());
        const bool is_flipped = first_on_top(volume);
        for (std::int64_t b = 0; b < grid.b_scans; ++b) {
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                const std::int64_t from_a = is_mirrored ? grid.a_scans - 1 - a : a;
                const std::int64_t from_b = is_flipped ? grid.b_scans - 1 - b : b;
                turned[index(b * grid.a_scans + a)] = thickness[index(from_b * grid.a_scans + from_a)];
            }
        }
        return turned;
    }

    void measure_circle() {
        if (grid.b_scans != 1) {
            throw Error(ErrorCode::bad_setting, "holds " + plural(grid.b_scans, "B-scans") + ", a circle is one",
                        input.name(), "leave out `scan`, or use surfaces of one circle");
        }
        angles = circle_angles(grid.a_scans, 90.0 * static_cast<int>(start), is_reversed);
        parts = circle_sectors(thickness, angles, side);
    }

    double total_mm3() const {
        double sum = 0;
        for (const ThicknessSector& sector : sectors) sum += sector.volume_mm3;
        return sum;
    }

    void warn(const Volume& volume, Context& context) const {
        constexpr double max_turned_deg = 3;
        const double turned = is_circle ? 0 : turned_deg(volume);
        if (std::abs(turned) > max_turned_deg)
            context.warn({fmt::format("the B-scans are tilted by {:.0f} degrees, and so is the grid", turned)});
        std::string partly;
        const auto check = [&](const std::string& name, double known) {
            constexpr double all = 0.995;
            if (known < all) partly += fmt::format("{}{} {:.0f} %", partly.empty() ? "" : ", ", name, 100 * known);
        };
        for (const ThicknessSector& sector : sectors) check(sector.name, sector.known);
        for (const CircleSector& part : parts) {
            if (part.kind == "sector") check(part.name, part.known);
        }
        if (!partly.empty()) context.warn({"thickness is known only in parts of: " + partly});
    }

    // ---- Outputs

    static std::string cell(double value, int decimals) {
        return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : std::string();
    }

    std::string table() const {
        std::string text(is_circle ? circle_heading : field_heading);
        for (const CircleSector& part : parts) {
            text += fmt::format("{},{},{:g},{:g},{},{}\n", part.kind, part.name, part.from_deg, part.to_deg,
                                cell(part.mean_um, 3), cell(100 * part.known, 1));
        }
        for (const ThicknessSector& sector : sectors) {
            text += fmt::format("{},{:g},{:g},{},{},{},{},{},{}\n", sector.name, sector.from_mm, sector.to_mm,
                                cell(sector.mean_um, 3), cell(sector.min_um, 3), cell(sector.max_um, 3),
                                cell(sector.area_mm2, 6), cell(sector.volume_mm3, 6), cell(100 * sector.known, 1));
        }
        return text;
    }

    std::string profile_table() const {
        std::string text(profile_heading);
        for (std::size_t i = 0; i < angles.size(); ++i)
            text += fmt::format("{},{:.4f},{}\n", i, angles[i], cell(static_cast<double>(thickness[i]), 3));
        return text;
    }

    static Json number_of(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

    std::shared_ptr<const Json> list() const {
        auto all = std::make_shared<Json>(Json::array());
        for (const ThicknessSector& sector : sectors) {
            all->push_back({{"sector", sector.name},
                            {"mean_um", number_of(sector.mean_um)},
                            {"min_um", number_of(sector.min_um)},
                            {"max_um", number_of(sector.max_um)},
                            {"area_mm2", sector.area_mm2},
                            {"volume_mm3", number_of(sector.volume_mm3)},
                            {"known", sector.known}});
        }
        for (const CircleSector& part : parts) {
            all->push_back({{"kind", part.kind},
                            {"sector", part.name},
                            {"mean_um", number_of(part.mean_um)},
                            {"known", part.known}});
        }
        return all;
    }

    std::string json_text() const {
        Json all{{"echolux", "retina"}, {"source", input.name()}, {"eye", eye_word()}, {"layer", layer}};
        if (!is_circle) {
            all["centre_mm"] = centre;
            all["total_mm3"] = number_of(total_mm3());
        }
        all["sectors"] = *list();
        return all.dump() + "\n";
    }

    static bool is_own(const std::filesystem::path& path) {
        return begins_with(path, field_heading) || begins_with(path, circle_heading) || begins_with(path, json_heading);
    }

    void write(Context& context) {
        if (output.is_wanted()) context.write(output, lower_ending(output.file) == ".json" ? json_text() : table());
        if (profile.is_wanted()) context.write(profile, profile_table());
        if (!plot.is_wanted()) return;
        const PictureTexts texts{{text_program, version}, {"source", input.name()}};
        const std::vector<FigureRow> rows{{is_circle ? circle_panel() : field_panel()}};
        context.write(plot, ".png",
                      [&](const std::filesystem::path& path) { write_figure(path, rows, figure, texts); });
    }

    std::string heading() const { return eye_word() + ", " + layer; }

    FigurePanel field_panel() const {
        FigurePanel panel = map_panel({thickness, {}, heading(), "µm"}, grid, figure);
        const double per_mm = panel.across->unit == "mm" ? 1 : 1000;
        const double x0 = static_cast<double>(grid.a_scans - 1) / 2 * grid.spacing_um[1] / 1000 + centre[0];
        const double y0 = static_cast<double>(grid.b_scans - 1) / 2 * grid.spacing_um[2] / 1000 + centre[1];
        const auto at = [&](double r, double deg) {
            const double angle = deg * std::numbers::pi / 180;
            return std::pair((x0 + r * std::cos(angle)) * per_mm, (y0 + r * std::sin(angle)) * per_mm);
        };
        const auto add = [&](double r0, double deg0, double r1, double deg1) {
            constexpr int steps = 180;
            FigureCurve curve{"", {}, {}, {1, 1, 1}, FigureCurve::Look::line};
            for (int i = 0; i <= steps; ++i) {
                const double share = static_cast<double>(i) / steps;
                const auto [x, y] = at(std::lerp(r0, r1, share), std::lerp(deg0, deg1, share));
                curve.x.push_back(x);
                curve.y.push_back(y);
            }
            panel.overlay.push_back(std::move(curve));
        };
        for (const double radius : {0.5, 1.5, 3.0}) add(radius, 0, radius, 360);
        for (const double deg : {45.0, 135.0, 225.0, 315.0}) add(0.5, deg, 3, deg);
        for (const ThicknessSector& sector : sectors) {
            const bool is_centre = sector.from_mm == 0;
            const auto [x, y] = at(is_centre ? 0 : (sector.from_mm + sector.to_mm) / 2, sector.from_deg + 45);
            panel.notes.push_back({x, y, std::isnan(sector.mean_um) ? "–" : fmt::format("{:.0f}", sector.mean_um)});
        }
        for (const auto& [deg, right_eye, left_eye] : {std::tuple{0.0, "N", "T"}, std::tuple{180.0, "T", "N"}}) {
            const auto [x, y] = at(2.8, deg);
            panel.notes.push_back({x, y, side == Eye::right ? right_eye : left_eye});
        }
        return panel;
    }

    FigurePanel circle_panel() const {
        std::vector<std::pair<double, double>> points;
        std::vector<double> um;
        for (std::size_t i = 0; i < angles.size(); ++i) {
            if (std::isnan(thickness[i])) continue;
            points.emplace_back(angles[i], static_cast<double>(thickness[i]));
            um.push_back(points.back().second);
        }
        std::ranges::sort(points);
        FigureCurve curve{"", {}, {}, plot_colours::blue, FigureCurve::Look::line};
        for (const auto& [deg, value] : points) {
            curve.x.push_back(deg);
            curve.y.push_back(value);
        }
        FigureCurve means{"mean of each sector", {}, {}, plot_colours::vermilion, FigureCurve::Look::dashed};
        for (const CircleSector& part : parts) {
            if (part.kind != "sector" || std::isnan(part.mean_um)) continue;
            for (const double deg : {std::max(part.from_deg, 0.0), part.to_deg}) {
                means.x.push_back(deg);
                means.y.push_back(part.mean_um);
            }
        }
        if (!means.x.empty()) {  // the temporal sector continues before 360 degrees
            means.x.insert(means.x.end(), {315, 360});
            means.y.insert(means.y.end(), 2, means.y.front());
        }
        ValueRange upwards = range_with_margin(um);
        upwards.low = std::min(0.0, upwards.low);
        upwards.high *= 1.15;
        FigurePanel panel =
            curve_panel(axis_across("temporal (0), superior (90), nasal (180), inferior (270)", "degrees", {0, 360}),
                        axis_upwards("Thickness", "µm", upwards), 2.4, heading());
        panel.curves = {std::move(curve), std::move(means)};
        return panel;
    }

    // ---- Results

    std::string eye_word() const { return side == Eye::right ? "OD" : "OS"; }

    static std::string shown(double um) { return std::isfinite(um) ? fmt::format("{:.1f}", um) : "unknown"; }

    void say_result(Context& context) const {
        if (is_circle) {
            std::string line = heading() + ":";
            for (const CircleSector& part : parts) {
                if (part.kind == "global" || part.kind == "sector")
                    line += fmt::format(" {} {},", part.name, shown(part.mean_um));
            }
            return context.say(line + " in um");
        }
        context.say(fmt::format("{}: fovea {} um at {:.2f}, {:.2f} mm from the centre of the field", heading(),
                                shown(centre_um), centre[0], centre[1]));
        std::string line;
        for (const ThicknessSector& sector : sectors)
            line += fmt::format("{}{} {}", line.empty() ? "" : ", ", sector.name, shown(sector.mean_um));
        context.say(line + " um");
        context.say(std::isnan(total_mm3()) ? "total volume unknown: a sector is known by less than half"
                                            : fmt::format("total volume {:.3f} mm3", total_mm3()));
    }

    static void describe_arguments(OperationParts<Retina>& parts);
};

void Retina::describe_arguments(OperationParts<Retina>& parts) {
    using R = Retina;
    constexpr Effect effect = Effect::file;
    parts
        .argument(text("between", &R::between, effect, "upper and lower surface [the first and the last]")
                      .written_as("UPPER:LOWER"))
        .argument(
            choice("eye", &R::eye, {"automatic", "OD", "OS"}, effect, "OD: right, OS: left; automatic: as in the file"))
        .argument(choice("scan", &R::scan, {"automatic", "field", "circle"}, effect,
                         "field around the fovea, or circle around the disc; automatic: one B-scan is a circle"))
        .argument(
            numbers("centre_mm", &R::centre_mm, -1000, 1000, "mm", effect,
                    "centre of the grid, x to the right and y to the head from the centre of the field; empty: the "
                    "thinnest point of the fovea"))
        .argument(choice("top", &R::top, {"automatic", "last", "first"}, effect,
                         "B-scan nearest to the head; automatic: as in the file, else the last"))
        .argument(flag("mirrored", &R::is_mirrored, effect, "A-scans run from right to left of the fundus picture"))
        .argument(
            choice("start", &R::start, {"temporal", "superior", "nasal", "inferior"}, effect, "where a circle begins"))
        .argument(
            flag("reversed", &R::is_reversed, effect, "a circle runs from temporal to inferior instead of superior"));
}

void Retina::describe(OperationParts<Retina>& parts) {
    parts.info.summary = "Thickness of the retina: ETDRS table and volume, or sectors of a circle around the disc";
    parts.info.examples = {"input=surfaces.nrrd eye=OD output=etdrs.csv plot=etdrs.png",
                           "input=circle.nrrd between=ILM:NFL eye=OS profile=tsnit.csv"};
    parts.info.details =
        "Sectors are named for the right or left eye. Values need half of a sector. See docs/retina-tables.md.";
    parts.info.may_write_nothing = true;
    parts
        .input({.name = "input",
                .help = "surfaces, as `segment` writes them, or those in a Heidelberg file: scan.vol:surfaces",
                .takes_scans = false,
                .has_stored_as = false},
               &Retina::input)
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "a line per sector, as CSV or JSON",
                 .is_own = &Retina::is_own,
                 .endings = {".csv", ".json"}},
                &Retina::output)
        .output({.name = "profile",
                 .kind = OutputKind::table,
                 .help = "table of the thickness along a circle",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, profile_heading); }},
                &Retina::profile)
        .output({.name = "plot",
                 .kind = OutputKind::figure,
                 .help = "figure: the grid over the thickness map, or the thickness along the circle"},
                &Retina::plot);
    describe_arguments(parts);
    parts.section("figure", "", &Retina::figure)
        .result("eye", "", "OD or OS", &Retina::eye_word)
        .result("layer", "", "names of both surfaces", [](const Retina& one) { return one.layer; })
        .result("centre_mm", "mm", "centre of the grid from the centre of the field, to the right and to the head",
                [](const Retina& one) {
                    return one.is_circle ? std::vector<double>() : std::vector<double>{one.centre[0], one.centre[1]};
                })
        .result("centre_um", "um", "thickness at the centre of the grid",
                [](const Retina& one) { return one.is_circle ? std::nullopt : std::optional(one.centre_um); })
        .result("total_mm3", "mm3", "volume of all sectors",
                [](const Retina& one) { return one.is_circle ? std::nullopt : std::optional(one.total_mm3()); })
        .result("sectors", "", "thickness of each sector", &Retina::list);
}

}  // namespace

ECHOLUX_OPERATION(retina, Retina)

}  // namespace echolux
