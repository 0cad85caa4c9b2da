#include "engine/stitching/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/file_name.h"
#include "engine/io/regular_file.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
namespace {

// ---- The list

struct ListedTile {
    std::string name;
    std::int64_t line = 0;
    std::array<double, 3> mm{};  // x, y, z
};

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line.substr(0, line.find('#'))) {
        if (c == ',')
            cells.emplace_back();
        else if (c != '\r')
            cells.back() += c;
    }
    for (std::string& cell : cells) {
        cell.erase(0, std::min(cell.find_first_not_of(" \t"), cell.size()));
        cell.erase(cell.find_last_not_of(" \t") + 1);
    }
    return cells;
}

bool to_number(const std::string& text, double& number) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

std::vector<ListedTile> listed_tiles(const std::filesystem::path& list) {
    constexpr std::size_t max_tiles = 100000;
    constexpr std::size_t max_line = 4096;
    std::ifstream file = open_file(list);
    std::vector<ListedTile> tiles;
    std::int64_t number = 0;
    for (std::string line; read_line(file, line, max_line, list.string());) {
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // of spreadsheets
        if (++number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
        const std::vector<std::string> cells = cells_of(line);
        if (cells.size() == 1 && cells[0].empty()) continue;
        ListedTile tile{cells[0], number, {}};
        bool is_valid = cells.size() == 3 || cells.size() == 4;
        for (std::size_t i = 1; is_valid && i < cells.size(); ++i) is_valid = to_number(cells[i], tile.mm[i - 1]);
        if (!is_valid && tiles.empty() && cells[0] == "file") continue;  // the heading
        if (!is_valid || tile.name.empty() || tiles.size() == max_tiles) {
            throw Error(ErrorCode::bad_file, fmt::format("line {} is not a tile", number), list.string(),
                        "write file,x_mm,y_mm or file,x_mm,y_mm,z_mm");
        }
        tiles.push_back(std::move(tile));
    }
    return tiles;
}

// ---- Checks

std::string size_of_voxels(const VolumeGrid& grid) {
    return fmt::format("{:.4g} x {:.4g} x {:.4g} um", grid.spacing_um[0], grid.spacing_um[1], grid.spacing_um[2]);
}

std::string content_of(const VolumeGrid& grid) {
    const std::string quantity = grid.quantity.empty() ? "unknown values" : grid.quantity;
    return grid.unit.empty() ? quantity : quantity + " in " + grid.unit;
}

void require_brightness(const Tile& tile) {
    try {
        stored_power(tile.grid, StoredAs::automatic);
    } catch (const Error&) {
        throw Error(ErrorCode::bad_file, "holds " + content_of(tile.grid) + ", not brightness", tile.name,
                    "stitch volumes in dB, or of intensity or amplitude");
    }
}

void require_alike(const Tile& first, const Tile& tile) {
    const VolumeGrid &a = first.grid, &b = tile.grid;
    if (*std::ranges::min_element(b.spacing_um) <= 0) {
        throw Error(ErrorCode::bad_file, "the size of its voxels is unknown", tile.name, "set it with `convert`");
    }
    constexpr double close = 1e-3;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (std::abs(a.spacing_um[axis] / b.spacing_um[axis] - 1) > close) {
            throw Error(ErrorCode::bad_file,
                        fmt::format("has voxels of {}, {} of {}", size_of_voxels(b), first.name, size_of_voxels(a)),
                        tile.name, "resample the tiles to one size of voxel first");
        }
    }
    if (a.quantity != b.quantity || a.unit != b.unit) {
        throw Error(ErrorCode::bad_file, fmt::format("holds {}, {} {}", content_of(b), first.name, content_of(a)),
                    tile.name, "reconstruct all tiles alike");
    }
}

// Distance between two tiles in mm, 0 if they overlap.
double gap_mm(const Tile& a, const Tile& b) {
    double gap = 0;
    for (const std::size_t axis : {1U, 2U}) {
        const auto size = [&](const Tile& tile) {
            return static_cast<double>(axis == 1 ? tile.grid.a_scans : tile.grid.b_scans);
        };
        const double apart = std::max(b.first[axis] - a.first[axis] - size(a), a.first[axis] - b.first[axis] - size(b));
        gap = std::max(gap, apart * a.grid.spacing_um[axis] / 1000);
    }
    return gap;
}

