#include "library/kept_volumes.h"

#include <fmt/format.h>

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
    // Drop the oldest until the rest fits.
    for (bytes_ += volume.bytes(); bytes_ > max_bytes_; volumes_.pop_front()) bytes_ -= volumes_.front().bytes();
}

std::int64_t KeptVolumes::count() const {
    const std::scoped_lock lock(mutex_);
    return std::ssize(volumes_);
}

std::string KeptVolumes::remedy() const {
    return max_bytes_ > 0 ? "let the session run longer, or give it more memory with `source.keep_gb`"
                          : "set `source.keep_gb`, or keep_gb of its options, when the session is opened";
}

FinishedVolume KeptVolumes::go_to(std::int64_t time_point) {
    const std::scoped_lock lock(mutex_);
    if (time_point < 0 || time_point >= std::ssize(volumes_)) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("is {}, and {} are kept", time_point, counted(std::ssize(volumes_), "volumes")),
                    "time_point", remedy());
    }
    is_paused_ = true;
    return volumes_[static_cast<std::size_t>(time_point)];
}

void KeptVolumes::play() {
    const std::scoped_lock lock(mutex_);
    is_paused_ = false;
}

std::int64_t KeptVolumes::save(const std::filesystem::path& path, double seconds) const {
    // Copy the list, whose voxels are shared, so that the session is not blocked while the file is written.
    const std::deque<FinishedVolume> volumes = [&] {
        const std::scoped_lock lock(mutex_);
        return volumes_;
    }();
    if (volumes.empty()) throw Error(ErrorCode::bad_setting, "no volumes are kept", path.string(), remedy());
    const FinishedVolume& newest = volumes.back();
    KeptSeries series{{}, newest.structure->grid, newest.structure->provenance, newest.plan};
    for (const FinishedVolume& one : volumes)
        series.volumes.push_back({series.volumes.size(), {one.number, one.time_s, one.plan}});
    series.volumes = last_of(series.volumes, seconds);
    std::size_t next = 0;
    SilentProgress nobody_asks;
    write_kept(
        path, series, [&] { return volumes[series.volumes[next++].serial].structure->voxels; }, nobody_asks);
    return std::ssize(series.volumes);
}

}  // namespace echolux::library
