// A complete live system: one at a set rate, the published scan protocols, and several GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/live/live_job.h"
#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "app/seconds_since.h"
#include "assets/table.h"
#include "bench/benches.h"
#include "bench/rates.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/voxel_target.h"
#include "engine/acquire/source.h"
#include "engine/live/session.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// ---- A live run: a source, a session, a picture loop, and the figures.

// A source that repeats blocks in memory at the pace of a clock, like an instrument whose driver writes there. It takes
// no time itself, so the measurement covers only the rest of the system.
class MemorySource : public Source {
  public:
    // `blocks`: the blocks of one or more volumes of `spec`, in order. A block is due when its last line would have
    // been acquired.
    MemorySource(const ReconstructionSpec& spec, std::vector<Block> blocks, double lines_per_s)
        : block_b_scans_(spec.block_b_scans), blocks_(std::move(blocks)), lines_per_s_(lines_per_s) {
        scan_.path = "memory";
        scan_.format = spec.format;
        scan_.geometry = spec.geometry;
        scan_.geometry.line_rate_hz = lines_per_s;
        scan_.calibration = spec.calibration;
        take_recipe(spec, scan_);
    }

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return block_b_scans_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return "memory"; }
    void start() override {
        start_ = Clock::now();
        sent_ = 0;
        lines_ = 0;
        volume_ = -1;
    }
    Arrival next(std::chrono::milliseconds timeout) override;
    void stop() noexcept override {}

  private:
    Scan scan_;
    std::int64_t block_b_scans_;
    std::vector<Block> blocks_;
    double lines_per_s_;
    SourceCapabilities capabilities_;
    Clock::time_point start_;
    std::uint64_t sent_ = 0;
    std::int64_t lines_ = 0;    // of all blocks sent
    std::int64_t volume_ = -1;  // volume of the last block
};

Arrival MemorySource::next(std::chrono::milliseconds timeout) {
    const auto count = static_cast<std::uint64_t>(blocks_.size());
    Block block = blocks_[static_cast<std::size_t>(sent_ % count)];
    const std::int64_t lines = lines_ + block.b_scans * scan_.geometry.b_repeats * scan_.geometry.lines_per_b_scan();
    const auto due = start_ + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(static_cast<double>(lines) / lines_per_s_));
    const auto now = Clock::now();
    if (due > now + timeout) {
        std::this_thread::sleep_for(timeout);
        return {};
    }
    if (due > now) std::this_thread::sleep_until(due);
    if (block.first_b_scan == 0) ++volume_;
    block.volume = volume_;
    block.sequence = sent_++;
    block.time_s = static_cast<double>(lines_) / lines_per_s_;
    lines_ = lines;
    return {Arrival::Kind::block, block};
}

struct LiveRun {
    LiveStats session;
    PictureStats pictures;
    RingStatistics ring;
};

// Runs a session whose source keeps its pace, with up to 60 pictures per second. Waits for pending work at the end.
LiveRun run_paced(BenchBook& book, Source& source, LivePipeline& path, const View& view, double seconds) {
    Session session(source, path.feeder);
    PictureLoop loop(path.display, view, 60, [&](std::int64_t volume) { session.shown(volume); });
    session.start();
    for (const auto start = Clock::now(); seconds_since(start) < seconds;) {
        book.poll();
        std::this_thread::sleep_for(50ms);
    }
    session.stop();
    session.drain(10s);
    path.feeder.finish_tissue(10s);
    loop.stop();
    return {session.stats(), loop.stats(), path.feeder.statistics()};
}

// `what` describes the A-scans: "512 x 512 A-scans of 2048 samples, from pinned memory".
void note_live(BenchBook& book, const std::string& key, const std::string& what, std::int64_t blocks_of_a_volume,
               const LiveRun& run) {
    const auto one = [&](const char* name, const std::string& meaning, const char* unit, double value) {
        book.note(fmt::format("{}.{}", key, name), meaning, unit, value);
    };
    const LiveStats& session = run.session;
    const auto volumes = static_cast<double>(std::max<std::int64_t>(session.arrived.volumes, 1));
    const std::int64_t left_out =
        session.queue.overtaken_blocks + session.queue.incomplete_blocks + session.queue.given_up_blocks;
    one("acquired", what, "A-scans/s", static_cast<double>(session.arrived.a_scans) / std::max(session.seconds, 1e-9));
    one("lost", "blocks that were not reconstructed", "blocks",
        static_cast<double>(left_out + run.ring.dropped * blocks_of_a_volume));
    one("appeared", "share of the volumes that a finished picture showed", "",
        static_cast<double>(run.pictures.volumes) / volumes);
    one("out_of_order", "pictures that showed an older volume than the previous image", "pictures",
        static_cast<double>(run.pictures.out_of_order));
    one("latency", "last block to a finished picture, median", "s", session.shown.percentile_s(0.5));
    one("latency.p99", "of 99 %", "s", session.shown.percentile_s(0.99));
}

