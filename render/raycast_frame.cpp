#include "render/raycast_frame.h"

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/vec4.hpp>
#include <numeric>
#include <optional>

#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/view/background.h"
#include "shaders/shared/bricks.h"

namespace echolux {
namespace {

constexpr double min_transmittance = 0.002;  // half a step of an 8-bit picture
constexpr double elsewhere = 1e12;           // in squared pixels: too far away to be visible
constexpr double box_line_width = 1.5;       // in pixels, for a picture height of 1024

// Thin runs may use steps of up to two voxels: 1, 2 or 4 samples per step.
double thin_stride(const View& view) {
    return std::exp2(std::clamp(std::floor(std::log2(2 / view.step)), 0.0, 2.0));
}

glm::vec4 packed(const glm::dvec3& v, double w = 0) {
    return glm::vec4(glm::dvec4(v, w));
}
glm::vec4 packed(double x, double y, double z, double w) {
    return glm::vec4(glm::dvec4(x, y, z, w));
}

void set_rays(shared::RaycastFrame& frame, const Camera::Rays& rays) {
    frame.eye = packed(rays.eye);
    frame.eye_x = packed(rays.eye_x);
    frame.eye_y = packed(rays.eye_y);
    frame.ray = packed(rays.ray);
    frame.ray_x = packed(rays.ray_x);
    frame.ray_y = packed(rays.ray_y);
}

void set_lookup(shared::RaycastFrame& frame, const VolumeTexture& volume, const View& view,
                const TransferFunction& function) {
    const auto [low, high] = function.range;
    const double per_level = (shared::transfer_entries - 1) / (high - low);
    // log2(e) below: shaders compute transmittance with exp2.
    frame.lookup = packed(volume.scale() * per_level, (volume.offset() - low) * per_level,
                          view.opacity * std::log2(std::exp(1.0)) / function.length,
                          (isovalue_of(view, function) - volume.offset()) / volume.scale());
    frame.values = packed(volume.scale(), volume.offset(), 0, 0);
}

void set_colours(shared::RaycastFrame& frame, const View& view, const TransferFunction& function) {
    const glm::dvec3 background(view.background[0], view.background[1], view.background[2]);
    frame.background = packed(background, view.transparent ? 0 : 1);
    const double width = std::max(1.0, box_line_width * static_cast<double>(std::min(view.width, view.height)) / 1024);
    frame.box_colour = packed(glm::dvec3(has_dark_background(view) ? 0.55 : 0.35), width);
    // Isosurfaces have the colour of the upper part of the range.
    const TransferNode surface = function.at(0.75);
    frame.surface_colour = packed(surface.red, surface.green, surface.blue, 1);
}

// Runs of samples are short enough for the brick at their centre, including those of flow and channels, to cover them.
// Their length is a multiple of the longer steps.
void set_runs(shared::RaycastFrame& frame, const Scene& scene, const View& view) {
    const VolumeGrid& grid = scene.volume.grid();
    const Bricks& bricks = scene.volume.bricks();
    const Bricks& of_flow = scene.flow != nullptr ? scene.flow->bricks() : bricks;
    frame.bricks = packed(glm::dvec3(grid.depth, grid.a_scans, grid.b_scans) / double(bricks.edge()));
    constexpr double together = 4;  // samples fetched at once: as many long steps must fit into a run
    int least = std::min(bricks.reach(), of_flow.reach());
    for (const SceneChannel& channel : scene.channels) {
        // labels read one voxel further than interpolation
        const int wider = view.channels.at(channel.place).labels ? 1 : 0;
        least = std::min(least, channel.texture->bricks().reach() - wider);
    }
    const double reach = std::max(1.0, std::floor(least / view.step));
    const double longest = std::exp2(std::floor(std::log2(std::max(1.0, reach / together))));
    const double stride = view.adaptive ? std::min(thin_stride(view), longest) : 1;
    frame.run = packed(reach < together ? reach : reach - std::fmod(reach, together * stride), stride, 0, 0);
}

// A stride near the golden ratio distributes consecutive rows evenly over the picture.
void set_rows(shared::RaycastFrame& frame, const Shot& shot) {
    const std::int64_t rows = shot.group_rows();
    std::int64_t stride = std::max<std::int64_t>(1, std::llround(0.618 * static_cast<double>(rows)));
    while (std::gcd(stride, rows) != 1) ++stride;
    frame.rows = packed(static_cast<double>(rows), static_cast<double>(stride), 0, 0);
}

// The limits exclude unfilled slices, also from interpolation. Includes the low end of the range.
void set_filled(shared::RaycastFrame& frame, const Scene& scene, const TransferFunction& function) {
    const auto slices = static_cast<double>(scene.volume.grid().b_scans);
    const auto filled = static_cast<double>(scene.filled_to);
    const double lowest = (function.range.low - scene.volume.offset()) / scene.volume.scale();
    frame.filled = packed(filled / slices, (filled - 0.5) / slices, lowest, 0);
}

// Sets the four edges along each axis. Edges of faces towards the eye are in front of the volume.
void set_box(shared::RaycastFrame& frame, const Camera& camera, const glm::dvec3& extent, bool is_panorama) {
    for (int i = 0; i < shared::box_edges; ++i) {
        const int axis = i / 4;
        const int b = (axis + 1) % 3;
        const int c = (axis + 2) % 3;
        const int side_b = (i & 1) != 0 ? 1 : -1;
        const int side_c = (i & 2) != 0 ? 1 : -1;
        glm::dvec3 end = 0.5 * extent;
        end[b] *= side_b;
        end[c] *= side_c;
        glm::dvec3 start = end;
        start[axis] = -end[axis];
        const bool front = camera.faces(b, side_b) || camera.faces(c, side_c);
        if (is_panorama) {
            const auto towards = [&](const glm::dvec3& point) { return glm::normalize(point - camera.eye()); };
            frame.edge[i] = packed(towards(start), front ? 0 : elsewhere);
            frame.edge_facts[i] = packed(towards(end), front ? elsewhere : 0);
            continue;
        }
        const std::optional<Camera::Line> line = camera.project_line(start, end);
        if (!line) {  // behind the eye
            frame.edge_facts[i] = packed(0, elsewhere, elsewhere, 0);
            continue;
        }
        const glm::dvec2 along = line->to - line->from;
        frame.edge[i] = packed(line->from.x, line->from.y, along.x, along.y);
        frame.edge_facts[i] =
            packed(1 / std::max(glm::dot(along, along), 1e-12), front ? 0 : elsewhere, front ? elsewhere : 0, 0);
    }
}

}  // namespace

shared::RaycastFrame raycast_frame(const Shot& shot, const TransferFunction& function) {
    const Scene& scene = shot.scene;
    const View& view = shot.view;
    const Region& region = shot.region;
    const VolumeTexture& volume = scene.volume;
    const glm::dvec3 extent = volume_extent(scene.grid());
    const auto edges = voxel_edges(scene.grid());
    const double smallest = std::ranges::min(edges);
    const Camera camera(view, extent);
    shared::RaycastFrame frame{};
    set_rays(frame, camera.rays());
    frame.per_extent = packed(1.0 / extent, view.near_um);
    const glm::dvec3 edge(edges[0], edges[1], edges[2]);
    frame.gradient_step = packed(view.gradient_radius * edge / extent);
    frame.per_difference = packed(smallest / (2 * view.gradient_radius * edge));
    frame.picture = packed(static_cast<double>(view.width), static_cast<double>(view.height), view.step * smallest,
                           view.end_early ? min_transmittance : 0);
    frame.region = packed(static_cast<double>(region.left), static_cast<double>(region.top),
                          static_cast<double>(shot.columns()), static_cast<double>(shot.rows()));
    set_lookup(frame, volume, view, function);
    set_colours(frame, view, function);
    set_rows(frame, shot);
    frame.pass = pass_frame(shot.pass);
    set_runs(frame, scene, view);
    set_filled(frame, scene, function);
    frame.modes = modes_frame(shot);
    frame.light = light_frame(shot, function);
    frame.cut = cut_frame(shot);
    frame.slices = slices_frame(shot);
    frame.flow = flow_frame(shot);
    frame.pages = pages_frame(shot);
    frame.planes = planes_frame(shot);
    frame.trace = trace_frame(shot);
    frame.channels = channels_frame(shot);
    frame.studio = studio_frame(shot);
    set_box(frame, camera, extent, view.projection == Projection::panorama);
    return frame;
}

}  // namespace echolux
