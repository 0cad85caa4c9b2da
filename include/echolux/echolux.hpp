// echolux.h for C++17: handles that free themselves, exceptions, strings and vectors; it adds nothing to the C
// interface, which documents what calls do, their units and shapes. Include path and linking are those of the C
// interface.
#ifndef ECHOLUX_HPP
#define ECHOLUX_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "echolux.h"

namespace echolux::api {

// A struct of the interface with its size set and all other fields at their defaults.
template <class S>
S make() {
    S one{};
    one.size = sizeof one;
    return one;
}

class Error : public std::runtime_error {
  public:
    explicit Error(const echolux_error& error)
        : std::runtime_error(line(error)), status_(error.code), problem_(error.what), where_(error.where),
          remedy_(error.remedy) {}

    echolux_status status() const noexcept { return status_; }
    const std::string& problem() const noexcept { return problem_; }
    const std::string& where() const noexcept { return where_; }
    const std::string& remedy() const noexcept { return remedy_; }

  private:
    static std::string line(const echolux_error& error) {
        std::string text = error.where;
        if (!text.empty()) text += ": ";
        text += error.what;
        if (error.remedy[0] != 0) text += std::string(" (") + error.remedy + ")";
        return text;
    }

    echolux_status status_;
    std::string problem_, where_, remedy_;
};

// Some elements in memory of others.
template <class T>
class Span {
  public:
    Span() = default;
    Span(T* data, std::size_t size) : data_(data), size_(size) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<C&>().data()), T*>>>
    Span(C&& container) : data_(container.data()), size_(container.size()) {}  // NOLINT: like std::span

    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) const { return data_[i]; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

// Makes any call: call(&error) returns a status, which is thrown unless it is one of these.
template <class Call>
echolux_status checked(const Call& call, echolux_status also = ECHOLUX_OK, echolux_status besides = ECHOLUX_OK) {
    auto error = make<echolux_error>();
    const echolux_status status = call(&error);
    if (status != ECHOLUX_OK && status != also && status != besides) throw Error(error);
    return status;
}

namespace detail {

// call(buffer, size, needed, error)
template <class Call>
std::string text(const Call& call) {
    std::size_t needed = 0;
    checked([&](echolux_error* error) { return call(nullptr, 0, &needed, error); });
    std::string all;
    while (all.size() < needed) {  // it may grow in between
        all.assign(needed, '\0');
        auto error = make<echolux_error>();
        if (call(all.data(), all.size(), &needed, &error) != ECHOLUX_OK && needed <= all.size()) throw Error(error);
    }
    all.resize(all.find('\0'));
    return all;
}

template <class H, echolux_status (*free_it)(H*)>
struct Free {
    void operator()(H* handle) const noexcept { free_it(handle); }
};
template <class H, echolux_status (*free_it)(H*)>
using Owned = std::unique_ptr<H, Free<H, free_it>>;

inline std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> all;
    for (const std::string& one : texts) all.push_back(one.c_str());
    return all;
}

}  // namespace detail

using Assignments = std::vector<std::string>;  // "recipe.window=hann"

// Receives the progress of work; false stops it, which throws Error{ECHOLUX_CANCELLED}.
using Progress = std::function<bool(const std::string& task, std::int64_t done, std::int64_t total)>;

