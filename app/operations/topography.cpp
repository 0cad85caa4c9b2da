// Operation `topography`: the shapes of segmented surfaces in millimetres, corrected for refraction at the surfaces
// above.
#include "engine/geometry/topography.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/geometry/beam_map.h"
#include "engine/layers/layers.h"

namespace echolux {
namespace {

constexpr std::string_view positions_heading = "surface,b_scan,a_scan,x_mm,y_mm,z_mm,elevation_um,thickness_um\n";
constexpr std::string_view zernike_heading = "surface,index,n,m,um\n";

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Topography {
    VolumeInput input;
    std::string names;
    std::vector<double> indices{1}, centre_mm;
    double spacing_index = 0, zone_mm = 0;
    std::int64_t order = max_zernike_order;
    FigureStyle figure;
    OperationOutput output, zernike, maps;

    VolumeGrid grid;  // of the maps: [b_scan][a_scan]
    std::vector<TracedSurface> surfaces;
    std::vector<ZernikeFit> zones;
    std::vector<std::optional<Conicoid>> conicoids, spheres;
    std::vector<std::vector<double>> thickness;  // between neighbours, in mm

    static void describe(OperationParts<Topography>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        require_surfaces(*volume);
        grid.a_scans = volume->grid.a_scans;
        grid.b_scans = volume->grid.depth;
        grid.spacing_um = {0, volume->grid.spacing_um[1], volume->grid.spacing_um[0]};
        ScanGeometry scan;
        BeamGeometry beam;
        take_stored_geometry(volume->provenance, input.name(), scan, beam);
        const double index = spacing_index > 0           ? spacing_index
                             : beam.refractive_index > 0 ? beam.refractive_index
                                                         : scan.refractive_index;
        if (centre_mm.size() % 2 != 0 || centre_mm.size() > 2)
            throw Error(ErrorCode::bad_setting, "needs two numbers", "centre_mm",
                        "give x,y from the centre of the field");
        surfaces = traced_surfaces(rays(scan, beam), chosen(*volume, index), indices, static_cast<int>(order),
                                   context.progress);
        fit();
        warn(context);
        write(context);
        for (std::size_t i = 0; i < surfaces.size(); ++i) context.say(line_of(i));
    }

    // ---- Input

    void require_surfaces(const Volume& volume) const {
        const VolumeGrid& maps_grid = volume.grid;
        if (maps_grid.quantity != "depth" || maps_grid.type != VoxelType::f32) {
            throw Error(ErrorCode::bad_setting, "holds no surfaces", input.name(), "write them with `segment -o`");
        }
        if (maps_grid.unit != "um" || maps_grid.spacing_um[0] <= 0 || maps_grid.spacing_um[1] <= 0) {
            throw Error(ErrorCode::bad_setting, "the voxel size of the volume is unknown", input.name(),
                        "set the spacings in the scan or volume, then segment again");
        }
    }

    std::vector<OpticalSurface> chosen(const Volume& volume, double depth_index) const {
        const std::vector<std::string> all = surface_names(volume);
        std::vector<std::size_t> wanted;
        std::istringstream stream(names);
        for (std::string name; stream >> name;) wanted.push_back(number_of(all, name));
        for (std::size_t i = 0; names.empty() && i < all.size(); ++i) wanted.push_back(i);
        const double mm = depth_index / 1000;
        const auto* depths = reinterpret_cast<const float*>(volume.voxels.data());
        std::vector<OpticalSurface> found;
        for (const std::size_t number : wanted) {
            OpticalSurface surface{all[number], {}};
            for (std::int64_t b = 0; b < grid.b_scans; ++b) {
                for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                    const auto at = (static_cast<std::int64_t>(number) * grid.a_scans + a) * grid.b_scans + b;
                    surface.path_mm.push_back(mm * static_cast<double>(depths[at]));
                }
            }
            found.push_back(std::move(surface));
        }
        return found;
    }

    static std::size_t number_of(const std::vector<std::string>& all, const std::string& name) {
        const auto found = std::ranges::find(all, name);
        if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
        std::string known;
        for (const std::string& one : all) known += (known.empty() ? "" : ", ") + one;
        throw Error(ErrorCode::bad_setting, "no surface is called " + name, "names", "choose from " + known);
    }

