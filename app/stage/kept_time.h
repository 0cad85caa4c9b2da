// The last volumes of a live display as a place in time: pause, go back and forth among them, resume; and their way to
// a file. Used by the thread that draws.
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
    // How a volume that has been begun to be copied comes to whoever waits.
    using Bring = std::function<VolumeToCome(ComingVolume)>;

    explicit KeptTime(VolumePictures& path) : path_(path) {}  // outlives this
    ~KeptTime();
    KeptTime(const KeptTime&) = delete;
    KeptTime& operator=(const KeptTime&) = delete;

    // Once a picture.
    void update(const Bring& bring);

    const std::vector<KeptVolume>& volumes() const { return now_.volumes; }  // oldest first
    std::int64_t max_volumes() const { return now_.max_volumes; }            // that have room; 0: none are kept
    double seconds() const;                                                  // from the first to the last

    bool is_paused() const { return now_.shown.has_value(); }
    std::int64_t step() const;  // among them, that is shown; the last one where it is not paused; -1: there is none
    double ago_s() const;       // how long before the last one it was acquired

    void pause();
    void resume();
    void go_to(std::int64_t step);     // pauses; kept inside
    void step_by(std::int64_t steps);  // likewise

    // Those of the last `seconds` (0: all), held until what is returned goes. nullptr: there are none.
    // `provenance`: of settings that were in use just before, numbered `plan`.
    std::shared_ptr<KeptReading> read(double seconds, std::map<std::string, std::string> provenance,
                                      std::uint64_t plan);

  private:
    void serve(KeptReading& reading, const Bring& bring);

    VolumePictures& path_;
    KeptVolumes now_;
    std::vector<std::weak_ptr<KeptReading>> readings_;
};

}  // namespace echolux
