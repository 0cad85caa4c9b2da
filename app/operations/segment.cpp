// Operation `segment`: finds the surfaces between layers of a volume or scan, and derives tables, maps, figures and
// flattened volumes. The provenance of each volume describes how its surfaces were found.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "compute/reason.h"
#include "engine/analysis/figures.h"
#include "engine/angiography/flow_maps.h"
#include "engine/build.h"
#include "engine/io/file_name.h"
#include "engine/layers/catheter_frame.h"
#include "engine/layers/find_surfaces.h"
#include "engine/layers/layers.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

// Parses "UPPER:LOWER".
BoundNames bound_names(const std::string& between) {
    if (between.empty()) return {};
    const std::size_t colon = between.find(':');
    if (colon == std::string::npos) {
        throw Error(ErrorCode::bad_setting, "expected UPPER:LOWER, got " + between, "between",
                    "name two surfaces, e.g. ILM:RPE-bottom");
    }
    return {between.substr(0, colon), between.substr(colon + 1)};
}

bool is_figure(const std::filesystem::path& path) {
    return figure_format_of(path) != FigureFormat::none;
}

// A map of a slab.
struct SlabMap {
    const std::vector<float>& values;
    const std::string quantity, unit;
};

// ---- Operation

struct Segment {
    VolumeInput input, known;
    std::string preset = "retina", between, level;
    std::int64_t b_scan = -1;
    double below_upper_um = 0, below_lower_um = 0;
    SlabValue projection = SlabValue::mean;
    double flow_above = VesselSpec().above, window_um = VesselSpec().window_um, tail_gap_um = 0;
    LayerRecipe layers;
    FigureStyle figure;
    OperationOutput output, picture, thickness, en_face, flatten, unflatten, density, flux, vessels;

    Surfaces surfaces;
    VolumeGrid grid;  // of the volume in which the surfaces lie
    std::optional<VesselStats> vessel_result;
    double seconds = 0;                         // of the search; 0 without one
    std::map<std::string, std::string> origin;  // of the surfaces, for the provenance of all volumes

    static void describe(OperationParts<Segment>& parts);

    void run(Context& context) {
        const BoundNames bounds = bound_names(between);
        check(layers, "layers");
        const std::shared_ptr<const Volume> volume = opened(context);
        grid = volume->grid;
        if (picture.is_wanted()) check_b_scan(grid, shown_b_scan());
        find(*volume, context);
        check_names(bounds, context);
        write_surfaces(*volume, context);
        write_picture(*volume, context);
        write_thickness(*volume, bounds, context);
        write_slabs(*volume, bounds, context);
        write_flattened(*volume, context);
        warn_of_search(context);
        say_result(context);
    }

    std::shared_ptr<const Volume> opened(Context& context) const {
        if (tail_gap_um == 0) {
            const std::shared_ptr<const Volume> volume = context.volume(input);
            if (layers.method != SearchMethod::lumen || !is_cartesian_frame(*volume)) return volume;
            context.say("the frames are pictures of a disc; A-scans are degrees around its centre");
            return std::make_shared<const Volume>(polar_frame(*volume));
        }
        Volume volume = context.volume_to_change(input);
        remove_tails(volume, tail_gap_um);
        return std::make_shared<const Volume>(std::move(volume));
    }

    std::int64_t shown_b_scan() const { return b_scan < 0 ? grid.b_scans / 2 : b_scan; }

    // ---- Surfaces

    void find(const Volume& volume, Context& context) {
        if (!known.is_given()) return search(volume, context);
        if (!known.is_in_memory()) {
            surfaces = read_surfaces(known.names.front(), grid);
            origin["surfaces_of"] = known.name();
            return;
        }
        const Volume& maps = *known.held.front();
        surfaces = surfaces_of(maps, grid, "surfaces");
        for (const char* key : {"layers", "surfaces_of"}) {
            if (const auto text = maps.provenance.find(key); text != maps.provenance.end()) origin.insert(*text);
        }
    }

    void search(const Volume& volume, Context& context) {
        if (is_angiogram(grid)) {
            throw Error(ErrorCode::bad_setting, "layers are found in the structure, not in its flow", input.name(),
                        "find them in the structure and name their file as `surfaces`");
        }
        const auto start = std::chrono::steady_clock::now();
        surfaces = find_surfaces(volume, layers, context.progress, context.backend);
        seconds = seconds_since(start);
        origin["layers"] = section_toml("layers", layers);
        if (share_found(surfaces) == 0) {
            throw Error(ErrorCode::bad_setting, "no signal exceeds the noise, so no surface was found", input.name(),
                        "look at it with `render`; brighter tissue or more averaging may help");
        }
        if (grid.quantity.empty())
            context.warn({"layers: the volume does not state the meaning of its voxels; " + surfaces.stored.why});
    }

