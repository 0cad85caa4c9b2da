#include "library/kept_volumes.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/live/kept_series.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/progress.h"

namespace echolux::library {

void KeptVolumes::add(const FinishedVolume& volume) {
    const std::scoped_lock lock(mutex_);
    if (is_paused_ || volume.bytes() > max_bytes_) return;
    if (!volumes_.empty() && volumes_.back().structure->grid != volume.structure->grid) {
        volumes_.clear();
        bytes_ = 0;
    }
    volumes_.push_back(volume);
    for (bytes_ += volume.bytes(); bytes_ > max_bytes_; volumes_.pop_front()) bytes_ -= volumes_.front().bytes();
}

std::int64_t KeptVolumes::count() const {
    const std::scoped_lock lock(mutex_);
    return std::ssize(volumes_);
}

FinishedVolume KeptVolumes::go_to(std::int64_t time_point) {
    const std::scoped_lock lock(mutex_);
    if (time_point < 0 || time_point >= std::ssize(volumes_)) {
        throw Error(ErrorCode::bad_setting, counted(std::ssize(volumes_), "volumes") + " are kept", "time_point",
                    max_bytes_ > 0 ? "" : "set `source.keep_gb` when the session is opened");
    }
    is_paused_ = true;
    return volumes_[static_cast<std::size_t>(time_point)];
}

void KeptVolumes::play() {
    const std::scoped_lock lock(mutex_);
    is_paused_ = false;
}

std::vector<FinishedVolume> KeptVolumes::last(double seconds) const {
    const std::scoped_lock lock(mutex_);
    const auto is_of_them = [&](const FinishedVolume& one) {
        return seconds <= 0 || one.time_s >= volumes_.back().time_s - seconds;
    };
    return {std::ranges::find_if(volumes_, is_of_them), volumes_.end()};
}

std::int64_t KeptVolumes::save(const std::filesystem::path& path, double seconds) const {
    const std::vector<FinishedVolume> volumes = last(seconds);
    if (volumes.empty())
        throw Error(ErrorCode::bad_setting, "no volumes are kept", path.string(), "set `source.keep_gb`");
    KeptSeries series;
    series.grid = volumes.back().structure->grid;
    series.provenance = volumes.back().structure->provenance;
    series.plan = 1;  // of the newest; all others are another one
    for (const FinishedVolume& one : volumes) {
        const std::uint64_t plan = one.spec == volumes.back().spec ? series.plan : 0;
        series.volumes.push_back({0, {one.number, one.time_s, plan}});
    }
    std::size_t next = 0;
    SilentProgress nobody_asks;
    write_kept(
        path, series, [&] { return volumes[next++].structure->voxels; }, nobody_asks);
    return std::ssize(volumes);
}

}  // namespace echolux::library
