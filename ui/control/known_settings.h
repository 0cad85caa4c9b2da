// Every setting of the program as programs see it: those of what is open and of the view have their place in the
// workspace; those of what is not open yet (scan, source, simulation ...) and of figures wait here for what is opened
// or saved next.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/settings_table.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// A value of JSON as settings have them; nothing: it is none.
std::optional<Value> setting_value(const nlohmann::json& json);

// For a setting as it is bound, of its type and in its range, or a text that spells it; null: its default. Files become
// whole names in `folders`; nullptr: any name. Throws Error{bad_setting} naming the key.
Value checked_value(const BoundField& field, const nlohmann::json& value, const AllowedFolders* folders);

class KnownSettings {
  public:
    explicit KnownSettings(Workspace& work);

    enum class Holds { now, next, figures };  // next: for what is opened next
    Holds holds(std::string_view key) const;  // of a key that is known

    bool is_known(std::string_view key) const { return find(key) != nullptr; }
    Value value(std::string_view key) const;                                    // of a key that is known
    std::vector<std::string> keys_of(const std::string& key_or_section) const;  // Throws Error{bad_setting}: no such
    std::vector<std::string> all() const;

    // Of one key, as above.
    Value checked_value(const std::string& key, const nlohmann::json& value, const AllowedFolders* folders) const;
    Values checked_values(const nlohmann::json& values, const AllowedFolders* folders) const;

    void set_waiting(const std::string& key, const Value& value) { waiting_[key] = value; }
    const Values& waiting() const { return waiting_; }

    // As `info --settings --json` has it, with `value`, `type` and `holds`.
    nlohmann::ordered_json object_of(const std::string& key) const;

  private:
    const ListedSetting* find(std::string_view key) const;
    [[noreturn]] static void refuse(std::string_view key);

    Workspace& work_;
    std::vector<ListedSetting> listed_;
    std::map<std::string, std::size_t, std::less<>> places_;  // in listed_
    Values waiting_;
};

}  // namespace echolux
