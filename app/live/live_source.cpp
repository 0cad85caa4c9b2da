#include "app/live/live_source.h"

#include <algorithm>
#include <chrono>

#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"
#include "engine/scan/recording.h"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr auto look_around = 50ms;
constexpr auto max_wait = 10s;  // for the first block

bool is_usable(const Block& block, const ReconstructionSpec& plan) {
    try {
        check_block(block, plan);
        return block.memory != MemoryKind::device;
    } catch (const Error&) {
        return false;
    }
}

// Starts a source, and stops it on destruction.
class Started {
  public:
    explicit Started(Source& source) : source_(source) { source_.start(); }
    ~Started() { source_.stop(); }
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;

  private:
    Source& source_;
};

}  // namespace

ReconstructionSpec live_plan(Source& source, Progress& progress) {
    ReconstructionSpec plan = source.scan().spec(source.block_b_scans());
    if (!needs_noise_floor(plan.recipe, plan.flow)) return plan;
    progress.begin("wait for the first block", 0, "");
    const Started started(source);
    const auto until = std::chrono::steady_clock::now() + max_wait;
    while (std::chrono::steady_clock::now() < until) {
        progress.advance(0);
        const Arrival arrival = source.next(look_around);
        if (arrival.kind == Arrival::Kind::ended) break;
        if (arrival.kind != Arrival::Kind::block || !is_usable(arrival.block, plan)) continue;
        plan.recipe.noise_floor_db = noise_floor_for_recipe(plan, arrival.block);
        break;
    }
    progress.end();
    return plan;
}

RecordingWanted recording_of(const Source& source, const std::filesystem::path& scan_toml) {
    RecordingWanted wanted;
    wanted.scan_toml = scan_toml;
    wanted.scan = source.scan();
    wanted.line_rate_hz = source.line_rate_hz();
    wanted.played_files = source.played_files();
    if (source.pool_blocks() > 0) wanted.max_blocks_held = std::max<std::int64_t>(1, source.pool_blocks() / 2);
    const std::int64_t b_scans = std::min(source.block_b_scans(), wanted.scan.geometry.b_scans);
    if (const auto block = RecordingLayout(wanted.scan).place_of(0, 0, b_scans))
        wanted.held_bytes = wanted.max_blocks_held * block->bytes;
    return wanted;
}

}  // namespace echolux
