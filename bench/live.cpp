#include "bench/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "app/live/lone_volume_path.h"
#include "app/live/picture_loop.h"
#include "app/seconds_since.h"
#include "bench/book.h"
#include "bench/memory_source.h"
#include "bench/start.h"
#include "compute/device_memory.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/live/session.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// One row of the published table: a scan, and what it took on a GTX 580 (ms, ms, 1/s, 1/s).
struct ProtocolRow {
    const char* name;
    std::int64_t a_scans, b_scans;
    double transfer_ms, reprocess_ms, reprocess_per_s, total_per_s;
};

constexpr ProtocolRow published[] = {
    {"cross, 2 x 1600", 1600, 2, 12, 8.3, 120, 49},     {"cross, 2 x 2000", 2000, 2, 13, 9.6, 103, 44},
    {"four slices, 4 x 2000", 2000, 4, 29, 18, 55, 21}, {"four slices, 4 x 5000", 5000, 4, 70, 43, 23, 9},
    {"3-D, 100 x 100", 100, 100, 33, 75, 13, 9},        {"3-D, 140 x 140", 140, 140, 70, 117, 9, 5},
};

ReconstructionSpec plan_of(const BenchSize& size, bool flow) {
    ReconstructionSpec plan = bench_plan(size);
    plan.calibration.centre_wavelength_nm = 845;
    plan.geometry.line_rate_hz = 70'000;
    if (flow) plan.flow.method = FlowMethod::doppler;
    return plan;
}

class LiveBench {
  public:
    LiveBench(BenchBook& book, BenchReport& report, const LiveBenchJob& job, const BenchProcessor& processor)
        : book_(book), report_(report), job_(job), processor_(processor) {
        device_.name = job.device;
        view_.width = job.quick || !processor.is_gpu() ? 320 : 1920;
        view_.height = job.quick || !processor.is_gpu() ? 240 : 1080;
    }

    // Volumes at `volumes_per_s`, a picture loop of 60 a second beside.
    void run_live(const std::string& key, const BenchSize& size, double volumes_per_s, bool flow) {
        book_.begin(fmt::format("live, {:.0f} volumes/s", volumes_per_s), 6);
        const ReconstructionSpec plan = plan_of(size, flow);
        const BenchSpectra spectra(size, SampleFormat::u16, processor_.source(), processor_.choice.gpu);
        MemorySource source(plan, spectra.blocks(), volumes_per_s * static_cast<double>(size.lines()));
        LoneVolumePath path(plan, processor_.choice, device_);
        report_.machine.backend = path.describe();
        Session session(source, path);
        PictureLoop loop(path, view_, 60, [&](std::int64_t volume) { session.shown(volume); });
        session.start();
        for (const auto start = Clock::now(); seconds_since(start) < job_.seconds;) {
            book_.poll();
            std::this_thread::sleep_for(50ms);
        }
        session.stop();
        session.drain(10s);
        loop.stop();
        note(key, size, session.stats(), loop.stats(), path.statistics(), flow);
        book_.end();
    }

    void protocols() {
        book_.begin("scan protocols", (processor_.is_gpu() ? 3 : 1) * std::ssize(published));
        BenchSheet times{"scan protocols, structure and flow",
                         "s",
                         {"spectra to the GPU", "published", "reprocess and draw", "published"},
                         {}};
        BenchSheet rates{
            "scan protocols, structure and flow", "pictures/s", {"reprocess", "published", "all", "published"}, {}};
        for (const ProtocolRow& row : published) protocol(row, times, rates);
        report_.sheets.push_back(times);
        report_.sheets.push_back(rates);
        book_.end();
    }

  private:
    void note(const std::string& key, const BenchSize& size, const SessionStats& session, const PictureStats& pictures,
              const RingStatistics& ring, bool flow) {
        const auto one = [&](const char* name, const std::string& meaning, const char* unit, double value) {
            book_.figure(fmt::format("{}.{}", key, name), meaning, unit, [=] { return std::vector{value}; });
        };
        const auto volumes = static_cast<double>(std::max<std::int64_t>(session.arrived.volumes, 1));
        const std::int64_t left_out = session.queue.overtaken + session.queue.incomplete + session.queue.given_up;
        one("acquired",
            fmt::format("{} x {} A-scans of {} samples{}, from {}", size.a_scans, size.b_scans, size.samples,
                        flow ? ", with flow" : "", processor_.source_name()),
            "A-scans/s", static_cast<double>(session.arrived.lines) / std::max(session.seconds, 1e-9));
        one("lost", "blocks that were not reconstructed", "blocks",
            static_cast<double>(left_out + ring.dropped * (size.b_scans / size.block_b_scans)));
        one("appeared", "share of the volumes that a finished picture showed", "",
            static_cast<double>(pictures.volumes) / volumes);
        one("out_of_order", "pictures that showed an older volume than the one before", "pictures",
            static_cast<double>(pictures.out_of_order));
        one("latency", "last block to a finished picture, median", "s", session.shown.percentile_s(0.5));
        one("latency.p99", "of 99 %", "s", session.shown.percentile_s(0.99));
    }

