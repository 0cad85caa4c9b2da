// The simulated instrument.
#ifndef ECHOLUX_SIMULATE_HPP
#define ECHOLUX_SIMULATE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scan.hpp"
#include "simulate.h"

namespace echolux::api {

// A scene in front of a simulated instrument.
class Simulation {
  public:
    explicit Simulation(const std::string& scene, const Assignments& assignments = {}) {
        const auto all = detail::pointers(assignments);
        echolux_simulation* handle = nullptr;
        checked([&](auto* error) {
            return echolux_simulation_create(scene.c_str(), all.data(), all.size(), &handle, error);
        });
        handle_.reset(handle);
    }

    Scan scan() const {
        echolux_scan* handle = nullptr;
        checked([&](auto* error) { return echolux_simulation_scan(get(), &handle, error); });
        return Scan(handle);
    }
    void record(std::int64_t volume, std::int64_t first, std::int64_t b_scans, Span<std::byte> spectra,
                Progress progress = {}) {
        checked([&](auto* error) {
            return echolux_simulation_record(get(), volume, first, b_scans, spectra.data(), spectra.size(),
                                             progress ? detail::tell : nullptr, &progress, error);
        });
    }
    // Writes the files of `echolux simulate`.
    void write(const std::string& scan_toml, bool overwrite = false, Progress progress = {}) const {
        checked([&](auto* error) {
            return echolux_simulation_write(get(), scan_toml.c_str(), overwrite ? 1 : 0,
                                            progress ? detail::tell : nullptr, &progress, error);
        });
    }
    // Returns the ground-truth values as TOML.
    std::string facts() const {
        return detail::text([&](auto... to) { return echolux_simulation_facts(get(), to...); });
    }
    // Returns a ground-truth array. With empty `values`, only its description.
    echolux_truth truth(const std::string& name, Span<std::byte> values = {}) {
        auto truth = make<echolux_truth>();
        checked([&](auto* error) {
            return echolux_simulation_truth(get(), name.c_str(), &truth, values.data(), values.size(), error);
        });
        return truth;
    }

    echolux_simulation* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_simulation, echolux_simulation_free> handle_;
};

}  // namespace echolux::api

#endif
