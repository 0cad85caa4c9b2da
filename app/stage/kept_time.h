// Navigation in the recent volumes of a live display: pause, step, resume, and save to a file. Used by the drawing
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/live/volume_pictures.h"
#include "app/stage/kept_reading.h"

namespace echolux {

class KeptTime {
  public:
    // Converts a copy in progress to the form that the waiting thread receives.
    using Bring = std::function<VolumeToCome(ComingVolume)>;

    explicit KeptTime(VolumePictures& path) : path_(path) {}  // `path` must outlive this object
    ~KeptTime();
    KeptTime(const KeptTime&) = delete;
    KeptTime& operator=(const KeptTime&) = delete;

    // Call once per picture.
    void update(const Bring& bring);

    const std::vector<KeptVolume>& volumes() const { return now_.volumes; }  // oldest first
    std::int64_t max_volumes() const { return now_.max_volumes; }            // capacity; 0: none are kept
    double seconds() const;                                                  // from the first to the last

    bool is_paused() const { return now_.shown.has_value(); }
    std::int64_t step() const;  // index of the volume shown; the last if not paused; -1 if there is none
    double ago_s() const;       // time between it and the last one

    void pause();
    void resume();
    void go_to(std::int64_t step);     // pauses; clamped to the valid range
    void step_by(std::int64_t steps);  // pauses; clamped to the valid range

    // Holds the volumes of the last `seconds` (0: all) for the lifetime of the result. nullptr if there are none.
    // `provenance` describes the settings used recently, numbered `plan`.
    std::shared_ptr<KeptReading> read(double seconds, std::map<std::string, std::string> provenance,
                                      std::uint64_t plan);

  private:
    void serve(KeptReading& reading, const Bring& bring);

    VolumePictures& path_;
    KeptVolumes now_;
    std::vector<std::weak_ptr<KeptReading>> readings_;
};

}  // namespace echolux