// Settings of a scan or a view, which must outlive them.
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

    // Their texts live as long as the scan or view.
    std::vector<echolux_setting> all() const {
        std::size_t count = 0;
        checked([&](auto* error) { return echolux_settings_count(handle_, &count, error); });
        std::vector<echolux_setting> settings(count, make<echolux_setting>());
        for (std::size_t i = 0; i < count; ++i) {
            checked([&](auto* error) { return echolux_settings_describe(handle_, i, &settings[i], error); });
        }
        return settings;
    }
    std::string toml(bool all = false) const {
        return detail::text([&](auto... to) { return echolux_settings_toml(handle_, all ? 1 : 0, to...); });
    }

  private:
    echolux_settings* handle_;
};

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
    void read(std::int64_t volume, std::int64_t first, std::int64_t b_scans, Span<std::byte> spectra) const {
        checked([&](auto* error) {
            return echolux_scan_read(get(), volume, first, b_scans, spectra.data(), spectra.size(), error);
        });
    }
    echolux_grid plan() const {
        auto grid = make<echolux_grid>();
        checked([&](auto* error) { return echolux_plan(get(), &grid, nullptr, error); });
        return grid;
    }
    double noise_floor_db(const echolux_block& block) const {
        double db = 0;
        checked([&](auto* error) { return echolux_measure_noise_floor(get(), &block, &db, error); });
        return db;
    }

    // Functions that see what is on its way; what they point to must live as long as what is made of the scan.
    void set_stages(const echolux_stages& stages) {
        checked([&](auto* error) { return echolux_scan_set_stages(get(), &stages, error); });
    }
    echolux_mirror_reading mirror(const echolux_block& block, Span<const double> background = {},
                                  std::int64_t depth_begin = 0, std::int64_t depth_end = 0) const {
        if (background.size() != 0 && static_cast<std::int64_t>(background.size()) != shape().samples) {
            auto error = make<echolux_error>();
            error.code = ECHOLUX_BAD_ARGUMENT;
            std::string("has not a value for each sample of the scan").copy(error.what, sizeof error.what - 1);
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

class Volume {
  public:
    explicit Volume(echolux_volume* handle) : handle_(handle) {}

    static Volume open(const std::string& path) {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_volume_open(path.c_str(), &handle, error); });
        return Volume(handle);
    }
    static Volume create(const echolux_grid& grid, Span<const std::byte> voxels, std::int64_t a_scan_bytes = 0,
                         std::int64_t b_scan_bytes = 0) {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) {
            return echolux_volume_create(&grid, voxels.data(), voxels.size(), a_scan_bytes, b_scan_bytes, &handle,
                                         error);
        });
        return Volume(handle);
    }

    echolux_grid grid() const {
        auto grid = make<echolux_grid>();
        checked([&](auto* error) { return echolux_volume_grid(get(), &grid, error); });
        return grid;
    }
    Span<const std::byte> bytes() const {
        const void* data = nullptr;
        std::size_t size = 0;
        checked([&](auto* error) { return echolux_volume_data(get(), &data, &size, error); });
        return {static_cast<const std::byte*>(data), size};
    }
    // The voxels, which must be of that type.
    template <class T>
    Span<const T> voxels() const {
        const Span<const std::byte> all = bytes();
        return {reinterpret_cast<const T*>(all.data()), all.size() / sizeof(T)};
    }
    double time_s() const {
        double seconds = 0;
        checked([&](auto* error) { return echolux_volume_time(get(), &seconds, nullptr, error); });
        return seconds;
    }
    std::int64_t number() const {
        std::int64_t number = 0;
        checked([&](auto* error) { return echolux_volume_time(get(), nullptr, &number, error); });
        return number;
    }
    std::string provenance() const {
        return detail::text([&](auto... to) { return echolux_volume_provenance(get(), to...); });
    }
    std::string warnings() const {
        return detail::text([&](auto... to) { return echolux_volume_warnings(get(), to...); });
    }
    Volume converted(std::int32_t voxel, double low, double high) const {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_volume_convert(get(), voxel, low, high, &handle, error); });
        return Volume(handle);
    }
    Volume velocities() const {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_volume_velocities(get(), &handle, error); });
        return Volume(handle);
    }
    void write(const std::string& path) const {
        checked([&](auto* error) { return echolux_volume_write(get(), path.c_str(), error); });
    }

    echolux_volume* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_volume, echolux_volume_free> handle_;
};

struct Volumes {
    Volume structure;
    std::optional<Volume> flow;
};

namespace detail {

inline Volumes volumes(echolux_volume* structure, echolux_volume* flow) {
    Volumes both{Volume(structure), std::nullopt};
    if (flow != nullptr) both.flow.emplace(flow);
    return both;
}

// The callback of `user` = Progress. An exception there stops the work.
inline int tell(void* user, const char* task, std::int64_t done, std::int64_t total, const char*) {
    try {
        return (*static_cast<const Progress*>(user))(task, done, total) ? 0 : 1;
    } catch (...) {
        return 1;
    }
}

}  // namespace detail

// `part` may leave progress to `progress`.
inline Volumes reconstruct(const Scan& scan, const echolux_device& device = make<echolux_device>(),
                           echolux_part part = make<echolux_part>(), Progress progress = {}) {
    if (progress) {
        part.progress = detail::tell;
        part.user = &progress;
    }
    echolux_volume *structure = nullptr, *flow = nullptr;
    checked([&](auto* error) { return echolux_reconstruct(scan.get(), &device, &part, &structure, &flow, error); });
    return detail::volumes(structure, flow);
}

// Many scans of one protocol, or many parts of them, one after the other.
class Batch {
  public:
    explicit Batch(const echolux_device& device = make<echolux_device>()) {
        echolux_batch* handle = nullptr;
        checked([&](auto* error) { return echolux_batch_create(&device, &handle, error); });
        handle_.reset(handle);
    }

