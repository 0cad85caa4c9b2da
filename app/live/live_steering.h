// A live session without a window, steered by programs while it runs: the settings of its scan and of its view, as a
// window has them.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "app/session/settings_book.h"
#include "engine/acquire/source.h"
#include "engine/live/session.h"

namespace echolux {

// Any thread.
class LiveSteering {
  public:
    // `plan`: that the session was made with. `show`: another view from now on. All outlive it.
    LiveSteering(const Source& source, Session& session, const ReconstructionSpec& plan, const View& view,
                 std::function<void(const View&)> show);

    // What is done to tissue now, and who hears when that is to be something else; before any program steers.
    void take_tissue(const TissueSettings& tissue, std::function<void(const LiveTissue&)> changed);

    // Every setting that the session has; those of scan and recording cannot change. Only what describes them may be
    // used: values are told by value().
    const std::vector<BoundField>& fields() const { return book_.fields(); }
    Value value(const std::string& key) const;  // of a key that is there

    // All of them or none. Throws Error{bad_setting} for what cannot work.
    void set(const Values& values);

    std::string source() const { return source_.name(); }
    SessionStats stats() const { return session_.stats(); }

  private:
    void bring_about(const Change& change);

    const Source& source_;
    Session& session_;
    double first_floor_db_;
    std::function<void(const View&)> show_;
    std::function<void(const LiveTissue&)> tissue_changed_;
    mutable std::mutex mutex_;  // of the values in the book
    SettingsBook book_;
};

}  // namespace echolux
