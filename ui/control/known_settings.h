// All settings as seen by clients of the control interface. Settings of the view and of the open document are stored in
// the workspace. Settings for what is opened next (scan, source, simulation ...) and for figures are stored here.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/settings_table.h"
#include "compute/plan/describe.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// Converts JSON to a setting value: boolean, number, text or list of numbers. Returns nullopt for anything else.
std::optional<Value> setting_value(const nlohmann::json& json);

// Returns the value of a setting after checking type and range. A text may spell a value of another type; null is the
// default. File names become absolute paths within `folders`; with nullptr any name is accepted. Throws
// Error{bad_setting} with the key.
Value checked_value(const BoundField& field, const nlohmann::json& value, const AllowedFolders* folders);

// Returns the absolute path if `name` is the name of a file in the allowed folders, and other words of the setting as
// they are. Throws Error{bad_setting} with the key.
std::string allowed_name(const BoundField& field, const std::string& name, const AllowedFolders* folders);

class KnownSettings {
  public:
    explicit KnownSettings(Workspace& work);

    enum class SettingScope { now, next, figures };     // next: applies to what is opened next
    SettingScope scope_of(std::string_view key) const;  // the key must be known

    bool is_known(std::string_view key) const { return find(key) != nullptr; }
    const BoundField* description(std::string_view key) const;  // nullptr: unknown
    Value value(std::string_view key) const;                    // current or pending value; the key must be known
    std::vector<std::string> keys_of(const std::string& key_or_section) const;  // throws Error{bad_setting} if unknown
    std::vector<std::string> all() const;

    // Checks values by key, like the function above.
    Value checked_value(const std::string& key, const nlohmann::json& value, const AllowedFolders* folders) const;
    Values checked_values(const nlohmann::json& values, const AllowedFolders* folders) const;

    void set_waiting(const std::string& key, const Value& value) { waiting_[key] = value; }
    const Values& waiting() const { return waiting_; }

    // Returns the description from `info --settings --json` with the members `value`, `type` and `holds`.
    nlohmann::ordered_json object_of(const std::string& key) const;

  private:
    const ListedSetting* find(std::string_view key) const;
    [[noreturn]] static void refuse(std::string_view key);

    Workspace& work_;
    std::vector<ListedSetting> listed_;
    std::map<std::string, std::size_t, std::less<>> places_;  // indices into listed_
    Values waiting_;
};

}  // namespace echolux
