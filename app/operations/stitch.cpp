// Operation `stitch`: joins tiles at positions of a stage to one volume.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <utility>

#include "app/operations/operation.h"
#include "app/seconds_since.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/memory.h"
#include "engine/stitching/mosaic.h"

namespace echolux {
namespace {

constexpr std::string_view positions_heading =
    "file,x_mm,y_mm,z_mm,moved_x_um,moved_y_um,moved_z_um,gain_db,overlaps\n";
constexpr std::string_view overlaps_heading = "first,second,x_um,y_um,z_um,correlation,error_voxels,state\n";

struct Stitch {
    VolumeInput input;
    StitchRecipe stitch;
    OperationOutput output, positions, overlaps;

    std::unique_ptr<TileSet> set;
    TileAlignment alignment;
    std::int64_t tiles = 0, used = 0, left_out = 0;
    double seconds = 0;

    static void describe(OperationParts<Stitch>& parts);

    FileNames further_files() const {
        FileNames files;
        if (input.names.empty()) return files;
        for (const std::string& name : files_of_tiles(input.names.front())) files.emplace_back(name);
        return files;
    }

    void run(Context& context) {
        const auto start = std::chrono::steady_clock::now();
        set = std::make_unique<TileSet>(input.names.front());
        alignment = aligned_tiles(*set, stitch, context.progress);
        tiles = std::ssize(set->tiles);
        used = alignment.used();
        left_out = std::ssize(alignment.pairs) - used;
        report(context);
        if (positions.is_wanted()) context.write(positions, position_table());
        if (overlaps.is_wanted()) context.write(overlaps, overlap_table());
        if (output.is_wanted()) write_mosaic(context);
        seconds = seconds_since(start);
    }

    void report(Context& context) const {
        context.say(
            fmt::format("{}, {} of {} overlaps used, {:.3f} voxels rms; brightness of overlaps {:.2f} dB rms, "
                        "{:.2f} dB after equalisation",
                        plural(tiles, "tiles"), used, alignment.pairs.size(), alignment.rms_voxels,
                        alignment.brightness.before_db, alignment.brightness.after_db));
        for (std::size_t tile = 0; tile < set->tiles.size(); ++tile) {
            if (overlaps_of(tile) > 0) continue;
            context.warn({set->tiles[tile].name + ": no overlap agrees, so it stays at the position of the stage"});
        }
        const std::vector<std::size_t> groups = first_of_groups();
        for (const std::size_t tile : groups) {
            if (tile == groups.front()) continue;
            context.warn(
                {fmt::format("{}: no overlap connects its tiles with those of {}, so the distance is that of "
                             "the stage",
                             set->tiles[tile].name, set->tiles[groups.front()].name)});
        }
    }

    // The first tile of each group that overlaps connect. Tiles alone are left out.
    std::vector<std::size_t> first_of_groups() const {
        std::vector<std::size_t> group(set->tiles.size());
        std::iota(group.begin(), group.end(), std::size_t{0});
        for (bool is_changed = true; is_changed;) {
            is_changed = false;
            for (const TilePair& pair : alignment.pairs) {
                const std::size_t first = std::min(group[pair.first], group[pair.second]);
                if (pair.reason != PairReason::ok || group[pair.first] == group[pair.second]) continue;
                group[pair.first] = group[pair.second] = first;
                is_changed = true;
            }
        }
        std::vector<std::size_t> firsts;
        for (std::size_t tile = 0; tile < group.size(); ++tile) {
            if (group[tile] == tile && overlaps_of(tile) > 0) firsts.push_back(tile);
        }
        return firsts;
    }

    std::int64_t overlaps_of(std::size_t tile) const {
        return std::ranges::count_if(alignment.pairs, [&](const TilePair& pair) {
            return pair.reason == PairReason::ok && (pair.first == tile || pair.second == tile);
        });
    }

