// Receives the blocks of a session: reconstruction and display, implemented above the engine. All functions are called
// by one thread, except change() and take_news(), which any thread may call.
#pragma once

#include <string>
#include <vector>

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

class BlockSink {
  public:
    virtual ~BlockSink() = default;

    // Receives the blocks of a volume in order. Returns false if the volume is dropped. Throws the errors of
    // reconstruction; the volume is then abandoned.
    virtual bool feed(const Block& block) = 0;

    // Reconstructs B-scans of the displayed volume again, in place, before any other blocks of it: updates the screen
    // after a setting has changed. Returns false if this is not possible now or at all.
    virtual bool rework(const Block& block) = 0;

    // Releases completed blocks without blocking.
    virtual void collect() = 0;

    // Blocks until everything fed has been written.
    virtual void finish() = 0;

    // Requests another plan from some later block on. Callable from any thread. The plan is prepared in the background;
    // of several requests, the last one wins. take_change() reports invalid specs.
    virtual void change(const ReconstructionSpec& spec) = 0;

    // Activates a pending plan, if there is one. A plan with another volume size is only activated with
    // Moment::between_volumes. Returns whether anything changed. Throws Error for an invalid spec; the previous plan
    // stays active.
    enum class Moment { within_volume, between_volumes };
    virtual bool take_change(Moment moment) = 0;

    // Returns the messages since the last call. Callable from any thread. A later line replaces an earlier one of the
    // same topic.
    struct News {
        std::string line;
        bool is_trouble = true;
        std::string topic{};
    };
    virtual std::vector<News> take_news() { return {}; }
};

}  // namespace echolux
