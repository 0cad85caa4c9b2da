#include "bench/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "app/live/live_pipeline.h"
#include "app/seconds_since.h"
#include "assets/table.h"
#include "bench/live_figures.h"
#include "bench/live_gpus.h"
#include "bench/memory_source.h"
#include "bench/run.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/voxel_target.h"

namespace echolux {
namespace {

using Clock = std::chrono::steady_clock;

// One row of the published table: a scan, and its times and rates on a GTX 580 (ms, ms, 1/s, 1/s).
struct ProtocolRow {
    std::string name;
    std::int64_t a_scans, b_scans;
    double transfer_ms, reprocess_ms, reprocess_per_s, total_per_s;
};

std::vector<ProtocolRow> published_protocols() {
    std::vector<ProtocolRow> rows;
    for (const std::vector<std::string>& row : shipped_table("published/protocols.txt")) {
        rows.push_back({row.at(0), std::stoll(row.at(1)), std::stoll(row.at(2)), std::stod(row.at(3)),
                        std::stod(row.at(4)), std::stod(row.at(5)), std::stod(row.at(6))});
    }
    return rows;
}

ReconstructionSpec spec_of(const BenchSize& size, bool flow) {
    ReconstructionSpec spec = chain_spec(size);
    spec.calibration.centre_wavelength_nm = bench_wavelength_nm;
    spec.geometry.line_rate_hz = bench_line_rate_hz;
    if (flow) spec.flow.method = FlowMethod::doppler;
    return spec;
}

class LiveBench {
  public:
    LiveBench(BenchBook& book, BenchReport& report, const LiveBenchJob& job, const BenchProcessor& processor)
        : book_(book), report_(report), job_(job), processor_(processor) {
        device_.name = job.device;
        view_.width = job.quick || !processor.is_gpu() ? 320 : 1920;
        view_.height = job.quick || !processor.is_gpu() ? 240 : 1080;
    }

    // Runs a session at `volumes_per_s` with a picture loop of 60 pictures per second.
    void run_live(const std::string& key, const BenchSize& size, double volumes_per_s, bool flow) {
        book_.begin(fmt::format("live, {:.0f} volumes/s", volumes_per_s), 6);
        const ReconstructionSpec spec = spec_of(size, flow);
        const BenchSpectra spectra(size, SampleFormat::u16, processor_.source(), processor_.choice.gpu);
        MemorySource source(spec, spectra.blocks(), volumes_per_s * static_cast<double>(size.lines()));
        StandalonePipeline path(spec, processor_.choice, device_);
        report_.machine.backend = path.describe();
        note(key, size, run_paced(book_, source, path, view_, job_.seconds), flow);
        book_.end();
    }

    // Runs angiography with four aligned repeats, and the given processing of volumes before they are shown.
    void run_tissue(const std::string& key, const BenchSize& size, double volumes_per_s, const LiveTissue& tissue) {
        book_.begin(fmt::format("{}, {:.0f} volumes/s", key, volumes_per_s), tissue.is_empty_recipe() ? 6 : 9);
        const ReconstructionSpec spec = angiography_spec(size);
        const BenchSpectra spectra(size, SampleFormat::u16, processor_.source(), processor_.choice.gpu);
        MemorySource source(spec, spectra.blocks(), volumes_per_s * static_cast<double>(size.lines()));
        LivePipelineOptions options;
        options.tissue = tissue;
        StandalonePipeline path(spec, processor_.choice, device_, options);
        report_.machine.backend = path.describe();
        note(key, size, run_paced(book_, source, path, view_, job_.seconds), true);
        if (!tissue.is_empty_recipe()) note_work(key, path.tissue_log().stats());
        book_.end();
    }