    Volume with_origin(Volume volume) const {
        if (tail_gap_um > 0) volume.provenance["tail_gap_um"] = fmt::format("{:g}", tail_gap_um);
        for (const auto& [key, text] : origin) volume.provenance[key] = text;
        return volume;
    }

    // Checks also the names that no output uses.
    void check_names(const BoundNames& bounds, Context& context) const {
        for (const std::string& name : {bounds.upper, bounds.lower, level}) {
            if (!name.empty()) index_of(surfaces, name);
        }
        const bool has_map = thickness.is_wanted() || en_face.is_wanted() || measures_vessels();
        if (!has_map && !(bounds.upper + bounds.lower).empty())
            context.warn({"between: has no effect without a map of what lies between (thickness, en face, ...)"});
        if (!level.empty() && !flatten.is_wanted() && !unflatten.is_wanted())
            context.warn({"level: has no effect without a volume that is flattened to it"});
    }

    // ---- Outputs

    PictureTexts texts() const {
        return {{text_program, version}, {"source", input.name()}, {"layers", section_toml("layers", layers)}};
    }

    // In memory both a volume and a table.
    void write_surfaces(const Volume& volume, Context& context) {
        if (!output.is_wanted()) return;
        const bool is_table = lower_ending(output.file) == ".csv";
        const auto maps = [&] { return with_origin(volume_of(surfaces, volume)); };
        if (is_table)
            context.write(output, csv_of(surfaces, grid));
        else
            context.write(output, maps());
        if (!output.is_kept) return;
        if (is_table)
            output.volume = std::make_shared<const Volume>(maps());
        else
            output.bytes = csv_of(surfaces, grid);
    }

    void write_picture(const Volume& volume, Context& context) {
        if (!picture.is_wanted()) return;
        const FigurePanel panel = layered_b_scan_panel(volume, shown_b_scan(), surfaces, figure);
        context.write(picture, ".png",
                      [&](const std::filesystem::path& path) { write_figure(path, {{panel}}, figure, texts()); });
    }

    // Writes a figure or a volume; in memory it is a volume. `volume`: makes it, `rows`: makes the figure.
    template <class MakeVolume, class MakeRows>
    void write_map(OperationOutput& map, Context& context, const MakeVolume& volume, const MakeRows& rows) const {
        if (!map.is_wanted()) return;
        if (!is_figure(map.file)) return context.write(map, with_origin(volume()));
        write_figure(map.file, rows(), figure, texts());
        context.files.push_back(map.file);
        if (map.is_kept) map.volume = std::make_shared<const Volume>(with_origin(volume()));
    }

    void write_thickness(const Volume& volume, const BoundNames& bounds, Context& context) {
        if (!thickness.is_wanted()) return;
        const std::vector<LayerBounds> all = layers_between(surfaces, bounds);
        write_map(
            thickness, context, [&] { return thickness_maps(volume, surfaces, all); },
            [&] { return thickness_rows(all); });
    }

