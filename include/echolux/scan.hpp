// Scans and their settings; see scan.h.
#ifndef ECHOLUX_SCAN_HPP
#define ECHOLUX_SCAN_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base.hpp"
#include "calibrate.h"
#include "reconstruct.h"
#include "scan.h"

namespace echolux::api {

// Settings of a scan or a view. The scan or view must outlive this object.
class Settings {
  public:
    explicit Settings(echolux_settings* handle) : handle_(handle) {}

    void set(const std::string& key, const std::string& value) {
        checked([&](auto* error) { return echolux_settings_set_text(handle_, key.c_str(), value.c_str(), error); });
    }
    void set(const std::string& key, const char* value) { set(key, std::string(value)); }
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
    void set(const std::string& key, Number value) {
        const auto number = static_cast<double>(value);
        checked([&](auto* error) { return echolux_settings_set_number(handle_, key.c_str(), number, error); });
    }
    std::string text(const std::string& key) const {
        return detail::text([&](auto... to) { return echolux_settings_get_text(handle_, key.c_str(), to...); });
    }
    double number(const std::string& key) const {
        double value = 0;
        checked([&](auto* error) { return echolux_settings_get_number(handle_, key.c_str(), &value, error); });
        return value;
    }

    // Texts in the result are owned by the scan or view.
    std::vector<echolux_setting> all() const {
        std::size_t count = 0;
        checked([&](auto* error) { return echolux_settings_count(handle_, &count, error); });
        std::vector<echolux_setting> settings(count, make<echolux_setting>());
        for (std::size_t i = 0; i < count; ++i) {
            checked([&](auto* error) { return echolux_settings_describe(handle_, i, &settings[i], error); });
        }
        return settings;
    }
    // Returns the settings that differ from their defaults, or all of them, as TOML.
    std::string toml(bool all = false) const {
        return detail::text([&](auto... to) { return echolux_settings_toml(handle_, all ? 1 : 0, to...); });
    }

  private:
    echolux_settings* handle_;
};

// Layout of recorded spectra, and how to process them.
class Scan {
  public:
    static Scan open(const std::string& path, const Assignments& assignments = {}) {
        const auto all = detail::pointers(assignments);
        echolux_scan* handle = nullptr;
        checked([&](auto* error) { return echolux_scan_open(path.c_str(), all.data(), all.size(), &handle, error); });
        return Scan(handle);
    }
    static Scan create(std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans,
                       const std::string& sample_format = "u16", const Assignments& assignments = {}) {
        const auto all = detail::pointers(assignments);
        auto layout = make<echolux_layout>();
        layout.samples = samples;
        layout.a_scans = a_scans;
        layout.b_scans = b_scans;
        layout.sample_format = sample_format.c_str();
        echolux_scan* handle = nullptr;
        checked([&](auto* error) { return echolux_scan_create(&layout, all.data(), all.size(), &handle, error); });
        return Scan(handle);
    }

    Settings settings() {
        echolux_settings* settings = nullptr;
        checked([&](auto* error) { return echolux_scan_settings(get(), &settings, error); });
        return Settings(settings);
    }
    echolux_scan_shape shape() const {
        auto shape = make<echolux_scan_shape>();
        checked([&](auto* error) { return echolux_scan_describe(get(), &shape, error); });
        return shape;
    }
    void set_calibration(const std::string& name, Span<const double> values) {
        checked([&](auto* error) {
            return echolux_scan_set_calibration(get(), name.c_str(), values.data(), values.size(), error);
        });
    }
    std::vector<double> calibration(const std::string& name) const {
        std::size_t count = 0;
        const auto get_it = [&](double* to, std::size_t capacity) {
            checked([&](auto* error) {
                return echolux_scan_get_calibration(get(), name.c_str(), to, capacity, &count, error);
            });
        };
        get_it(nullptr, 0);
        std::vector<double> values(count);
        get_it(values.data(), count);
        return values;
    }
    // Reads the raw spectra of B-scan positions [first, first + b_scans) of a volume.
    void read(std::int64_t volume, std::int64_t first, std::int64_t b_scans, Span<std::byte> spectra) const {
        checked([&](auto* error) {
            return echolux_scan_read(get(), volume, first, b_scans, spectra.data(), spectra.size(), error);
        });
    }
    // Returns the grid of the structure volume without allocating it.
    echolux_grid plan() const {
        auto grid = make<echolux_grid>();
        checked([&](auto* error) { return echolux_plan(get(), &grid, nullptr, error); });
        return grid;
    }
    // Measures the noise floor in a block.
    double noise_floor_db(const echolux_block& block) const {
        double db = 0;
        checked([&](auto* error) { return echolux_measure_noise_floor(get(), &block, &db, error); });
        return db;
    }

    // Sets callbacks in the pipeline. What `user` points to must outlive all objects created from this scan.
    void set_stages(const echolux_stages& stages) {
        checked([&](auto* error) { return echolux_scan_set_stages(get(), &stages, error); });
    }
    // Measures the mirror in a block; see echolux_read_mirror().
    echolux_mirror_reading mirror(const echolux_block& block, Span<const double> background = {},
                                  std::int64_t depth_begin = 0, std::int64_t depth_end = 0) const {
        if (background.size() != 0 && static_cast<std::int64_t>(background.size()) != shape().samples) {
            auto error = make<echolux_error>();
            error.code = ECHOLUX_BAD_ARGUMENT;
            std::string("does not have one value per sample of the scan").copy(error.what, sizeof error.what - 1);
            std::string("background").copy(error.where, sizeof error.where - 1);
            throw Error(error);
        }
        const double* const without = background.size() != 0 ? background.data() : nullptr;
        auto reading = make<echolux_mirror_reading>();
        checked([&](auto* error) {
            return echolux_read_mirror(get(), &block, without, depth_begin, depth_end, &reading, error);
        });
        return reading;
    }

    echolux_scan* get() const { return handle_.get(); }

    explicit Scan(echolux_scan* handle) : handle_(handle) {}

  private:
    detail::Owned<echolux_scan, echolux_scan_free> handle_;
};

}  // namespace echolux::api

#endif