void require_neighbours(const std::vector<Tile>& tiles) {
    for (const Tile& tile : tiles) {
        double nearest = std::numeric_limits<double>::infinity();
        for (const Tile& other : tiles) {
            if (&other != &tile) nearest = std::min(nearest, gap_mm(tile, other));
            if (nearest == 0) break;
        }
        if (nearest > 0) {
            throw Error(ErrorCode::bad_file,
                        fmt::format("overlaps no other tile, the nearest is {:.3g} mm away", nearest), tile.name,
                        "check x_mm and y_mm: they are the centres of the tiles in mm");
        }
    }
}

// Linear intensity. NaN, as outside a dewarped scan, stays NaN so that it counts nothing.
std::vector<float> known_power_of(const Volume& volume) {
    std::vector<float> power = power_of(volume, StoredAs::automatic);
    with_voxels(volume, [&](const auto* codes) {
        for (std::size_t i = 0; i < power.size(); ++i) {
            if (std::isnan(static_cast<double>(codes[i]))) power[i] = std::numeric_limits<float>::quiet_NaN();
        }
    });
    return power;
}

}  // namespace

std::vector<std::string> files_of_tiles(const std::filesystem::path& list) {
    std::vector<std::string> files;
    for (const ListedTile& tile : listed_tiles(list)) files.push_back((list.parent_path() / tile.name).string());
    return files;
}

TileSet::TileSet(const std::filesystem::path& listed) : list(listed) {
    for (const ListedTile& one : listed_tiles(listed)) {
        Tile tile{listed.parent_path() / one.name, one.name, one.line, {}, {}};
        std::error_code problem;
        if (!std::filesystem::exists(tile.path, problem)) {
            throw Error(ErrorCode::bad_file, fmt::format("line {}: there is no file {}", one.line, one.name),
                        listed.string(), "name files beside the list");
        }
        if (!may_be_named(listed.parent_path().empty() ? "." : listed.parent_path(), tile.path)) {
            throw Error(ErrorCode::bad_file, fmt::format("line {}: {} is in another folder", one.line, one.name),
                        listed.string(), fmt::format("move it beside the list, or set {}", data_folders_variable));
        }
        tile.grid = SeriesFile(tile.path).header().grid;
        require_brightness(tile);
        const VolumeGrid& grid = tile.grid;
        require_alike(tiles.empty() ? tile : tiles.front(), tile);
        tile.first = {(1000 * one.mm[2] + grid.first_depth_um) / grid.spacing_um[0],
                      1000 * one.mm[0] / grid.spacing_um[1] - static_cast<double>(grid.a_scans - 1) / 2,
                      1000 * one.mm[1] / grid.spacing_um[2] - static_cast<double>(grid.b_scans - 1) / 2};
        tiles.push_back(std::move(tile));
    }
    if (tiles.size() < 2) {
        throw Error(ErrorCode::bad_file, fmt::format("lists {}", plural(std::ssize(tiles), "tiles")), list.string(),
                    "list two or more");
    }
    require_neighbours(tiles);
}

std::int64_t TileSet::bytes() const {
    std::int64_t sum = 0;
    for (const Tile& tile : tiles) sum += tile.grid.bytes();
    return sum;
}

TileReader::TileReader(const Tile& tile) : grid_(tile.grid), file_(tile.path) {}

TileBox TileReader::read(const std::array<Interval, 3>& range) {
    TileBox box{range, {}};
    const auto [depth, a_scans, b_scans] = box.size();
    box.power.resize(index(depth * a_scans * b_scans));
    constexpr std::int64_t most = 16;
    const std::int64_t together = std::clamp<std::int64_t>(file_.b_scans_together(), 1, most);
    const std::int64_t line = grid_.a_scan_bytes();
    for (std::int64_t b = range[2].begin; b < range[2].end;) {
        const std::int64_t end = std::min({(b / together + 1) * together, range[2].end});
        const std::vector<std::byte> voxels = file_.read(0, {b, end});
        Volume part{grid_, {}, {}};
        part.grid.depth = depth;
        part.grid.a_scans = a_scans;
        part.grid.b_scans = end - b;
        part.voxels.reserve(index(part.grid.bytes()));
        const std::int64_t voxel = line / grid_.depth;
        for (std::int64_t i = 0; i < (end - b) * a_scans; ++i) {
            const std::int64_t from = (i / a_scans * grid_.a_scans + range[1].begin + i % a_scans) * line;
            const std::byte* const at = voxels.data() + from + range[0].begin * voxel;
            part.voxels.insert(part.voxels.end(), at, at + depth * voxel);
        }
        std::ranges::copy(known_power_of(part), box.power.begin() + (b - range[2].begin) * a_scans * depth);
        b = end;
    }
    return box;
}

}  // namespace echolux
