// Remote control of a live session without a window: the settings of its scan and view, equivalent to those of a
// window.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "app/session/settings_book.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/live/session.h"

namespace echolux {

// All functions may be called from any thread.
class LiveSteering {
  public:
    // `plan`: the spec of the session. `show`: called with each changed view. All arguments must outlive this object.
    LiveSteering(const Source& source, Session& session, const ReconstructionSpec& plan, const View& view,
                 std::function<void(const View&)> show);

    // Adds the settings of live processing. `changed` is called when they change. Call before a program is connected.
    void take_tissue(const TissueSettings& tissue, std::function<void(const LiveTissue&)> changed);

    // All settings of the session; those of scan and recording are read-only. Use only the descriptions: read values
    // with value().
    const std::vector<BoundField>& fields() const { return book_.fields(); }
    Value value(const std::string& key) const;  // the key must exist

    // Sets all values or none. Throws Error{bad_setting} for invalid values.
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
    mutable std::mutex mutex_;  // guards the values in the book
    SettingsBook book_;
};

}  // namespace echolux
