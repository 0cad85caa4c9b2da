// All settings of the workspace in one registry: those of view and window always, those of a scan while one is open.
// Several are set together or not at all, and the resulting change can be undone.
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

    // Sets the open scan with its current settings; std::nullopt: none.
    void set_scan(std::optional<Scan> scan);
    void set_source(const SourceSettings& source) { source_ = source; }

    const Settings& settings() const { return settings_; }
    const std::vector<BoundField>& fields() const { return settings_.fields(); }
    const BoundField* field(std::string_view key) const;  // nullptr: currently unavailable

    // Sets all of `wanted`, including the files they name, or none. `bring_about` receives the change and may refuse it
    // by throwing. Returns the change, without values that are never undone (source, window size). Throws
    // Error{bad_setting, bad_file}.
    Change apply(const Values& wanted, const std::function<void(const Change&)>& bring_about);

    // Restores recipe, flow and calibration of `scan`, which must be the opened one. Returns the change.
    Change take_back(const Scan& scan);

    // Returns the change made through view() since the last call.
    Change view_edited();

    // Returns the part that sessions store: values that differ from their defaults, or from those with which the scan
    // was opened.
    std::string toml() const;
    // Returns scan settings changed since it was opened: "recipe.window=hann".
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
    std::map<std::string, std::size_t, std::less<>> places_;  // index in fields(), by key
    View settled_view_;                                       // after the last valid change
    Values settled_;
};

// Returns the defaults of all fields of the view and of the tissue settings.
const Values& default_view_values();

}  // namespace echolux
