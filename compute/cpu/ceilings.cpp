// CPU limits of a machine: memory and plain transforms on all threads.
#include "compute/ceilings.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
    const auto start = Clock::now();
    work();
    return std::max(1e-9, std::chrono::duration<double>(Clock::now() - start).count());
}

// Copies pieces of 1 MiB on all threads. Both reads and writes count.
Ceiling memory_copy(const CeilingEffort& effort) {
    constexpr std::int64_t piece = std::int64_t{1} << 20;
    const std::int64_t bytes = std::max(piece, effort.bytes / 2 / piece * piece);
    const std::vector<std::byte> from(index(bytes), std::byte{1});
    std::vector<std::byte> to(from.size());
    const auto copy = [&] {
        parallel_for(0, bytes / piece,
                     [&](std::int64_t i) { std::memcpy(to.data() + i * piece, from.data() + i * piece, piece); });
    };
    return {"memory.copy", "host memory, copied (read + written)", "B/s",
            rates_of(2.0 * static_cast<double>(bytes), effort, copy)};
}

// Measures reads only, the limit for several links. A copy writes as well.
Ceiling memory_read(const CeilingEffort& effort) {
    constexpr std::int64_t piece = std::int64_t{1} << 17;  // in words
    const std::int64_t pieces = std::max<std::int64_t>(1, effort.bytes / 8 / piece);
    const std::vector<std::uint64_t> words(index(pieces * piece), 1);
    std::atomic<std::uint64_t> sum = 0;  // prevents the reads from being optimized away
    const auto read = [&] {
        parallel_for(0, pieces, [&](std::int64_t i) {
            const auto begin = words.begin() + i * piece;
            sum += std::accumulate(begin, begin + piece, std::uint64_t{0});
        });
    };
    return {"memory.read", "host memory, read by all threads", "B/s",
            rates_of(8.0 * static_cast<double>(words.size()), effort, read)};
}

Ceiling transforms(std::int64_t length, const CeilingEffort& effort) {
    constexpr int each = 64;  // transforms per work item
    const int threads = thread_count();
    std::vector<std::unique_ptr<Fft>> plans;  // one per work item: an Fft is not thread-safe
    for (int i = 0; i < threads * 4; ++i) {
        plans.push_back(std::make_unique<Fft>(Fft::Kind::complex_forward, length));
        for (std::int64_t p = 0; p < length; ++p) plans.back()->complex_in()[p] = {static_cast<float>(p % 17), 0};
    }
    const auto work = [&] {
        parallel_for(0, std::ssize(plans), [&](std::int64_t i) {
            for (int n = 0; n < each; ++n) plans[index(i)]->execute();
        });
    };
    return {"fft." + std::to_string(length), std::string(Fft::library()) + " alone, complex", "transforms/s",
            rates_of(static_cast<double>(plans.size()) * each, effort, work)};
}

}  // namespace

// One warm-up run, then one timed run that determines the repetitions per measurement.
std::vector<double> rates_of(double units, const CeilingEffort& effort, const std::function<void()>& work,
                             const std::function<void()>& finish) {
    const auto seconds = [&](int times) {
        return seconds_of([&] {
            for (int n = 0; n < times; ++n) work();
            if (finish) finish();
        });
    };
    seconds(1);
    const int times = static_cast<int>(std::clamp(std::ceil(effort.seconds / seconds(1)), 1.0, 1e6));
    std::vector<double> rates;
    for (int i = 0; i < effort.repetitions; ++i) rates.push_back(units * times / seconds(times));
    return rates;
}

void measure_cpu_ceilings(std::span<const std::int64_t> lengths, const CeilingEffort& effort,
                          const CeilingCallback& found) {
    found(memory_copy(effort));
    found(memory_read(effort));
    for (const std::int64_t length : lengths) found(transforms(length, effort));
}

std::vector<std::int64_t> doubled_to(std::int64_t most) {
    std::vector<std::int64_t> counts;
    for (std::int64_t count = 1; count < most; count *= 2) counts.push_back(count);
    counts.push_back(most);
    return counts;
}

}  // namespace echolux
