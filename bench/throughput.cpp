#include "bench/throughput.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "bench/loop.h"
#include "bench/through_library.h"

namespace echolux {

void bench_resident(BenchBook& book, const BenchSize& size, const BenchProcessor& processor) {
    const auto n = std::to_string(size.samples);
    const double bytes_moved = static_cast<double>(size.samples) * 2.5;  // u16 in, half as many u8 out
    const std::string there = fmt::format("{0} to {0}", processor.home_name());
    std::optional<BenchSpectra> made;
    const auto measured = [&](const ReconstructionSpec& plan, const BenchProcessor& with) {
        if (!made) made.emplace(size, SampleFormat::u16, with.home(), with.choice.gpu);
        return loop_rates(book, size, plan, with, {&*made, 1});
    };
    if (processor.is_gpu()) {
        BenchProcessor separate = processor;
        separate.choice.fused = false;
        book.figure("separate/" + n, "separate passes around cuFFT, " + there, "A-scans/s",
                    [&] { return measured(bench_plan(size), separate); }, {{"fft." + n}});
    } else {
        book.skip("separate/" + n, "separate passes around cuFFT", "needs a GPU");
    }
    book.figure("linear/" + n, "the whole chain, " + there, "A-scans/s",
                [&] { return measured(bench_plan(size), processor); },
                {{"separate/" + n}, {"fft." + n}, {"memory.copy", bytes_moved}});
    if (processor.is_gpu()) {
        book.figure("library/" + n, "the same through the library, from a caller's device pointer and stream",
                    "A-scans/s", [&] { return library_rates(book, size, processor); }, {{"linear/" + n}});
    } else {
        book.skip("library/" + n, "the same through the library, from a caller's stream", "needs a GPU");
    }
    ReconstructionSpec exact = bench_plan(size);
    exact.recipe.resample = Resample::nudft;
    book.figure("nudft/" + n, "exact NUDFT, the whole chain, " + there, "A-scans/s",
                [&] { return measured(exact, processor); }, {{"linear/" + n}});
}

void bench_batches(BenchBook& book, std::int64_t samples, std::int64_t lines, const BenchProcessor& processor) {
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
        with.choice.streams = blocks_under_way(batch);
        const auto add = [&](const std::string& part, const std::string& meaning, MemoryKind from) {
            book.figure(fmt::format("batch.{}/{}", part, batch),
                        fmt::format("{} samples in batches of {} A-scans, {}", samples, batch, meaning), "A-scans/s",
                        [&] {
                            const BenchSpectra spectra(size, SampleFormat::u16, from, with.choice.gpu);
                            return loop_rates(book, size, bench_plan(size), with, {&spectra, 1});
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

void bench_streams(BenchBook& book, const BenchSize& size, const BenchProcessor& processor) {
    std::optional<BenchSpectra> spectra;
    for (int streams = 1; streams <= stream_figures; ++streams) {
        BenchProcessor with = processor;
        with.choice.streams = streams;
        book.figure(fmt::format("streams/{}", streams),
                    fmt::format("{} samples from pinned memory, {} blocks under way", size.samples, streams),
                    "A-scans/s",
                    [&] {
                        if (!spectra) spectra.emplace(size, SampleFormat::u16, with.source(), with.choice.gpu);
                        return loop_rates(book, size, bench_plan(size), with, {&*spectra, 1});
                    },
                    {{"link.to_device", static_cast<double>(size.samples) * 2}});
    }
}

}  // namespace echolux
