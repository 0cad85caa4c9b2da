// Operation `polarisation`: retardation, optic axis, Stokes parameters and DOPU of two complex channels.
#include "engine/contrast/polarisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <iterator>
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
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/memory.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

constexpr std::string_view table_heading =
    "row,depth_um,reflectivity_db,retardation_deg,axis_deg,dopu,local_retardation_deg_um\n";

struct Polarisation {
    VolumeInput input, channel_2, channel_1b, channel_2b;
    std::int64_t b_scan = -1;
    PolarisationRecipe polarisation;
    FigureStyle figure;
    OperationOutput reflectivity, retardation, axis, stokes_q, stokes_u, stokes_v, dopu, local_retardation, local_axis,
        diattenuation, table, picture;

    PolarisationMaps maps;
    VolumeGrid grid;
    std::int64_t shown_b_scan = 0;
    double known = 0, mean_dopu = 0;

    static void describe(OperationParts<Polarisation>& parts);

    static constexpr std::array<OperationOutput Polarisation::*, polarisation_map_count> outputs() {
        using P = Polarisation;
        return {&P::reflectivity, &P::retardation,       &P::axis,       &P::stokes_q,     &P::stokes_u, &P::stokes_v,
                &P::dopu,         &P::local_retardation, &P::local_axis, &P::diattenuation};
    }

    std::vector<float>& map(PolarisationMap which) { return maps[static_cast<std::size_t>(which)]; }
    const std::vector<float>& map(PolarisationMap which) const { return maps[static_cast<std::size_t>(which)]; }

    void run(Context& context) {
        check(polarisation, "polarisation");
        std::vector<std::shared_ptr<const Volume>> volumes;
        for (const VolumeInput* one : channels()) volumes.push_back(context.volume(*one));
        grid = volumes.front()->grid;
        for (std::size_t i = 0; i < volumes.size(); ++i) require_channel(volumes[i]->grid, channels()[i]->name());
        require_outputs();
        shown_b_scan = chosen_b_scan(b_scan, grid);
        measure(volumes, context);
        summarise();
        if (known == 0) {
            throw Error(ErrorCode::bad_setting, "no voxel is above the threshold", input.name(),
                        "reduce polarisation.threshold_db");
        }
        if (polarisation.threshold_db <= -300) {
            context.warn({has_two_states() ? "polarisation.threshold_db: without it, the first rows count as the "
                                             "surface, and noise has a retardation"
                                           : "polarisation.threshold_db: without it, noise has a retardation, an axis "
                                             "and a low DOPU"});
        }
        say(context);
        write(context, volumes.front()->provenance);
    }

    bool has_two_states() const { return channel_1b.is_given(); }

    std::vector<const VolumeInput*> channels() const {
        if (channel_1b.is_given() != channel_2b.is_given()) {
            throw Error(ErrorCode::bad_setting, "a second input state needs both channels", "channel_1b, channel_2b",
                        "give both");
        }
        if (has_two_states()) return {&input, &channel_2, &channel_1b, &channel_2b};
        return {&input, &channel_2};
    }

    void require_channel(const VolumeGrid& one, const std::string& name) const {
        if (one.type != VoxelType::complex64) {
            throw Error(ErrorCode::bad_setting, "its voxels are not complex, so they have no polarisation", name,
                        "reconstruct with recipe.quantity = complex");
        }
        if (one.depth == grid.depth && one.a_scans == grid.a_scans && one.b_scans == grid.b_scans &&
            one.spacing_um == grid.spacing_um)
            return;
        throw Error(ErrorCode::bad_setting, "differs in size or spacing from channel 1", name,
                    "reconstruct all channels with the same settings");
    }