    // As echolux::api::reconstruct().
    Volumes reconstruct(const Scan& scan, echolux_part part = make<echolux_part>(), Progress progress = {}) {
        if (progress) {
            part.progress = detail::tell;
            part.user = &progress;
        }
        echolux_volume *structure = nullptr, *flow = nullptr;
        checked(
            [&](auto* error) { return echolux_batch_reconstruct(get(), scan.get(), &part, &structure, &flow, error); });
        return detail::volumes(structure, flow);
    }
    std::int64_t plans() const {
        std::int64_t plans = 0;
        checked([&](auto* error) { return echolux_batch_plans(get(), &plans, error); });
        return plans;
    }

    echolux_batch* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_batch, echolux_batch_free> handle_;
};

class Series {
  public:
    static Series open(const std::string& path) {
        echolux_series* handle = nullptr;
        checked([&](auto* error) { return echolux_series_open(path.c_str(), &handle, error); });
        return Series(handle);
    }
    std::int64_t size() const {
        std::int64_t count = 0;
        checked([&](auto* error) { return echolux_series_describe(handle_.get(), &count, nullptr, error); });
        return count;
    }
    // Between two time points; 0: unknown.
    double step_s() const {
        double seconds = 0;
        checked([&](auto* error) { return echolux_series_describe(handle_.get(), nullptr, &seconds, error); });
        return seconds;
    }
    Volume read(std::int64_t time_point) const {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_series_read(handle_.get(), time_point, &handle, error); });
        return Volume(handle);
    }
    echolux_grid grid(std::int64_t time_point, std::int64_t level = 0) const {
        auto grid = make<echolux_grid>();
        checked(
            [&](auto* error) { return echolux_series_grid(handle_.get(), time_point, level, &grid, nullptr, error); });
        return grid;
    }
    std::int64_t levels(std::int64_t time_point) const {
        auto grid = make<echolux_grid>();
        std::int64_t levels = 0;
        checked([&](auto* error) { return echolux_series_grid(handle_.get(), time_point, 0, &grid, &levels, error); });
        return levels;
    }
    double time_s(std::int64_t time_point) const {
        double seconds = 0;
        checked([&](auto* error) { return echolux_series_time(handle_.get(), time_point, &seconds, error); });
        return seconds;
    }
    std::string provenance(std::int64_t time_point) const {
        return detail::text([&](auto... to) { return echolux_series_provenance(handle_.get(), time_point, to...); });
    }
    // Part of a time point, without gaps.
    void read(std::int64_t time_point, const echolux_region& region, Span<std::byte> voxels) const {
        checked([&](auto* error) {
            return echolux_series_read_region(handle_.get(), time_point, &region, voxels.data(), voxels.size(), error);
        });
    }

  private:
    explicit Series(echolux_series* handle) : handle_(handle) {}
    detail::Owned<echolux_series, echolux_series_free> handle_;
};

class Reconstructor {
  public:
    explicit Reconstructor(const Scan& scan, const echolux_device& device = make<echolux_device>(),
                           std::int64_t block_b_scans = 0) {
        echolux_reconstructor* handle = nullptr;
        checked([&](auto* error) {
            return echolux_reconstructor_create(scan.get(), &device, block_b_scans, &handle, error);
        });
        handle_.reset(handle);
    }

    echolux_grid grid() const {
        auto grid = make<echolux_grid>();
        checked([&](auto* error) { return echolux_reconstructor_grid(get(), &grid, nullptr, error); });
        return grid;
    }
    std::string device() const {
        return detail::text([&](auto... to) { return echolux_reconstructor_device(get(), to...); });
    }
    std::uint64_t submit(const echolux_block& block, const echolux_place& structure,
                         const echolux_place* flow = nullptr) {
        std::uint64_t completion = 0;
        checked([&](auto* error) {
            return echolux_reconstructor_submit(get(), &block, &structure, flow, &completion, error);
        });
        return completion;
    }
    void prime(const echolux_block& block) {
        checked([&](auto* error) { return echolux_reconstructor_prime(get(), &block, error); });
    }
    void wait(std::uint64_t completion) {
        checked([&](auto* error) { return echolux_reconstructor_wait(get(), completion, error); });
    }
    void collect() {
        checked([&](auto* error) { return echolux_reconstructor_collect(get(), error); });
    }

    echolux_reconstructor* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_reconstructor, echolux_reconstructor_free> handle_;
};

class View {
  public:
    View() {
        echolux_view* handle = nullptr;
        checked([&](auto* error) { return echolux_view_create(&handle, error); });
        handle_.reset(handle);
    }
    Settings settings() {
        echolux_settings* settings = nullptr;
        checked([&](auto* error) { return echolux_view_settings(get(), &settings, error); });
        return Settings(settings);
    }
    echolux_view* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_view, echolux_view_free> handle_;
};

