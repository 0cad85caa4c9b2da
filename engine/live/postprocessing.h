// Processing of live volumes between reconstruction and display or delivery: B-scans are moved to their true position,
// then speckle is filtered, in linear power. The order matters: a filter averages neighbouring B-scans, which must show
// the same place. Recordings contain spectra and are not affected.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.h"
#include "compute/plan/described.h"
#include "compute/tissue_on_gpu.h"
#include "engine/live/display_queue.h"
#include "engine/registration/registration.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// Settings of the processing.
struct LiveTissue {
    bool stabilises = false;
    bool across_volumes = true;  // align B-scans to an earlier good volume; otherwise to their neighbours
    RegistrationSettings registration;
    bool filters = false;
    SpeckleFilter filter;

    bool is_empty_recipe() const { return !stabilises && !filters; }
};

// Throws Error{bad_setting} for invalid settings.
void check_tissue(const LiveTissue& tissue);

// Result of processing one volume.
struct PostprocessingResult {
    std::int64_t volume = 0;
    bool was_to_be_stabilised = false, was_to_be_filtered = false;
    bool is_stabilised = false, is_filtered = false;
    std::vector<RowShift> rows;  // shifts of its B-scans, if they were compared
    std::int64_t used = 0;       // number of B-scans used
    // Why the volume was not stabilised or not filtered. Empty if it was, or if this was not requested.
    std::string unsteady, unsmooth;
    std::map<std::string, std::string> provenance;
    LiveTissue wanted{};  // the requested processing
};

// Power that can be aligned, in any memory. Implementations find shifts and apply them.
class AlignablePower {
  public:
    virtual ~AlignablePower() = default;

    enum class To { neighbours, reference };
    virtual bool has_reference() const = 0;
    // Returns the shift of each B-scan.
    virtual std::vector<RowShift> find(To to, Progress& progress) = 0;
    // Returns the number of B-scans used; the others are empty afterwards.
    virtual std::int64_t move(const std::vector<RowShift>& rows) = 0;
    virtual void become_reference() = 0;  // uses the current state of the power
    virtual void forget_reference() = 0;
};

// Compares settings by their TOML, so that new parameters are compared automatically.
bool is_same_registration(const RegistrationSettings& a, const RegistrationSettings& b);

// Power in host memory, aligned by the CPU. The reference is kept across volumes.
class PowerOnHost : public AlignablePower {
  public:
    // Discards the reference if the settings differ.
    void set_settings(const RegistrationSettings& settings);
    void take(PowerVolume volume) { volume_ = std::move(volume); }
    PowerVolume& volume() { return volume_; }

    bool has_reference() const override { return reference_ != nullptr; }
    std::vector<RowShift> find(To to, Progress& progress) override;
    std::int64_t move(const std::vector<RowShift>& rows) override;
    void become_reference() override;
    void forget_reference() override { reference_.reset(); }

  private:
    RegistrationSettings settings_;
    PowerVolume volume_;
    std::unique_ptr<const Reference> reference_;
};

// Chooses the reference for volumes: the first good one, as long as others match it, then a later one. With a reference
// that follows every volume, B-scans would drift.
class Stabiliser {
  public:
    // Aligns the power and stores the result in `done`. Throws Error{bad_setting} if the tissue cannot be stabilised,
    // which leaves the power unchanged, and Error{cancelled}.
    void stabilise(AlignablePower& power, const LiveTissue& tissue, PostprocessingResult& done, Progress& progress);

  private:
    bool try_to(AlignablePower& power, AlignablePower::To to, PostprocessingResult& done, Progress& progress);

    int misfits_ = 0;  // consecutive volumes that did not match the reference
};

// Returns the moves of B-scans without power (flow codes) by whole voxels; if several B-scans land at one position, the
// one of best quality wins. move_codes() applies them to codes in host memory.
std::vector<WholeMove> whole_moves(const std::vector<RowShift>& rows);
void move_codes(std::byte* codes, const VolumeGrid& grid, const std::vector<RowShift>& rows);

// Processes volumes in host memory. Use from one thread.
class CpuPostprocessor {
  public:
    // Sets the processing from the next volume on. Throws as check_tissue() does.
    void set(const LiveTissue& tissue);
    const LiveTissue& settings() const { return tissue_; }

    // Processes the volume in place; `flow` may be nullptr. Steps that fail are skipped, and the reasons are in the
    // result. Throws Error{cancelled}.
    PostprocessingResult apply(std::int64_t number, Volume& structure, Volume* flow, const BackendChoice& choice,
                               Progress& progress);

  private:
    LiveTissue tissue_;
    PowerOnHost power_;
    Stabiliser stabiliser_;
    VolumeGrid grid_;  // grid of the last volume
};

// Returns the provenance to write with a volume.
std::map<std::string, std::string> provenance_of(const LiveTissue& tissue, const PostprocessingResult& done);

struct TissueStats {
    std::int64_t volumes = 0;  // with any processing requested
    std::int64_t skipped = 0;  // not even reconstructed, because earlier volumes took too long
    std::int64_t stabilised = 0;
    std::int64_t filtered = 0;
    std::int64_t as_it_was = 0;  // volumes with a step that failed
    std::int64_t b_scans = 0;    // compared
    std::int64_t b_scans_used = 0;
    std::int64_t saccades = 0;
    double work_s = 0;
};
template <>
const std::vector<Stat<TissueStats>>& describe_stats<TissueStats>();

// Log of the processing of volumes. Thread-safe.
class TissueLog {
  public:
    // Adds the result of one volume, which took `seconds`.
    void note(const PostprocessingResult& done, double seconds);
    // Counts one volume that was not reconstructed.
    void note_skipped();

    TissueStats stats() const;
    // Returns the messages since the last call.
    std::vector<BlockSink::SinkMessage> take_messages();
    std::shared_ptr<const PostprocessingResult> last() const;  // nullptr if there is none
    // Returns nullptr if this volume is not among the recent ones.
    std::shared_ptr<const PostprocessingResult> of(std::int64_t volume) const;

  private:
    void report_obstacle(const std::string& topic, const std::string& obstacle, const char* again);

    mutable std::mutex mutex_;
    TissueStats stats_;
    std::map<std::string, std::string> last_lines_;  // obstacle by topic
    std::vector<BlockSink::SinkMessage> news_;
    std::vector<std::shared_ptr<const PostprocessingResult>> done_;
};

}  // namespace echolux
