// One reconstructor made of several, each on a device of its own: blocks go round, the first to the first, and every
// block is worked on by one device alone, so that voxels are the bits of one device. What couples blocks (the running
// background) every device follows for itself: it is primed with the blocks that the others reconstruct.
//
// One thread feeds all of them: submitting enqueues and does not wait while a device has room, so blocks have to last
// longer than that many submissions take the host. A running background takes every spectrum to every device, so that
// their links are what it is as fast as.
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

    const VolumeGrid& grid() const override { return devices_.front()->grid(); }
    const std::optional<VolumeGrid>& flow_grid() const override { return devices_.front()->flow_grid(); }
    Backend processor() const override { return devices_.front()->processor(); }
    Precision precision() const override { return devices_.front()->precision(); }
    std::string backend() const override;  // "2 x cuda (NVIDIA H200, fused)"

    // After an error of prime() or submit() nothing of this submit() is under way, and it has taken no turn; devices
    // may have followed the running background apart, until the next volume begins.
    void prime(const Block& block) override;

    // Blocks and places in the memory of a GPU have to be in that of the one whose turn it is, and are refused
    // otherwise; textures, which belong to one GPU, in any case.
    Completion submit(const Block& block, const Places& places) override;
    void wait(Completion completion) override;
    void collect() override;

  private:
    // What was submitted to whom, under which number there; 0: waited for.
    struct Turn {
        std::size_t device = 0;
        Completion completion;
    };

    void check(const Block& block, const Places& places) const;
    Turn& turn_of(std::uint64_t value) { return turns_[static_cast<std::size_t>((value - 1) % turns_.size())]; }
    void finish(Turn& turn);
    void follow(const Block& block, const Reconstructor* maker);  // all but the one that makes it

    bool is_running_;  // every device has to follow every block
    std::vector<std::unique_ptr<Reconstructor>> devices_;
    std::vector<Turn> turns_;  // the newest; of older ones the work is done
    std::uint64_t submitted_ = 0;
};

// Where there is one device, that one itself.
std::unique_ptr<Reconstructor> over_devices(const ReconstructionSpec& spec,
                                            std::vector<std::unique_ptr<Reconstructor>> devices);

}  // namespace echolux