    void write_mosaic(Context& context) {
        Mosaic mosaic(*set, alignment);
        const VolumeGrid& grid = mosaic.grid();
        require_memory(mosaic.bytes() + (output.is_kept ? grid.bytes() : 0), "the B-scans of a row of tiles",
                       "stitch fewer tiles at once");
        const auto [x, y] = mosaic.centre_mm();
        const std::map<std::string, std::string> provenance{
            {"stitch", section_toml("stitch", stitch)},
            {"stitch.tiles", std::to_string(tiles)},
            {"stitch.centre_mm", fmt::format("{:.6f} {:.6f}", x, y)},
            {"stitch.rms_voxels", fmt::format("{:.3f}", alignment.rms_voxels)}};
        const SeriesHeader header{.grid = grid, .provenance = provenance};
        std::unique_ptr<SeriesWriter> writer;
        if (!output.file.empty()) writer = std::make_unique<SeriesWriter>(output.file, header);
        std::shared_ptr<Volume> kept;
        if (output.is_kept) kept = std::make_shared<Volume>(Volume{grid, {}, provenance});
        context.progress.begin("stitch", grid.b_scans, "B-scans");
        for (std::int64_t b = 0; b < grid.b_scans; ++b) {
            const std::vector<float> b_scan = mosaic.next();
            const auto bytes = std::as_bytes(std::span(b_scan));
            if (writer) writer->write(bytes);
            if (kept) kept->voxels.insert(kept->voxels.end(), bytes.begin(), bytes.end());
            context.progress.advance(1);
        }
        context.progress.end();
        output.volume = std::move(kept);
        if (!writer) return;
        writer->finish();
        context.files.push_back(output.file);
        context.warn(lost_in(header, output.file));
    }

    // ---- Tables

    std::string position_table() const {
        std::string text(positions_heading);
        for (std::size_t i = 0; i < set->tiles.size(); ++i) {
            const Tile& tile = set->tiles[i];
            const VolumeGrid& grid = tile.grid;
            const auto mm = [&](std::size_t axis, double centre) {
                return (alignment.first[i][axis] + centre) * set->spacing_mm(axis);
            };
            const auto moved = [&](std::size_t axis) {
                return (alignment.first[i][axis] - tile.first[axis]) * grid.spacing_um[axis];
            };
            text += fmt::format("{},{:.6f},{:.6f},{:.6f},{:.3f},{:.3f},{:.3f},{:.3f},{}\n", tile.name,
                                mm(1, static_cast<double>(grid.a_scans - 1) / 2),
                                mm(2, static_cast<double>(grid.b_scans - 1) / 2), mm(0, 0) - grid.first_depth_um / 1000,
                                moved(1), moved(2), moved(0), alignment.brightness.gain_db[i], overlaps_of(i));
        }
        return text;
    }

    std::string overlap_table() const {
        std::string text(overlaps_heading);
        for (const TilePair& pair : alignment.pairs) {
            const auto um = [&](std::size_t axis) { return pair.shift[axis] * set->grid().spacing_um[axis]; };
            text += fmt::format("{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{}\n", set->tiles[pair.first].name,
                                set->tiles[pair.second].name, um(1), um(2), um(0), pair.correlation, pair.error,
                                name_of(pair.reason));
        }
        return text;
    }
};

void Stitch::describe(OperationParts<Stitch>& parts) {
    parts.info.summary = "Join tiles from positions of a stage to one volume";
    parts.info.examples = {"input=tiles.csv output=mosaic.nrrd"};
    parts.info.details =
        "Registers overlaps, finds all positions together, leaves out overlaps that contradict the others, equalises "
        "brightness over the field and over depth, and blends. Volumes may be larger than memory. See "
        "docs/stitching.md.";
    parts
        .input({.name = "input",
                .help = "list of tiles: a CSV file with file,x_mm,y_mm or file,x_mm,y_mm,z_mm per line",
                .takes_scans = false,
                .has_stored_as = false,
                .is_file = true,
                .is_positional = true,
                .placeholder = "TILES.csv"},
               &Stitch::input)
        .output({.name = "output", .help = "volume of f32, NaN outside the tiles"}, &Stitch::output)
        .output({.name = "positions",
                 .kind = OutputKind::table,
                 .help = "table of the positions that were found",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, positions_heading); }},
                &Stitch::positions)
        .output({.name = "overlaps",
                 .kind = OutputKind::table,
                 .help = "table of the overlaps with their shifts, and why they were left out",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, overlaps_heading); }},
                &Stitch::overlaps)
        .section("stitch", "Stitch", &Stitch::stitch)
        .result("tiles", "", "tiles", &Stitch::tiles)
        .result("used", "", "overlaps that are used", &Stitch::used)
        .result("left_out", "", "overlaps that are weak or contradict the others", &Stitch::left_out)
        .result("rms_voxels", "voxels", "distance of the overlaps from the common solution",
                [](const Stitch& one) { return one.alignment.rms_voxels; })
        .result("before_db", "dB", "rms difference of overlaps before equalisation",
                [](const Stitch& one) { return one.alignment.brightness.before_db; })
        .result("after_db", "dB", "rms difference of overlaps after equalisation",
                [](const Stitch& one) { return one.alignment.brightness.after_db; })
        .result("seconds", "s", "time of the whole work", &Stitch::seconds);
}

}  // namespace

ECHOLUX_OPERATION(stitch, Stitch)

}  // namespace echolux
