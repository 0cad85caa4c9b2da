#include "ui/app/bench_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "ui/app/bench_book.h"
#include "ui/app/bench_processor.h"
#include "ui/app/bench_scan.h"
#include "ui/app/bench_targets.h"
#include "ui/app/bench_throughput.h"
#ifdef ECHOLUX_RENDER
#include "render/offscreen.h"
#include "ui/app/bench_display.h"
#endif

namespace echolux {
namespace {

constexpr std::int64_t main_length = 2048;

// The text after `label` on the first line of a file that has it; "" where there is none.
std::string text_after(const std::string& path, const std::string& label) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t at = line.find(label);
        if (at == std::string::npos) continue;
        const std::size_t begin = line.find_first_not_of(" \t:", at + label.size());
        return begin == std::string::npos ? std::string() : line.substr(begin);
    }
    return {};
}

std::string first_word(const std::string& text) {
    return text.substr(0, text.find(' '));
}

const Gpu& gpu_named(const std::string& name, const GpuSurvey& survey) {
    for (const Gpu& gpu : survey.usable) {
        if (gpu.name.find(name) != std::string::npos) return gpu;
    }
    const std::string reason = survey.refusal.empty() ? "there is none" : survey.refusal;
    throw Error(ErrorCode::device,
                name.empty() ? "no GPU can be used: " + reason : fmt::format("no GPU is called '{}'", name), "bench",
                "see nvidia-smi -L, or choose --backend cpu");
}

// Which processor reconstructs is settled once, so that all figures are of the same.
BenchProcessor chosen_processor(const BenchJob& job) {
    BackendChoice choice;
    const GpuSurvey& survey = surveyed_gpus();
    const bool none = survey.usable.empty() && job.gpu.empty();
    choice.backend = job.backend == Backend::automatic ? (none ? Backend::cpu : Backend::cuda) : job.backend;
    if (choice.backend == Backend::cuda) choice.gpu = gpu_named(job.gpu, survey).id;
    return {choice};
}

struct Extent {
    BenchSize size;
    CeilingEffort effort;
};

// A CPU is some hundred times slower: smaller volumes say the same.
Extent extent_of(bool gpu, bool quick) {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    if (quick) return {{0, 64, 16, 4}, {8 * mib, 3, 0.005}};
    if (gpu) return {{0, 512, 512, 16}, {512 * mib, 15, 0.1}};
    return {{0, 256, 64, 8}, {256 * mib, 9, 0.2}};
}

// Throws Error{device} before anything is measured where the device that was asked for is not there.
void check_display([[maybe_unused]] const BenchJob& job) {
#ifdef ECHOLUX_RENDER
    if (job.device.empty()) return;
    DeviceChoice wanted;
    wanted.name = job.device;
    const Renderer renderer(wanted);
#endif
}

void check(const BenchJob& job) {
    for (const std::int64_t length : job.lengths) {
        if (length >= 128 && length <= 65536 && length % 2 == 0) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("{} samples cannot be measured", length), "--lengths",
                    "choose even numbers from 128 to 65536");
    }
    if (job.lengths.empty()) throw Error(ErrorCode::bad_setting, "no length to measure", "--lengths", "name one");
    check_display(job);
}

BenchMachine machine_of(const BackendChoice& choice) {
    BenchMachine machine;
    machine.processor = processor_name();
    machine.threads = thread_count();
    const BenchSize tiny{512, 8, 1, 1};
    machine.backend = make_reconstructor(bench_plan(tiny), choice)->backend();
    if (choice.backend == Backend::cuda) {
        machine.driver = first_word(text_after("/proc/driver/nvidia/version", "Kernel Module for x86_64"));
        if (machine.driver.empty()) {
            machine.driver = first_word(text_after("/proc/driver/nvidia/version", "Kernel Module"));
        }
    }
    return machine;
}

void measure_ceilings(BenchBook& book, const BenchJob& job, const BenchProcessor& processor) {
    book.begin("ceilings", std::ssize(job.lengths) + (processor.is_gpu() ? 5 : 1));
    const auto found = [&](const Ceiling& ceiling) { book.ceiling(ceiling); };
    try {
        if (processor.is_gpu()) {
            measure_gpu_ceilings(processor.choice.gpu, job.lengths, book.effort(), found);
        } else {
            measure_cpu_ceilings(job.lengths, book.effort(), found);
        }
    } catch (const Error& error) {  // cuFFT is not everywhere; what was found before stays
        if (error.code() == ErrorCode::cancelled) throw;
        book.skip("ceilings", "not all of them", error.line());
    }
    book.end();
}

std::string measure_display([[maybe_unused]] BenchBook& book, [[maybe_unused]] const BenchSize& size,
                            [[maybe_unused]] const BenchProcessor& processor, [[maybe_unused]] const BenchJob& job) {
#ifdef ECHOLUX_RENDER
    BenchDisplay display;
    display.device = job.device;
    if (!processor.is_gpu()) {  // software Vulkan
        display.width = 320;
        display.height = 180;
        display.pictures_per_second = 10;
    }
    if (job.quick) display.volumes = 5;
    book.begin(fmt::format("display {} samples", size.samples), display_figures);
    std::string way = bench_display(book, size, processor, display);
    book.end();
    return way;
#else
    return "";
#endif
}

}  // namespace

std::string processor_name() {
    return text_after("/proc/cpuinfo", "model name");
}

BenchReport run(const BenchJob& job, Progress& progress) {
    check(job);
    const BenchProcessor processor = chosen_processor(job);
    const auto [extent, effort] = extent_of(processor.is_gpu(), job.quick);
    BenchReport report;
    report.machine = machine_of(processor.choice);
    if (job.backend == Backend::automatic && !processor.is_gpu()) report.machine.remark = surveyed_gpus().refusal;
    report.a_scans = extent.a_scans;
    report.b_scans = extent.b_scans;
    report.block_b_scans = extent.block_b_scans;
    report.quick = job.quick;
    report.conditions = fmt::format(
        "Volumes of {} x {} A-scans in blocks of {} B-scans, u16 unless said, Lagrange-3 + "
        "dispersion + Hann + dB to u8",
        report.a_scans, report.b_scans, report.block_b_scans);

    BenchBook book(report, effort, progress);
    measure_ceilings(book, job, processor);
    BenchSize size = extent;
    for (const std::int64_t length : job.lengths) {
        size.samples = length;
        book.begin(fmt::format("reconstruct {} samples", length), resident_figures);
        bench_resident(book, size, processor);
        book.end();
        const std::string way = measure_display(book, size, processor, job);
        if (!way.empty()) report.machine.display = way;
    }
    const bool has_main = std::ranges::find(job.lengths, main_length) != job.lengths.end();
    size.samples = has_main ? main_length : job.lengths.front();
    book.begin("batches", batch_figures);
    constexpr std::int64_t largest_batch = 20000;
    bench_batches(book, size.samples, job.quick ? size.lines() : std::max(size.lines(), largest_batch), processor);
    book.end();
    if (processor.is_gpu()) {
        book.begin("streams", stream_figures);
        bench_streams(book, size, processor);
        book.end();
    }
    if (processor.is_gpu() && has_main && !job.quick) report.targets = judged(report);
    return report;
}

}  // namespace echolux