    // Beams as [geometry] describes them. Depths are optical paths here, as in air.
    std::vector<LightRay> rays(const ScanGeometry& scan, BeamGeometry beam) const {
        if (beam.polar) {
            throw Error(ErrorCode::bad_setting, "surfaces around a catheter have no topography", "geometry.polar",
                        "use surfaces of a scan over a field");
        }
        beam.refractive_index = 1;
        VolumeGrid in_air = grid;
        in_air.depth = 2;
        in_air.spacing_um[0] = 1000;
        const BeamMap map(beam, scan, in_air);
        std::vector<LightRay> all;
        for (std::int64_t b = 0; b < grid.b_scans; ++b) {
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                const Position from = map.position(0, static_cast<double>(a), static_cast<double>(b));
                const Position to = map.position(1, static_cast<double>(a), static_cast<double>(b));
                all.push_back({{from.x_mm, from.y_mm, from.z_mm},
                               {to.x_mm - from.x_mm, to.y_mm - from.y_mm, to.z_mm - from.z_mm}});
            }
        }
        return all;
    }

    // ---- Shapes

    // The zone lies around the apex of the first surface, or around the centre of the field if it is flat.
    void fit() {
        for (const TracedSurface& surface : surfaces) spheres.push_back(fitted_sphere(surface.points));
        Point apex = spheres.front() ? spheres.front()->apex : Point{};
        if (centre_mm.size() == 2) apex = {centre_mm[0], centre_mm[1], 0};
        const double radius = zone_mm > 0 ? zone_mm / 2 : radius_around(apex);
        for (std::size_t i = 0; i < surfaces.size(); ++i) {
            std::vector<Point> within;
            for (const Point& p : surfaces[i].points) {
                if (std::hypot(p[0] - apex[0], p[1] - apex[1]) <= radius) within.push_back(p);
            }
            zones.emplace_back(within, std::array{apex[0], apex[1]}, radius, static_cast<int>(order));
            conicoids.push_back(fitted_conicoid(within));
            spheres[i] = fitted_sphere(within);
            if (i > 0) thickness.push_back(normal_thickness(surfaces[i - 1], surfaces[i]));
        }
    }

    // The largest disc around the apex within the field.
    double radius_around(const Point& apex) const {
        double radius = std::numeric_limits<double>::infinity();
        for (const auto& [position, count, um] : {std::tuple{apex[0], grid.a_scans, grid.spacing_um[1]},
                                                  std::tuple{apex[1], grid.b_scans, grid.spacing_um[2]}}) {
            const double half = static_cast<double>(count - 1) / 2 * um / 1000;
            radius = std::min(radius, half - std::abs(position));
        }
        if (radius > 0) return radius;
        throw Error(ErrorCode::bad_setting, "the apex of the first surface lies outside the field", input.name(),
                    "set the diameter of the zone with `zone_mm`, or scan around the apex");
    }

    void warn(Context& context) const {
        for (std::size_t i = 0; i < surfaces.size(); ++i) {
            if (!conicoids[i]) {
                context.warn({surfaces[i].name + ": too flat for a radius"});
            } else if (conicoids[i]->asphericity_error > 0.1) {
                context.warn({fmt::format("{}: the asphericity is uncertain by {:.2g}; a wider field makes it better",
                                          surfaces[i].name, conicoids[i]->asphericity_error)});
            }
        }
        if (indices.size() == 1 && surfaces.size() > 1)
            context.warn({"indices: one index for all surfaces, so refraction is not corrected"});
    }

    // ---- Outputs

    void write(Context& context) {
        if (output.is_wanted()) context.write(output, table());
        if (zernike.is_wanted()) context.write(zernike, zernike_table());
        if (!maps.is_wanted()) return;
        const PictureTexts texts{{text_program, version}, {"source", input.name()}};
        context.write(maps, ".png",
                      [&](const std::filesystem::path& path) { write_figure(path, map_rows(), figure, texts); });
    }

    static std::string cell(double value) {
        return std::isfinite(value) ? fmt::format("{:.6f}", value) : std::string();
    }