    void require_outputs() const {
        using P = Polarisation;
        for (const auto output : {&P::axis, &P::stokes_q, &P::stokes_u, &P::stokes_v, &P::dopu, &P::local_axis}) {
            if (!has_two_states() || !(this->*output).is_wanted()) continue;
            throw Error(ErrorCode::bad_setting,
                        "axes, Stokes parameters and DOPU are those of one circular input state", "channel_1b",
                        "leave out the second state for them");
        }
        if (!has_two_states() && diattenuation.is_wanted()) {
            throw Error(ErrorCode::bad_setting, "needs two input states", "diattenuation",
                        "give `channel_1b` and `channel_2b`");
        }
        if ((local_retardation.is_wanted() || local_axis.is_wanted()) && polarisation.local_depth >= grid.depth) {
            throw Error(ErrorCode::bad_setting,
                        "does not fit in the depth of the volume, " + plural(grid.depth, "rows"),
                        "polarisation.local_depth", "choose fewer");
        }
        if (grid.spacing_um[0] > 0 || !(local_retardation.is_wanted() || table.is_wanted())) return;
        throw Error(ErrorCode::bad_setting, "local retardation needs the depth pitch, which is unknown", input.name(),
                    "set calibration.wavelengths or depth_pitch_um and reconstruct again");
    }

    void measure(const std::vector<std::shared_ptr<const Volume>>& volumes, Context& context) {
        const std::int64_t plane = grid.a_scans * grid.depth;
        const auto bytes_a_voxel =
            static_cast<std::int64_t>(volumes.size() * sizeof(std::complex<float>) + maps.size() * sizeof(float));
        require_memory(grid.voxels() * bytes_a_voxel, "the maps of " + input.name(), "crop it first");
        std::vector<ChannelPlane> fields;
        for (std::size_t i = 0; i < volumes.size(); ++i) fields.push_back(field_of(*volumes[i], channels()[i]->name()));
        for (std::vector<float>& all : maps) all.clear();
        context.progress.begin("polarisation", grid.b_scans, "B-scans");
        for (std::int64_t b = 0; b < grid.b_scans; ++b) {
            const auto part = [&](std::size_t i) {
                return ChannelPlane(fields[i].begin() + b * plane, fields[i].begin() + (b + 1) * plane);
            };
            const PolarisationMaps found =
                has_two_states()
                    ? polarisation_of_two({part(0), part(1), part(2), part(3)}, grid.a_scans, grid.depth, polarisation)
                    : polarisation_of(part(0), part(1), grid.a_scans, grid.depth, polarisation);
            for (std::size_t m = 0; m < maps.size(); ++m)
                maps[m].insert(maps[m].end(), found[m].begin(), found[m].end());
            context.progress.advance(1);
        }
        context.progress.end();
        if (grid.spacing_um[0] <= 0) return;
        for (float& value : map(PolarisationMap::local_retardation)) value /= static_cast<float>(grid.spacing_um[0]);
    }

    void summarise() {
        double count = 0, sum = 0;
        for (const float one : map(PolarisationMap::dopu)) {
            if (!std::isnan(one)) count += 1, sum += static_cast<double>(one);
        }
        const auto lit =
            std::ranges::count_if(map(PolarisationMap::reflectivity), [](float one) { return !std::isnan(one); });
        known = static_cast<double>(lit) / static_cast<double>(grid.voxels());
        mean_dopu = count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
    }

    void say(Context& context) const {
        std::vector<float> levels;
        std::ranges::copy_if(map(PolarisationMap::reflectivity), std::back_inserter(levels),
                             [](float one) { return std::isfinite(one); });
        std::ranges::sort(levels);
        const auto at = [&](double share) {
            return levels[static_cast<std::size_t>(share * static_cast<double>(levels.size() - 1))];
        };
        context.say(fmt::format("{:.1f} % of the voxels have a value; reflectivity {:.1f} to {:.1f} dB (5 to 99 %){}",
                                100 * known, at(0.05), at(0.99),
                                std::isnan(mean_dopu) ? std::string() : fmt::format(", mean DOPU {:.3f}", mean_dopu)));
    }

    // ---- Outputs

