// The volumes that a movie goes through, one after the other: a file, a series, or a scan that is reconstructed volume
// by volume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "engine/progress.h"

namespace echolux {

// The movie's own progress is shown while a volume is made; of the volume's only cancelling passes through.
class Unheard : public Progress {
  public:
    explicit Unheard(Progress& movie) : movie_(movie) {}
    void begin(const std::string&, std::int64_t, const std::string&) override {}
    void advance(std::int64_t) override { movie_.advance(0); }
    void end() override {}

  private:
    Progress& movie_;
};

struct MovieVolume {
    std::shared_ptr<const Volume> structure;
    std::shared_ptr<const Volume> flow{};  // of the same moment; nullptr: none
    ScanGeometry geometry{};               // of a scan
    std::shared_ptr<const Scan> scan{};    // that was reconstructed; nullptr: a volume file
    std::string backend{};                 // that did it
};

class MovieVolumes {
  public:
    virtual ~MovieVolumes() = default;

    virtual std::int64_t steps() const { return 1; }
    virtual double step_s() const { return 0; }  // 0: unknown

    // The volume of a step, which is asked for once and in ascending order; steps may be left out. Nothing: it cannot
    // be read, and a warning says why.
    virtual std::optional<MovieVolume> read(std::int64_t step, Progress& progress) = 0;

    // Since the last call, one line each.
    virtual std::vector<std::string> take_warnings() = 0;
};

// All volumes of a file, folder or scan where the movie goes `through_time`, else the one that `source` means. Throws
// what opening throws.
std::unique_ptr<MovieVolumes> movie_volumes(const VolumeSource& source, bool through_time, Progress& progress);

}  // namespace echolux
