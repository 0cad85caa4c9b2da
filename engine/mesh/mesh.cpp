#include "engine/mesh/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

using Point = std::array<float, 3>;

std::array<double, 3> minus(const Point& a, const Point& b) {
    return {static_cast<double>(a[0]) - b[0], static_cast<double>(a[1]) - b[1], static_cast<double>(a[2]) - b[2]};
}

std::array<double, 3> cross(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Twice the area, in the direction of the normal.
std::array<double, 3> normal(const Mesh& mesh, const std::array<std::uint32_t, 3>& triangle) {
    const Point& a = mesh.points[triangle[0]];
    return cross(minus(mesh.points[triangle[1]], a), minus(mesh.points[triangle[2]], a));
}

// Size of a voxel along x, y and z in mm, or 1 if unknown.
std::array<double, 3> voxel_mm(const VolumeGrid& grid) {
    const auto mm = [](double um) { return um > 0 ? um / 1000 : 1; };
    return {mm(grid.spacing_um[1]), mm(grid.spacing_um[2]), mm(grid.spacing_um[0])};
}

std::vector<float> values_of(const Volume& volume) {
    constexpr float outside = -std::numeric_limits<float>::infinity();
    std::vector<float> values(index(volume.grid.voxels()));
    const auto scale = static_cast<float>(volume.grid.scale), offset = static_cast<float>(volume.grid.offset);
    with_voxels(volume, [&](const auto* codes) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float value = static_cast<float>(codes[i]) * scale + offset;
            values[i] = std::isnan(value) ? outside : value;
        }
    });
    return values;
}

// ---- Isosurface

// Corners of a cube are numbered by bits: 1 along depth, 2 along the A-scans, 4 along the B-scans. Each of the six
// tetrahedra goes from corner 0 to corner 7 along three axes in one of their orders. The order of its corners makes it
// right-handed in (x, y, z).
constexpr std::array<std::array<int, 4>, 6> tetrahedra{
    {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}}};

class IsosurfaceMaker {
  public:
    IsosurfaceMaker(const Volume& volume, double level)
        : values_(values_of(volume)),
          level_(static_cast<float>(level)), size_{volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans},
          mm_(voxel_mm(volume.grid)),
          first_row_(volume.grid.spacing_um[0] > 0 ? volume.grid.first_depth_um / volume.grid.spacing_um[0] : 0) {
        const std::size_t slice_points = index((size_[0] + 2) * (size_[1] + 2));
        for (std::vector<std::uint32_t>& slice : edges_) slice.assign(slice_points * 8, none);
    }

