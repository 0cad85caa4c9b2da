// The simulated instrument, and the validation of this build.
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

// Results of validating this build.
class Validation {
  public:
    explicit Validation(const echolux_device& device = make<echolux_device>(), bool quick = false,
                        Progress progress = {}) {
        echolux_validation* handle = nullptr;
        checked([&](auto* error) {
            return echolux_validate(&device, quick ? 1 : 0, progress ? detail::tell : nullptr, &progress, &handle,
                                    error);
        });
        handle_.reset(handle);
    }

    // Texts in the result are owned by the validation.
    std::vector<echolux_check> checks() const {
        std::size_t count = 0;
        checked([&](auto* error) { return echolux_validation_count(handle_.get(), &count, error); });
        std::vector<echolux_check> all(count, make<echolux_check>());
        for (std::size_t i = 0; i < count; ++i) {
            checked([&](auto* error) { return echolux_validation_describe(handle_.get(), i, &all[i], error); });
        }
        return all;
    }
    // Returns the whole report as Markdown.
    std::string report() const {
        return detail::text([&](auto... to) { return echolux_validation_report(handle_.get(), to...); });
    }

  private:
    detail::Owned<echolux_validation, echolux_validation_free> handle_;
};

}  // namespace echolux::api

#endif
