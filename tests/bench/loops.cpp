// Speed of the main loops on a CPU, judged by the targets: the chain beside a bare transform, a picture, and spectra
// through shared memory beside plain copies. `./dev bench` runs it.
//
// usage: echolux_loops [chain | picture | push]        with a word: only that part, not judged
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/rates.h"
#include "bench/targets.h"
#include "compute/parallel_for.h"
#include "engine/acquire/source.h"
#include "plugins/echolux_push.h"
#ifdef ECHOLUX_RENDER
#include "render/renderer.h"
#include "tests/support/set_fields.h"
#endif

namespace echolux {
namespace {

// Measures the transform on one thread, and the chain on one and two.
void measure_chain(BenchBook& book) {
    const BenchSize size{2048, 512, 8, 8};
    const BenchSpectra spectra(size, SampleFormat::u16, MemoryKind::host);
    const BenchProcessor cpu{{.backend = Backend::cpu}};
    set_thread_count(1);
    measure_cpu_ceilings({&size.samples, 1}, book.effort(), [&](const Ceiling& ceiling) {
        if (ceiling.key.starts_with("fft.")) book.ceiling(ceiling);
    });
    for (const int threads : {1, 2}) {
        set_thread_count(threads);
        book.figure("chain/" + std::to_string(threads), "the whole chain in host memory on so many threads",
                    "A-scans/s",
                    [&] {
                        return loop_rates(book, size, chain_spec(size), cpu, {&spectra, 1});
                    },
                    {{"fft.2048"}, {"chain/1"}});
    }
    set_thread_count(0);
}

#ifdef ECHOLUX_RENDER
constexpr std::int64_t edge = 128;

// Layers in fully developed speckle.
std::vector<float> tissue() {
    std::mt19937 random(1);
    std::exponential_distribution<double> intensity(1);
    std::vector<float> values;
    for (int b = 0; b < edge; ++b) {
        for (int a = 0; a < edge; ++a) {
            const double surface = 24 + 6 * std::sin(0.04 * a) + 5 * std::cos(0.05 * b);
            for (int z = 0; z < edge; ++z) {
                const double below = z - surface;
                const double layer = below < 0 ? 0 : below < 3 ? 3000 : below < 16 ? 150 : below < 20 ? 700 : 400;
                const double power = layer * std::exp(-0.055 * below) * intensity(random) + intensity(random);
                values.push_back(static_cast<float>(10 * std::log10(power + 1e-3)));
            }
        }
    }
    return values;
}
#endif

// Measures one picture from the call to its pixels on the host.
void measure_picture([[maybe_unused]] BenchBook& book) {
#ifdef ECHOLUX_RENDER
    book.figure("picture/128", "unlit composite of 128^3 voxels, 256 x 256 pixels", "s", [&] {
        VolumeGrid grid{.depth = edge,
                        .a_scans = edge,
                        .b_scans = edge,
                        .spacing_um = {5, 5, 5},
                        .quantity = "db",
                        .unit = "dB above noise floor"};
        Renderer renderer;
        renderer.set_volume(grid, tissue().data());
        View view = with(View{}, "lighting=false width=256 height=256");
        view.mode = ViewMode::composite;
        return book.repeated(1, 10, [&](int) { return seconds_of([&] { renderer.render(view); }); });
    });
#endif
}

// 16 blocks of 8 MiB: together larger than any cache.
class Ring {
  public:
    Ring() {
        echolux_push_stream stream{};
        stream.sample_format = ECHOLUX_PUSH_U16;
        stream.samples = 2048;
        stream.a_scans = 512;
        stream.b_scans = 64;
        stream.block_b_scans = 4;
        stream.slots = 16;
        const std::string name = "bench-" + std::to_string(getpid());
        if (echolux_push_create(&push_, name.c_str(), &stream) != 0) throw std::runtime_error(push_.problem);
        SourceRequest wanted{.name = "shm:" + name, .settings = {.pool_blocks = 16}, .memory = MemoryKind::host};
        source_ = open_shared_memory(wanted, std::chrono::seconds(10));
        source_->start();
    }
    ~Ring() { echolux_push_close(&push_); }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    std::size_t block_bytes() const { return push_.block_bytes; }
    std::byte* begin() { return static_cast<std::byte*>(echolux_push_begin(&push_)); }
    void publish() {
        if (echolux_push_publish(&push_, nullptr) != 0) throw std::runtime_error(push_.problem);
    }
    // Memory of published block n, counted from 0.
    std::byte* slot(std::uint64_t n) { return static_cast<std::byte*>(echolux_push_data_of(&push_, n)); }
    Block take() {
        Arrival arrival = source_->next(std::chrono::seconds(1));
        if (arrival.kind != Arrival::Kind::block) throw std::runtime_error("no block came");
        return std::move(arrival.block);
    }

