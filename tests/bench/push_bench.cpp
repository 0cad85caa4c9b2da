// Pushes spectra through shared memory and compares the rate with plain copies of the same bytes between the same
// buffers. `of_memory_copy` is the fraction of the copy rate that is reached: by the producer, which copies blocks into
// the ring, and by the viewer, which copies them out.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "engine/acquire/source.h"
#include "plugins/echolux_push.h"

namespace {

using namespace echolux;
using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
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
        SourceRequest wanted;
        wanted.name = "shm:" + name;
        wanted.memory = MemoryKind::host;
        wanted.settings.pool_blocks = 16;
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

// Pushes a dozen blocks through the ring, then makes plain copies between the same buffers in the same order, so that
// caches and other load affect both alike.
void push_shared_memory(benchmark::State& state, bool of_viewer) {
    constexpr std::size_t count = 12;
    Ring ring;
    const std::size_t bytes = ring.block_bytes();
    std::vector<std::byte> spectra(count * bytes, std::byte{7});
    std::vector<Block> held(count);  // as a recorder and a display would hold them
    std::uint64_t published = 0;
    double copying_s = 0, pushing_s = 0;
    const auto turn = [&] {
        std::array<double, 4> times{};
        const auto timed = [&](std::size_t which, const auto& each) {
            const auto begin = Clock::now();
            for (std::size_t i = 0; i < count; ++i) each(i);
            times.at(which) = seconds(begin);
        };
        std::fill(held.begin(), held.end(), Block{});
        timed(0, [&](std::size_t i) {
            std::memcpy(ring.begin(), spectra.data() + i * bytes, bytes);
            ring.publish();
        });
        timed(1, [&](std::size_t i) { held[i] = ring.take(); });
        timed(2, [&](std::size_t i) { std::memcpy(ring.slot(published + i), spectra.data() + i * bytes, bytes); });
        timed(3, [&](std::size_t i) {
            std::memcpy(const_cast<std::byte*>(held[i].data), ring.slot(published + i), bytes);
        });
        published += count;
        return times;
    };
    turn();  // touches the pages
    for (auto step : state) {
        const std::array<double, 4> times = turn();
        const double ring_s = times[of_viewer ? 1 : 0], copy_s = times[of_viewer ? 3 : 2];
        pushing_s += ring_s;
        copying_s += copy_s;
        state.SetIterationTime(ring_s);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * count * bytes));
    state.counters["of_memory_copy"] = copying_s / pushing_s;
}
BENCHMARK_CAPTURE(push_shared_memory, producer, false)->Name("push/producer")->UseManualTime()->Iterations(40);
BENCHMARK_CAPTURE(push_shared_memory, viewer, true)->Name("push/viewer")->UseManualTime()->Iterations(40);

}  // namespace
