// Several devices that share a live volume: transfer of voxels to the drawing GPU, work of each device, and failure of
// one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/live/volume_feeder.h"
#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {

// Returns a remark if the path from other GPUs to the drawing GPU is not the fastest possible.
std::string VolumeFeeder::remark_on(const std::vector<DeviceId>& gpus, const Renderer& renderer) {
    const DeviceId& draws = renderer.device_id();
    const auto far = std::ranges::count_if(gpus, [&](const DeviceId& gpu) { return !reaches(gpu, draws); });
    if (far > 0) {
        return fmt::format("{} cannot reach the memory of {}: voxels go through pinned host memory",
                           counted(far, "GPUs"), renderer.device_name());
    }
    const bool takes_part = std::ranges::find(gpus, draws) != gpus.end();
    return takes_part ? "" : renderer.device_name() + " draws alone: voxels are copied to it";
}

// Excludes one of several devices after an error, unless it is the drawing one. Slots and pictures stay as they are.
bool VolumeFeeder::goes_on_without_one(const Error& error) {
    if (!reconstructor_ || !reconstructor_->goes_on_after(error)) return false;
    if (live_.slots->writer->settle({}) == SlotWriter::Settled::dead) return false;
    stage_.clear();
    under_way_.clear();
    const std::vector<DeviceWork> devices = reconstructor_->device_work();
    {
        const std::scoped_lock lock(live_.exchanging);
        recovery_.leave_out_failed(devices);
        live_.description = described_ + "; " + left_out(devices);
    }
    note_device_work();
    const std::scoped_lock lock(told_);
    news_.push_back({left_out(devices), true, "devices"});
    return true;
}

void VolumeFeeder::note_device_work() {
    std::vector<DeviceWork> work = reconstructor_->device_work();
    const std::scoped_lock lock(told_);
    device_work_.swap(work);
}

std::vector<DeviceWork> VolumeFeeder::device_work() const {
    const std::scoped_lock lock(told_);
    return device_work_;
}

std::vector<BlockSink::News> VolumeFeeder::take_news() {
    std::vector<News> news = stage_.log().take_news();
    const std::scoped_lock lock(told_);
    for (News& one : std::exchange(news_, {})) news.push_back(std::move(one));
    return news;
}

}  // namespace echolux