    Mesh run(Progress& progress) {
        progress.begin("isosurface", size_[2] + 1, "B-scans");
        for (std::int64_t b = -1; b < size_[2]; ++b) {
            std::ranges::fill(edges_[index((b + 3) % 2)], none);  // of the B-scan beyond
            for (std::int64_t a = -1; a < size_[1]; ++a) add_column(a, b);
            progress.advance(1);
        }
        progress.end();
        return std::move(mesh_);
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    float value(std::int64_t z, std::int64_t a, std::int64_t b) const {
        if (z < 0 || a < 0 || b < 0 || z >= size_[0] || a >= size_[1] || b >= size_[2])
            return -std::numeric_limits<float>::infinity();
        return values_[index((b * size_[1] + a) * size_[0] + z)];
    }

    // The cubes above four neighbouring A-scans.
    void add_column(std::int64_t a, std::int64_t b) {
        for (std::int64_t z = -1; z < size_[0]; ++z) {
            std::array<float, 8> corners{};
            int above = 0;
            for (int corner = 0; corner < 8; ++corner) {
                corners[index(corner)] = value(z + (corner & 1), a + (corner >> 1 & 1), b + (corner >> 2));
                above += corners[index(corner)] > level_ ? 1 : 0;
            }
            if (above == 0 || above == 8) continue;
            for (const std::array<int, 4>& tetrahedron : tetrahedra) add_tetrahedron(tetrahedron, corners, {z, a, b});
        }
    }

    // Puts the corners above the level first. An even permutation keeps the tetrahedron right-handed.
    void add_tetrahedron(std::array<int, 4> c, const std::array<float, 8>& corners,
                         const std::array<std::int64_t, 3>& cube) {
        const auto is_above = [&](int corner) { return corners[index(corner)] > level_; };
        const auto above = std::ranges::count_if(c, is_above);
        if (above == 0 || above == 4) return;
        int swaps = 0;
        for (std::size_t first = 0; first < index(above); ++first) {
            std::size_t found = first;
            while (!is_above(c[found])) ++found;
            if (found == first) continue;
            std::swap(c[first], c[found]);
            ++swaps;
        }
        if (swaps % 2 == 1) above == 1 ? std::swap(c[2], c[3]) : std::swap(c[0], c[1]);
        const auto cut = [&](int i, int j) { return cut_of(c[index(i)], c[index(j)], corners, cube); };
        if (above == 1) {
            add({cut(0, 1), cut(0, 2), cut(0, 3)});
        } else if (above == 3) {
            add({cut(0, 3), cut(1, 3), cut(2, 3)});
        } else {
            const std::uint32_t ac = cut(0, 2), ad = cut(0, 3), bc = cut(1, 2), bd = cut(1, 3);
            add({ac, ad, bd});
            add({ac, bd, bc});
        }
    }

    void add(const std::array<std::uint32_t, 3>& triangle) { mesh_.triangles.push_back(triangle); }

    // Returns the point where the level cuts an edge. Each edge belongs to its lower corner: the other corner's bits
    // contain those of the lower one, so that their difference numbers the edge.
    std::uint32_t cut_of(int one, int other, const std::array<float, 8>& corners,
                         const std::array<std::int64_t, 3>& cube) {
        const int low = std::min(one, other), high = std::max(one, other);
        const std::int64_t z = cube[0] + (low & 1), a = cube[1] + (low >> 1 & 1), b = cube[2] + (low >> 2);
        std::uint32_t& point = edges_[index((b + 2) % 2)][index(((a + 1) * (size_[0] + 2) + z + 1) * 8 + (high - low))];
        if (point != none) return point;
        if (mesh_.points.size() >= none) {
            throw Error(ErrorCode::bad_setting, "the mesh has more than 2^32 points", "level",
                        "choose another level, filter the volume or cut it");
        }
        const float t = share_along(corners[index(low)], corners[index(high)]);
        const int direction = high - low;
        mesh_.points.push_back({coordinate(a, direction >> 1 & 1, t, mm_[0]), coordinate(b, direction >> 2, t, mm_[1]),
                                coordinate(static_cast<double>(z) + first_row_, direction & 1, t, mm_[2])});
        return point = static_cast<std::uint32_t>(mesh_.points.size() - 1);
    }

    // Kept off the corners, so that no triangle collapses to a point. At the border of the volume: half way.
    float share_along(float low, float high) const {
        if (!std::isfinite(low) || !std::isfinite(high)) return 0.5F;
        return std::clamp((level_ - low) / (high - low), 1e-3F, 1 - 1e-3F);
    }

    static float coordinate(double position, int direction, float t, double mm) {
        return static_cast<float>((position + (direction != 0 ? static_cast<double>(t) : 0)) * mm);
    }

    std::vector<float> values_;
    float level_;
    std::array<std::int64_t, 3> size_;
    std::array<double, 3> mm_;
    double first_row_;
    std::array<std::vector<std::uint32_t>, 2> edges_;  // point of each edge of two neighbouring B-scans, or none
    Mesh mesh_{.name = "isosurface"};
};

}  // namespace

double Mesh::area() const {
    double sum = 0;
    for (const auto& triangle : triangles) {
        const std::array<double, 3> n = normal(*this, triangle);
        sum += std::sqrt(dot(n, n)) / 2;
    }
    return sum;
}

double Mesh::volume() const {
    double sum = 0;
    for (const auto& triangle : triangles)
        sum += dot(minus(points[triangle[0]], points[0]), normal(*this, triangle)) / 6;
    return sum;
}

Mesh isosurface(const Volume& volume, double level, Progress& progress) {
    Mesh mesh = IsosurfaceMaker(volume, level).run(progress);
    const auto [min, max] = min_and_max(volume);
    const auto value = [&](double code) { return code * volume.grid.scale + volume.grid.offset; };
    if (mesh.triangles.empty() || level < value(min)) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("{:g} is not between the min and max value, {:g} and {:g}", level, value(min), value(max)),
            "level", "choose a value between them");
    }
    return mesh;
}

