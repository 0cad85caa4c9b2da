// What a session gives its blocks to: reconstruction and display, put together above this room. All of it is called by
// one thread but for change().
#pragma once

#include <string>
#include <vector>

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

class BlockSink {
  public:
    virtual ~BlockSink() = default;

    // Blocks of a volume come in their order. False: the volume is dropped. Throws what reconstructing throws; the
    // volume is given up then.
    virtual bool feed(const Block& block) = 0;

    // B-scans of the volume that is shown, in place, before anything else of it: for what is on the screen when a
    // setting has changed. False: not now, or not possible.
    virtual bool rework(const Block& block) = 0;

    // Lets go of the blocks whose work is done.
    virtual void collect() = 0;

    // Waits until all that was fed is written.
    virtual void finish() = 0;

    // From any thread: from some block on, this plan instead. It is made ready beside the work; of several, the last
    // one counts. What cannot work is heard of by take_change().
    virtual void change(const ReconstructionSpec& spec) = 0;

    // Puts a plan to use that has been made ready, if there is one; where the volume's size changes only `between`
    // volumes. Throws Error for a spec that cannot work: the one before stays.
    enum class Moment { within_volume, between_volumes };
    virtual bool take_change(Moment moment) = 0;

    // From any thread: what is to be said since the last call. A later line of a topic takes the place of this one.
    struct News {
        std::string line;
        bool is_trouble = true;
        std::string topic{};
    };
    virtual std::vector<News> take_news() { return {}; }
};

}  // namespace echolux
