// The main benchmark: ceilings, the reconstructor alone, the library and the path to the screen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>

#include "bench/benches.h"
#include "bench/rates.h"
#include "bench/targets.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "echolux/echolux.hpp"
#include "engine/scan/scan.h"
#ifdef ECHOLUX_RENDER
#include "bench/display.h"
#endif

namespace echolux {
namespace {

constexpr std::int64_t main_length = 2048;

void measure_ceilings(BenchBook& book, const BenchJob& job, const BenchProcessor& processor) {
    book.begin("ceilings", std::ssize(job.lengths) + (processor.is_gpu() ? 5 : 2));
    const auto found = [&](const Ceiling& ceiling) { book.ceiling(ceiling); };
    try {
        if (processor.is_gpu()) {
            required_gpu().measure_ceilings(processor.choice.gpu, job.lengths, book.effort(), found);
        } else {
            measure_cpu_ceilings(job.lengths, book.effort(), found);
        }
    } catch (const Error& error) {  // cuFFT may be missing; keep the figures measured before
        if (error.code() == ErrorCode::cancelled) throw;
        book.skip("ceilings", "not all of them", error.line());
    }
    book.end();
}

std::string display_of([[maybe_unused]] BenchBook& book, [[maybe_unused]] const BenchSize& size,
                       [[maybe_unused]] const BenchProcessor& processor, [[maybe_unused]] const BenchJob& job) {
#ifdef ECHOLUX_RENDER
    BenchDisplay display;
    display.device = job.device;
    if (!processor.is_gpu()) {  // software Vulkan shares the processor with the reconstruction, so few small pictures
        display.width = 320;
        display.height = 180;
        display.pictures_per_second = 10;
    }
    if (job.quick) display.volumes = 5;
    book.begin(fmt::format("display {} samples", size.samples), display_figures);
    std::string description = measure_display(book, size, processor, display);
    book.end();
    return description;
#else
    return "";
#endif
}

// ---- Runs the spec of the bench like an external program: through the C interface, from device memory and with its
// own stream. It waits only to limit the number of blocks in flight.

constexpr std::size_t in_flight = 3;  // as many as the reconstructor has streams: each wait is for its own block

// Settings of the spec other than sizes and vectors.
api::Assignments assignments_of(const ReconstructionSpec& spec) {
    Scan scan;
    take_recipe(spec, scan);
    Settings settings;
    bind_recipe(settings, scan);
    api::Assignments all;
    for (const BoundField& field : settings.fields()) {
        if (field.get() != field.default_value) all.push_back(assignment_of(field.key(), field.get()));
    }
    return all;
}

api::Scan described(const BenchSize& size) {
    const ReconstructionSpec spec = chain_spec(size);
    api::Scan scan = api::Scan::create(size.samples, size.a_scans, size.b_scans, "u16", assignments_of(spec));
    scan.set_calibration("k_positions", spec.calibration.k_positions);
    scan.set_calibration("background", spec.calibration.background);
    return scan;
}

// A-scans per second with one volume per block. Work ordered by a caller's stream should be large enough to be worth a
// launch.
std::vector<double> library_rates(BenchBook& book, const BenchSize& size, const BenchProcessor& processor) {
    BenchSize whole = size;
    whole.block_b_scans = size.b_scans;
    const BenchSpectra spectra(whole, SampleFormat::u16, MemoryKind::device, processor.choice.gpu);
    auto device = api::make<echolux_device>();
    device.kind = ECHOLUX_DEVICE_CUDA;
    device.streams = static_cast<int>(in_flight);
    std::ranges::copy(processor.choice.gpu, device.gpu_id);
    const std::shared_ptr<void> stream = device_stream(processor.choice.gpu);
    api::Reconstructor work(described(size), device);
    const BlockMemory voxels = device_memory(work.grid().bytes, processor.choice.gpu);

    auto block = api::make<echolux_block>();
    block.data = spectra.blocks().front().data;
    block.bytes = spectra.bytes();
    block.memory = ECHOLUX_ON_DEVICE;
    block.b_scans = size.b_scans;
    auto place = api::make<echolux_place>();
    place.data = voxels.data;
    place.bytes = voxels.bytes;
    place.memory = ECHOLUX_ON_DEVICE;
    place.sync = ECHOLUX_SYNC_STREAM;
    place.cuda = stream.get();

    std::deque<std::uint64_t> submitted;
    const auto wait_until = [&](std::size_t left) {
        for (; submitted.size() > left; submitted.pop_front()) work.wait(submitted.front());
    };
    const auto volume = [&] {
        book.poll();
        wait_until(in_flight - 1);
        submitted.push_back(work.submit(block, place));
    };
    return rates_of(static_cast<double>(size.lines()), book.effort(), volume, [&] { wait_until(0); });
}

// ---- Parts of the benchmark.

// One change to the chain each. Without dispersion, two A-scans share one complex transform.
struct ChainVariant {
    const char* key;
    const char* meaning;
    void (*change)(Recipe& recipe);
};
constexpr ChainVariant chain_variants[] = {
    {"real", "the chain without dispersion", [](Recipe& recipe) { recipe.a2_rad = recipe.a3_rad = 0; }},
    {"frame_mean", "the chain with the mean of each B-scan as its background",
     [](Recipe& recipe) { recipe.background = Background::frame_mean; }},
    {"running", "the chain with a running mean of B-scans as its background",
     [](Recipe& recipe) { recipe.background = Background::running; }},
    {"nudft", "exact NUDFT, the whole chain", [](Recipe& recipe) { recipe.resample = Resample::nudft; }}};

// linear/N, separate/N (GPU), library/N (GPU), fast/N (GPU), real/N, frame_mean/N, running/N, and nudft/N of one
// length. Spectra and voxels stay in the memory of the backend.
constexpr std::int64_t resident_figures = 8;
void measure_resident(BenchBook& book, const BenchSize& size, const BenchProcessor& processor) {
    const auto n = std::to_string(size.samples);
    const double bytes_moved = static_cast<double>(size.samples) * 2.5;  // u16 in, half as many u8 out
    const std::string there = fmt::format("{0} to {0}", processor.home_name());
    std::optional<BenchSpectra> made;
    const auto measured = [&](const ReconstructionSpec& spec, const BenchProcessor& with) {
        if (!made) made.emplace(size, SampleFormat::u16, with.home(), with.choice.gpu);
        BenchProcessor queued = with;
        queued.choice.streams = std::max(with.choice.streams, blocks_in_flight(size.a_scans * size.block_b_scans));
        return loop_rates(book, size, spec, queued, {&*made, 1});
    };
    if (processor.is_gpu()) {
        BenchProcessor separate = processor;
        separate.choice.fused = false;
        book.figure("separate/" + n, "separate passes around cuFFT, " + there, "A-scans/s",
                    [&] { return measured(chain_spec(size), separate); }, {{"fft." + n}});
    } else {
        book.skip("separate/" + n, "separate passes around cuFFT", "needs a GPU");
    }
    book.figure("linear/" + n, "the whole chain, " + there, "A-scans/s",
                [&] { return measured(chain_spec(size), processor); },
                {{"separate/" + n}, {"fft." + n}, {"memory.copy", bytes_moved}});
    if (processor.is_gpu()) {
        book.figure("library/" + n, "the same through the library, from a caller's device pointer and stream",
                    "A-scans/s", [&] { return library_rates(book, size, processor); }, {{"linear/" + n}});
    } else {
        book.skip("library/" + n, "the same through the library, from a caller's stream", "needs a GPU");
    }
    if (processor.is_gpu()) {
        ReconstructionSpec fast = chain_spec(size);
        fast.recipe.precision = Precision::fast;
        book.figure("fast/" + n, "the chain in half precision, " + there, "A-scans/s",
                    [&] { return measured(fast, processor); }, {{"linear/" + n}});
    } else {
        book.skip("fast/" + n, "the chain in half precision", "needs a GPU");
    }
    for (const ChainVariant& variant : chain_variants) {
        ReconstructionSpec spec = chain_spec(size);
        variant.change(spec.recipe);
        book.figure(fmt::format("{}/{}", variant.key, n), fmt::format("{}, {}", variant.meaning, there), "A-scans/s",
                    [&] { return measured(spec, processor); }, {{"linear/" + n}});
    }
}

// linear/N for spectrometer lengths that are not powers of two (GPU).
void measure_other_lengths(BenchBook& book, const BenchSize& size, const BenchProcessor& processor,
                           const std::vector<std::int64_t>& measured_already) {
    for (const std::int64_t samples : other_lengths) {
        if (std::ranges::find(measured_already, samples) != measured_already.end()) continue;
        measure(book, {.key = fmt::format("linear/{}", samples), .meaning = "the whole chain", .samples = samples},
                size, processor, {{fmt::format("linear/{}", main_length), static_cast<double>(samples) / main_length}});
    }
}

// linear/N for long-range swept sources, and separate/N (GPU). Volumes have as many samples as those of 2048.
void measure_long_lengths(BenchBook& book, const BenchSize& of_main, const BenchProcessor& processor,
                          const std::vector<std::int64_t>& measured_already) {
    const std::string there = fmt::format("{0} to {0}", processor.home_name());
    for (const std::int64_t samples : long_lengths) {
        if (std::ranges::find(measured_already, samples) != measured_already.end()) continue;
        const std::int64_t longer = samples / main_length;
        const BenchSize size{samples, of_main.a_scans, std::max<std::int64_t>(1, of_main.b_scans / longer),
                             std::max<std::int64_t>(1, of_main.block_b_scans / longer)};
        std::optional<BenchSpectra> made;
        for (const bool fused : {false, true}) {
            BenchProcessor with = processor;
            with.choice.fused = fused;
            book.figure(fmt::format("{}/{}", fused ? "linear" : "separate", samples),
                        (fused ? "the whole chain, " : "separate passes around cuFFT, ") + there, "A-scans/s",
                        [&] {
                            if (!made) made.emplace(size, SampleFormat::u16, with.home(), with.choice.gpu);
                            return loop_rates(book, size, chain_spec(size), with, {&*made, 1});
                        },
                        {{fmt::format("separate/{}", samples)},
                         {fmt::format("linear/{}", main_length), static_cast<double>(longer)}});
        }
    }
}

// batch.compute/N and batch.total/N for blocks of N A-scans, without and with the transfer from pinned memory. More
// blocks are in flight if they are small, see blocks_in_flight().
constexpr std::int64_t batch_figures = 14;
void measure_batches(BenchBook& book, std::int64_t samples, std::int64_t lines, const BenchProcessor& processor) {
    constexpr std::array<std::int64_t, batch_figures / 2> batches{200, 500, 1000, 2000, 5000, 10000, 20000};
    for (const std::int64_t batch : batches) {
        if (batch > lines) {
            for (const char* part : {"compute", "total"}) {
                book.skip(fmt::format("batch.{}/{}", part, batch), "batches of that many A-scans", "too large here");
            }
            continue;
        }
        const BenchSize size{samples, batch, lines / batch, 1};  // as many whole batches as fit
        BenchProcessor with = processor;
        with.choice.streams = blocks_in_flight(batch);
        const auto add = [&](const std::string& part, const std::string& meaning, MemoryKind from) {
            book.figure(fmt::format("batch.{}/{}", part, batch),
                        fmt::format("{} samples in batches of {} A-scans, {}", samples, batch, meaning), "A-scans/s",
                        [&] {
                            const BenchSpectra spectra(size, SampleFormat::u16, from, with.choice.gpu);
                            return loop_rates(book, size, chain_spec(size), with, {&spectra, 1});
                        },
                        {{"linear/" + std::to_string(samples)}});
        };
        add("compute", "already where they are computed", processor.home());
        if (processor.is_gpu()) {
            add("total", "from pinned memory", MemoryKind::pinned);
        } else {
            book.skip(fmt::format("batch.total/{}", batch), "from pinned memory", "needs a GPU");
        }
    }
}

// block/512: a single B-scan, as in a live display of B-scans. A time, because one small block cannot fill a GPU.
void measure_one_block(BenchBook& book, std::int64_t samples, const BenchProcessor& processor) {
    const BenchSize size{samples, 512, 1, 1};
    book.figure("block/512",
                fmt::format("one B-scan of {} A-scans from pinned memory, until its voxels are there", size.a_scans),
                "s", [&] {
                    const BenchSpectra spectra(size, SampleFormat::u16, processor.source(), processor.choice.gpu);
                    return seconds_until(BlockState::finished, book, chain_spec(size), processor, {&spectra, 1});
                });
}

// streams/1 .. streams/4: from pinned memory, with that many blocks in flight (GPU). With one, transfer and computation
// alternate; with more they overlap, until the link limits the rate.
constexpr std::int64_t stream_figures = 4;
void measure_streams(BenchBook& book, const BenchSize& size, const BenchProcessor& processor) {
    std::optional<BenchSpectra> spectra;
    for (int streams = 1; streams <= stream_figures; ++streams) {
        BenchProcessor with = processor;
        with.choice.streams = streams;
        book.figure(fmt::format("streams/{}", streams),
                    fmt::format("{} samples from pinned memory, {} blocks under way", size.samples, streams),
                    "A-scans/s",
                    [&] {
                        if (!spectra) spectra.emplace(size, SampleFormat::u16, with.source(), with.choice.gpu);
                        return loop_rates(book, size, chain_spec(size), with, {&*spectra, 1});
                    },
                    {{"link.to_device", static_cast<double>(size.samples) * 2}});
    }
}

}  // namespace

void run_throughput(const BenchJob& job, BenchReport& report, Progress& progress) {
    const auto [processor, extent] = start_of(job, report);
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
        measure_resident(book, size, processor);
        book.end();
        const std::string description = display_of(book, size, processor, job);
        if (!description.empty()) report.machine.display = description;
    }
    const bool has_main = std::ranges::find(job.lengths, main_length) != job.lengths.end();
    size.samples = has_main ? main_length : job.lengths.front();
    book.begin("batches", batch_figures);
    constexpr std::int64_t largest_batch = 20000;
    measure_batches(book, size.samples, job.quick ? size.lines() : std::max(size.lines(), largest_batch), processor);
    book.end();
    if (processor.is_gpu()) {
        book.begin("other lengths", std::ssize(other_lengths));
        measure_other_lengths(book, size, processor, job.lengths);
        book.end();
        book.begin("long lengths", 2 * std::ssize(long_lengths));
        measure_long_lengths(book, size, processor, job.lengths);
        book.end();
        book.begin("one block", 1);
        measure_one_block(book, size.samples, processor);
        book.end();
        book.begin("streams", stream_figures);
        measure_streams(book, size, processor);
        book.end();
    }
    if (has_main && !job.quick) report.targets = processor.is_gpu() ? judged(report) : judged_on_cpu(report);
}

}  // namespace echolux
