// Volumes of a movie in order: a file, a series, or a scan that is reconstructed volume by volume.
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

// Progress of a single volume: shows only that of the movie, but passes on cancelling.
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
    std::shared_ptr<const Volume> flow{};  // of the same moment; may be null
    ScanGeometry geometry{};               // of a scan
    std::shared_ptr<const Scan> scan{};    // the reconstructed scan; null for volume files
    std::string backend{};                 // that reconstructed it
};

class MovieVolumes {
  public:
    virtual ~MovieVolumes() = default;

    virtual std::int64_t steps() const { return 1; }
    virtual double step_s() const { return 0; }  // if 0, unknown

    // Returns the volume of a step, called once per step in ascending order; steps may be skipped. std::nullopt if it
    // cannot be read, with a warning.
    virtual std::optional<MovieVolume> read(std::int64_t step, Progress& progress) = 0;

    // Warnings since the last call, one line each.
    virtual std::vector<std::string> take_warnings() = 0;
};

// Returns all volumes of a file, folder or scan if the movie goes `through_time`, otherwise only that of `source`.
// Throws what opening throws.
std::unique_ptr<MovieVolumes> movie_volumes(const VolumeSource& source, bool through_time, Progress& progress);

}  // namespace echolux