// ---- One system at a set rate, and the published scan protocols.

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
    LiveBench(BenchBook& book, BenchReport& report, const BenchJob& job, const BenchProcessor& processor)
        : book_(book), report_(report), job_(job), processor_(processor) {
        device_.name = job.device;
        view_.width = job.quick || !processor.is_gpu() ? 320 : 1920;
        view_.height = job.quick || !processor.is_gpu() ? 240 : 1080;
    }

    // Runs a session at `volumes_per_s` with a picture loop of 60 pictures per second. `tissue`: the processing of
    // volumes before they are shown.
    void run_session(const std::string& key, const std::string& task, const ReconstructionSpec& spec,
                     const BenchSize& size, double volumes_per_s, const LiveTissue& tissue = {}) {
        book_.begin(fmt::format("{}, {:.0f} volumes/s", task, volumes_per_s), tissue.is_empty_recipe() ? 6 : 9);
        const BenchSpectra spectra(size, SampleFormat::u16, processor_.source(), processor_.choice.gpu);
        MemorySource source(spec, spectra.blocks(), volumes_per_s * static_cast<double>(size.lines()));
        LivePipelineOptions options;
        options.tissue = tissue;
        LivePipeline path(spec, processor_.choice, device_, options);
        report_.machine.backend = path.feeder.describe();
        const char* flow = spec.flow.method == FlowMethod::none ? "" : ", with flow";
        note_live(book_, key,
                  fmt::format("{} x {} A-scans of {} samples{}, from {}", size.a_scans, size.frames(), size.samples,
                              flow, processor_.source_name()),
                  size.b_scans / size.block_b_scans, run_paced(book_, source, path, view_, job_.seconds));
        if (!tissue.is_empty_recipe()) note_work(key, path.feeder.tissue_log().stats());
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
        const auto volumes = static_cast<double>(std::max<std::int64_t>(1, done.volumes));
        book_.note(key + ".skipped", "volumes that came while two were being worked on", "volumes",
                   static_cast<double>(done.skipped));
        book_.note(key + ".work", "stabilising and filtering of a volume, mean", "s", done.work_s / volumes);
        book_.note(key + ".stabilised", "share of the volumes", "", static_cast<double>(done.stabilised) / volumes);
    }

    // Seconds from the blocks of a volume to a finished picture, repeatedly.
    std::vector<double> seconds(LivePipeline& path, const BenchSpectra& spectra) {
        const auto work = [&] {
            for (Block block : spectra.blocks()) {
                block.volume = volume_;
                if (!path.feeder.feed(block)) throw Error(ErrorCode::device, "a volume was dropped", "bench");
            }
            ++volume_;
            path.display.wait(path.display.picture(view_).value());
        };
        return book_.repeated(3, job_.quick ? 3 : 30, [&](int) { return seconds_of(work); });
    }

    std::vector<double> copies(const BenchSpectra& from, const BenchSize& size) {
        const BenchSpectra to(size, SampleFormat::u16, MemoryKind::device, processor_.choice.gpu);
        auto* target = const_cast<std::byte*>(to.blocks().front().data);
        return book_.repeated(2, job_.quick ? 3 : 30, [&](int) {
            return seconds_of([&] { copy_memory(target, from.blocks().front().data, from.bytes()); });
        });
    }

    // The paper distinguishes the copy of spectra to the GPU from reprocessing spectra that are already there. A CPU
    // copies nothing, so its reprocessing is the whole.
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
        LivePipeline path(spec_of(size, true), processor_.choice, device_);
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
    const BenchJob& job_;
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