    // Seconds of one volume from its blocks to a finished picture, over and over.
    std::vector<double> seconds(VolumePath& path, const BenchSpectra& spectra) {
        std::vector<double> found;
        for (int i = -3; i < (job_.quick ? 3 : 30); ++i) {
            book_.poll();
            const auto start = Clock::now();
            for (Block block : spectra.blocks()) {
                block.volume = volume_;
                if (!path.feed(block)) throw Error(ErrorCode::device, "a volume was dropped", "bench");
            }
            ++volume_;
            const auto picture = path.picture(view_);
            path.wait(picture.value());
            if (i >= 0) found.push_back(seconds_since(start));
        }
        return found;
    }

    std::vector<double> copies(const BenchSpectra& from, const BenchSize& size) {
        std::vector<double> found;
        const BenchSpectra to(size, SampleFormat::u16, MemoryKind::device, processor_.choice.gpu);
        auto* target = const_cast<std::byte*>(to.blocks().front().data);
        for (int i = -2; i < (job_.quick ? 3 : 30); ++i) {
            const auto start = Clock::now();
            copy_memory(target, from.blocks().front().data, from.bytes());
            if (i >= 0) found.push_back(seconds_since(start));
        }
        return found;
    }

    void protocol(const ProtocolRow& row, BenchSheet& times, BenchSheet& rates) {
        const std::int64_t block = std::max<std::int64_t>(1, row.b_scans / 4);
        const BenchSize size{job_.quick ? 512 : 2048, row.a_scans, row.b_scans, block};
        const auto median = [&](const char* what, const char* meaning,
                                const std::function<std::vector<double>()>& measure) {
            const std::string key = fmt::format("{}/{}x{}", what, row.b_scans, row.a_scans);
            book_.figure(key, fmt::format("{}: {}", row.name, meaning), "s", measure);
            const BenchFigure* figure = report_.find(key);
            return figure == nullptr ? 0 : figure->spread.median;
        };
        LoneVolumePath path(plan_of(size, true), processor_.choice, device_);
        const BenchSpectra arriving(size, SampleFormat::u16, processor_.source(), processor_.choice.gpu);
        double transfer = 0;
        if (processor_.is_gpu()) {
            transfer = median("transfer", "copied to the GPU", [&] { return copies(arriving, size); });
        }
        const double total = median("total", "spectra to a finished picture", [&] { return seconds(path, arriving); });
        double again = total;
        if (processor_.is_gpu()) {
            const BenchSpectra resident(size, SampleFormat::u16, MemoryKind::device, processor_.choice.gpu);
            again =
                median("reprocess", "the same from spectra that are there", [&] { return seconds(path, resident); });
        }
        times.rows.push_back({row.name, {transfer, 1e-3 * row.transfer_ms, again, 1e-3 * row.reprocess_ms}});
        rates.rows.push_back({row.name, {1 / again, row.reprocess_per_s, 1 / total, row.total_per_s}});
    }

    BenchBook& book_;
    BenchReport& report_;
    const LiveBenchJob& job_;
    const BenchProcessor& processor_;
    DeviceChoice device_;
    View view_;
    std::int64_t volume_ = 0;
};

BenchProcessor processor_of(const LiveBenchJob& job) {
    const auto& usable = surveyed_gpus().usable;
    require_backend({.backend = job.backend});
    const bool gpu = job.backend == Backend::cuda || (job.backend == Backend::automatic && !usable.empty());
    BenchProcessor processor{{.backend = gpu ? Backend::cuda : Backend::cpu}};
    if (gpu) processor.choice.gpu = usable.front().id;
    return processor;
}

}  // namespace

BenchReport run(const LiveBenchJob& job, Progress& progress) {
    const BenchProcessor processor = processor_of(job);
    BenchReport report;
    report.machine.threads = thread_count();
    report.machine.processor = processor_name();
    report.quick = job.quick;
    report.conditions = "Blocks in memory, as a driver would leave them there, at the pace of a clock";
    BenchBook book(report, {}, progress);
    LiveBench bench(book, report, job, processor);
    if (processor.is_gpu() && !job.quick) {
        bench.run_live("live.4d", {2048, 512, 512, 16}, 45, true);
        bench.run_live("live.link", {2048, 512, 512, 16}, 49, false);
    } else {
        bench.run_live("live.4d", {job.quick ? 256 : 1024, 64, 32, 4}, 5, true);
    }
    bench.protocols();
    return report;
}

}  // namespace echolux
