// What is done to live volumes between reconstruction and whoever takes them: B-scans are put where they belong, then
// speckle is filtered, in linear power. In this order, because a filter averages neighbouring B-scans, which have to
// show the same place. Recordings hold spectra and never see any of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.h"
#include "compute/volume_on_gpu.h"
#include "engine/live/block_sink.h"
#include "engine/registration/registration.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

struct LiveTissue {
    bool stabilises = false;
    bool across_volumes = true;  // B-scans against a good volume before; else against their neighbours
    RegistrationSettings registration;
    bool filters = false;
    SpeckleFilter filter;

    bool does_nothing() const { return !stabilises && !filters; }
};

// Throws Error{bad_setting} for settings that cannot work.
void check_tissue(const LiveTissue& tissue);

// What became of a volume.
struct TissueDone {
    std::int64_t volume = 0;
    bool was_to_be_stabilised = false, was_to_be_filtered = false;
    bool is_stabilised = false, is_filtered = false;
    std::vector<RowShift> rows;      // of its B-scans, where they were compared
    std::int64_t used = 0;           // of them
    std::string unsteady, unsmooth;  // why it was not stabilised, not filtered; empty: it was, or nobody wanted it
    std::map<std::string, std::string> provenance;
    LiveTissue wanted{};  // of it
};

// Power that can be aligned, wherever it lies: the one place that knows how shifts are found and how they are applied.
class AlignablePower {
  public:
    virtual ~AlignablePower() = default;

    enum class To { neighbours, reference };
    virtual bool has_reference() const = 0;
    virtual std::vector<RowShift> find(To to, Progress& progress) = 0;
    virtual std::int64_t move(const std::vector<RowShift>& rows) = 0;  // B-scans used; the others are empty afterwards
    virtual void become_reference() = 0;                               // as it is now
    virtual void forget_reference() = 0;
};

bool is_same_registration(const RegistrationSettings& a, const RegistrationSettings& b);

// Power in host memory, aligned by the CPU. The reference outlives the volumes.
class PowerOnHost : public AlignablePower {
  public:
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

// Decides what volumes are aligned to: the first good one, for as long as others fit it; then a later one. B-scans of a
// reference that follows every volume would wander.
class Stabiliser {
  public:
    // `done` hears of it. Where the tissue cannot be stabilised, the power stays as it is. Throws Error{cancelled}.
    void stabilise(AlignablePower& power, const LiveTissue& tissue, TissueDone& done, Progress& progress);

  private:
    bool try_to(AlignablePower& power, AlignablePower::To to, TissueDone& done, Progress& progress);

    int misfits_ = 0;  // volumes in a row that did not fit the reference
};

// Where B-scans of codes that have no power (flow) come to, by whole voxels: the one with the best quality counts. And
// codes in host memory moved so.
std::vector<WholeMove> whole_moves(const std::vector<RowShift>& rows);
void move_codes(std::byte* codes, const VolumeGrid& grid, const std::vector<RowShift>& rows);

// On volumes in host memory, used by one thread.
class TissueWork {
  public:
    // From the next volume on. Throws as check_tissue().
    void set(const LiveTissue& tissue);
    const LiveTissue& settings() const { return tissue_; }

    // In place; `flow` may be nullptr. What cannot be done is left out and said. Throws Error{cancelled}.
    TissueDone apply(std::int64_t number, Volume& structure, Volume* flow, const BackendChoice& choice,
                     Progress& progress);

  private:
    LiveTissue tissue_;
    PowerOnHost power_;
    Stabiliser stabiliser_;
    VolumeGrid grid_;  // of the last volume
};

// What is written beside volumes about it.
std::map<std::string, std::string> provenance_of(const LiveTissue& tissue, const TissueDone& done);

struct TissueStats {
    std::int64_t volumes = 0;     // that something was wanted of
    std::int64_t skipped = 0;     // not even reconstructed: the ones before took too long
    std::int64_t stabilised = 0;  //
    std::int64_t filtered = 0;    //
    std::int64_t as_it_was = 0;   // volumes of which something was not done
    std::int64_t b_scans = 0;     // compared
    std::int64_t used = 0;        // of them
    std::int64_t saccades = 0;    //
    double work_s = 0;
};

// What was done, for whoever asks: any thread.
class TissueLog {
  public:
    void note(const TissueDone& done, double seconds);
    void note_skipped();

    TissueStats stats() const;
    std::vector<BlockSink::News> take_news();
    std::shared_ptr<const TissueDone> last() const;                   // nullptr: none yet
    std::shared_ptr<const TissueDone> of(std::int64_t volume) const;  // lately; nullptr: not of that one

  private:
    void say(const std::string& topic, const std::string& obstacle, const char* again);

    mutable std::mutex mutex_;
    TissueStats stats_;
    std::map<std::string, std::string> said_;  // obstacle by topic
    std::vector<BlockSink::News> news_;
    std::vector<std::shared_ptr<const TissueDone>> done_;
};

}  // namespace echolux