    std::vector<FigureRow> thickness_rows(const std::vector<LayerBounds>& all) const {
        constexpr std::size_t beside = 3;  // maps per row
        const std::string unit = DepthScale(grid).is_known() ? "µm" : "rows";
        std::vector<FigureRow> rows;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto [upper, lower] = all[i];
            const std::vector<float> map = thickness_between(surfaces, upper, lower, grid);
            const auto ambiguous = ambiguous_between(surfaces, upper, lower);
            if (i % beside == 0) rows.emplace_back();
            rows.back().push_back(map_panel({map, ambiguous, name_of_layer(surfaces, all[i]), unit}, grid, figure));
        }
        return rows;
    }

    // Surfaces must be in order. A slab may use one surface twice with different distances.
    SlabSpec slab_of(const BoundNames& bounds) const {
        const LayerBounds layer = bounds_of(surfaces, bounds);
        require_order(surfaces, layer, layer.first == layer.second && below_upper_um < below_lower_um);
        return {layer.first, layer.second, below_upper_um, below_lower_um, projection};
    }

    bool measures_vessels() const { return density.is_wanted() || flux.is_wanted() || vessels.is_wanted(); }

    // Maps of what lies between two surfaces.
    void write_slabs(const Volume& volume, const BoundNames& bounds, Context& context) {
        if (!en_face.is_wanted() && !measures_vessels()) return;
        const SlabSpec slab = slab_of(bounds);
        if (en_face.is_wanted()) {
            const std::vector<float> map = en_face_between(volume, surfaces, slab);
            write_slab_map(en_face, volume, slab, {map, grid.quantity, grid.unit}, context);
        }
        if (measures_vessels()) write_vessels(volume, slab, context);
    }

    void write_slab_map(OperationOutput& file, const Volume& volume, const SlabSpec& slab, const SlabMap& map,
                        Context& context) const {
        const std::string name = name_of_layer(surfaces, {slab.upper, slab.lower});
        const auto as_volume = [&] {
            Volume made = volume_of_map(map.values, volume, map.quantity.c_str(), map.unit.c_str());
            made.provenance["layers_shown"] = name;
            return made;
        };
        const auto as_rows = [&] {
            const std::string unit = map.unit.empty() ? map.quantity : map.unit;
            const auto ambiguous = ambiguous_between(surfaces, slab.upper, slab.lower);
            return std::vector<FigureRow>{{map_panel({map.values, ambiguous, name, unit}, grid, figure)}};
        };
        write_map(file, context, as_volume, as_rows);
    }

    void write_vessels(const Volume& volume, const SlabSpec& slab, Context& context) {
        const VesselMaps maps = with_file_context(input.name(), "volume", [&] {
            return vessel_maps(volume, surfaces, slab, {flow_above, window_um});
        });
        vessel_result = vessel_stats(maps, grid);
        write_slab_map(density, volume, slab, {maps.density, "vessel density", "%"}, context);
        write_slab_map(flux, volume, slab, {maps.flux, "relative flux", grid.unit}, context);
        const std::string name = surfaces.all[slab.upper].name + ":" + surfaces.all[slab.lower].name;
        if (vessels.is_wanted()) context.write(vessels, vessel_table(*vessel_result, name));
        if (vessel_result->measured_percent < 100)
            context.warn({fmt::format("vessels: {:.1f} % of the area was measured", vessel_result->measured_percent)});
    }

    void write_flattened(const Volume& volume, Context& context) {
        if (flatten.is_wanted()) context.write(flatten, with_origin(flattened(volume, surfaces, level, false)));
        if (unflatten.is_wanted()) context.write(unflatten, with_origin(flattened(volume, surfaces, level, true)));
    }

    // ---- Results

    double missing() const { return std::max(0.0, 1 - share_found(surfaces)); }
    double ambiguous() const { return share_of(surfaces, Reason::ambiguous); }
    double weak() const { return share_of(surfaces, Reason::weak_match); }

    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Surface& surface : surfaces.all) all.push_back(surface.name);
        return all;
    }

    void warn_of_search(Context& context) const {
        if (!surfaces.searched_on.refusal.empty()) context.warn({"layers: " + surfaces.searched_on.refusal});
        if (weak() > 0.5) {
            context.warn({"layers: more than half of all places have too little contrast; look for fewer surfaces"});
        }
    }

    void say_result(Context& context) const {
        context.say(fmt::format("{} in {} x {} A-scans: {}", plural(std::ssize(surfaces.all), "surfaces"),
                                surfaces.a_scans, surfaces.b_scans, fmt::join(names(), ", ")));
        if (seconds > 0) {
            if (!surfaces.stored.why.empty()) context.say(surfaces.stored.why);
            context.say(fmt::format(
                "found in {:.2f} s on the {}; {:.1f} % ambiguous; {:.1f} % without a surface, {:.1f} % for too little "
                "contrast",
                seconds, name_of(surfaces.searched_on.backend), 100 * ambiguous(), 100 * missing(), 100 * weak()));
        }
        if (!vessel_result) return;
        context.say(fmt::format("vessels: {:.1f} % of {:.3g} mm2, {:.3g} mm/mm2, relative flux {:.3g}",
                                vessel_result->density_percent, vessel_result->area_mm2, vessel_result->skeleton_per_mm,
                                vessel_result->flux));
    }

    // An array [surface][b_scan][a_scan]. `of`: adds the values of a surface.
    template <class T, class Of>
    std::shared_ptr<const ResultArray> places(const Of& of, const std::vector<std::string>& words = {}) const {
        std::vector<T> values;
        values.reserve(surfaces.all.size() * static_cast<std::size_t>(surfaces.lines()));
        for (const Surface& surface : surfaces.all) of(surface, values);
        return std::make_shared<const ResultArray>(
            ResultArray{{std::ssize(surfaces.all), surfaces.b_scans, surfaces.a_scans}, std::move(values), words});
    }

    std::shared_ptr<const ResultArray> depths() const {
        return places<float>([scale = DepthScale(grid)](const Surface& surface, std::vector<float>& to) {
            for (const float row : surface.rows) to.push_back(static_cast<float>(scale.depth(row)));
        });
    }

    std::shared_ptr<const ResultArray> reasons() const {
        std::vector<std::string> words;
        for (int code = 0; code <= static_cast<int>(Reason::too_few); ++code)
            words.emplace_back(name_of(static_cast<Reason>(code)));
        const auto add = [](const Surface& surface, std::vector<std::uint8_t>& to) {
            for (const Reason reason : surface.reasons) to.push_back(static_cast<std::uint8_t>(reason));
        };
        return places<std::uint8_t>(add, words);
    }

    static void describe_inputs(OperationParts<Segment>& parts);
    static void describe_outputs(OperationParts<Segment>& parts);
    static void describe_arguments(OperationParts<Segment>& parts);
    static void describe_results(OperationParts<Segment>& parts);
    static void describe_places(OperationParts<Segment>& parts);
};