struct Picture {
    std::size_t width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
};

class Renderer {
  public:
    explicit Renderer(const std::string& device = {}) {
        echolux_renderer* handle = nullptr;
        checked([&](auto* error) {
            return echolux_renderer_create(device.empty() ? nullptr : device.c_str(), &handle, error);
        });
        handle_.reset(handle);
    }
    Picture render(const Volume& volume, View& view, const Volume* flow = nullptr) {
        Picture picture;
        picture.width = static_cast<std::size_t>(view.settings().number("view.width"));
        picture.height = static_cast<std::size_t>(view.settings().number("view.height"));
        picture.rgba.resize(picture.width * picture.height * 4);
        checked([&](auto* error) {
            return echolux_render(handle_.get(), volume.get(), flow == nullptr ? nullptr : flow->get(), view.get(),
                                  picture.rgba.data(), picture.rgba.size(), error);
        });
        return picture;
    }

  private:
    detail::Owned<echolux_renderer, echolux_renderer_free> handle_;
};

// A movie of a volume in memory, or, where that is nullptr, of what the file `input` holds.
inline void write_movie(const Volume* volume, const std::string& input, View& view, const std::string& output,
                        echolux_movie movie = make<echolux_movie>(), Progress progress = {}) {
    if (progress) {
        movie.progress = detail::tell;
        movie.user = &progress;
    }
    checked([&](auto* error) {
        return echolux_write_movie(volume == nullptr ? nullptr : volume->get(),
                                   volume == nullptr ? input.c_str() : nullptr, view.get(), &movie, output.c_str(),
                                   error);
    });
}

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
    // A session whose blocks are given by push().
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
    // False: no room became free in time.
    bool push(const echolux_block& block, std::int32_t timeout_ms) {
        return checked([&](auto* error) { return echolux_live_push(get(), &block, timeout_ms, error); },
                       ECHOLUX_NOTHING_YET) == ECHOLUX_OK;
    }
    void end() {
        checked([&](auto* error) { return echolux_live_end(get(), error); });
    }
    // Nothing: no volume arrived in time, or, once ended() is true, there are no more.
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
    void set(const std::string& key, const std::string& value) {
        checked([&](auto* error) { return echolux_live_set(get(), key.c_str(), value.c_str(), error); });
    }
    echolux_live_stats stats() const {
        auto stats = make<echolux_live_stats>();
        checked([&](auto* error) { return echolux_live_get_stats(get(), &stats, error); });
        return stats;
    }
    Scan scan() {
        echolux_scan* handle = nullptr;
        checked([&](auto* error) { return echolux_live_scan(get(), &handle, error); });
        return Scan(handle);
    }
    void record(const std::string& scan_toml, bool overwrite = false) {
        checked([&](auto* error) { return echolux_live_record(get(), scan_toml.c_str(), overwrite ? 1 : 0, error); });
    }
    echolux_recorded stop_recording() {
        auto recorded = make<echolux_recorded>();
        checked([&](auto* error) { return echolux_live_stop_recording(get(), &recorded, error); });
        return recorded;
    }
    std::string events() const {
        return detail::text([&](auto... to) { return echolux_live_events(get(), to...); });
    }

    echolux_live* get() const { return handle_.get(); }

  private:
    explicit Live(echolux_live* handle) : handle_(handle) {}
    detail::Owned<echolux_live, echolux_live_free> handle_;
    bool has_ended_ = false;
};

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
    void write(const std::string& scan_toml, bool overwrite = false, Progress progress = {}) const {
        checked([&](auto* error) {
            return echolux_simulation_write(get(), scan_toml.c_str(), overwrite ? 1 : 0,
                                            progress ? detail::tell : nullptr, &progress, error);
        });
    }
    std::string facts() const {
        return detail::text([&](auto... to) { return echolux_simulation_facts(get(), to...); });
    }
    // `values` empty: only described.
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

// What a validation of this build found.
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

    // Their texts live as long as this.
    std::vector<echolux_check> checks() const {
        std::size_t count = 0;
        checked([&](auto* error) { return echolux_validation_count(handle_.get(), &count, error); });
        std::vector<echolux_check> all(count, make<echolux_check>());
        for (std::size_t i = 0; i < count; ++i) {
            checked([&](auto* error) { return echolux_validation_describe(handle_.get(), i, &all[i], error); });
        }
        return all;
    }
    std::string report() const {
        return detail::text([&](auto... to) { return echolux_validation_report(handle_.get(), to...); });
    }

  private:
    detail::Owned<echolux_validation, echolux_validation_free> handle_;
};

}  // namespace echolux::api

#endif