    void protocols() {
        const std::vector<ProtocolRow> published = published_protocols();
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
    void note_work(const std::string& key, const TissueStats& done) {
        const auto one = [&](const char* name, const std::string& meaning, const char* unit, double value) {
            book_.figure(fmt::format("{}.{}", key, name), meaning, unit, [=] { return std::vector{value}; });
        };
        const auto volumes = static_cast<double>(std::max<std::int64_t>(1, done.volumes));
        one("skipped", "volumes that came while two were being worked on", "volumes",
            static_cast<double>(done.skipped));
        one("work", "stabilising and filtering of a volume, mean", "s", done.work_s / volumes);
        one("stabilised", "share of the volumes", "", static_cast<double>(done.stabilised) / volumes);
    }

    void note(const std::string& key, const BenchSize& size, const LiveRun& run, bool flow) {
        note_live(book_, key,
                  fmt::format("{} x {} A-scans of {} samples{}, from {}", size.a_scans, size.frames(), size.samples,
                              flow ? ", with flow" : "", processor_.source_name()),
                  size.b_scans / size.block_b_scans, run);
    }

    // Seconds from the blocks of a volume to a finished picture, repeatedly.
    std::vector<double> seconds(LivePipeline& path, const BenchSpectra& spectra) {
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
        StandalonePipeline path(spec_of(size, true), processor_.choice, device_);
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
    GpuDevice device_;
    View view_;
    std::int64_t volume_ = 0;
};

// Stabilises small motion and applies a filter.
LiveTissue stabilised_and(FilterMethod method) {
    LiveTissue tissue;
    tissue.filters = tissue.stabilises = true;
    tissue.filter.method = method;
    tissue.filter.median_size = tissue.filter.search_b_scans = tissue.filter.patch = 3;
    tissue.filter.search_depth = tissue.filter.search_a_scans = 7;
    tissue.registration.row_range = 2;
    return tissue;
}

BenchProcessor processor_of(const LiveBenchJob& job) {
    const auto& usable = surveyed_gpus().usable;
    require_backend({.backend = job.backend});
    const bool gpu = job.backend == Backend::cuda || (job.backend == Backend::automatic && !usable.empty());
    BenchProcessor processor{{.backend = gpu ? Backend::cuda : Backend::cpu}};
    if (gpu) processor.choice.gpu = usable.front().id;
    return processor;
}

// A failing case is noted, and the remaining cases still run.
template <class Work>
void measure_case(BenchBook& book, const std::string& key, const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        book.skip(key, "could not be measured", error.line());
        book.end();
    }
}

}  // namespace

BenchReport run(const LiveBenchJob& job, Progress& progress) {
    if (job.gpus) return run_live_gpus(job, progress);
    const BenchProcessor processor = processor_of(job);
    BenchReport report;
    report.machine.threads = thread_count();
    report.machine.processor = processor_name();
    report.quick = job.quick;
    report.conditions = "Blocks in memory, as a driver would leave them there, at the pace of a clock";
    BenchBook book(report, {}, progress);
    LiveBench bench(book, report, job, processor);
    const auto live = [&](const std::string& key, const BenchSize& size, double volumes_per_s, bool flow) {
        measure_case(book, key, [&] { bench.run_live(key, size, volumes_per_s, flow); });
    };
    const auto tissue = [&](const std::string& key, const BenchSize& size, double volumes_per_s,
                            const LiveTissue& what) {
        measure_case(book, key, [&] { bench.run_tissue(key, size, volumes_per_s, what); });
    };
    if (processor.is_gpu() && !job.quick) {
        live("live.4d", {2048, 512, 512, 16}, 45, true);
        live("live.link", {2048, 512, 512, 16}, 49, false);
        constexpr BenchSize repeated{1024, 512, 512, 16, 4};
        tissue("live.angiography", repeated, 20, {});
        tissue("live.tissue", repeated, 20, stabilised_and(FilterMethod::median));
        tissue("live.tissue.nlm", repeated, 20, stabilised_and(FilterMethod::nlm));
    } else {
        live("live.4d", {job.quick ? 256 : 1024, 64, 32, 4}, 5, true);
        tissue("live.tissue", {job.quick ? 256 : 1024, 64, 32, 4, 4}, 2, stabilised_and(FilterMethod::median));
    }
    measure_case(book, "protocols", [&] { bench.protocols(); });
    return report;
}

}  // namespace echolux