BenchProcessor processor_of(const BenchJob& job) {
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

// ---- Several GPUs: volumes of 1000 x 1000 x 1000 voxels from raw spectra to the textures of one GPU, with lit
// pictures.

// Paced runs use this share of the unpaced rate, so that a lost block is a fault and not an overload.
constexpr double share_that_is_paced = 0.95;

struct GpuSetup {
    const char* name;
    const char* what;
    SampleFormat format;
    bool flow;
};

constexpr GpuSetup setups[] = {{"packed12", "packed 12-bit samples, structure", SampleFormat::packed12, false},
                               {"u16", "samples of 16 bits, structure", SampleFormat::u16, false},
                               {"doppler", "samples of 16 bits, structure and Doppler", SampleFormat::u16, true}};

class LiveGpusBench {
  public:
    LiveGpusBench(BenchBook& book, BenchReport& report, const BenchJob& job)
        : book_(book), report_(report), job_(job), gpus_(chosen_gpus(*job.gpus, surveyed_gpus())),
          size_(job.quick ? BenchSize{500, 64, 40, 4} : BenchSize{2000, 1000, 1000, 16}) {
        device_.name = job.device;
        view_.width = job.quick ? 320 : 1920;
        view_.height = job.quick ? 240 : 1080;
    }

    // Checks the names of runs early, since ceilings take minutes.
    void require_runs() const {
        std::string all;
        for (const GpuSetup& setup : setups) {
            if (!counts_of(setup).empty()) return;
            for (const std::int64_t count : doubled_to(std::ssize(gpus_)))
                all += (all.empty() ? "" : ", ") + key_of(setup, count);
        }
        throw Error(ErrorCode::bad_setting, fmt::format("no key of a run begins with \"{}\"", job_.only), "only",
                    "there are " + all);
    }

    void ceilings() {
        book_.begin("ceilings", 2 * std::ssize(doubled_to(std::ssize(gpus_))) + 1);
        const auto found = [&](const Ceiling& one) { book_.ceiling(one); };
        required_gpu().measure_several_gpus(gpus_, book_.effort(), found);
        measure_cpu_ceilings({}, book_.effort(), found);
        book_.end();
    }

    void measure(const GpuSetup& setup) {
        const std::vector<std::int64_t> counts = counts_of(setup);
        if (counts.empty()) return;
        book_.begin(fmt::format("live, {}", setup.what), 9 * std::ssize(counts));
        // Two volumes, so that no volume is read twice in a row.
        std::vector<BenchSpectra> volumes;
        std::vector<Block> blocks;
        for (int i = 0; i < 2; ++i) {
            volumes.emplace_back(size_, setup.format, MemoryKind::pinned);
            blocks.insert(blocks.end(), volumes.back().blocks().begin(), volumes.back().blocks().end());
        }
        const auto bytes = static_cast<double>(volumes.front().bytes());
        for (const std::int64_t count : counts) reach(setup, count, blocks, bytes);
        book_.end();
    }

  private:
    static std::string key_of(const GpuSetup& setup, std::int64_t count) {
        return fmt::format("live.gpus.{}/{}", setup.name, count);
    }

    // Numbers of GPUs for the requested runs.
    std::vector<std::int64_t> counts_of(const GpuSetup& setup) const {
        std::vector<std::int64_t> counts = doubled_to(std::ssize(gpus_));
        std::erase_if(counts, [&](std::int64_t count) { return !key_of(setup, count).starts_with(job_.only); });
        return counts;
    }

    static ReconstructionSpec spec_of(const GpuSetup& setup, const BenchSize& size) {
        ReconstructionSpec spec = chain_spec(size, setup.format);
        spec.recipe.depth_end = size.samples / 2;
        spec.calibration.centre_wavelength_nm = bench_wavelength_nm;
        spec.geometry.line_rate_hz = bench_line_rate_hz;
        if (setup.flow) spec.flow.method = FlowMethod::doppler;
        return spec;
    }

    // Rates reached without pacing.
    struct MaxRates {
        double volumes_per_s = 0;
        double pictures_per_s = 0;
        std::vector<DeviceWork> devices = {};
    };

    void reach(const GpuSetup& setup, std::int64_t count, const std::vector<Block>& blocks, double bytes) {
        BackendChoice choice{.backend = Backend::cuda};
        choice.named_gpus.assign(gpus_.begin(), gpus_.begin() + count);
        choice.peers = job_.gpus->peers;
        const std::string of = fmt::format("{}/{}", setup.name, count), key = key_of(setup, count);
        kernels_alone(setup, of, choice);
        MaxRates reached;
        std::vector<double> pictures;
        book_.figure(key,
                     fmt::format("{}, {} x {} x {} voxels on {}, pictures beside", setup.what, size_.samples / 2,
                                 size_.a_scans, size_.b_scans, count == 1 ? "1 GPU" : fmt::format("{} GPUs", count)),
                     "volumes/s",
                     [&] {
                         LivePipeline path(spec_of(setup, size_), choice, device_);
                         report_.machine.backend = path.feeder.describe();
                         reached = unpaced(path, blocks);
                         pictures = pictures_alone(path);
                         return std::vector{reached.volumes_per_s};
                     },
                     {{key_of(setup, 1)}});
        if (reached.volumes_per_s <= 0) return;
        book_.figure("pictures." + of, "pictures of a volume at rest, one after the other", "pictures/s",
                     [&] { return pictures; });
        note_stages(of, count, reached, bytes, std::ssize(blocks) / 2);
        if (count > 1) note_blocks(key, reached.devices);
        paced(setup, key, choice, blocks, reached.volumes_per_s * share_that_is_paced);
    }

    // Measures kernels alone, with spectra and voxels in the memory of each GPU: no link, no copies, no pictures. Part
    // of the B-scans suffices.
    void kernels_alone(const GpuSetup& setup, const std::string& of, const BackendChoice& choice) {
        BenchSize size = size_;
        size.b_scans = std::min<std::int64_t>(size.b_scans, 8 * size.block_b_scans);
        const BenchProcessor processor{choice};
        book_.figure("kernels." + of, "kernels alone, GPU memory to GPU memory", "A-scans/s", [&] {
            std::vector<BenchSpectra> spectra;
            for (const BenchProcessor& each : processor.each())
                spectra.emplace_back(size, setup.format, each.home(), each.choice.gpu);
            return loop_rates(book_, size, spec_of(setup, size), processor, spectra);
        });
    }

    std::vector<double> pictures_alone(LivePipeline& path) {
        return book_.repeated(3, job_.quick ? 3 : 60, [&](int) {
            return 1 / seconds_of([&] {
                       if (const auto picture = path.display.picture(view_)) path.display.wait(*picture);
                   });
        });
    }

    // Feeds blocks as fast as they are accepted, with pictures in parallel.
    MaxRates unpaced(LivePipeline& path, const std::vector<Block>& blocks) {
        PictureLoop loop(path.display, view_, 60, [](std::int64_t) {});
        std::int64_t volume = -1, whole = 0;
        const double seconds = job_.quick ? 0.5 : std::min(job_.seconds, 10.0);
        feed_one(path, blocks, volume);  // first volume: allocations happen now
        path.feeder.finish();
        const auto start = Clock::now();
        const std::int64_t pictures_before = loop.stats().pictures;
        do {
            book_.poll();
            whole += feed_one(path, blocks, volume) ? 1 : 0;
        } while (seconds_since(start) < seconds);
        path.feeder.finish();
        const double took = seconds_since(start);
        const std::int64_t pictures = loop.stats().pictures - pictures_before;
        loop.stop();
        return {static_cast<double>(whole) / took, static_cast<double>(pictures) / took, path.feeder.device_work()};
    }

    // Returns false if no slot was free.
    static bool feed_one(LivePipeline& path, const std::vector<Block>& blocks, std::int64_t& volume) {
        ++volume;
        const auto half = std::ssize(blocks) / 2;
        const auto first = blocks.begin() + volume % 2 * half;
        return std::all_of(first, first + half, [&](Block block) {
            block.volume = volume;
            return path.feeder.feed(block);
        });
    }

    // Notes each stage together with its ceiling.
    void note_stages(const std::string& of, std::int64_t count, const MaxRates& reached, double bytes,
                     std::int64_t blocks_of_a_volume) {
        std::int64_t blocks = 0, copied = 0;
        for (const DeviceWork& one : reached.devices) {
            blocks += one.blocks;
            copied += one.copied_bytes;
        }
        const double rate = reached.volumes_per_s;
        BenchPipeline table{fmt::format("live.gpus.{}, {:.1f} volumes/s", of, rate), {}};
        const auto stage = [&](const char* name, const char* unit, double amount, const std::string& ceiling) {
            const BenchFigure* limit = report_.find(ceiling);
            table.stages.push_back({name, unit, amount, ceiling, limit == nullptr ? 0 : limit->spread.median});
        };
        stage("spectra out of host memory", "B/s", rate * bytes, "memory.read");
        stage("spectra over all links", "B/s", rate * bytes, fmt::format("links.to_devices/{}", count));
        stage("kernels", "A-scans/s", rate * static_cast<double>(size_.lines()), "kernels." + of);
        if (copied > 0) {
            const double of_a_block = static_cast<double>(copied) / static_cast<double>(blocks);
            stage("voxels to the GPU that draws", "B/s", rate * of_a_block * static_cast<double>(blocks_of_a_volume),
                  fmt::format("peers/{}", count));
        }
        stage("pictures, 60 a second at most", "pictures/s", reached.pictures_per_s, "pictures." + of);
        report_.stages.push_back(table);
    }

    void note_blocks(const std::string& key, const std::vector<DeviceWork>& devices) {
        std::int64_t blocks = 0;
        for (const DeviceWork& one : devices) blocks += one.blocks;
        BenchSheet sheet{fmt::format("{}: of a block of {} B-scans on each GPU", key, size_.block_b_scans),
                         "s",
                         {"link", "waiting", "kernels", "copy"},
                         {}};
        for (const DeviceWork& one : devices) {
            const auto own_blocks = static_cast<double>(std::max<std::int64_t>(1, one.blocks));
            const double share = 100 * own_blocks / static_cast<double>(std::max<std::int64_t>(1, blocks));
            sheet.rows.push_back({fmt::format("{} {}: {:.0f} % of the blocks", one.name, sheet.rows.size() + 1, share),
                                  {one.link_s / own_blocks, one.waiting_s / own_blocks, one.kernels_s / own_blocks,
                                   one.copy_s / own_blocks}});
        }
        report_.sheets.push_back(sheet);
    }

    void paced(const GpuSetup& setup, const std::string& key, const BackendChoice& choice,
               const std::vector<Block>& blocks, double volumes_per_s) {
        const ReconstructionSpec spec = spec_of(setup, size_);
        MemorySource source(spec, blocks, volumes_per_s * static_cast<double>(size_.lines()));
        LivePipeline path(spec, choice, device_);
        note_live(book_, key, fmt::format("{:.1f} volumes/s, from pinned memory", volumes_per_s),
                  std::ssize(blocks) / 2, run_paced(book_, source, path, view_, job_.seconds));
    }

    BenchBook& book_;
    BenchReport& report_;
    const BenchJob& job_;
    std::vector<DeviceId> gpus_;
    BenchSize size_;
    GpuDevice device_;
    View view_;
};

void run_live_gpus(const BenchJob& job, BenchReport& report, Progress& progress) {
    require_backend({.backend = job.backend, .gpus = job.gpus->gpus, .named_gpus = job.gpus->named_gpus});
    report = report_of("", job.quick);
    report.conditions = fmt::format(
        "Two volumes in pinned memory, sent in turn; dispersion, Lagrange-3, dB to u8; {:.0f} % of what is reached at "
        "the pace of a clock",
        100 * share_that_is_paced);
    BenchBook book(report, extent_of(true, job.quick).effort, progress);
    LiveGpusBench bench(book, report, job);
    bench.require_runs();
    bench.ceilings();
    for (const GpuSetup& setup : setups) bench.measure(setup);
}

}  // namespace

void run_live(const BenchJob& of, BenchReport& report, Progress& progress) {
    BenchJob job = of;
    if (job.quick) job.seconds = std::min(job.seconds, 2.0);
    if (job.gpus) return run_live_gpus(job, report, progress);
    const BenchProcessor processor = processor_of(job);
    report = report_of("", job.quick);
    report.conditions = "Blocks in memory, as a driver would leave them there, at the pace of a clock";
    BenchBook book(report, {}, progress);
    LiveBench bench(book, report, job, processor);
    const auto live = [&](const std::string& key, const BenchSize& size, double volumes_per_s, bool flow) {
        measure_case(book, key, [&] { bench.run_session(key, "live", spec_of(size, flow), size, volumes_per_s); });
    };
    const auto tissue = [&](const std::string& key, const BenchSize& size, double volumes_per_s,
                            const LiveTissue& what) {
        measure_case(book, key,
                     [&] { bench.run_session(key, key, angiography_spec(size), size, volumes_per_s, what); });
    };
    if (processor.is_gpu() && !job.quick) {
        // 49 volumes/s are 52.6 GB/s of spectra, close to the limit of a PCIe 5.0 x16 link.
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
}

}  // namespace echolux
