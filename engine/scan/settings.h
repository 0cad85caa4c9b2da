// Access to described fields of bound structs by keys like "recipe.window": set from text and TOML, list, write. The
// settings are declared by the structs themselves.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/describe.h"

namespace echolux {

using Values = std::map<std::string, Value>;  // by key, e.g. "recipe.window"

// Returns the section: "recipe" for "recipe.window" and for "recipe".
std::string_view section_of(std::string_view key);

// Returns an assignment as on a command line: "recipe.window=hann".
std::string assignment_of(const std::string& key, const Value& value);

// A field of a bound struct.
struct BoundField : FieldText {
    std::string section;
    Value default_value;
    std::function<Value()> get;
    std::function<void(const Value&)> set;  // takes a checked value

    std::string key() const { return section + "." + std::string(name); }
    bool is(std::string_view key) const {  // compares with key() without making it
        return key.size() == section.size() + 1 + name.size() && key.starts_with(section) &&
               key[section.size()] == '.' && key.ends_with(name);
    }
};

// A key of a TOML file that is not yet assigned to a struct.
struct TomlEntry {
    std::string name;  // within its table, or "section.name"
    Value value;
    std::string where;  // file, line and key, for messages
};

// Returns the tables [[name]] of a file, in order. Other content is an error. Throws as Settings::read_toml().
std::vector<std::vector<TomlEntry>> toml_tables(const std::filesystem::path& path, const std::string& name);
// Parses `text`; errors name `where`.
std::vector<std::vector<TomlEntry>> toml_tables(std::string_view text, const std::string& where,
                                                const std::string& name);

// Returns all keys of a file or text, in order. Throws as Settings::read_toml() for invalid TOML.
std::vector<TomlEntry> toml_entries(const std::filesystem::path& path);
std::vector<TomlEntry> toml_entries(std::string_view text, const std::string& where);

// Returns the keys of an asset: the user's own file, else the shipped one.
std::vector<TomlEntry> toml_entries_of(const AssetKind& kind, const Asset& asset);

// Not thread-safe.
class Settings {
  public:
    // Makes the fields of `object`, which must outlive the settings, available under `section`. Several structs may
    // share a section.
    template <class S>
    void bind(const std::string& section, S& object) {
        const S defaults{};
        for (const Field<S>& field : describe<S>()) {
            fields_.push_back({field, section, field.get(defaults), [&object, get = field.get] { return get(object); },
                               [&object, set = field.set](const Value& value) { set(object, value); }});
        }
    }

    void bind_field(BoundField field) { fields_.push_back(std::move(field)); }

    const std::vector<BoundField>& fields() const { return fields_; }

    // Returns the field with this key, nullptr if there is none.
    const BoundField* field(std::string_view key) const;

    // Returns the setting because of which `field`, one of fields(), has no effect; nullptr if it has one. Conditions
    // on settings that are not bound hold.
    const BoundField* disabled_by(const BoundField& field) const;

    // Returns the fields of a group that have an effect, in the order of their descriptions.
    std::vector<const BoundField*> effective(std::string_view section, std::string_view group) const;

    // Sets a field from text. Throws Error{bad_setting} for an unknown key (suggesting the nearest), a wrong type or a
    // value out of range.
    void set(std::string_view key, std::string_view text, std::string_view where = "command line");

    // Sets a field from a value.
    void set_value(std::string_view key, const Value& value, std::string_view where);

    // Sets a field from "recipe.window=hann".
    void set_assignment(std::string_view assignment);

    // Sets all entries or none. TomlEntry::name is the whole key. Throws Error{bad_setting} as set().
    void take(const std::vector<TomlEntry>& entries);

    // Sets fields from a file; all its keys must be known. Throws Error{bad_file} for a missing or malformed file (with
    // line and column), otherwise Error{bad_setting} naming file and key.
    void read_toml(const std::filesystem::path& path);

    // Returns TOML with one table per section, in the order of binding. Only fields that differ from their default,
    // unless `all`.
    std::string toml(bool all = false) const;
    std::string toml_where(const std::function<bool(const BoundField&)>& is_kept) const;

  private:
    BoundField& find(std::string_view key, std::string_view where);
    const BoundField* obstacle(const BoundField& field, const Condition& condition) const;

    std::vector<BoundField> fields_;
};

// Returns one line per key of `assignments` without effect: "defr.iterations has no effect: recipe.method is plain".
// Ignores unknown keys.
std::vector<std::string> unused_settings(const Settings& settings, std::span<const std::string> assignments);

// ---- A section of settings as TOML with all keys, for provenance, pictures and sessions.

template <class S>
std::string section_toml(const std::string& section, S part) {
    Settings settings;
    settings.bind(section, part);
    return settings.toml(true);
}

// ---- Recognises settings that name files or folders. Some of these also accept words ("surface") that do not name a
// file.

// Returns whether values of the field can be file names.
inline bool names_files(const FieldText& field) {
    return field.control.path != PathKind::none;
}

// Returns whether `value` is the name of a file or folder and not a word. Relative names are looked up in `folder`.
inline bool is_file_name(const FieldText& field, const std::string& value, const std::filesystem::path& folder) {
    if (!names_files(field) || value.empty()) return false;
    std::error_code problem;
    return field.control.path == PathKind::folder || value.find_first_of("/.") != std::string::npos ||
           std::filesystem::exists(folder / value, problem);
}

}  // namespace echolux