  private:
    echolux_push push_{};
    std::unique_ptr<Source> source_;
};

// A dozen blocks that go through the ring and then, in the same order, by plain copies between the same buffers, so
// that caches and other load affect both alike.
class PushedBlocks {
  public:
    struct Seconds {
        double producer = 0, viewer = 0, producer_copy = 0, viewer_copy = 0;
    };

    Seconds turn() {
        std::fill(held_.begin(), held_.end(), Block{});
        Seconds turn;
        turn.producer = of_each([&](std::size_t i) {
            std::memcpy(ring_.begin(), spectra_.data() + i * bytes_, bytes_);
            ring_.publish();
        });
        turn.viewer = of_each([&](std::size_t i) { held_[i] = ring_.take(); });
        turn.producer_copy = of_each(
            [&](std::size_t i) { std::memcpy(ring_.slot(published_ + i), spectra_.data() + i * bytes_, bytes_); });
        turn.viewer_copy = of_each([&](std::size_t i) {
            std::memcpy(const_cast<std::byte*>(held_[i].data), ring_.slot(published_ + i), bytes_);
        });
        published_ += count;
        return turn;
    }

  private:
    static constexpr std::size_t count = 12;

    static double of_each(const std::function<void(std::size_t)>& work) {
        return seconds_of([&] {
            for (std::size_t i = 0; i < count; ++i) work(i);
        });
    }

    Ring ring_;
    std::size_t bytes_ = ring_.block_bytes();
    std::vector<std::byte> spectra_ = std::vector<std::byte>(count * bytes_, std::byte{7});
    std::vector<Block> held_ = std::vector<Block>(count);  // as a recorder and a display would hold them
    std::uint64_t published_ = 0;
};

// Measures what share of the rate of a copy the producer, which copies blocks into the ring, and the viewer, which
// copies them out, reach.
void measure_push(BenchBook& book) {
    constexpr int repetitions = 5, turns = 40;
    std::vector<double> of_viewer;
    book.figure("push.producer", "into shared memory, of the rate of a memory copy", "%", [&] {
        PushedBlocks blocks;
        blocks.turn();  // touches the pages
        return book.repeated(0, repetitions, [&](int) {
            PushedBlocks::Seconds sum;
            for (int i = 0; i < turns; ++i) {
                const PushedBlocks::Seconds turn = blocks.turn();
                sum = {sum.producer + turn.producer, sum.viewer + turn.viewer, sum.producer_copy + turn.producer_copy,
                       sum.viewer_copy + turn.viewer_copy};
            }
            of_viewer.push_back(100 * sum.viewer_copy / sum.viewer);
            return 100 * sum.producer_copy / sum.producer;
        });
    });
    book.figure("push.viewer", "out of shared memory, the same", "%", [&] { return of_viewer; });
}

struct Part {
    std::string_view name;
    void (*measure)(BenchBook& book);
};
constexpr Part parts[] = {{"chain", measure_chain}, {"picture", measure_picture}, {"push", measure_push}};

// Returns false if a target was missed or a figure could not be measured.
bool run(const std::string& only) {
    if (!only.empty() && std::ranges::find(parts, only, &Part::name) == std::end(parts))
        throw std::runtime_error("there is no part " + only + ": chain, picture or push");
    BenchReport report;
    const BenchStart start = start_of({.backend = Backend::cpu}, report);
    report.conditions = "2048 samples, u16; the chain with Lagrange-3, dispersion, Hann, dB to u8";
    SilentProgress silent;
    BenchBook book(report, start.extent.effort, silent);
    for (const Part& part : parts) {
        if (only.empty() || only == part.name) part.measure(book);
    }
    if (only.empty()) report.targets = judged_loops(report);
    std::cout << text_of(report);
    return std::ranges::all_of(report.targets, &Check::passed);
}

}  // namespace
}  // namespace echolux

int main(int count, char** words) try {
    return echolux::run(count > 1 ? words[1] : "") ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
}