    void write(Context& context, std::map<std::string, std::string> provenance) {
        provenance["echolux"] = version;
        provenance["polarisation"] = section_toml("polarisation", polarisation);
        provenance["polarisation_channel_2"] = channel_2.name();
        VolumeGrid written = map_grid(grid);
        for (std::size_t m = 0; m < maps.size(); ++m) {
            OperationOutput& output = this->*outputs()[m];
            if (!output.is_wanted()) continue;
            const PolarisationMapText& text = text_of(static_cast<PolarisationMap>(m));
            written.quantity = text.name;
            written.unit = text.unit;
            Volume volume{written, std::vector<std::byte>(index(written.bytes())), provenance};
            std::memcpy(volume.voxels.data(), maps[m].data(), volume.voxels.size());
            context.write(output, std::move(volume));
        }
        if (table.is_wanted()) context.write(table, table_of());
        if (!picture.is_wanted()) return;
        const PictureTexts texts{{text_program, version}, {"source", input.name()}};
        context.write(picture, ".png",
                      [&](const std::filesystem::path& path) { write_figure(path, panels(), figure, texts); });
    }

    // Means of all A-scans by depth row; the axis is the direction of the mean of exp(2 j axis).
    std::string table_of() const {
        std::string text(table_heading);
        const auto cell = [](double value) {
            return std::isfinite(value) ? fmt::format("{:.5g}", value) : std::string();
        };
        for (std::int64_t z = 0; z < grid.depth; ++z) {
            const auto mean = [&](PolarisationMap which, const auto& of) {
                decltype(of(0.0)) sum{};
                double count = 0;
                for (std::size_t i = index(z); i < map(which).size(); i += index(grid.depth)) {
                    if (std::isnan(map(which)[i])) continue;
                    sum += of(static_cast<double>(map(which)[i]));
                    count += 1;
                }
                return count > 0 ? sum / count : decltype(sum)(std::numeric_limits<double>::quiet_NaN());
            };
            const auto plain = [](double value) { return value; };
            const auto twice = [](double axis_deg) { return std::polar(1.0, axis_deg * std::numbers::pi / 90); };
            const double axis_deg = std::arg(mean(PolarisationMap::axis, twice)) * 90 / std::numbers::pi;
            text += fmt::format(
                "{},{},{},{},{},{},{}\n", z, cell(grid.first_depth_um + static_cast<double>(z) * grid.spacing_um[0]),
                cell(mean(PolarisationMap::reflectivity, plain)), cell(mean(PolarisationMap::retardation, plain)),
                cell(axis_deg < 0 ? axis_deg + 180 : axis_deg), cell(mean(PolarisationMap::dopu, plain)),
                cell(mean(PolarisationMap::local_retardation, plain)));
        }
        return text;
    }

    // Where light is scrambled, local values are noise, which would fill their range.
    void hide_scrambled(std::vector<float>& rows, std::int64_t b) const {
        constexpr float min_dopu = 0.6f;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            const std::int64_t a = at % grid.a_scans, z = at / grid.a_scans;
            if (map(PolarisationMap::dopu)[index((b * grid.a_scans + a) * grid.depth + z)] < min_dopu)
                rows[i] = std::numeric_limits<float>::quiet_NaN();
        }
    }

    // From 0 to the 90th percentile and a quarter, because boundaries of scrambled light have few but large values.
    static std::optional<GrayRange> local_range(std::vector<float> values) {
        std::erase_if(values, [](float value) { return std::isnan(value); });
        if (values.empty()) return std::nullopt;
        const auto high = values.begin() + std::ssize(values) * 9 / 10;
        std::ranges::nth_element(values, high);
        return GrayRange{0, std::max(1e-3, 1.25 * static_cast<double>(*high))};
    }

    std::vector<FigureRow> panels() const {
        const auto panel = [&](PolarisationMap which, const char* heading, const char* colours,
                               std::optional<GrayRange> range) {
            Figure plane = map_plane(map(which), grid, shown_b_scan);
            if (which == PolarisationMap::local_retardation || which == PolarisationMap::local_axis)
                hide_scrambled(plane.values, shown_b_scan);
            if (which == PolarisationMap::local_retardation) range = local_range(plane.values);
            FigurePanel made = b_scan_panel(plane, grid, figure);
            paint(made, plane, {colours, range, text_of(which).unit}, figure);
            made.heading = heading;
            return made;
        };
        if (has_two_states()) {
            return {{panel(PolarisationMap::reflectivity, "Reflectivity", "gray", std::nullopt),
                     panel(PolarisationMap::diattenuation, "Diattenuation", "viridis", GrayRange{0, 1})},
                    {panel(PolarisationMap::retardation, "Retardation", "viridis", GrayRange{0, 90}),
                     panel(PolarisationMap::local_retardation, "Local retardation", "viridis", std::nullopt)}};
        }
        return {{panel(PolarisationMap::reflectivity, "Reflectivity", "gray", std::nullopt),
                 panel(PolarisationMap::dopu, "DOPU", "viridis", GrayRange{0, 1})},
                {panel(PolarisationMap::retardation, "Retardation", "viridis", GrayRange{0, 90}),
                 panel(PolarisationMap::axis, "Optic axis", "cyclic", GrayRange{0, 180})},
                {panel(PolarisationMap::local_retardation, "Local retardation", "viridis", std::nullopt),
                 panel(PolarisationMap::local_axis, "Local axis", "cyclic", GrayRange{0, 180})}};
    }
};