std::vector<Mesh> sheets_of(const Surfaces& surfaces, const VolumeGrid& grid) {
    // Colours of Paul Tol's scheme "bright", which people with colour vision deficiencies can tell apart.
    constexpr std::array<std::array<std::uint8_t, 3>, 7> colours{{{68, 119, 170},
                                                                  {238, 102, 119},
                                                                  {34, 136, 51},
                                                                  {204, 187, 68},
                                                                  {102, 204, 238},
                                                                  {170, 51, 119},
                                                                  {187, 187, 187}}};
    const std::array<double, 3> mm = voxel_mm(grid);
    const DepthScale depth(grid);
    std::vector<Mesh> meshes;
    for (const Surface& surface : surfaces.all) {
        Mesh mesh{.name = surface.name, .colour = colours[meshes.size() % colours.size()]};
        constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
        std::vector<std::uint32_t> number(surface.rows.size(), none);
        for (std::int64_t i = 0; i < surfaces.lines(); ++i) {
            const float row = surface.rows[index(i)];
            if (std::isnan(row)) continue;
            number[index(i)] = static_cast<std::uint32_t>(mesh.points.size());
            const double z = depth.is_known() ? depth.depth(row) / 1000 : static_cast<double>(row);
            mesh.points.push_back({static_cast<float>(static_cast<double>(i % surfaces.a_scans) * mm[0]),
                                   static_cast<float>(static_cast<double>(i / surfaces.a_scans) * mm[1]),
                                   static_cast<float>(z)});
        }
        for (std::int64_t b = 0; b + 1 < surfaces.b_scans; ++b) {
            for (std::int64_t a = 0; a + 1 < surfaces.a_scans; ++a) {
                const std::uint32_t* near = &number[index(b * surfaces.a_scans + a)];
                const std::uint32_t* far = near + surfaces.a_scans;
                if (near[0] == none || near[1] == none || far[0] == none || far[1] == none) continue;
                mesh.triangles.push_back({near[0], far[1], near[1]});  // seen from above: smaller depths
                mesh.triangles.push_back({near[0], far[0], far[1]});
            }
        }
        meshes.push_back(std::move(mesh));
    }
    return meshes;
}

// ---- Files

static_assert(std::endian::native == std::endian::little);

template <class T>
static void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

static std::string stl_bytes(const std::vector<Mesh>& meshes) {
    std::string bytes(mesh_mark);
    bytes.resize(80, ' ');
    std::size_t triangles = 0;
    for (const Mesh& mesh : meshes) triangles += mesh.triangles.size();
    if (triangles > std::numeric_limits<std::uint32_t>::max())
        throw Error(ErrorCode::bad_setting, "more than 2^32 triangles", "output", "write .ply, or cut the volume");
    append(bytes, static_cast<std::uint32_t>(triangles));
    for (const Mesh& mesh : meshes) {
        for (const auto& triangle : mesh.triangles) {
            const std::array<double, 3> n = normal(mesh, triangle);
            const double length = std::max(std::sqrt(dot(n, n)), 1e-300);
            for (const double part : n) append(bytes, static_cast<float>(part / length));
            for (const std::uint32_t point : triangle) append(bytes, mesh.points[point]);
            append(bytes, std::uint16_t{0});
        }
    }
    return bytes;
}

