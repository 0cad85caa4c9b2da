#include "app/stage/open_exhibit.h"

#include <utility>

#include "app/live/live_source.h"
#include "app/stage/file_exhibit.h"
#include "app/stage/session_exhibit.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "engine/acquire/scan_player.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/time_points.h"

namespace echolux {

bool holds_volumes(const std::filesystem::path& path) {
    std::error_code problem;
    return std::filesystem::is_directory(path, problem) || is_pattern(path) || is_volume_name(path);
}

namespace {

void check_can_be_shown(const Scan& scan) {
    if (planned_grid(scan).type != VoxelType::complex64) return;
    throw Error(ErrorCode::bad_setting, "a picture cannot show complex voxels", "recipe.quantity",
                "choose db, intensity or amplitude");
}

MakeExhibit on_stage(std::shared_ptr<StagedSession> session, const BackendChoice& backend,
                     std::int64_t keep_bytes = 0) {
    return [session, backend, keep_bytes](Renderer& renderer) {
        return std::make_unique<SessionExhibit>(session, backend, renderer, keep_bytes);
    };
}

MakeExhibit open_series(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                        const SeriesBudget& budget, Progress& progress) {
    if (!assignments.empty()) {
        throw Error(ErrorCode::bad_setting, "has no effect on a volume file", assignments.front(),
                    "give the scan instead, or leave the setting out");
    }
    progress.begin("read", 0, "");
    const auto series = std::make_shared<StagedSeries>(path, budget);
    progress.advance(1);
    progress.end();
    return [series](Renderer& renderer) { return std::make_unique<FileExhibit>(series, renderer); };
}

MakeExhibit open_recorded(const std::filesystem::path& path, const std::vector<std::string>& assignments,
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
    return on_stage(std::make_unique<StagedSession>(std::move(player), plan), backend);
}

}  // namespace

MakeExhibit open_exhibit(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                         const BackendChoice& backend, const SeriesBudget& budget, Progress& progress) {
    return holds_volumes(path) ? open_series(path, assignments, budget, progress)
                               : open_recorded(path, assignments, backend, progress);
}

MakeExhibit open_live_exhibit(const SourceWanted& wanted, const BackendChoice& backend, Progress& progress) {
    SourceWanted told = wanted;
    told.progress = &progress;
    told.begins_early = true;
    std::unique_ptr<Source> source = open_source(told);
    check_can_be_shown(source->scan());
    progress.begin("measure the noise floor", 0, "");
    const ReconstructionSpec plan = live_plan(*source, progress);
    progress.end();
    return on_stage(std::make_unique<StagedSession>(std::move(source), plan), backend, wanted.settings.keep_bytes());
}

}  // namespace echolux
