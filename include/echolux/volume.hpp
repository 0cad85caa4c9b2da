// Volumes and series of volumes.
#ifndef ECHOLUX_VOLUME_HPP
#define ECHOLUX_VOLUME_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base.hpp"
#include "volume.h"

namespace echolux::api {

// Voxels in host memory with their metadata; immutable.
class Volume {
  public:
    explicit Volume(echolux_volume* handle) : handle_(handle) {}

    static Volume open(const std::string& path) {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_volume_open(path.c_str(), &handle, error); });
        return Volume(handle);
    }
    static Volume create(const echolux_grid& grid, Span<const std::byte> voxels, std::int64_t a_scan_bytes = 0,
                         std::int64_t b_scan_bytes = 0,
                         const echolux_volume_facts& facts = make<echolux_volume_facts>()) {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) {
            return echolux_volume_create(&grid, voxels.data(), voxels.size(), a_scan_bytes, b_scan_bytes, &facts,
                                         &handle, error);
        });
        return Volume(handle);
    }

    echolux_grid grid() const {
        auto grid = make<echolux_grid>();
        checked([&](auto* error) { return echolux_volume_grid(get(), &grid, error); });
        return grid;
    }
    // Contiguous voxels, valid for the lifetime of the volume.
    Span<const std::byte> bytes() const {
        const void* data = nullptr;
        std::size_t size = 0;
        checked([&](auto* error) { return echolux_volume_data(get(), &data, &size, error); });
        return {static_cast<const std::byte*>(data), size};
    }
    // The voxels as type T, which must match the voxel type.
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
    // Converts a flow volume to axial velocities in mm/s (phases in rad if unknown).
    Volume velocities() const {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_volume_velocities(get(), &handle, error); });
        return Volume(handle);
    }
    void write(const std::string& path, bool overwrite = false, Progress progress = {}) const {
        checked([&](auto* error) {
            return echolux_volume_write(get(), path.c_str(), overwrite ? 1 : 0, progress ? detail::tell : nullptr,
                                        &progress, error);
        });
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

}  // namespace detail

// Volumes in files, one per time point.
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
    // Interval between two time points in seconds; 0: unknown.
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
    // Number of resolution levels of a time point.
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
    // Reads a region of a time point, contiguous with depth fastest.
    void read(std::int64_t time_point, const echolux_region& region, Span<std::byte> voxels) const {
        checked([&](auto* error) {
            return echolux_series_read_region(handle_.get(), time_point, &region, voxels.data(), voxels.size(), error);
        });
    }

  private:
    explicit Series(echolux_series* handle) : handle_(handle) {}
    detail::Owned<echolux_series, echolux_series_free> handle_;
};

}  // namespace echolux::api

#endif
