// Several devices for tests: reconstructors that can be lost within a volume, combined as for live display.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/several_devices.h"

namespace echolux::test {

// Forwards to another reconstructor until it is lost; then every call throws, like those of a lost GPU.
class LosableDevice : public Reconstructor {
  public:
    LosableDevice(std::unique_ptr<Reconstructor> device, std::shared_ptr<const bool> is_lost)
        : device_(std::move(device)), is_lost_(std::move(is_lost)) {}

    const VolumeGrid& grid() const override { return device_->grid(); }
    const std::optional<VolumeGrid>& flow_grid() const override { return device_->flow_grid(); }
    Backend backend() const override { return device_->backend(); }
    std::string backend_description() const override { return device_->backend_description(); }
    void prime(const Block& block) override { working().prime(block); }
    Completion submit(const Block& block, const VoxelTargets& targets) override {
        return working().submit(block, targets);
    }
    void wait(Completion completion) override { working().wait(completion); }
    void collect() override { working().collect(); }
    int in_flight() const override { return device_->in_flight(); }
    void resume_after(Reconstructor& before) override {
        working().resume_after(*dynamic_cast<LosableDevice&>(before).device_);
    }
    std::vector<DeviceWork> device_work() const override { return device_->device_work(); }

  private:
    Reconstructor& working() const {
        if (*is_lost_) throw Error(ErrorCode::device, "lost", "test");
        return *device_;
    }

    std::unique_ptr<Reconstructor> device_;
    std::shared_ptr<const bool> is_lost_;
};

using MakeReconstructor = std::function<ChosenReconstructor(const ReconstructionSpec&, const BackendChoice&)>;

// Makes a reconstructor for each of `devices`. The last one is lost when `is_lost` becomes true.
inline MakeReconstructor several(const std::vector<BackendChoice>& devices,
                                 const std::shared_ptr<bool>& is_lost = std::make_shared<bool>(false)) {
    return [devices, is_lost](const ReconstructionSpec& spec, const BackendChoice&) -> ChosenReconstructor {
        std::vector<std::unique_ptr<Reconstructor>> all;
        for (const BackendChoice& one : devices) {
            const bool is_last = all.size() + 1 == devices.size();
            all.push_back(std::make_unique<LosableDevice>(make_reconstructor(spec, one),
                                                          is_last ? is_lost : std::make_shared<bool>(false)));
        }
        return {over_devices(spec, std::move(all)), {}};
    };
}

}  // namespace echolux::test
