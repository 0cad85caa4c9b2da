#include "app/live/record_job.h"

#include <memory>
#include <utility>

#include "app/live/session_run.h"
#include "engine/live/host_volumes.h"

namespace echolux {
namespace {

// Discards blocks that are only recorded.
class NoDisplay : public BlockSink {
  public:
    bool feed(const Block&) override { return true; }
    bool reprocess(const Block&) override { return true; }
    void collect() override {}
    void finish() override {}
    void change(const ReconstructionSpec&) override {}
    bool take_change(SwapPoint) override { return false; }
};

// Writes finished volumes to files. No volume is started while the disk is behind.
VolumeReceiver writing_to(ProcessedVolumes& files) {
    const auto has_room = [&files] {
        const bool has = files.has_room();
        if (!has) files.leave_out();
        return has;
    };
    const auto take = [&files](HostVolume made) {
        auto voxels = std::make_shared<std::vector<std::byte>>(std::move(made.structure.voxels));
        files.add(made.number, made.structure.grid, [voxels] { return std::move(*voxels); });
    };
    return {has_room, take};
}

}  // namespace

LiveReport run(const RecordJob& job, Progress& progress, const EventCallback& on_event) {
    if (!job.processed.empty()) require_backend(job.backend);
    check_session_outputs(job);
    LiveReport report;
    const std::unique_ptr<Source> source = opened_source(job, progress);
    report.source = source->name();
    NoDisplay nothing;
    std::optional<ProcessedVolumes> files;
    std::optional<HostVolumes> volumes;
    if (!job.processed.empty()) {
        files.emplace(job.processed);
        volumes.emplace(source->scan().spec(source->block_b_scans()), job.backend, writing_to(*files));
    }
    Session session(*source, volumes ? static_cast<BlockSink&>(*volumes) : nothing);
    run_session(job, *source, session, report, progress, on_event);
    if (files) {
        report.backend_description = volumes->describe();
        report.processed = files->finish();
    }
    report.session = session.stats();
    return report;
}

}  // namespace echolux
