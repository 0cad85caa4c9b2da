// Operation `mesh`: an isosurface of a volume, or its segmented surfaces, as triangles.
#include "engine/mesh/mesh.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/operations/operation.h"
#include "compute/plural.h"
#include "engine/io/output_rule.h"

namespace echolux {
namespace {

bool is_own_mesh(const std::filesystem::path& path) {
    return begins_with(path, mesh_mark) || holds_near_an_end(path, mesh_mark) ||
           holds_near_an_end(path, "\"generator\":\"echolux\"");
}

struct MeshOperation {
    VolumeInput input, surfaces;
    double level = 0;
    OperationOutput output;

    std::int64_t points = 0, triangles = 0;
    std::optional<double> area_mm2, volume_mm3;  // known voxel size; volume: of an isosurface

    static void describe(OperationParts<MeshOperation>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        const bool is_in_mm = std::ranges::all_of(volume->grid.spacing_um, [](double um) { return um > 0; });
        if (!is_in_mm)
            context.warn({input.name() + ": a voxel size is unknown, lengths along that axis are in voxels"});
        std::vector<Mesh> meshes;
        if (surfaces.is_given()) {
            meshes = sheets_of(read_surfaces(surfaces.names.front(), volume->grid), volume->grid);
        } else {
            meshes.push_back(isosurface(*volume, level, context.progress));
            if (is_in_mm) volume_mm3 = meshes.front().volume();
        }
        double area = 0;
        for (const Mesh& mesh : meshes) {
            points += std::ssize(mesh.points);
            triangles += std::ssize(mesh.triangles);
            area += mesh.area();
        }
        if (triangles == 0) {
            throw Error(ErrorCode::bad_setting, "no surface has four neighbouring positions", surfaces.name(),
                        "segment with other settings");
        }
        if (is_in_mm) area_mm2 = area;
        context.say(plural(triangles, "triangles") + (is_in_mm ? fmt::format(", {:.4g} mm2", area) : ""));
        const std::string ending = output.file.empty() ? ".ply" : output.file.extension().string();
        context.write(output, mesh_bytes(meshes, ending));
    }
};

void MeshOperation::describe(OperationParts<MeshOperation>& parts) {
    parts.info.summary = "Isosurface or segmented surfaces as STL, PLY or GLB";
    parts.info.examples = {"input=v.nrrd level=20 output=surface.stl",
                           "input=v.nrrd surfaces=layers.nrrd output=layers.glb"};
    parts.info.details =
        "Coordinates are millimetres: x along the A-scans, y across the B-scans, z the depth. The isosurface is closed "
        "and manifold (marching tetrahedra). Filter noisy volumes first. See docs/meshes.md.";
    parts.input({.name = "input", .help = "volume file or scan", .has_stored_as = false}, &MeshOperation::input)
        .input({.name = "surfaces",
                .help = "surfaces of `segment` in the volume, instead of an isosurface",
                .is_required = false,
                .takes_scans = false,
                .is_file = true},
               &MeshOperation::surfaces)
        .argument(number("level", &MeshOperation::level, -1e30, 1e30, "", Effect::file,
                         "value at the isosurface, in the unit of the volume"))
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "mesh: .stl and .ply in millimetres, .glb in metres",
                 .is_required = true,
                 .is_own = is_own_mesh,
                 .endings = mesh_endings()},
                &MeshOperation::output)
        .result("points", "", "number of points", &MeshOperation::points)
        .result("triangles", "", "number of triangles", &MeshOperation::triangles)
        .result("area_mm2", "mm2", "area of all triangles", &MeshOperation::area_mm2)
        .result("volume_mm3", "mm3", "enclosed by the isosurface", &MeshOperation::volume_mm3);
}

}  // namespace

ECHOLUX_OPERATION(mesh, MeshOperation)

}  // namespace echolux
