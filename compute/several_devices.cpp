#include "compute/several_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "compute/error.h"
#include "compute/plan/choices.h"

namespace echolux {
namespace {

constexpr std::size_t turns_a_device = 32;  // more than a device works on at a time

// Whoever gets no completion may use the places again. The error is not the one that is told.
void wait_for_nothing(Reconstructor& device, Completion completion) {
    try {
        device.wait(completion);
    } catch (const std::exception&) {
    }
}

bool is_on_a_surface(const Places& places) {
    const auto is_surface = [](const Place& place) { return place.kind == PlaceKind::device_surface; };
    return is_surface(places.structure) || (places.flow && is_surface(*places.flow)) ||
           (places.peaks && is_surface(places.peaks->place));
}

}  // namespace

SeveralDevices::SeveralDevices(const ReconstructionSpec& spec, std::vector<std::unique_ptr<Reconstructor>> devices)
    : is_running_(chosen_background(spec.recipe, spec.calibration) == Background::running),
      devices_(std::move(devices)), turns_(devices_.size() * turns_a_device) {}

SeveralDevices::~SeveralDevices() = default;

std::string SeveralDevices::backend() const {
    const std::string first = devices_.front()->backend();
    const bool alike = std::ranges::all_of(devices_, [&](const auto& device) { return device->backend() == first; });
    if (alike) return fmt::format("{} x {}", devices_.size(), first);
    std::string all = first;
    for (std::size_t i = 1; i < devices_.size(); ++i) all += " + " + devices_[i]->backend();
    return all;
}

void SeveralDevices::prime(const Block& block) {
    follow(block, nullptr);
}

// All are told, also where one fails: as few as can be fall behind.
void SeveralDevices::follow(const Block& block, const Reconstructor* maker) {
    std::exception_ptr problem;
    for (const auto& device : devices_) {
        if (device.get() == maker) continue;
        try {
            device->prime(block);
        } catch (...) {
            if (!problem) problem = std::current_exception();
        }
    }
    if (problem) std::rethrow_exception(problem);
}

void SeveralDevices::check(const Block& block, const Places& places) const {
    const std::string one = "leave out `gpus`";
    if (is_on_a_surface(places)) {
        throw Error(ErrorCode::bad_setting, "a texture belongs to one GPU: several cannot write to it", "place", one);
    }
    if (is_running_ && block.memory == MemoryKind::device && devices_.size() > 1) {
        throw Error(ErrorCode::bad_setting,
                    "every GPU has to read every block for the running background, but these lie in the memory of one",
                    "recipe.background", "choose another, or leave the spectra in host memory");
    }
}

Completion SeveralDevices::submit(const Block& block, const Places& places) {
    check(block, places);
    Turn& turn = turn_of(submitted_ + 1);
    finish(turn);
    const std::size_t device = static_cast<std::size_t>(submitted_ % devices_.size());
    const Completion completion = devices_[device]->submit(block, places);
    try {
        if (is_running_) follow(block, devices_[device].get());
    } catch (...) {
        wait_for_nothing(*devices_[device], completion);
        throw;
    }
    turn = {device, completion};
    return {++submitted_};
}

void SeveralDevices::wait(Completion completion) {
    const bool is_kept = completion.value <= submitted_ && submitted_ - completion.value < turns_.size();
    if (completion.value > 0 && is_kept) finish(turn_of(completion.value));
}

void SeveralDevices::collect() {
    for (const auto& device : devices_) device->collect();
}

// What went wrong is told once, as one device does.
void SeveralDevices::finish(Turn& turn) {
    const Completion completion = std::exchange(turn.completion, {});
    if (completion.value > 0) devices_[turn.device]->wait(completion);
}

std::unique_ptr<Reconstructor> over_devices(const ReconstructionSpec& spec,
                                            std::vector<std::unique_ptr<Reconstructor>> devices) {
    if (devices.size() == 1) return std::move(devices.front());
    return std::make_unique<SeveralDevices>(spec, std::move(devices));
}

}  // namespace echolux
