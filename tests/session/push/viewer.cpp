// usage: push_viewer SOURCE FILE
// Receives and checks every byte pushed by push_producer until it ends. Writes one line per block to FILE: "producer
// sequence lost_before", preceded by "wrong" if the block is not as pushed.
#include <chrono>
#include <cstdio>
#include <string>

#include "compute/error.h"
#include "engine/acquire/source.h"
#include "pushed_pattern.h"
#include "tests/unit/await.h"

using namespace echolux;

namespace {

bool is_in_place(const Source& source, const Block& block, std::uint64_t sequence) {
    const std::int64_t in_volume = source.scan().geometry.b_scans / source.block_b_scans();
    return block.first_b_scan == static_cast<std::int64_t>(sequence) % in_volume * source.block_b_scans();
}

// Receives blocks until the producer is gone.
void take(Source& source, std::FILE* file) {
    using namespace std::chrono_literals;
    source.start();
    for (;;) {
        const Arrival arrival = source.next(100ms);
        if (arrival.kind == Arrival::Kind::ended) return;
        if (arrival.kind != Arrival::Kind::block) continue;
        const Block& block = arrival.block;
        const auto* words = reinterpret_cast<const std::uint64_t*>(block.data);
        const std::uint64_t stamp = words[0], sequence = pattern_sequence(stamp);
        const bool is_right = pattern_is_right(words, static_cast<std::uint64_t>(block.bytes) / 8) != 0;
        if (!is_right || !is_in_place(source, block, sequence)) std::fputs("wrong ", file);
        std::fprintf(file, "%llu %llu %lld\n", static_cast<unsigned long long>(stamp >> 40),
                     static_cast<unsigned long long>(sequence), static_cast<long long>(block.lost_before));
        std::fflush(file);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return 2;
    std::FILE* file = std::fopen(arguments[2], "a");
    if (file == nullptr) return 2;
    SourceRequest wanted{.name = arguments[1], .settings = {.pool_blocks = 16}, .memory = MemoryKind::host};
    std::unique_ptr<Source> source;
    const auto ends_well = [&] {
        try {
            if (!source) source = open_source(wanted);
            take(*source, file);
            return true;
        } catch (const Error&) {  // until the next producer exists
            return false;
        }
    };
    return becomes_true(ends_well, std::chrono::hours(24)) ? 0 : 1;
}
