// Every setting of the workspace, in one registry: those of view and window always, those of the scan while one is
// open. Several are set together or not at all, and what came of it can be taken back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/tissue_settings.h"
#include "app/session/undo.h"
#include "app/session/window_settings.h"
#include "engine/acquire/source.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "render/view/view.h"

namespace echolux {

class SettingsBook {
  public:
    SettingsBook();
    SettingsBook(const SettingsBook&) = delete;
    SettingsBook& operator=(const SettingsBook&) = delete;

    View& view() { return view_; }
    const View& view() const { return view_; }
    const WindowSettings& window() const { return window_; }
    const SourceSettings& source() const { return source_; }
    const TissueSettings& tissue() const { return tissue_; }
    const Scan* scan() const { return scan_ ? &*scan_ : nullptr; }

    // What is open from now on: its settings as it has them; nothing: no scan.
    void set_scan(std::optional<Scan> scan);
    void set_source(const SourceSettings& source) { source_ = source; }

    const Settings& settings() const { return settings_; }
    const std::vector<BoundField>& fields() const { return settings_.fields(); }
    const BoundField* field(std::string_view key) const;  // nullptr: not there now

    // All of `wanted`, with the files that they name read, or none. `bring_about` is told what changed, and may refuse
    // by throwing. Returns it, without what is never taken back (source, the window's size). Throws Error{bad_setting,
    // bad_file}.
    Change apply(const Values& wanted, const std::function<void(const Change&)>& bring_about);

    // Recipe, flow and calibration are those of `scan` again, which must be what was opened. Returns what changed.
    Change take_back(const Scan& scan);

    // The same for edits made through view() since.
    Change view_edited();

    // What sessions keep: values that differ from the defaults, or from those that the scan was opened with.
    std::string toml() const;
    // Changed settings of the scan since it was opened: "recipe.window=hann".
    std::vector<std::string> assignments() const;

  private:
    void bind_all();
    void set(const Values& wanted);
    void take_curve(const Values& wanted);
    void take_calibration(const Values& wanted);
    void check_all() const;
    Values undoable() const;
    Change change_since(const Values& before) const;
    bool is_kept(const BoundField& field) const;

    View view_;
    WindowSettings window_;
    SourceSettings source_;
    TissueSettings tissue_;
    std::optional<Scan> scan_;
    std::optional<Scan> as_opened_;
    Values scan_values_;  // as opened, by key
    Settings settings_;
    std::map<std::string, std::size_t, std::less<>> places_;  // in fields(), by key
    View settled_view_;                                       // after the last change that could work
    Values settled_;
};

// Every field of the view at its default, and of what is made of tissue.
const Values& default_view_values();

}  // namespace echolux