    // Height above the sphere of the zone, in um, so that a bulge towards the light is positive.
    double elevation_um(std::size_t surface, std::size_t line) const {
        const Point& p = surfaces[surface].points[line];
        if (!spheres[surface]) return 1000 * (zones[surface].coefficients()[0] - p[2]);
        return 1000 * (spheres[surface]->height(p[0], p[1]) - p[2]);
    }

    double thickness_um(std::size_t surface, std::size_t line) const {
        return surface < thickness.size() ? 1000 * thickness[surface][line] : unknown;
    }

    std::string table() const {
        std::string text(positions_heading);
        for (std::size_t s = 0; s < surfaces.size(); ++s) {
            for (std::size_t line = 0; line < surfaces[s].points.size(); ++line) {
                const Point& p = surfaces[s].points[line];
                const auto a_scans = index(grid.a_scans);
                fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{}\n", surfaces[s].name, line / a_scans,
                               line % a_scans, cell(p[0]), cell(p[1]), cell(p[2]), cell(elevation_um(s, line)),
                               cell(thickness_um(s, line)));
            }
        }
        return text;
    }

    std::string zernike_table() const {
        std::string text(zernike_heading);
        for (std::size_t s = 0; s < zones.size(); ++s) {
            for (std::size_t j = 0; j < zones[s].coefficients().size(); ++j) {
                const auto [n, m] = zernike_order(static_cast<int>(j));
                fmt::format_to(std::back_inserter(text), "{},{},{},{},{:.6f}\n", surfaces[s].name, j, n, m,
                               1000 * zones[s].coefficients()[j]);
            }
        }
        return text;
    }

    // Per surface its elevation, and the thickness below it; three maps in a row.
    std::vector<FigureRow> map_rows() const {
        constexpr std::size_t beside = 3;
        std::vector<FigureRow> rows;
        const auto add = [&](const std::string& heading, const auto& value) {
            std::vector<float> values;
            for (std::size_t line = 0; line < surfaces.front().points.size(); ++line)
                values.push_back(static_cast<float>(value(line)));
            if (rows.empty() || rows.back().size() == beside) rows.emplace_back();
            rows.back().push_back(map_panel({values, {}, heading, "µm"}, grid, figure));
        };
        for (std::size_t s = 0; s < surfaces.size(); ++s) {
            add(surfaces[s].name + ", elevation", [&](std::size_t line) { return elevation_um(s, line); });
            if (s < thickness.size()) {
                add(surfaces[s].name + " to " + surfaces[s + 1].name,
                    [&](std::size_t line) { return thickness_um(s, line); });
            }
        }
        return rows;
    }

    // ---- Results

    std::vector<std::string> surface_list() const {
        std::vector<std::string> all;
        for (const TracedSurface& surface : surfaces) all.push_back(surface.name);
        return all;
    }

    template <class Of>
    std::vector<double> of_conicoids(const Of& of) const {
        std::vector<double> values;
        for (const auto& conicoid : conicoids) values.push_back(conicoid ? of(*conicoid) : unknown);
        return values;
    }

    // At the apex of the upper surface.
    std::vector<double> apex_thickness_um() const {
        std::vector<double> values;
        for (std::size_t s = 0; s + 1 < surfaces.size(); ++s) {
            const Point apex = conicoids[s] ? conicoids[s]->apex : Point{};
            const ZernikeFit& shape = surfaces[s].shape;
            const LightRay ray{{apex[0], apex[1], shape.height(apex[0], apex[1])}, shape.normal(apex[0], apex[1])};
            const std::optional<Point> met = intersection(ray, surfaces[s + 1].shape);
            values.push_back(met ? 1000 * distance_mm(ray.origin, *met) : unknown);
        }
        return values;
    }

    std::string line_of(std::size_t i) const {
        std::string line = surfaces[i].name + ": ";
        if (const auto& conicoid = conicoids[i]) {
            line += fmt::format("radius {:.4g} ± {:.1g} mm, asphericity {:.3g} ± {:.1g}, rms {:.3g} um",
                                conicoid->radius_mm, conicoid->radius_error_mm, conicoid->asphericity,
                                conicoid->asphericity_error, 1000 * conicoid->rms_mm);
        } else {
            line += fmt::format("flat, rms {:.3g} um", 1000 * zones[i].rms_mm());
        }
        if (i < thickness.size()) line += fmt::format(", {:.4g} um thick at the apex", apex_thickness_um()[i]);
        return line;
    }

    static void describe_arguments(OperationParts<Topography>& parts);
};

