#include "bench/live_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "app/live/live_job.h"
#include "app/live/live_pipeline.h"
#include "app/seconds_since.h"
#include "bench/live_figures.h"
#include "bench/memory_source.h"
#include "bench/rates.h"
#include "bench/run.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double share_that_is_paced = 0.95;  // paced runs use this share of the unpaced rate

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
    LiveGpusBench(BenchBook& book, BenchReport& report, const LiveBenchJob& job)
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
    struct Reached {
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
        Reached reached;
        std::vector<double> pictures;
        book_.figure(key,
                     fmt::format("{}, {} x {} x {} voxels on {}, pictures beside", setup.what, size_.samples / 2,
                                 size_.a_scans, size_.b_scans, count == 1 ? "1 GPU" : fmt::format("{} GPUs", count)),
                     "volumes/s",
                     [&] {
                         StandalonePipeline path(spec_of(setup, size_), choice, device_);
                         report_.machine.backend = path.describe();
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
        std::vector<double> rates;
        for (int i = -3; i < (job_.quick ? 3 : 60); ++i) {
            book_.poll();
            const auto start = Clock::now();
            if (const auto picture = path.picture(view_)) path.wait(*picture);
            if (i >= 0) rates.push_back(1 / seconds_since(start));
        }
        return rates;
    }

    // Feeds blocks as fast as they are accepted, with pictures in parallel.
    Reached unpaced(LivePipeline& path, const std::vector<Block>& blocks) {
        PictureLoop loop(path, view_, 60, [](std::int64_t) {});
        std::int64_t volume = -1, whole = 0;
        const double seconds = job_.quick ? 0.5 : std::min(job_.seconds, 10.0);
        feed_one(path, blocks, volume);  // first volume: allocations happen now
        path.finish();
        const auto start = Clock::now();
        const std::int64_t pictures_before = loop.stats().pictures;
        do {
            book_.poll();
            whole += feed_one(path, blocks, volume) ? 1 : 0;
        } while (seconds_since(start) < seconds);
        path.finish();
        const double took = seconds_since(start);
        const std::int64_t pictures = loop.stats().pictures - pictures_before;
        loop.stop();
        return {static_cast<double>(whole) / took, static_cast<double>(pictures) / took, path.device_work()};
    }

    // Returns false if no slot was free.
    static bool feed_one(LivePipeline& path, const std::vector<Block>& blocks, std::int64_t& volume) {
        ++volume;
        const auto half = std::ssize(blocks) / 2;
        const auto first = blocks.begin() + volume % 2 * half;
        return std::all_of(first, first + half, [&](Block block) {
            block.volume = volume;
            return path.feed(block);
        });
    }

    // Notes each stage together with its ceiling.
    void note_stages(const std::string& of, std::int64_t count, const Reached& reached, double bytes,
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
            const auto its = static_cast<double>(std::max<std::int64_t>(1, one.blocks));
            const double share = 100 * its / static_cast<double>(std::max<std::int64_t>(1, blocks));
            sheet.rows.push_back({fmt::format("{} {}: {:.0f} % of the blocks", one.name, sheet.rows.size() + 1, share),
                                  {one.link_s / its, one.waiting_s / its, one.kernels_s / its, one.copy_s / its}});
        }
        report_.sheets.push_back(sheet);
    }

    void paced(const GpuSetup& setup, const std::string& key, const BackendChoice& choice,
               const std::vector<Block>& blocks, double volumes_per_s) {
        const ReconstructionSpec spec = spec_of(setup, size_);
        MemorySource source(spec, blocks, volumes_per_s * static_cast<double>(size_.lines()));
        StandalonePipeline path(spec, choice, device_);
        note_live(book_, key, fmt::format("{:.1f} volumes/s, from pinned memory", volumes_per_s),
                  std::ssize(blocks) / 2, run_paced(book_, source, path, view_, job_.seconds));
    }

    BenchBook& book_;
    BenchReport& report_;
    const LiveBenchJob& job_;
    std::vector<DeviceId> gpus_;
    BenchSize size_;
    GpuDevice device_;
    View view_;
};

}  // namespace

BenchReport run_live_gpus(const LiveBenchJob& job, Progress& progress) {
    require_backend({.backend = job.backend, .gpus = job.gpus->gpus, .named_gpus = job.gpus->named_gpus});
    BenchReport report;
    report.machine.threads = thread_count();
    report.machine.processor = processor_name();
    report.quick = job.quick;
    report.conditions = fmt::format(
        "Two volumes in pinned memory, sent in turn; dispersion, Lagrange-3, dB to u8; {:.0f} % of what is reached at "
        "the pace of a clock",
        100 * share_that_is_paced);
    BenchBook book(report, extent_of(true, job.quick).effort, progress);
    LiveGpusBench bench(book, report, job);
    bench.require_runs();
    bench.ceilings();
    for (const GpuSetup& setup : setups) bench.measure(setup);
    return report;
}

}  // namespace echolux
