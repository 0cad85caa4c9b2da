// Paths like "recipe.window" to the described fields of bound structs: set from texts and TOML, listed, written.
// Settings learns structs by binding them; it declares no parameter itself.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/describe.h"

namespace echolux {

using Values = std::map<std::string, Value>;  // by key, e.g. "recipe.window"

// "recipe" of "recipe.window", and of "recipe".
std::string_view section_of(std::string_view key);

// "recipe.window=hann", as command lines have it.
std::string assignment_of(const std::string& key, const Value& value);

struct BoundField : FieldText {
    std::string section;
    Value default_value;
    std::function<Value()> get;
    std::function<void(const Value&)> set;  // of a checked value

    std::string key() const { return section + "." + std::string(name); }
};

// A key of a TOML file that is not yet bound to a struct.
struct TomlEntry {
    std::string name;  // within its table, or "section.name"
    Value value;
    std::string where;  // file, line and key
};

// The tables [[name]] of a file, in its order. Nothing else may stand in it. Throws as Settings::read_toml().
std::vector<std::vector<TomlEntry>> toml_tables(const std::filesystem::path& path, const std::string& name);
// The same of a text, which `where` names.
std::vector<std::vector<TomlEntry>> toml_tables(std::string_view text, const std::string& where,
                                                const std::string& name);

// All keys of a file or text in its order, which `where` names. Throws as Settings::read_toml() for what is no TOML.
std::vector<TomlEntry> toml_entries(const std::filesystem::path& path);
std::vector<TomlEntry> toml_entries(std::string_view text, const std::string& where);

// Those of a shipped file or of the user's in its place.
std::vector<TomlEntry> toml_entries_of(const AssetKind& kind, const Asset& asset);

class Settings {
  public:
    // Makes the fields of `object`, which must outlive the settings, known under `section`. Several structs may share
    // one.
    template <class S>
    void bind(const std::string& section, S& object) {
        const S defaults{};
        for (const Field<S>& field : describe<S>()) {
            fields_.push_back({field, section, field.get(defaults), [&object, get = field.get] { return get(object); },
                               [&object, set = field.set](const Value& value) { set(object, value); }});
        }
    }

    const std::vector<BoundField>& fields() const { return fields_; }

    // Throws Error{bad_setting}: unknown key (with the nearest one), wrong type, out of range.
    void set(std::string_view key, std::string_view text, std::string_view where = "command line");

    // "recipe.window=hann".
    void set_assignment(std::string_view assignment);

    // All of them or none; `name` is the whole key. Throws Error{bad_setting} as set().
    void take(const std::vector<TomlEntry>& entries);

    // Every key of the file must be known. Throws Error{bad_file} for a missing or malformed file (with line and
    // column), Error{bad_setting} naming file and key otherwise.
    void read_toml(const std::filesystem::path& path);

    // One table a section, in the order of binding; only what differs from its default unless `all`.
    std::string toml(bool all = false) const;
    std::string toml_where(const std::function<bool(const BoundField&)>& is_kept) const;

  private:
    BoundField& find(std::string_view key, std::string_view where);

    std::vector<BoundField> fields_;
};

}  // namespace echolux
