#include "bench/live_figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace echolux {

void note_live(BenchBook& book, const std::string& key, const std::string& what, std::int64_t blocks_of_a_volume,
               const LiveRun& run) {
    const auto one = [&](const char* name, const std::string& meaning, const char* unit, double value) {
        book.figure(fmt::format("{}.{}", key, name), meaning, unit, [=] { return std::vector{value}; });
    };
    const SessionStats& session = run.session;
    const auto volumes = static_cast<double>(std::max<std::int64_t>(session.arrived.volumes, 1));
    const std::int64_t left_out = session.queue.overtaken + session.queue.incomplete + session.queue.given_up;
    one("acquired", what, "A-scans/s", static_cast<double>(session.arrived.lines) / std::max(session.seconds, 1e-9));
    one("lost", "blocks that were not reconstructed", "blocks",
        static_cast<double>(left_out + run.ring.dropped * blocks_of_a_volume));
    one("appeared", "share of the volumes that a finished picture showed", "",
        static_cast<double>(run.pictures.volumes) / volumes);
    one("out_of_order", "pictures that showed an older volume than the one before", "pictures",
        static_cast<double>(run.pictures.out_of_order));
    one("latency", "last block to a finished picture, median", "s", session.shown.percentile_s(0.5));
    one("latency.p99", "of 99 %", "s", session.shown.percentile_s(0.99));
}

}  // namespace echolux