static std::string ply_bytes(const std::vector<Mesh>& meshes) {
    std::size_t points = 0, triangles = 0;
    for (const Mesh& mesh : meshes) {
        points += mesh.points.size();
        triangles += mesh.triangles.size();
    }
    std::string bytes = fmt::format(
        "ply\nformat binary_little_endian 1.0\ncomment Echolux, millimetres\nelement vertex {}\nproperty float x\n"
        "property float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
        "element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        points, triangles);
    for (const Mesh& mesh : meshes) {
        for (const Point& point : mesh.points) {
            append(bytes, point);
            append(bytes, mesh.colour);
        }
    }
    std::uint32_t first = 0;
    for (const Mesh& mesh : meshes) {
        for (const auto& triangle : mesh.triangles) {
            append(bytes, std::uint8_t{3});
            for (const std::uint32_t point : triangle) append(bytes, first + point);
        }
        first += static_cast<std::uint32_t>(mesh.points.size());
    }
    return bytes;
}

// Linear part of an sRGB colour (IEC 61966-2-1).
static double linear(double part) {
    return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

// One mesh of a glTF file: its data is appended to `buffer`, its descriptions to `scene`. glTF has metres and y
// upwards; the node turns the volume so that depth points down.
static void add_gltf(const Mesh& mesh, nlohmann::ordered_json& scene, std::string& buffer) {
    const std::size_t number = scene["meshes"].size();
    const auto view = [&](std::size_t offset, std::size_t length, int target) {
        scene["bufferViews"].push_back(
            {{"buffer", 0}, {"byteOffset", offset}, {"byteLength", length}, {"target", target}});
    };
    Point low, high;
    low.fill(std::numeric_limits<float>::max());
    high.fill(std::numeric_limits<float>::lowest());
    const std::size_t points_at = buffer.size();
    for (const Point& point : mesh.points) {
        append(buffer, point);
        for (std::size_t i = 0; i < 3; ++i) {
            low[i] = std::min(low[i], point[i]);
            high[i] = std::max(high[i], point[i]);
        }
    }
    view(points_at, buffer.size() - points_at, 34962);
    const std::size_t triangles_at = buffer.size();
    for (const auto& triangle : mesh.triangles) append(buffer, triangle);
    view(triangles_at, buffer.size() - triangles_at, 34963);
    scene["accessors"].push_back({{"bufferView", 2 * number},
                                  {"componentType", 5126},
                                  {"count", mesh.points.size()},
                                  {"type", "VEC3"},
                                  {"min", low},
                                  {"max", high}});
    scene["accessors"].push_back({{"bufferView", 2 * number + 1},
                                  {"componentType", 5125},
                                  {"count", 3 * mesh.triangles.size()},
                                  {"type", "SCALAR"}});
    std::array<double, 4> colour{0, 0, 0, 1};  // linear, from sRGB
    for (std::size_t i = 0; i < 3; ++i) colour[i] = linear(mesh.colour[i] / 255.0);
    scene["materials"].push_back(
        {{"name", mesh.name},
         {"doubleSided", true},
         {"pbrMetallicRoughness", {{"baseColorFactor", colour}, {"metallicFactor", 0}, {"roughnessFactor", 0.7}}}});
    scene["meshes"].push_back(
        {{"name", mesh.name},
         {"primitives",
          {{{"attributes", {{"POSITION", 2 * number}}}, {"indices", 2 * number + 1}, {"material", number}}}}});
    scene["nodes"].push_back({{"name", mesh.name},
                              {"mesh", number},
                              {"scale", {0.001, 0.001, 0.001}},
                              {"rotation", {std::sqrt(0.5), 0, 0, std::sqrt(0.5)}}});
    scene["scenes"][0]["nodes"].push_back(number);
}

static void append_chunk(std::string& bytes, std::string chunk, const char* type, char filling) {
    chunk.resize((chunk.size() + 3) / 4 * 4, filling);
    append(bytes, static_cast<std::uint32_t>(chunk.size()));
    bytes.append(type, 4);
    bytes += chunk;
}

static std::string glb_bytes(const std::vector<Mesh>& meshes) {
    nlohmann::ordered_json scene{{"asset", {{"version", "2.0"}, {"generator", "Echolux"}}}, {"scene", 0}};
    std::string buffer;
    for (const Mesh& mesh : meshes) {
        if (!mesh.triangles.empty()) add_gltf(mesh, scene, buffer);
    }
    scene["buffers"] = {{{"byteLength", buffer.size()}}};
    std::string chunks;
    // Names from files may not be UTF-8.
    append_chunk(chunks, scene.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), "JSON", ' ');
    append_chunk(chunks, std::move(buffer), "BIN\0", '\0');
    if (chunks.size() > std::numeric_limits<std::uint32_t>::max() - 12) {
        throw Error(ErrorCode::bad_setting, "the mesh exceeds the 4 GiB of a .glb file", "output",
                    "write .ply, or filter or cut the volume");
    }
    std::string bytes("glTF\x02\0\0\0", 8);
    append(bytes, static_cast<std::uint32_t>(12 + chunks.size()));
    return bytes + chunks;
}

const std::vector<std::string>& mesh_endings() {
    static const std::vector<std::string> endings{".stl", ".ply", ".glb"};
    return endings;
}

std::string mesh_bytes(const std::vector<Mesh>& meshes, std::string_view ending) {
    if (ending == ".stl") return stl_bytes(meshes);
    if (ending == ".ply") return ply_bytes(meshes);
    if (ending == ".glb") return glb_bytes(meshes);
    throw Error(ErrorCode::bad_setting, fmt::format("\"{}\" is not the ending of a mesh file", ending), "output",
                "use .stl, .ply or .glb");
}

}  // namespace echolux
