#include "ui/app/bench_throughput.h"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <optional>

#include "compute/device_memory.h"

namespace echolux {
namespace {

// A reconstructor that is fed the same volume again and again, with its own target.
class VolumeLoop {
  public:
    VolumeLoop(const ReconstructionPlan& plan, const BackendChoice& choice, bool gpu)
        : reconstructor_(make_reconstructor(plan, choice)) {
        const VolumeGrid& grid = reconstructor_->grid();
        voxels_ = gpu ? device_memory(grid.bytes(), choice.gpu) : block_memory(grid.bytes(), MemoryKind::host);
        place_.kind = gpu ? PlaceKind::device_linear : PlaceKind::host_linear;
        place_.data = voxels_.data;
        place_.a_scan_bytes = grid.depth * bytes_of(grid.type);
        place_.b_scan_bytes = grid.a_scans * place_.a_scan_bytes;
    }

    void submit(const std::vector<Block>& blocks) {
        for (const Block& block : blocks) {
            under_way_.push_back(reconstructor_->submit(block, place_));
            if (under_way_.size() > most_under_way) wait_for_oldest();
        }
    }

    void finish() {
        while (!under_way_.empty()) wait_for_oldest();
    }

  private:
    static constexpr std::size_t most_under_way = 64;

    void wait_for_oldest() {
        reconstructor_->wait(under_way_.front());
        under_way_.pop_front();
    }

    BlockMemory voxels_;
    std::unique_ptr<Reconstructor> reconstructor_;
    Place place_;
    std::deque<Completion> under_way_;
};

// A-scans a second.
std::vector<double> rates(BenchBook& book, const BenchSize& size, const ReconstructionPlan& plan,
                          const BackendChoice& choice, const BenchSpectra& spectra, bool gpu) {
    VolumeLoop loop(plan, choice, gpu);
    const auto volume = [&] {
        book.poll();
        loop.submit(spectra.blocks());
    };
    return rates_of(static_cast<double>(size.lines()), book.effort(), volume, [&] { loop.finish(); });
}

MemoryKind resident_kind(bool gpu) {
    return gpu ? MemoryKind::device : MemoryKind::host;
}

}  // namespace

void bench_resident(BenchBook& book, const BenchSize& size, const BackendChoice& choice, bool gpu) {
    const auto n = std::to_string(size.samples);
    const double bytes_moved = static_cast<double>(size.samples) * 2.5;  // u16 in, half as many u8 out
    const std::string where = gpu ? "GPU memory" : "host memory";
    std::optional<BenchSpectra> made;
    const auto spectra = [&]() -> const BenchSpectra& {
        if (!made) made.emplace(size, SampleFormat::u16, resident_kind(gpu), choice.gpu);
        return *made;
    };
    if (gpu) {
        BackendChoice separate = choice;
        separate.fused = false;
        book.figure("separate/" + n, "separate passes around cuFFT, " + where + " to " + where, "A-scans/s",
                    [&] { return rates(book, size, bench_plan(size), separate, spectra(), gpu); }, {{"fft." + n}});
    } else {
        book.skip("separate/" + n, "separate passes around cuFFT", "needs a GPU");
    }
    book.figure("linear/" + n, "the whole chain, " + where + " to " + where, "A-scans/s",
                [&] { return rates(book, size, bench_plan(size), choice, spectra(), gpu); },
                {{"separate/" + n}, {"fft." + n}, {"memory.copy", bytes_moved}});
    ReconstructionPlan exact = bench_plan(size);
    exact.recipe.resample = Resample::nudft;
    book.figure("nudft/" + n, "exact NUDFT, the whole chain, " + where + " to " + where, "A-scans/s",
                [&] { return rates(book, size, exact, choice, spectra(), gpu); }, {{"linear/" + n}});
}

void bench_batches(BenchBook& book, std::int64_t samples, std::int64_t lines, const BackendChoice& choice, bool gpu) {
    constexpr std::array<std::int64_t, batch_figures / 2> batches{200, 500, 1000, 2000, 5000, 10000, 20000};
    for (const std::int64_t batch : batches) {
        if (batch > lines) {
            for (const char* part : {"compute", "total"}) {
                book.skip(fmt::format("batch.{}/{}", part, batch), "batches of that many A-scans", "too large here");
            }
            continue;
        }
        const BenchSize size{samples, batch, lines / batch, 1};
        const auto add = [&](const std::string& part, const std::string& meaning, MemoryKind from) {
            book.figure(fmt::format("batch.{}/{}", part, batch),
                        fmt::format("{} samples in batches of {} A-scans, {}", samples, batch, meaning), "A-scans/s",
                        [&] {
                            const BenchSpectra spectra(size, SampleFormat::u16, from, choice.gpu);
                            return rates(book, size, bench_plan(size), choice, spectra, gpu);
                        },
                        {{"linear/" + std::to_string(samples)}});
        };
        add("compute", "already where they are computed", resident_kind(gpu));
        if (gpu) {
            add("total", "from pinned memory", MemoryKind::pinned);
        } else {
            book.skip(fmt::format("batch.total/{}", batch), "from pinned memory", "needs a GPU");
        }
    }
}

void bench_streams(BenchBook& book, const BenchSize& size, const BackendChoice& choice) {
    std::optional<BenchSpectra> spectra;
    for (int streams = 1; streams <= stream_figures; ++streams) {
        BackendChoice with = choice;
        with.streams = streams;
        book.figure(fmt::format("streams/{}", streams),
                    fmt::format("{} samples from pinned memory, {} blocks under way", size.samples, streams),
                    "A-scans/s",
                    [&] {
                        if (!spectra) spectra.emplace(size, SampleFormat::u16, MemoryKind::pinned, choice.gpu);
                        return rates(book, size, bench_plan(size), with, *spectra, true);
                    },
                    {{"link.to_device", static_cast<double>(size.samples) * 2}});
    }
}

}  // namespace echolux