void Topography::describe_arguments(OperationParts<Topography>& parts) {
    using T = Topography;
    constexpr Effect effect = Effect::file;
    parts
        .argument(
            text("names", &T::names, effect, "surfaces in the order of the light, separated by spaces; empty: all"))
        .argument(numbers("indices", &T::indices, 1, 5, "", effect,
                          "group index above each surface, such as 1,1.376 for a cornea; one number: everywhere"))
        .argument(number("spacing_index", &T::spacing_index, 0, 5, "", effect,
                         "index by which the depths were divided; 0: as stored with the surfaces, else 1"))
        .argument(numbers("centre_mm", &T::centre_mm, -1000, 1000, "mm", effect,
                          "centre of the zone, x,y from the centre of the field; empty: the apex of the first surface"))
        .argument(number("zone_mm", &T::zone_mm, 0, 1000, "mm", effect,
                         "diameter of the zone of the fits, around the apex; 0: the largest in the field"))
        .argument(
            integer("order", &T::order, 2, max_zernike_order, "", effect, "radial order of the Zernike polynomials"));
}

void Topography::describe(OperationParts<Topography>& parts) {
    parts.info.summary =
        "Radius, asphericity, thickness and Zernike coefficients of surfaces, corrected for refraction";
    parts.info.examples = {"input=surfaces.nrrd output=shape.csv zernike=zernike.csv"};
    parts.info.details =
        "Traces each beam through the surfaces by Snell's law in three dimensions (S. Ortiz et al., Opt. Express 18, "
        "2010). "
        "Beams are those of [geometry], parallel without it. Elevations are above the best sphere of the zone, Zernike "
        "polynomials are those of ANSI "
        "Z80.28. "
        "See docs/topography.md.";
    parts
        .input({.name = "input",
                .help = "surfaces, as `segment` writes them",
                .takes_scans = false,
                .has_stored_as = false},
               &Topography::input)
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "table of all positions, elevations and thicknesses",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, positions_heading); }},
                &Topography::output)
        .output({.name = "zernike",
                 .kind = OutputKind::table,
                 .help = "table of Zernike coefficients in um",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, zernike_heading); }},
                &Topography::zernike)
        .output({.name = "maps", .kind = OutputKind::figure, .help = "figure of elevations and thicknesses"},
                &Topography::maps);
    parts.info.may_write_nothing = true;
    describe_arguments(parts);
    parts.section("figure", "", &Topography::figure)
        .result("surfaces", "", "names of the surfaces", &Topography::surface_list)
        .result("radius_mm", "mm", "radius of the conicoid, positive if convex towards the light",
                [](const Topography& one) { return one.of_conicoids([](const Conicoid& c) { return c.radius_mm; }); })
        .result(
            "radius_error_mm", "mm", "standard error for independent positions",
            [](const Topography& one) { return one.of_conicoids([](const Conicoid& c) { return c.radius_error_mm; }); })
        .result("asphericity", "", "Q of the conicoid, 0 for a sphere",
                [](const Topography& one) { return one.of_conicoids([](const Conicoid& c) { return c.asphericity; }); })
        .result("asphericity_error", "", "standard error for independent positions",
                [](const Topography& one) {
                    return one.of_conicoids([](const Conicoid& c) { return c.asphericity_error; });
                })
        .result(
            "rms_um", "um", "distance of the positions from the conicoid",
            [](const Topography& one) { return one.of_conicoids([](const Conicoid& c) { return 1000 * c.rms_mm; }); })
        .result("apex_thickness_um", "um", "thickness at the apex along the normal, between neighbouring surfaces",
                &Topography::apex_thickness_um);
}

}  // namespace

ECHOLUX_OPERATION(topography, Topography)

}  // namespace echolux
