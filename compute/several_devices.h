// Combines several reconstructors, each on its own device, into one. Each block is processed by a single device, so
// voxels are bit-identical to those of one device.
//
// A block in host memory goes to the device with the fewest blocks in progress. A device that also renders or has a
// slower link therefore gets fewer blocks. A device with faster access to the block is preferred by one block. Equally
// idle devices, and blocks in device memory, take turns. The state that couples blocks (running background), some
// kilobytes per block, moves between devices; spectra do not.
//
// One thread feeds all devices. Submitting only enqueues while a device has capacity, so processing a block must take
// longer than one submission per device on the host.
//
// A device that fails is excluded if another one still works. The caller gets its error once and may continue with the
// next volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {

// Used by one thread.
class SeveralDevices : public Reconstructor {
  public:
    // `devices` must not be empty. All must be planned for this spec.
    SeveralDevices(const ReconstructionSpec& spec, std::vector<std::unique_ptr<Reconstructor>> devices);
    ~SeveralDevices() override;

    const VolumeGrid& grid() const override { return grid_; }
    const std::optional<VolumeGrid>& flow_grid() const override { return flow_grid_; }
    Backend backend() const override { return processor_; }
    Precision precision() const override { return precision_; }
    std::string backend_description() const override;  // "2 x cuda (NVIDIA H200, fused)"

    // After an error in prime() or submit(), nothing of this submit() is in progress and no completion value is used.
    void prime(const Block& block) override;

    // Blocks in GPU memory must be in that of the GPU whose turn it is, otherwise they are refused. Voxels can go to
    // memory and textures of any of the GPUs.
    Completion submit(const Block& block, const VoxelTargets& targets) override;
    void wait(Completion completion) override;
    void collect() override;

    int in_flight() const override;
    std::vector<DeviceWork> device_work() const override;
    bool continues_after(const Error& error) override;

  private:
    struct Device {
        std::unique_ptr<Reconstructor> reconstructor;
        std::uint64_t blocks = 0;  // submitted to it
        std::string failure;       // why it is excluded; empty if it works
    };

    // Device and completion of a submission; completion 0 after it was waited for.
    struct Turn {
        std::size_t device = 0;
        Completion completion;
    };

    void exclude(Device& device, const Error& error);
    template <class Work>
    void watched(Device& device, const Work& work);
    Device& next(const Block& block);
    void resume(Device& device, Device& before);
    Device& coupled(Device& device);
    Turn& turn_of(std::uint64_t value) { return turns_[static_cast<std::size_t>((value - 1) % turns_.size())]; }
    void finish(Turn& turn);

    bool is_running_;  // blocks are coupled by a running background
    std::vector<Device> devices_;
    VolumeGrid grid_;
    std::optional<VolumeGrid> flow_grid_;
    Backend processor_;
    Precision precision_;
    Device* newest_ = nullptr;   // device of the last block if blocks are coupled; may have failed
    bool has_left_out_ = false;  // by the last error
    std::vector<Turn> turns_;    // the latest submissions; older ones are complete
    std::uint64_t submitted_ = 0;
};

// Combines devices. A single device is returned unchanged.
std::unique_ptr<Reconstructor> over_devices(const ReconstructionSpec& spec,
                                            std::vector<std::unique_ptr<Reconstructor>> devices);

}  // namespace echolux
