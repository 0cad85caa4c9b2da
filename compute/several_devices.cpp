#include "compute/several_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe_stats.h"
#include "compute/reconstructor.h"

namespace echolux {
namespace {

constexpr std::size_t turns_a_device = 32;  // more than the blocks in progress on a device

}  // namespace

SeveralDevices::SeveralDevices(const ReconstructionSpec& spec, std::vector<std::unique_ptr<Reconstructor>> devices)
    : is_running_(chosen_background(spec.recipe, spec.calibration) == Background::running),
      grid_(devices.front()->grid()), flow_grid_(devices.front()->flow_grid()), processor_(devices.front()->backend()),
      precision_(devices.front()->precision()), turns_(devices.size() * turns_a_device) {
    for (auto& device : devices) devices_.push_back({std::move(device), 0, {}});
}

SeveralDevices::~SeveralDevices() = default;

std::string SeveralDevices::backend_description() const {
    std::vector<std::string> names;
    for (const Device& device : devices_) {
        if (device.failure.empty()) names.push_back(device.reconstructor->backend_description());
    }
    if (names.size() == 1) return names.front();
    const bool alike = std::ranges::all_of(names, [&](const std::string& name) { return name == names.front(); });
    if (alike) return fmt::format("{} x {}", names.size(), names.front());
    return fmt::format("{}", fmt::join(names, " + "));
}

// Excludes a device that fails if another one still works.
void SeveralDevices::exclude(Device& device, const Error& error) {
    const auto works = std::ranges::count_if(devices_, [](const Device& one) { return one.failure.empty(); });
    has_left_out_ = error.code() == ErrorCode::device && works > 1;
    if (has_left_out_) device.failure = error.problem();
}

// Runs work of a device. A device that fails is excluded.
template <class Work>
void SeveralDevices::watched(Device& device, const Work& work) {
    try {
        work(*device.reconstructor);
    } catch (const Error& error) {
        exclude(device, error);
        throw;
    }
}

bool SeveralDevices::continues_after(const Error& error) {
    return error.code() == ErrorCode::device && std::exchange(has_left_out_, false);
}

SeveralDevices::Device& SeveralDevices::next(const Block& block) {
    const auto load = [&](const Device& device) {
        if (block.memory == MemoryKind::device) return std::tuple(0, 0, device.blocks);
        const int is_far = block.near_gpu != DeviceId{} && block.near_gpu != device.reconstructor->device() ? 1 : 0;
        return std::tuple(device.reconstructor->in_flight() + is_far, is_far, device.blocks);
    };
    Device* found = nullptr;
    std::tuple<int, int, std::uint64_t> least;
    for (Device& device : devices_) {
        if (!device.failure.empty()) continue;
        const auto its = load(device);
        if (found == nullptr || its < least) {
            found = &device;
            least = its;
        }
    }
    return *found;
}

// Continues from `before`. A copy fails if either device is broken, so the source is checked first.
void SeveralDevices::resume(Device& device, Device& before) {
    try {
        device.reconstructor->resume_after(*before.reconstructor);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) watched(before, [](Reconstructor& one) { one.collect(); });
        watched(device, [](Reconstructor&) { throw; });
    }
}

// Returns the device after passing it the state that couples blocks.
SeveralDevices::Device& SeveralDevices::coupled(Device& device) {
    if (is_running_ && newest_ != nullptr && newest_ != &device && newest_->failure.empty()) resume(device, *newest_);
    if (is_running_) newest_ = &device;
    return device;
}

void SeveralDevices::prime(const Block& block) {
    if (!is_running_) return;
    const bool has_newest = newest_ != nullptr && newest_->failure.empty();
    Device& device = has_newest ? *newest_ : coupled(next(block));
    watched(device, [&](Reconstructor& one) { one.prime(block); });
}

Completion SeveralDevices::submit(const Block& block, const VoxelTargets& targets) {
    Turn& turn = turn_of(submitted_ + 1);
    finish(turn);
    Device& device = coupled(next(block));
    try {
        turn.completion = device.reconstructor->submit(block, targets);
    } catch (const Error& error) {
        exclude(device, error);
        throw;
    }
    turn.device = index(&device - devices_.data());
    ++device.blocks;
    return {++submitted_};
}

void SeveralDevices::wait(Completion completion) {
    const bool is_kept = completion.value <= submitted_ && submitted_ - completion.value < turns_.size();
    if (completion.value > 0 && is_kept) finish(turn_of(completion.value));
}

void SeveralDevices::collect() {
    for (Device& device : devices_) {
        if (device.failure.empty()) watched(device, [](Reconstructor& one) { one.collect(); });
    }
}

// Waits for a turn and throws its errors once, like a single device. Work of an excluded device is lost.
void SeveralDevices::finish(Turn& turn) {
    const Completion completion = std::exchange(turn.completion, {});
    Device& device = devices_[turn.device];
    if (completion.value == 0 || !device.failure.empty()) return;
    watched(device, [&](Reconstructor& one) { one.wait(completion); });
}

int SeveralDevices::in_flight() const {
    return std::accumulate(devices_.begin(), devices_.end(), 0, [](int sum, const Device& device) {
        return sum + (device.failure.empty() ? device.reconstructor->in_flight() : 0);
    });
}

std::vector<DeviceWork> SeveralDevices::device_work() const {
    std::vector<DeviceWork> all;
    for (const Device& device : devices_) {
        const std::vector<DeviceWork> its = device.reconstructor->device_work();
        all.push_back(its.empty() ? DeviceWork{.name = device.reconstructor->backend_description()} : its.front());
        all.back().blocks = static_cast<std::int64_t>(device.blocks);
        all.back().failure = device.failure;
    }
    return all;
}

std::unique_ptr<Reconstructor> over_devices(const ReconstructionSpec& spec,
                                            std::vector<std::unique_ptr<Reconstructor>> devices) {
    if (devices.size() == 1) return std::move(devices.front());
    return std::make_unique<SeveralDevices>(spec, std::move(devices));
}

template <>
const std::vector<Stat<DeviceWork>>& describe_stats<DeviceWork>() {
    using S = DeviceWork;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("name", &S::name, "", "of the device"),
        statistic<S>("way", &S::transfer_path, "", "of its voxels to the device that renders"),
        statistic<S>("blocks", &S::blocks, "blocks", "reconstructed"),
        statistic<S>("bytes", &S::bytes, "bytes", "of spectra in these blocks"),
        statistic<S>("copied_bytes", &S::copied_bytes, "bytes", "of voxels copied to another device"),
        statistic<S>("link_s", &S::link_s, "s", "spectra on the link"),
        statistic<S>("waiting_s", &S::waiting_s, "s", "waiting for voxel buffers"),
        statistic<S>("kernels_s", &S::kernels_s, "s", "kernels"),
        statistic<S>("copy_s", &S::copy_s, "s", "voxels in transfer to another device"),
        statistic<S>(
            "failure", [](const S& s) { return s.failure.empty() ? StatValue() : StatValue(s.failure); }, "",
            "reason for excluding the device; only if excluded"),
    });
    return all;
}

std::string left_out(const std::vector<DeviceWork>& devices) {
    std::string line;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].failure.empty()) continue;
        line += (line.empty() ? "" : "; ") + devices[i].name + " (device " + std::to_string(i + 1) + " of " +
                std::to_string(devices.size()) + ") is not used: " + devices[i].failure;
    }
    return line;
}

}  // namespace echolux
