#include "render/progressive.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "render/camera.h"

namespace echolux {
namespace {

constexpr double rest_s = 0.08;       // without a change until the full picture is begun
constexpr double coarsest_pitch = 2;  // pixels
constexpr double min_coarse_pitch = 1.25;
constexpr double longest_step = 1.75;  // voxels: four such steps are what the smallest bricks vouch for

double frame_s(const View& view) {
    return 1e-3 * view.frame_ms;
}

// Of the time for a frame the picture itself says nothing.
bool is_same(const View& a, const View& b) {
    return a.transfer_curve == b.transfer_curve && a.own_preset == b.own_preset &&
           std::ranges::all_of(describe<View>(), [&](const Field<View>& field) {
               return field.name == "frame_ms" || field.get(a) == field.get(b);
           });
}

// Few paths are noise: they are seen when they are twice as many, later when there are some more.
bool is_worth_showing(const View& view, std::int64_t passes) {
    constexpr std::int64_t some = 64;
    if (view.mode != ViewMode::traced || passes == passes_at_rest(view)) return true;
    return passes < some ? std::has_single_bit(static_cast<std::uint64_t>(passes)) : passes % some == 0;
}

// What is traced at rest is cast while it moves. Where light is summed along rays, samples need not lie nearer to each
// other than rays do.
View moving_view(View view, const VolumeGrid& grid, double pitch) {
    if (view.mode == ViewMode::traced) view.mode = ViewMode::composite;
    if (pitch == 1 || view.mode != ViewMode::composite) return view;
    const double apart = pitch * Camera(view, volume_extent(grid)).length_per_pixel();
    view.step = std::max(view.step, std::min(apart / std::ranges::min(voxel_edges(grid)), longest_step));
    return view;
}

}  // namespace

bool ProgressivePicture::is_of(const View& view) const {
    return shown_.passes > 0 && is_same(view, view_);
}

bool ProgressivePicture::has_changed(const View& view, const SceneSerials& serials) const {
    return serials != serials_ || !is_of(view);
}

// What was submitted last is finished too: at rest nothing is queued that a movement would have to wait for.
bool ProgressivePicture::is_resting(double now_s) const {
    return now_s - changed_s_ >= rest_s && queue_.is_done(submitted_);
}

bool ProgressivePicture::is_due(const View& view, const SceneSerials& serials, double now_s) const {
    return has_changed(view, serials) || (!shown_.is_final && is_resting(now_s));
}

const ShownPicture& ProgressivePicture::update(const View& view, const Scene& scene, const SceneSerials& serials,
                                               double now_s, const gpu::Chain& chain) {
    try {
        advance(view, scene, serials, now_s, chain);
    } catch (...) {
        begin_anew();
        throw;
    }
    return shown_;
}

void ProgressivePicture::advance(const View& view, const Scene& scene, const SceneSerials& serials, double now_s,
                                 const gpu::Chain& chain) {
    view_.frame_ms = view.frame_ms;
    if (has_changed(view, serials)) {
        view_ = view;
        serials_ = serials;
        changed_s_ = now_s;
        prepare_accumulation();
        move(scene, chain);
    } else if (!shown_.is_final && is_resting(now_s)) {
        refine(scene, chain);
    }
}

// Of what failed, a part may have been submitted or nothing, not even the accumulation buffer's first use.
void ProgressivePicture::begin_anew() {
    shown_ = {};
    if (accumulation_) accumulation_->is_fresh = true;
}

void ProgressivePicture::prepare_accumulation() {
    if (accumulation_ && accumulation_->columns() == view_.width && accumulation_->rows() == view_.height) return;
    queue_.wait_for_all();  // what casts on it, of passes that failed too
    accumulation_.reset();
    accumulation_.emplace(device_, view_.width, view_.height);
}

std::optional<double> ProgressivePicture::expected_seconds(const Scene& scene, double pitch) {
    const View view = moving_view(view_, scene.grid(), pitch);
    return raycaster_.expected_seconds(
        {.scene = scene, .view = view, .pass = {.accumulation = &*accumulation_, .pitch = pitch}});
}

// In full, or with as many coarse rays as there is time for: it goes with their number.
double ProgressivePicture::pitch_for(const Scene& scene) {
    const double frame = frame_s(view_);
    const auto full = expected_seconds(scene, 1);
    const auto coarsest = expected_seconds(scene, coarsest_pitch);
    if (!full || !coarsest) return coarsest_pitch;
    if (*full <= frame) return 1;
    return std::clamp(coarsest_pitch * std::sqrt(*coarsest / frame), min_coarse_pitch, coarsest_pitch);
}

void ProgressivePicture::move(const Scene& scene, const gpu::Chain& chain) {
    const double pitch = pitch_for(scene);
    const View view = moving_view(view_, scene.grid(), pitch);
    const Shot shot{.scene = scene, .view = view, .pass = {.accumulation = &*accumulation_, .pitch = pitch}};
    submitted_ = raycaster_.cast(shot, chain).value;
    group_rows_cast_ = 0;
    passes_ = pitch == 1 && view.mode == view_.mode ? 1 : 0;
    show(scene, view, pitch);
}

// A part of the next pass; the first in full is the one without jitter. What it makes is shown when it is whole.
void ProgressivePicture::refine(const Scene& scene, const gpu::Chain& chain) {
    Shot shot{.scene = scene, .view = view_, .pass = {.accumulation = &*accumulation_, .number = passes_}};
    const std::int64_t rows = shot.group_rows();
    shot.part.first = group_rows_cast_;
    shot.part.end = std::min(rows, group_rows_cast_ + raycaster_.group_rows_within(frame_s(view_), shot));
    submitted_ = raycaster_.cast(shot, chain).value;
    group_rows_cast_ = shot.part.end % rows;
    if (group_rows_cast_ != 0) return;
    ++passes_;
    if (is_worth_showing(view_, passes_)) show(scene, view_, 1);
}

void ProgressivePicture::show(const Scene& scene, const View& view, double pitch) {
    const Shot shot{.scene = scene, .view = view, .pass = {.accumulation = &*accumulation_, .pitch = pitch}};
    const Shot whole{.scene = scene, .view = view_};
    shown_.picture = resolver_.resolve(pictures_, *accumulation_, pitch, whole.region, sheet_of(whole),
                                       PictureDepth::codes, toning_of(shot));
    shown_.pitch = pitch;
    shown_.passes = std::max<std::int64_t>(passes_, 1);
    shown_.is_final = passes_ >= passes_at_rest(view_);
    submitted_ = shown_.picture.value;
}

}  // namespace echolux
