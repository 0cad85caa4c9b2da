#include "app/movie/movie_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/vec3.hpp>
#include <ranges>

#include "app/settings/key_frame_file.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "render/camera.h"

namespace echolux {
namespace {

constexpr double turn_s = 10;  // of a turntable without a given length

std::vector<std::string> parts_of(const std::string& text) {
    std::error_code none;
    if (std::filesystem::is_regular_file(text, none)) return {text};  // a file name may contain a +
    std::vector<std::string> parts;
    if (text.empty()) parts.emplace_back();
    for (const auto part : std::views::split(text, '+')) parts.emplace_back(part.begin(), part.end());
    return parts;
}

void add_part(MoviePath& path, const std::string& part, const std::string& key_frames) {
    const auto refuse = [&](const char* problem, const char* remedy) {
        throw Error(ErrorCode::bad_setting, fmt::format("\"{}\" {}", part, problem), "path", remedy);
    };
    const auto set = [&](bool& is_there) {
        if (is_there) refuse("is given twice", "give it once");
        is_there = true;
    };
    if (part == "turntable") return set(path.turns);
    if (part == "time") return set(path.goes_through_time);
    if (part == "sweep") return set(path.sweeps);
    if (path.keys) refuse("is a second file of key frames", "put all key frames into one file");
    if (part == "keys" && !key_frames.empty()) {
        path.keys = joined(key_frames_of(key_frames, "key_frames"));
        return;
    }
    if (std::filesystem::path(part).extension() != ".toml")
        refuse("is not a movie path", "choose turntable, time, sweep or a .toml file of key frames, joined with +");
    path.keys = read_key_frames(part);
}

// Offset from the middle of the volume, through the centres of the layers from first to last.
double offset_at(double part, const glm::dvec3& normal, const VolumeGrid& grid) {
    const std::array<double, 3> edges = voxel_edges(grid);
    const glm::dvec3 reach = volume_extent(grid) - glm::dvec3(edges[0], edges[1], edges[2]);
    return (part - 0.5) * glm::dot(glm::abs(normal), reach);
}

glm::dvec3 normal_along(SweepAxis axis) {
    glm::dvec3 normal(0);
    normal[static_cast<int>(axis)] = 1;
    return normal;
}

// Normal of the section in the view.
glm::dvec3 section_normal(const View& view) {
    switch (view.plane) {
        case SlicePlane::b_scan: return {0, 0, 1};
        case SlicePlane::en_face: return {1, 0, 0};
        case SlicePlane::side: return {0, 1, 0};
        case SlicePlane::oblique: break;
    }
    return glm::normalize(glm::dvec3(view.plane_normal[0], view.plane_normal[1], view.plane_normal[2]));
}

}  // namespace

MoviePath movie_path(const std::string& text, const std::string& key_frames) {
    MoviePath path;
    for (const std::string& part : parts_of(text)) add_part(path, part, key_frames);
    return path;
}

MoviePlan::MoviePlan(const MovieSpec& spec, const View& view, const MovieTimePoints& volumes)
    : path_(movie_path(spec.path, spec.key_frames)), view_(view), volumes_(volumes), along_(spec.along),
      plane_(spec.plane) {
    if (spec.step_s > 0) volumes_.step_s = spec.step_s;
    if (path_.goes_through_time && volumes_.steps < 2) {
        throw Error(ErrorCode::bad_setting, "time needs several volumes, but there is only one", "path",
                    "give a 4-D file, a folder of volumes, or a scan with several volumes");
    }
    if (path_.sweeps && view.show == ViewContent::en_face) {
        throw Error(ErrorCode::bad_setting, "sweep has no plane to move in an en-face projection", "path",
                    "set view.show = slice and view.plane = en-face");
    }
    set_length(spec);
    if (path_.turns) fix_fit();
    if (!view_.time_stamp) return;
    if (path_.goes_through_time && volumes_.step_s == 0) {
        throw Error(ErrorCode::bad_setting, "the series does not give the time between its volumes", "view.time_stamp",
                    "add `step_time_s`, or leave the time stamp out");
    }
    view_.time_rate = time_rate();
}

void MoviePlan::set_length(const MovieSpec& spec) {
    if (!spec.fps.empty() && spec.frames > 0 && spec.seconds > 0) {
        throw Error(ErrorCode::bad_setting, "length, rate and number of pictures cannot all be given", "frames",
                    "leave out one of `frames`, `seconds` and `fps`");
    }
    constexpr double parts = 1e6;  // of a second: resolution of frame rates
    if (!spec.fps.empty())
        rate_ = parsed_frame_rate(spec.fps, "fps");
    else if (spec.frames > 0 && spec.seconds > 0)
        rate_ = frame_rate(spec.frames * std::int64_t{1'000'000}, std::llround(spec.seconds * parts), "seconds");
    if (spec.frames > 0)
        frames_ = spec.frames;
    else
        frames_ = spec.seconds > 0 ? std::llround(spec.seconds * rate_.per_s()) : natural_frames();
    if (frames_ >= 1 && frames_ <= max_movie_frames) return;
    throw Error(ErrorCode::bad_setting, fmt::format("a movie of {} is not possible", plural(frames_, "pictures")),
                spec.frames > 0 ? "frames" : "seconds", fmt::format("choose 1 to {}", max_movie_frames));
}

// Default length: key frames at their own times, each time point once, or each layer once.
std::int64_t MoviePlan::natural_frames() const {
    if (path_.keys) return std::llround(path_.keys->last_s() * rate_.per_s()) + 1;
    if (path_.goes_through_time) return volumes_.steps;
    if (path_.sweeps && !path_.turns) return layers();
    return std::llround(turn_s * rate_.per_s());
}

std::int64_t MoviePlan::layers() const {
    const glm::dvec3 normal = view_.show == ViewContent::slice ? section_normal(view_) : normal_along(along_);
    const glm::dvec3 counts(volumes_.grid.depth, volumes_.grid.a_scans, volumes_.grid.b_scans);
    return std::max<std::int64_t>(2, std::llround(glm::dot(glm::abs(normal), counts)));
}

// A volume fitted separately to each picture would change its size during a turn, so use the scale that fits all of
// them.
void MoviePlan::fix_fit() {
    if (!view_.fit || view_.show != ViewContent::volume || view_.projection == Projection::panorama) return;
    const auto length_per_pixel = [&](const View& view) {
        return Camera(eyes_of(view).front(), volume_extent(volumes_.grid)).length_per_pixel();
    };
    View free = view_;
    free.fit = false;
    double coarsest = 0;
    for (int step = 0; step < 360; ++step) {  // degrees
        View turned = view_;
        turned.azimuth_deg = angles_of(view_).azimuth_deg + step;
        turned.look = Look::free;
        coarsest = std::max(coarsest, length_per_pixel(turned));
    }
    free.zoom *= length_per_pixel(free) / coarsest;
    view_ = free;
}

double MoviePlan::time_rate() const {
    if (!path_.goes_through_time) return 0;
    return static_cast<double>(volumes_.steps) * volumes_.step_s / seconds();
}

// Divides the frames evenly among the time points, in integers, so that each is shown for the same number of frames or
// one more.
std::int64_t MoviePlan::step(std::int64_t frame) const {
    return path_.goes_through_time ? frame * volumes_.steps / frames_ : 0;
}

// The last picture is one step before the first, so that the movie can loop.
void MoviePlan::turn(View& view, double frame) const {
    const Angles angles = angles_of(view);
    view.look = Look::free;
    view.azimuth_deg = angles.azimuth_deg + 360 * frame / static_cast<double>(frames_);
    view.elevation_deg = angles.elevation_deg;
    view.roll_deg = angles.roll_deg;
    if (view.azimuth_deg > 180) view.azimuth_deg -= 360;
}

void MoviePlan::sweep(View& view, double frame) const {
    const double part = frames_ > 1 ? std::min(frame / static_cast<double>(frames_ - 1), 1.0) : 0.5;
    if (view.show == ViewContent::slice) {
        view.plane_offset_um = offset_at(part, section_normal(view), volumes_.grid);
        return;
    }
    const glm::dvec3 normal = normal_along(along_);
    const double offset = offset_at(part, normal, volumes_.grid);
    std::vector<double>& planes = plane_ == SweptPlane::slice ? view.slices : view.clip_planes;
    planes.insert(planes.end(), {normal.x, normal.y, normal.z, offset});
}

// Time since the first picture, for objects that move in it: data time if the movie goes through time, otherwise movie
// time.
double MoviePlan::passed_s(double frame) const {
    if (!path_.goes_through_time || volumes_.step_s <= 0) return frame / rate_.per_s();
    return frame / static_cast<double>(frames_) * static_cast<double>(volumes_.steps) * volumes_.step_s;
}

View MoviePlan::view(std::int64_t frame, double later) const {
    View view = view_;
    const double at = static_cast<double>(frame) + later;
    if (path_.keys) view = path_.keys->at(view, at / rate_.per_s());
    if (path_.turns) turn(view, at);
    if (path_.sweeps) sweep(view, at);
    if (path_.goes_through_time && volumes_.step_s > 0)
        view.time_s = view_.time_s + static_cast<double>(step(frame)) * volumes_.step_s;
    if (!view.flow_streaks.empty()) view.streak_time_s += passed_s(at);
    view.frame = static_cast<std::uint32_t>(frame);
    return view;
}

}  // namespace echolux
