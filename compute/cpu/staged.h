// A runner with a caller's stages: spectra are decoded for theirs, voxels are shown to theirs when they are complete.
// The runner itself calls the one on depth bins, which nobody else sees.
#pragma once

#include <memory>
#include <vector>

#include "compute/cpu/runner.h"
#include "compute/stages.h"

namespace echolux::cpu {

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
    Block staged(const Block& block);

    ReconstructionSpec spec_;
    std::shared_ptr<const Stages> stages_;
    Runner runner_;
    std::vector<float> counts_;  // of a block, where a stage wants to see them
};

}  // namespace echolux::cpu
