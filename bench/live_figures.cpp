#include "bench/live_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "app/live/live_job.h"
#include "app/seconds_since.h"
#include "engine/live/session.h"

namespace echolux {

using namespace std::chrono_literals;

LiveRun run_paced(BenchBook& book, Source& source, LivePipeline& path, const View& view, double seconds) {
    Session session(source, path);
    PictureLoop loop(path, view, 60, [&](std::int64_t volume) { session.shown(volume); });
    session.start();
    for (const auto start = std::chrono::steady_clock::now(); seconds_since(start) < seconds;) {
        book.poll();
        std::this_thread::sleep_for(50ms);
    }
    session.stop();
    session.drain(10s);
    path.finish_tissue(10s);
    loop.stop();
    return {session.stats(), loop.stats(), path.statistics()};
}

void note_live(BenchBook& book, const std::string& key, const std::string& what, std::int64_t blocks_of_a_volume,
               const LiveRun& run) {
    const auto one = [&](const char* name, const std::string& meaning, const char* unit, double value) {
        book.figure(fmt::format("{}.{}", key, name), meaning, unit, [=] { return std::vector{value}; });
    };
    const LiveStats& session = run.session;
    const auto volumes = static_cast<double>(std::max<std::int64_t>(session.arrived.volumes, 1));
    const std::int64_t left_out = session.queue.overtaken + session.queue.incomplete + session.queue.abandoned;
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