constexpr std::string_view of_vessels = "Vessels (from a volume of angiography)";

void Segment::describe(OperationParts<Segment>& parts) {
    parts.info.summary = "Find the surfaces between layers; thickness, en-face maps, flat volumes";
    parts.info.examples = {"input=v.nrrd preset=layers layers.count=3 output=surfaces.csv",
                           "input=v.nrrd preset=retina picture=layers.png"};
    parts.info.details =
        "Also measures vessels between surfaces, from a volume of angiography. Each position of a surface has a "
        "quality and a reason code. The presets anterior and coating, the dermis of skin and layers of diseased eyes "
        "are not validated on recordings. See docs/layers.md and docs/angiography.md.";
    describe_inputs(parts);
    describe_outputs(parts);
    describe_arguments(parts);
    parts.section("layers", "Layers", &Segment::layers)
        .section("figure", "", &Segment::figure)
        .uses_backend("finds the surfaces");
    describe_results(parts);
    describe_places(parts);
}

void Segment::describe_inputs(OperationParts<Segment>& parts) {
    parts.input({.name = "input", .help = "volume file or scan"}, &Segment::input)
        .input({.name = "surfaces",
                .help = "surfaces that are used instead of a search, as `output` writes them",
                .is_required = false,
                .takes_scans = false},
               &Segment::known);
}

void Segment::describe_outputs(OperationParts<Segment>& parts) {
    constexpr OutputKind map = OutputKind::volume_or_figure;
    parts
        .output({.name = "output",
                 .kind = OutputKind::volume_or_table,
                 .help = "depths of the surfaces: a volume file, or a table",
                 .is_own = is_own_surface_table,
                 .are_surfaces = true},
                &Segment::output)
        .output({.name = "picture", .kind = OutputKind::figure, .help = "a B-scan with the surfaces drawn into it"},
                &Segment::picture)
        .output({.name = "thickness",
                 .kind = map,
                 .help = "maps of the thickness of each layer, or from one surface of `between` to the other"},
                &Segment::thickness)
        .output({.name = "en_face", .kind = map, .help = "en-face projection between the surfaces of `between`"},
                &Segment::en_face)
        .output({.name = "flatten", .help = "volume shifted in depth so that the surface `level` is flat"},
                &Segment::flatten)
        .output({.name = "unflatten", .help = "volume made by `flatten`, shifted back by the same `surfaces`"},
                &Segment::unflatten)
        .output({.name = "density",
                 .kind = map,
                 .help = "map of the share of vessels between the surfaces, in %",
                 .group = of_vessels},
                &Segment::density)
        .output({.name = "flux",
                 .kind = map,
                 .help = "map of the mean relative flux between the surfaces",
                 .group = of_vessels},
                &Segment::flux)
        .output({.name = "vessels",
                 .kind = OutputKind::table,
                 .help = "table of density, length of vessels and flux of the whole slab",
                 .group = of_vessels,
                 .is_own = is_own_vessel_table},
                &Segment::vessels);
}

