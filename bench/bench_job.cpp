#include "bench/bench_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/book.h"
#include "bench/start.h"
#include "bench/targets.h"
#include "bench/throughput.h"
#include "compute/error.h"
#ifdef ECHOLUX_RENDER
#include "bench/display.h"
#endif

namespace echolux {
namespace {

constexpr std::int64_t main_length = 2048;

void check(const BenchJob& job) {
    for (const std::int64_t length : job.lengths) {
        if (length >= 128 && length <= 65536 && length % 2 == 0) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("{} samples cannot be measured", length), "--lengths",
                    "choose even numbers from 128 to 65536");
    }
    if (job.lengths.empty()) throw Error(ErrorCode::bad_setting, "no length to measure", "--lengths", "name one");
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

BenchReport run(const BenchJob& job, Progress& progress) {
    check(job);
    auto [processor, extent, report] = start_of(job);
    report.conditions = fmt::format(
        "Volumes of {} x {} A-scans in blocks of {} B-scans, u16 unless said, Lagrange-3 + "
        "dispersion + Hann + dB to u8",
        report.a_scans, report.b_scans, report.block_b_scans);

    BenchBook book(report, extent.effort, progress);
    measure_ceilings(book, job, processor);
    BenchSize size = extent.size;
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
