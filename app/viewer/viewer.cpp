#include "app/viewer/viewer.h"

#include <utility>

#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "app/viewer/file_source.h"
#include "app/viewer/live_source.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "engine/acquire/scan_player.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/time_points.h"

namespace echolux {

// ---- Renderer and view source

Viewer::Viewer(GpuDevice device, BackendChoice backend)
    : device_(beside(std::move(device), backend)), backend_(backend), renderer_(std::make_unique<Renderer>(device_)) {}

Viewer::~Viewer() = default;

void Viewer::show(ViewSourceFactory make) {
    clear();
    if (!renderer_) {
        throw Error(ErrorCode::device, "the graphics device is lost", "display",
                    "open it again once the display is restored");
    }
    view_source_ = make(*renderer_);
    make_ = std::move(make);
}

void Viewer::clear() {
    make_ = nullptr;
    view_source_.reset();
    if (renderer_) renderer_->clear();
}

void Viewer::revive() {
    view_source_.reset();
    renderer_.reset();
    auto renderer = std::make_unique<Renderer>(device_);
    if (make_) view_source_ = make_(*renderer);
    renderer_ = std::move(renderer);
}

// ---- Opening

bool holds_volumes(const std::filesystem::path& path) {
    std::error_code problem;
    return std::filesystem::is_directory(path, problem) || is_pattern(path) || is_volume_name(path);
}

namespace {

void check_can_be_shown(const Scan& scan) {
    if (planned_grid(scan).type != VoxelType::complex64) return;
    throw Error(ErrorCode::bad_setting, "an image cannot show complex voxels", "recipe.quantity",
                "choose db, intensity or amplitude");
}

ViewSourceFactory live_source_of(std::shared_ptr<LiveController> session, const BackendChoice& backend,
                                 std::int64_t keep_bytes = 0) {
    return [session, backend, keep_bytes](Renderer& renderer) {
        return std::make_unique<LiveSource>(session, backend, renderer, keep_bytes);
    };
}

ViewSourceFactory open_series(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                              const SeriesBudget& budget, Progress& progress) {
    if (!assignments.empty()) {
        throw Error(ErrorCode::bad_setting, "has no effect on a volume file", assignments.front(),
                    "open the scan instead, or remove the setting");
    }
    progress.begin("read", 0, "");
    const auto series = std::make_shared<OpenSeries>(path, budget);
    progress.advance(1);
    progress.end();
    return [series](Renderer& renderer) { return std::make_unique<FileSource>(series, renderer); };
}

ViewSourceFactory open_recorded(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                                const BackendChoice& backend, Progress& progress) {
    Scan scan = open_scan(path, assignments);
    check_can_be_shown(scan);
    progress.begin("measure the noise floor", 0, "");
    const bool is_open = needs_noise_floor(scan.recipe, scan.flow);
    const double floor_db = is_open ? noise_floor_of(scan) : scan.recipe.noise_floor_db;
    progress.advance(1);
    progress.end();
    auto player = std::make_unique<ScanPlayer>(std::move(scan), MemoryKind::pinned);
    ReconstructionSpec plan = player->scan().spec(player->block_b_scans());
    plan.recipe.noise_floor_db = floor_db;
    return live_source_of(std::make_unique<LiveController>(std::move(player), plan), backend);
}

}  // namespace

ViewSourceFactory open_source_view(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                                   const BackendChoice& backend, const SeriesBudget& budget, Progress& progress) {
    return holds_volumes(path) ? open_series(path, assignments, budget, progress)
                               : open_recorded(path, assignments, backend, progress);
}

ViewSourceFactory open_live_source(const SourceRequest& wanted, const BackendChoice& backend, Progress& progress) {
    SourceRequest request = wanted;
    request.progress = &progress;
    request.begins_early = true;
    std::unique_ptr<Source> source = open_source(request);
    check_can_be_shown(source->scan());
    progress.begin("measure the noise floor", 0, "");
    const ReconstructionSpec plan = live_plan(*source, progress);
    progress.end();
    return live_source_of(std::make_unique<LiveController>(std::move(source), plan), backend,
                          wanted.settings.keep_bytes());
}

}  // namespace echolux
