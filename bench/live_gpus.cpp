#include "bench/live_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "app/live/picture_loop.h"
#include "app/live/volume_path.h"
#include "app/seconds_since.h"
#include "bench/live_figures.h"
#include "bench/memory_source.h"
#include "bench/run.h"
#include "compute/error.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double share_that_is_paced = 0.95;  // of what is reached without a clock

struct Way {
    const char* name;
    const char* what;
    SampleFormat format;
    bool flow;
};

constexpr Way ways[] = {{"packed12", "packed 12-bit samples, structure", SampleFormat::packed12, false},
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

    void ceilings() {
        book_.begin("ceilings", 2 * std::ssize(doubled_to(std::ssize(gpus_))));
        const auto found = [&](const Ceiling& one) { book_.ceiling(one); };
        measure_several_gpus_ceilings(gpus_, book_.effort(), found);
        measure_cpu_ceilings({}, book_.effort(), found);
        book_.end();
    }

    void measure(const Way& way) {
        const auto counts = doubled_to(std::ssize(gpus_));
        book_.begin(fmt::format("live, {}", way.what), 9 * std::ssize(counts));
        // Two volumes, so that none is read twice in a row.
        std::vector<BenchSpectra> volumes;
        std::vector<Block> blocks;
        for (int i = 0; i < 2; ++i) {
            volumes.emplace_back(size_, way.format, MemoryKind::pinned);
            blocks.insert(blocks.end(), volumes.back().blocks().begin(), volumes.back().blocks().end());
        }
        const auto bytes = static_cast<double>(volumes.front().bytes());
        for (const std::int64_t count : counts) reach(way, count, blocks, bytes);
        book_.end();
    }

  private:
    ReconstructionSpec spec_of(const Way& way) const {
        ReconstructionSpec spec = chain_spec(size_, way.format);
        spec.recipe.depth_end = size_.samples / 2;
        spec.calibration.centre_wavelength_nm = 845;
        spec.geometry.line_rate_hz = 70'000;
        if (way.flow) spec.flow.method = FlowMethod::doppler;
        return spec;
    }

    void reach(const Way& way, std::int64_t count, const std::vector<Block>& blocks, double bytes) {
        BackendChoice choice{.backend = Backend::cuda};
        choice.named_gpus.assign(gpus_.begin(), gpus_.begin() + count);
        choice.peers = job_.gpus->peers;
        const std::string key = fmt::format("live.gpus.{}/{}", way.name, count);
        double rate = 0;
        std::vector<DeviceWork> devices;
        book_.figure(key,
                     fmt::format("{}, {} x {} x {} voxels on {}, pictures beside", way.what, size_.samples / 2,
                                 size_.a_scans, size_.b_scans, count == 1 ? "1 GPU" : fmt::format("{} GPUs", count)),
                     "volumes/s",
                     [&] {
                         LoneVolumePath path(spec_of(way), choice, device_);
                         report_.machine.backend = path.describe();
                         rate = unpaced(path, blocks);
                         devices = path.device_work();
                         return std::vector{rate};
                     },
                     {{fmt::format("live.gpus.{}/1", way.name)}});
        if (rate <= 0) return;
        note_stages(key, count, rate, bytes, devices);
        paced(way, key, choice, blocks, rate * share_that_is_paced);
    }

    // As fast as blocks are taken, pictures beside; volumes a second.
    double unpaced(VolumePath& path, const std::vector<Block>& blocks) {
        PictureLoop loop(path, view_, 60, [](std::int64_t) {});
        std::int64_t volume = -1, whole = 0;
        const double seconds = job_.quick ? 0.5 : std::min(job_.seconds, 10.0);
        feed_one(path, blocks, volume);  // what is allocated with the first of its kind
        path.finish();
        const auto start = Clock::now();
        do {
            book_.poll();
            whole += feed_one(path, blocks, volume) ? 1 : 0;
        } while (seconds_since(start) < seconds);
        path.finish();
        const double rate = static_cast<double>(whole) / seconds_since(start);
        loop.stop();
        return rate;
    }

    // False: no slot was free.
    static bool feed_one(VolumePath& path, const std::vector<Block>& blocks, std::int64_t& volume) {
        ++volume;
        const auto half = std::ssize(blocks) / 2;
        const auto first = blocks.begin() + volume % 2 * half;
        return std::all_of(first, first + half, [&](Block block) {
            block.volume = volume;
            return path.feed(block);
        });
    }

    // Each stage beside its ceiling.
    void note_stages(const std::string& key, std::int64_t count, double rate, double bytes,
                     const std::vector<DeviceWork>& devices) {
        book_.figure(key + ".links", "spectra over all links together", "B/s",
                     [=] { return std::vector{rate * bytes}; }, {{fmt::format("links.to_devices/{}", count)}});
        if (devices.size() < 2) return;
        std::int64_t blocks = 0;
        for (const DeviceWork& one : devices) blocks += one.blocks;
        BenchSheet sheet{fmt::format("{}: of a block of {} B-scans on each GPU", key, size_.block_b_scans),
                         "s",
                         {"share", "link", "waiting", "kernels", "copy"},
                         {}};
        for (const DeviceWork& one : devices) {
            const auto its = static_cast<double>(std::max<std::int64_t>(1, one.blocks));
            sheet.rows.push_back({fmt::format("{} {}", one.name, sheet.rows.size() + 1),
                                  {its / static_cast<double>(std::max<std::int64_t>(1, blocks)), one.link_s / its,
                                   one.waiting_s / its, one.kernels_s / its, one.copy_s / its}});
        }
        report_.sheets.push_back(sheet);
    }

    void paced(const Way& way, const std::string& key, const BackendChoice& choice, const std::vector<Block>& blocks,
               double volumes_per_s) {
        const ReconstructionSpec spec = spec_of(way);
        MemorySource source(spec, blocks, volumes_per_s * static_cast<double>(size_.lines()));
        LoneVolumePath path(spec, choice, device_);
        note_live(book_, key, fmt::format("{:.1f} volumes/s, from pinned memory", volumes_per_s),
                  std::ssize(blocks) / 2, run_paced(book_, source, path, view_, job_.seconds));
    }

    BenchBook& book_;
    BenchReport& report_;
    const LiveBenchJob& job_;
    std::vector<DeviceId> gpus_;
    BenchSize size_;
    DeviceChoice device_;
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
        "the "
        "pace of a clock",
        100 * share_that_is_paced);
    BenchBook book(report, extent_of(true, job.quick).effort, progress);
    LiveGpusBench bench(book, report, job);
    bench.ceilings();
    for (const Way& way : ways) bench.measure(way);
    return report;
}

}  // namespace echolux
