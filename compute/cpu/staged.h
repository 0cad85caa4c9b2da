// A runner with callbacks: decodes spectra for the spectra callback and shows complete voxels to the voxel callback.
// The inner runner itself calls the callback for depth bins.
#pragma once

#include <memory>
#include <vector>

#include "compute/cpu/runner.h"
#include "compute/stages.h"

namespace echolux::cpu {

// Decorates a Runner with a caller's callbacks.
class StagedRunner : public Reconstructor {
  public:
    StagedRunner(const ReconstructionSpec& spec, std::shared_ptr<const Stages> stages);

    const VolumeGrid& grid() const override { return runner_.grid(); }
    const std::optional<VolumeGrid>& flow_grid() const override { return runner_.flow_grid(); }
    Backend processor() const override { return Backend::cpu; }
    std::string backend() const override { return runner_.backend(); }
    void prime(const Block& block) override { runner_.prime(staged(block)); }
    Completion submit(const Block& block, const Places& places) override;
    void wait(Completion) override {}

  private:
    // Decodes the block to f32, calls the spectra callback, and returns the decoded block.
    Block staged(const Block& block);

    ReconstructionSpec spec_;
    std::shared_ptr<const Stages> stages_;
    Runner runner_;
    std::vector<float> counts_;  // counts of one block, for the spectra callback
};

}  // namespace echolux::cpu