void Polarisation::describe(OperationParts<Polarisation>& parts) {
    using P = Polarisation;
    parts.info.summary = "Retardation, optic axis, Stokes parameters and DOPU from two channels";
    parts.info.examples = {"input=channel1.nrrd channel_2=channel2.nrrd axis=axis.nrrd table=rows.csv"};
    parts.info.details =
        "For one circular input state, after C. K. Hitzenberger et al., Opt. Express 9(13), 2001; DOPU after E. "
        "Goetzinger et al., "
        "16(21), 2008; local values after C. Fan and G. Yao, Opt. Lett. 37(9), 2012; two input states after B. H. Park "
        "et al., Opt. Lett. 29(21), 2004. See docs/polarisation.md.";
    parts.info.may_write_nothing = true;
    parts
        .input({.name = "input",
                .help = "complex volume of the channel that is dark on a mirror, channel 1",
                .takes_scans = false,
                .has_stored_as = false},
               &P::input)
        .input({.name = "channel_2",
                .help = "complex volume of the other channel",
                .takes_scans = false,
                .has_stored_as = false,
                .is_positional = true},
               &P::channel_2)
        .input({.name = "channel_1b",
                .help = "channel 1 of a second input state: retardation and diattenuation from Jones matrices",
                .is_required = false,
                .takes_scans = false,
                .has_stored_as = false},
               &P::channel_1b)
        .input({.name = "channel_2b",
                .help = "channel 2 of the second input state",
                .is_required = false,
                .takes_scans = false,
                .has_stored_as = false},
               &P::channel_2b)
        .argument(integer("b_scan", &P::b_scan, -1, 1'000'000'000, "", Effect::file, "B-scan of the picture")
                      .special(-1, "the middle one")
                      .written_as("N"));
    for (std::size_t m = 0; m < polarisation_map_count; ++m) {
        const PolarisationMapText& text = text_of(static_cast<PolarisationMap>(m));
        parts.output({.name = text.name, .help = text.help}, outputs()[m]);
    }
    parts
        .output({.name = "table",
                 .kind = OutputKind::table,
                 .help = "means of all A-scans by depth row",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, table_heading); }},
                &P::table)
        .output({.name = "picture", .kind = OutputKind::figure, .help = "figure of a B-scan of all maps"}, &P::picture)
        .section("polarisation", "Polarisation", &P::polarisation)
        .section("figure", "", &P::figure)
        .result("known", "", "share of the voxels with a value", &P::known)
        .result("mean_dopu", "", "mean DOPU of these voxels", &P::mean_dopu);
}

}  // namespace

ECHOLUX_OPERATION(polarisation, Polarisation)

}  // namespace echolux