void Segment::describe_arguments(OperationParts<Segment>& parts) {
    constexpr Effect effect = Effect::file;
    constexpr double far_um = 1e6;
    parts
        .preset_argument(text("preset", &Segment::preset, effect,
                              "boundaries to find, by name (docs/layers.md lists them) or file; other settings "
                              "override it")
                             .written_as("NAME|FILE.toml")
                             .file({".toml"}),
                         [](const Segment& one, Settings& settings) {
                             for (const std::string& line : layer_preset_named(one.preset).assignments)
                                 settings.set_assignment(line);
                         })
        .argument(
            integer("b_scan", &Segment::b_scan, -1, 1'000'000'000, "", effect, "B-scan of `picture`, counted from 0")
                .special(-1, "the middle one")
                .written_as("N"))
        .argument(text("between", &Segment::between, effect, "two surfaces by name [the first and the last]")
                      .written_as("UPPER:LOWER"))
        .argument(number("below_upper_um", &Segment::below_upper_um, -far_um, far_um, "um", effect,
                         "start of the slab below the upper surface"))
        .argument(number("below_lower_um", &Segment::below_lower_um, -far_um, far_um, "um", effect,
                         "end of the slab below the lower surface"))
        .argument(choice("projection", &Segment::projection, {"mean", "max", "top3"}, effect,
                         "value of each A-scan in `en_face`; top3: mean of its three largest values"))
        .argument(
            text("level", &Segment::level, effect, "surface that `flatten` makes flat [the first]").written_as("NAME"))
        .argument(number("flow_above", &Segment::flow_above, 0, 1e30, "", effect,
                         "threshold of flow; 0.15 suits the decorrelation methods")
                      .in(of_vessels)
                      .written_as("VALUE"))
        .argument(number("window_um", &Segment::window_um, 1e-3, far_um, "um", effect,
                         "side of the square over which `density` counts")
                      .in(of_vessels))
        .argument(number("tail_gap_um", &Segment::tail_gap_um, 0, far_um, "um", effect,
                         "remove projection tails: zero each voxel that decorrelates no more than one at least this "
                         "far above it; about a capillary's thickness, 12")
                      .special(0, "off")
                      .in(of_vessels));
}

void Segment::describe_results(OperationParts<Segment>& parts) {
    using S = Segment;
    parts.result("surfaces", "", "names, from above", &S::names)
        .result("ambiguous", "", "share of all places where two depths fit similarly well", &S::ambiguous)
        .result("weak", "", "share with too little contrast", &S::weak)
        .result("missing", "", "share without a surface", &S::missing)
        .result("moved", "", "places moved down to the surface above", [](const S& one) { return one.surfaces.moved; })
        .result("method", "", "method of the search", [](const S& one) { return word_for(one.surfaces.method); })
        .result("stored_as", "", "quantity that the search assumes for the voxels",
                [](const S& one) { return word_for(one.surfaces.stored.stored_as); })
        .result("exponent", "", "power of the intensity that the voxels hold",
                [](const S& one) { return one.surfaces.stored.exponent; })
        .result("looks", "", "equivalent number of looks of the speckle",
                [](const S& one) { return one.surfaces.stored.looks; })
        .result("why", "", "reason for that assumption", [](const S& one) { return one.surfaces.stored.why; })
        .result("seconds", "s", "time of the search; 0 without one", &S::seconds)
        .result("backend", "", "device of the search",
                [](const S& one) { return word_for(one.surfaces.searched_on.backend); });
    const auto add = [&](std::string_view name, std::string_view unit, std::string_view help,
                         double VesselStats::*member) {
        parts.result(name, unit, help, [member](const S& one) {
            return one.vessel_result ? std::optional((*one.vessel_result).*member) : std::nullopt;
        });
    };
    add("vessels.area_mm2", "mm2", "measured area", &VesselStats::area_mm2);
    add("vessels.measured_percent", "%", "share of the map's area", &VesselStats::measured_percent);
    add("vessels.density_percent", "%", "share of vessels in the measured area", &VesselStats::density_percent);
    add("vessels.skeleton_mm", "mm", "total length of the vessels", &VesselStats::skeleton_mm);
    add("vessels.skeleton_per_mm", "mm/mm2", "length per area", &VesselStats::skeleton_per_mm);
    add("vessels.flux", "", "mean value of the vessels, relative", &VesselStats::flux);
}

void Segment::describe_places(OperationParts<Segment>& parts) {
    const auto add_all = [](const auto& from, std::vector<float>& to) {
        to.insert(to.end(), from.begin(), from.end());
    };
    parts.result("places.depth", "um", "depth from zero delay; rows if the spacing is unknown", &Segment::depths)
        .result("places.row", "rows", "depth row, NaN without a surface",
                [add_all](const Segment& one) {
                    return one.places<float>([&](const Surface& surface, auto& to) { add_all(surface.rows, to); });
                })
        .result("places.quality", "nats", "log likelihood ratio to the next best depth",
                [add_all](const Segment& one) {
                    return one.places<float>([&](const Surface& surface, auto& to) { add_all(surface.quality, to); });
                })
        .result("places.reason", "", "reason code; ok: there is a surface", &Segment::reasons);
}

}  // namespace

ECHOLUX_OPERATION(segment, Segment)

}  // namespace echolux
