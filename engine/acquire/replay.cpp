// Replays scans from disk at its line rate. Blocks have the layout of the file, with headers and flyback. Each block
// is read during the time in which its lines would be acquired, one block ahead of the consumer.
#include "engine/acquire/paced_source.h"
#include "engine/acquire/source_kinds.h"
#include "engine/block_pool.h"

namespace echolux {
namespace {

class RecordedVolumes : public BlockFeed {
  public:
    RecordedVolumes(const Scan& scan, std::int64_t block_b_scans, MemoryKind memory)
        : reader_(scan), volumes_(scan.geometry.volumes), missing_(scan.missing),
          pool_(reader_.recorded_bytes(scan.geometry.b_scans - block_b_scans, block_b_scans), memory) {}

    // Blocks that are missing in the recording are lost again, not sent as zeros.
    std::optional<BlockMemory> fill(const BlockContent& content) override {
        const std::int64_t end = content.first_b_scan + content.b_scans;
        const BScanRun run = run_from(missing_, content.volume % volumes_, content.first_b_scan, end);
        if (run.is_missing || run.end < end) return {};
        BlockMemory memory = pool_.take();
        memory.bytes = reader_.recorded_bytes(content.first_b_scan, content.b_scans);
        reader_.read_recorded(content.volume % volumes_, content.first_b_scan, content.b_scans,
                              {memory.data, static_cast<std::size_t>(memory.bytes)});
        return memory;
    }

  private:
    SpectraReader reader_;
    std::int64_t volumes_;
    std::vector<MissingBScans> missing_;
    BlockPool pool_;
};

}  // namespace

std::unique_ptr<Source> open_replay(const SourceWanted& wanted, std::shared_ptr<PacingClock> clock) {
    const std::string path = SourceName(wanted.name).rest;
    Scan scan = open_scan(path, wanted.assignments);
    const double wanted_hz = wanted.settings.line_rate_hz;
    const double own_hz = scan.geometry.line_rate_hz;
    Pacing pacing = paced(wanted.settings, scan, wanted_hz > 0 ? wanted_hz : own_hz);
    if (own_hz == 0) scan.geometry.line_rate_hz = pacing.line_rate_hz;  // keep the recorded rate if there is one
    if (!wanted.settings.loop) pacing.volumes = scan.geometry.volumes;
    auto feed = std::make_unique<RecordedVolumes>(scan, pacing.block_b_scans, wanted.memory);
    const SourceCapabilities capabilities{.sets_line_rate = true};
    return std::make_unique<PacedSource>("replay of " + path, std::move(scan), capabilities, pacing, std::move(feed),
                                         std::move(clock));
}

}  // namespace echolux
