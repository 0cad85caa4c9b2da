#include "render/progressive.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "render/camera.h"

namespace echolux {
namespace {

constexpr double rest_s = 0.08;       // time without a change before the full picture starts
constexpr double coarsest_pitch = 2;  // in pixels
constexpr double min_coarse_pitch = 1.25;
constexpr double longest_step = 1.75;  // in voxels: the smallest bricks cover four such steps

void no_work(const vk::raii::CommandBuffer&) {}

double frame_s(const View& view) {
    return 1e-3 * view.frame_ms;
}

// Few paths are mostly noise. They are shown at each doubling of their number, later at fixed intervals, and on slow
// devices whenever the picture has not changed for a while.
bool is_good_enough(const View& view, std::int64_t passes, double unchanged_s) {
    constexpr std::int64_t interval = 64;
    constexpr double max_unchanged_s = 3;
    if (view.mode != ViewMode::traced || passes == passes_at_rest(view) || unchanged_s >= max_unchanged_s) return true;
    return passes < interval ? std::has_single_bit(static_cast<std::uint64_t>(passes)) : passes % interval == 0;
}

// Returns the view in motion: traced pictures are ray cast, and the step of composites grows up to the distance between
// rays.
View moving_view(View view, const VolumeGrid& grid, double pitch) {
    view.mode = mode_while_cast(view);
    if (pitch == 1 || view.mode != ViewMode::composite) return view;
    const double apart = pitch * Camera(view, volume_extent(grid)).length_per_pixel();
    view.step = std::max(view.step, std::min(apart / std::ranges::min(voxel_edges(grid)), longest_step));
    return view;
}

}  // namespace

// Existing paths can be displayed with other tone settings.
bool ProgressivePicture::is_of(const View& view) const {
    const bool has_paths = view_.mode == ViewMode::traced && passes_ > 0;
    return shown_.passes > 0 && (has_paths ? has_same_paths(view, view_) : is_same(view, view_));
}

bool ProgressivePicture::has_changed(const View& view, const SceneSerials& serials) const {
    return serials != serials_ || !is_of(view);
}

// Waits for the last submission, so that no queued work delays the next motion.
bool ProgressivePicture::is_resting(double now_s) const {
    return now_s - changed_s_ >= rest_s && queue_.is_done(submitted_);
}

bool ProgressivePicture::is_due(const View& view, const SceneSerials& serials, double now_s) const {
    return has_changed(view, serials) || !is_same(view, view_) || (!shown_.is_final && is_resting(now_s));
}

std::int64_t ProgressivePicture::fireflies() {
    if (!hides_fireflies(view_, lit_.paths)) return 0;
    queue_.wait(lit_.light.value);
    return denoiser_.fireflies(*accumulation_);
}

const DisplayedPicture& ProgressivePicture::update(const View& view, const Scene& scene, const SceneSerials& serials,
                                                   double now_s, const gpu::Chain& chain) {
    try {
        advance(view, scene, serials, now_s, chain);
    } catch (...) {
        restart();
        throw;
    }
    return shown_;
}

void ProgressivePicture::advance(const View& view, const Scene& scene, const SceneSerials& serials, double now_s,
                                 const gpu::Chain& chain) {
    view_.frame_ms = view.frame_ms;
    view_.cross_fade_s = view.cross_fade_s;
    if (has_changed(view, serials)) {
        view_ = view;
        serials_ = serials;
        changed_s_ = shown_s_ = now_s;
        prepare_accumulation();
        move(scene, chain);
    } else if (!is_same(view, view_)) {
        view_ = view;
        lit_.is_judged = false;
        // The picture's own work is unchanged, but the chain must still be submitted.
        queue_.submit(no_work, chain);
        show(scene, view_, 1);
    } else if (!shown_.is_final && is_resting(now_s)) {
        refine(scene, now_s, chain);
        continue_fading(now_s);
    }
}

// The failed work may have been submitted in part or not at all, including the accumulation buffer's first use.
void ProgressivePicture::restart() {
    shown_ = {};
    lit_ = {};
    if (accumulation_) accumulation_->is_fresh = true;
}

void ProgressivePicture::prepare_accumulation() {
    if (accumulation_ && accumulation_->columns() == view_.width && accumulation_->rows() == view_.height) return;
    queue_.wait_for_all();  // pending passes may use it
    accumulation_.reset();
    accumulation_.emplace(device_, view_.width, view_.height);
}

std::optional<double> ProgressivePicture::expected_seconds(const Scene& scene, double pitch) {
    const View view = moving_view(view_, scene.grid(), pitch);
    return raycaster_.expected_seconds(
        {.scene = scene, .view = view, .pass = {.accumulation = &*accumulation_, .pitch = pitch}});
}

// Full resolution, or the finest pitch within the frame time. Time is proportional to the number of rays.
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
    lit_ = {};
    passes_ = pitch == 1 && view.mode == view_.mode ? 1 : 0;
    show(scene, view, pitch);
}

// Returns the parts of the next passes that fit into `seconds`: a part of one pass, or several passes of paths, because
// a single one would look noisy. The time of the first pass is unknown. The first full pass has no jitter. Only
// complete passes are shown.
std::vector<ProgressivePicture::Piece> ProgressivePicture::pieces_within(double seconds, const Scene& scene,
                                                                         double unchanged_s) {
    std::vector<Piece> pieces;
    for (std::int64_t number = passes_, first = group_rows_cast_;; ++number, first = 0) {
        const Shot shot{.scene = scene, .view = view_, .pass = {.accumulation = &*accumulation_, .number = number}};
        const std::int64_t rows = shot.group_rows();
        const std::int64_t end = std::min(rows, first + raycaster_.group_rows_within(seconds, shot));
        pieces.push_back({number, {first, end}});
        const std::optional<double> whole = raycaster_.expected_seconds(shot);
        if (view_.mode != ViewMode::traced || !whole || end < rows || is_good_enough(view_, number + 1, unchanged_s))
            break;
        seconds -= *whole * static_cast<double>(end - first) / static_cast<double>(rows);
        if (seconds < *whole) break;
    }
    return pieces;
}

