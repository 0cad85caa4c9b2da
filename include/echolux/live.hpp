// Live sessions; see live.h.
#ifndef ECHOLUX_LIVE_HPP
#define ECHOLUX_LIVE_HPP

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "live.h"
#include "scan.hpp"
#include "volume.hpp"

namespace echolux::api {

// Statistics of a session at one moment: stats["arrived.lost_blocks"].
class Stats {
  public:
    explicit Stats(std::vector<double> values) : values_(std::move(values)) {}

    // Descriptions of all statistics, whose texts are static.
    static const std::vector<echolux_stat>& described() {
        static const std::vector<echolux_stat> all = [] {
            std::size_t count = 0;
            checked([&](auto* error) { return echolux_live_stat_count(&count, error); });
            std::vector<echolux_stat> stats(count, make<echolux_stat>());
            for (std::size_t i = 0; i < count; ++i)
                checked([&](auto* error) { return echolux_live_stat_describe(i, &stats[i], error); });
            return stats;
        }();
        return all;
    }
    // Values in the same order.
    const std::vector<double>& values() const { return values_; }

    // Throws std::out_of_range for an unknown key.
    double operator[](const std::string& key) const {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            if (key == described()[i].key) return values_[i];
        }
        throw std::out_of_range(key + ": there is no such statistic");
    }

  private:
    std::vector<double> values_;
};

class Live {
  public:
    static Live open(const std::string& source, const Assignments& assignments = {},
                     const echolux_live_options& options = make<echolux_live_options>(),
                     const std::string& scan_toml = {}) {
        const auto all = detail::pointers(assignments);
        echolux_live* handle = nullptr;
        checked([&](auto* error) {
            return echolux_live_open(source.c_str(), scan_toml.empty() ? nullptr : scan_toml.c_str(), all.data(),
                                     all.size(), &options, &handle, error);
        });
        return Live(handle);
    }
    // Creates a session whose blocks come from push().
    static Live create(const Scan& scan, const echolux_live_options& options = make<echolux_live_options>(),
                       std::int64_t block_b_scans = 0) {
        echolux_live* handle = nullptr;
        checked([&](auto* error) { return echolux_live_create(scan.get(), block_b_scans, &options, &handle, error); });
        return Live(handle);
    }

    void start(std::int64_t volumes = 0) {
        checked([&](auto* error) { return echolux_live_start(get(), volumes, error); });
    }
    void stop() {
        checked([&](auto* error) { return echolux_live_stop(get(), error); });
    }
    // Returns false if the session was not idle within the timeout.
    bool wait(std::int32_t timeout_ms) {
        return checked([&](auto* error) { return echolux_live_wait(get(), timeout_ms, error); }, ECHOLUX_NOTHING_YET) ==
               ECHOLUX_OK;
    }
    // Returns false if there was no room within the timeout.
    bool push(const echolux_block& block, std::int32_t timeout_ms) {
        return checked([&](auto* error) { return echolux_live_push(get(), &block, timeout_ms, error); },
                       ECHOLUX_NOTHING_YET) == ECHOLUX_OK;
    }
    void end() {
        checked([&](auto* error) { return echolux_live_end(get(), error); });
    }
    // Returns std::nullopt if no volume arrived within the timeout, or if there are no more; then ended() is true.
    std::optional<Volumes> next(std::int32_t timeout_ms) {
        echolux_volume *structure = nullptr, *flow = nullptr;
        const echolux_status status =
            checked([&](auto* error) { return echolux_live_next(get(), timeout_ms, &structure, &flow, error); },
                    ECHOLUX_NOTHING_YET, ECHOLUX_ENDED);
        has_ended_ = status == ECHOLUX_ENDED;
        if (status != ECHOLUX_OK) return std::nullopt;
        return detail::volumes(structure, flow);
    }
    bool ended() const { return has_ended_; }
    // Number of recent volumes kept in memory.
    std::int64_t kept() const {
        std::int64_t count = 0;
        checked([&](auto* error) { return echolux_live_kept(get(), &count, error); });
        return count;
    }
    // Returns a kept volume (0: the oldest) and freezes the kept ones until play().
    Volumes go_to(std::int64_t time_point) {
        echolux_volume *structure = nullptr, *flow = nullptr;
        checked([&](auto* error) { return echolux_live_go_to(get(), time_point, &structure, &flow, error); });
        return detail::volumes(structure, flow);
    }
    void play() {
        checked([&](auto* error) { return echolux_live_play(get(), error); });
    }
    // Writes the kept volumes of the last `seconds` (0: all) and returns their number.
    std::int64_t save_kept(const std::string& path, double seconds = 0) {
        std::int64_t count = 0;
        checked([&](auto* error) { return echolux_live_save_kept(get(), path.c_str(), seconds, &count, error); });
        return count;
    }
    void set(const std::string& key, const std::string& value) {
        checked([&](auto* error) { return echolux_live_set(get(), key.c_str(), value.c_str(), error); });
    }
    Stats stats() const {
        std::vector<double> values(Stats::described().size());
        checked([&](auto* error) { return echolux_live_stats(get(), values.data(), values.size(), nullptr, error); });
        return Stats(std::move(values));
    }
    // Returns a new scan that describes the source and its current processing.
    Scan scan() {
        echolux_scan* handle = nullptr;
        checked([&](auto* error) { return echolux_live_scan(get(), &handle, error); });
        return Scan(handle);
    }
    // `stripe_folders`: folders on further disks over which the spectra are striped.
    void record(const std::string& scan_toml, bool overwrite = false,
                const std::vector<std::string>& stripe_folders = {}) {
        const auto folders = detail::pointers(stripe_folders);
        checked([&](auto* error) {
            return echolux_live_record(get(), scan_toml.c_str(), folders.data(), folders.size(), overwrite ? 1 : 0,
                                       error);
        });
    }
    // stats() then has the result under "recorder".
    void stop_recording() {
        checked([&](auto* error) { return echolux_live_stop_recording(get(), error); });
    }
    // Returns the events since the last call, one per line.
    std::string events() const {
        return detail::text([&](auto... to) { return echolux_live_events(get(), to...); });
    }

    echolux_live* get() const { return handle_.get(); }

  private:
    explicit Live(echolux_live* handle) : handle_(handle) {}
    detail::Owned<echolux_live, echolux_live_free> handle_;
    bool has_ended_ = false;
};

}  // namespace echolux::api

#endif
