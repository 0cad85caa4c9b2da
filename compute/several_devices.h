// One reconstructor made of several, each on a device of its own. Every block is worked on by one device alone, so that
// voxels are the bits of one device. A block in host memory goes to the device that has least under way: one that draws
// pictures besides, or has a slower link, gets fewer by itself; one that fetches it faster gets it with one more under
// way than the others have. Devices that are idle alike, and blocks that lie in the memory of devices, go round. What
// couples blocks (the running background) travels from device to device, some kilobytes a block, and not the spectra.
//
// One thread feeds all of them: submitting enqueues and does not wait while a device has room, so blocks have to last
// longer than that many submissions take the host.
//
// A device that fails is left out from then on, as long as another is there: who submits gets its error once, and may
// begin anew with the next volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {

class SeveralDevices : public Reconstructor {
  public:
    // At least one, all of this spec.
    SeveralDevices(const ReconstructionSpec& spec, std::vector<std::unique_ptr<Reconstructor>> devices);
    ~SeveralDevices() override;

    const VolumeGrid& grid() const override { return grid_; }
    const std::optional<VolumeGrid>& flow_grid() const override { return flow_grid_; }
    Backend processor() const override { return processor_; }
    Precision precision() const override { return precision_; }
    std::string backend() const override;  // "2 x cuda (NVIDIA H200, fused)"

    // After an error of prime() or submit() nothing of this submit() is under way, and it has taken no turn.
    void prime(const Block& block) override;

    // Blocks in the memory of a GPU have to be in that of the one whose turn it is, and are refused otherwise. Voxels
    // get to the memory and to textures of any of the GPUs.
    Completion submit(const Block& block, const Places& places) override;
    void wait(Completion completion) override;
    void collect() override;

    int under_way() const override;
    std::vector<DeviceWork> device_work() const override;
    bool goes_on_after(const Error& error) override;

  private:
    struct Device {
        std::unique_ptr<Reconstructor> reconstructor;
        std::uint64_t blocks = 0;  // that it has had
        std::string failure;       // why it is left out; "": it works
    };

    // What was submitted to whom, under which number there; 0: waited for.
    struct Turn {
        std::size_t device = 0;
        Completion completion;
    };

    template <class Work>
    auto watched(Device& device, const Work& work);
    Device& next(const Block& block);
    void resume(Device& device, Device& before);
    Device& coupled(Device& device);
    Turn& turn_of(std::uint64_t value) { return turns_[static_cast<std::size_t>((value - 1) % turns_.size())]; }
    void finish(Turn& turn);

    bool is_running_;  // blocks are coupled
    std::vector<Device> devices_;
    VolumeGrid grid_;
    std::optional<VolumeGrid> flow_grid_;
    Backend processor_;
    Precision precision_;
    Device* newest_ = nullptr;   // that had the last block, where blocks are coupled; may have failed
    bool has_left_out_ = false;  // with the error that was thrown last
    std::vector<Turn> turns_;    // the newest; of older ones the work is done
    std::uint64_t submitted_ = 0;
};

// Where there is one device, that one itself.
std::unique_ptr<Reconstructor> over_devices(const ReconstructionSpec& spec,
                                            std::vector<std::unique_ptr<Reconstructor>> devices);

}  // namespace echolux