void ProgressivePicture::refine(const Scene& scene, double now_s, const gpu::Chain& chain) {
    // Waiting for the noise estimate of the shown picture may end the refinement.
    is_complete_ = is_complete_ || is_clean();
    if (is_complete_) {
        submitted_ = queue_.submit(no_work, chain);
        return;
    }
    const double unchanged_s = now_s - shown_s_;
    const std::vector<Piece> pieces = pieces_within(frame_s(view_), scene, unchanged_s);
    for (const Piece& piece : pieces) {
        const Shot shot{.scene = scene,
                        .view = view_,
                        .pass = {.accumulation = &*accumulation_, .number = piece.number},
                        .part = piece.rows};
        submitted_ =
            raycaster_.cast(shot, gpu::share_of(chain, &piece == &pieces.front(), &piece == &pieces.back())).value;
        group_rows_cast_ = piece.rows.end % shot.group_rows();
        if (group_rows_cast_ == 0) ++passes_;
    }
    if (group_rows_cast_ != 0 || !is_good_enough(view_, passes_, unchanged_s)) return;
    const ResolvedPicture before = shown_.picture;
    show(scene, view_, 1);
    shown_s_ = now_s;
    if (view_.mode == ViewMode::traced && view_.cross_fade_s > 0)
        fade_.begin(*before.image, *shown_.picture.image, now_s);
}

// Advances the fade. At its end the picture equals the new one exactly.
void ProgressivePicture::continue_fading(double now_s) {
    if (fade_.is_running()) {
        const double share = fade_.share(now_s, view_.cross_fade_s);
        shown_.picture = resolver_.fade(pictures_, fade_.from(), fade_.to(), share);
        submitted_ = shown_.picture.value;
        if (share == 1) fade_.end();
    }
    shown_.is_final = is_complete_ && !fade_.is_running();
}

// Returns true if the noise target is reached. All submitted work must have finished.
bool ProgressivePicture::is_clean() {
    if (!lit_.is_judged || !is_time_to_judge(view_, lit_.paths)) return false;
    return denoiser_.noise(*accumulation_) <= view_.noise_target;
}

// Returns the traced light to display. Filters it once for all tone settings.
const gpu::DeviceImage* ProgressivePicture::light_shown() {
    if (view_.mode != ViewMode::traced || passes_ == 0) return nullptr;
    const bool filters = is_filtered(view_, passes_);
    if (lit_.paths != passes_ || lit_.is_filtered != filters)
        lit_ = {passes_, filters, true, denoiser_.light(*accumulation_, view_, passes_)};
    return lit_.light.image;
}

void ProgressivePicture::show(const Scene& scene, const View& view, double pitch) {
    const Shot shot{.scene = scene, .view = view, .pass = {.accumulation = &*accumulation_, .pitch = pitch}};
    const Shot whole{.scene = scene, .view = view_};
    shown_.picture = resolver_.resolve(pictures_, *accumulation_, pitch, whole.region, sheet_of(whole),
                                       PictureDepth::codes, toning_of(shot), light_shown());
    shown_.pitch = pitch;
    shown_.passes = std::max<std::int64_t>(passes_, 1);
    submitted_ = shown_.picture.value;
    fade_.end();
    is_complete_ = passes_ >= passes_at_rest(view_);
    shown_.is_final = is_complete_;
}

// ---- Cross fade

static gpu::DeviceImage kept_picture(const gpu::Device& device, vk::Extent3D pixels) {
    return {device,
            {.extent = pixels, .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst},
            "progressive pictures"};
}

static void record_copy(const vk::raii::CommandBuffer& commands, const gpu::DeviceImage& from,
                        const gpu::DeviceImage& to) {
    constexpr auto general = vk::ImageLayout::eGeneral;
    constexpr vk::ImageSubresourceLayers whole{vk::ImageAspectFlagBits::eColor, 0, 0, 1};
    commands.copyImage(from.handle(), general, to.handle(), general,
                       vk::ImageCopy{.srcSubresource = whole, .dstSubresource = whole, .extent = from.shape().extent});
}

CrossFade::Images::Images(const gpu::Device& device, vk::Extent3D pixels)
    : from(kept_picture(device, pixels)), to(kept_picture(device, pixels)) {}

void CrossFade::begin(const gpu::DeviceImage& from, const gpu::DeviceImage& to, double now_s) {
    end();
    const vk::Extent3D pixels = from.shape().extent;
    // The images are reused until the size changes.
    if (!images_ || images_->from.shape().extent != pixels) {
        queue_.wait_for_all();  // pending work may read the old pictures
        images_.reset();
        images_.emplace(device_, pixels);
    }
    queue_.submit([&](const vk::raii::CommandBuffer& commands) {
        if (images_->are_fresh) {
            images_->from.record_first_use(commands);
            images_->to.record_first_use(commands);
        }
        record_copy(commands, from, images_->from);
        record_copy(commands, to, images_->to);
    });
    images_->are_fresh = false;
    begun_s_ = now_s;
}

double CrossFade::share(double now_s, double seconds) const {
    return seconds > 0 ? std::clamp((now_s - *begun_s_) / seconds, 0.0, 1.0) : 1;
}

}  // namespace echolux
