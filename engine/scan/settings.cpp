#include "engine/scan/settings.h"

#include <toml++/toml.h>
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/regular_file.h"

namespace echolux {

std::string_view section_of(std::string_view key) {
    return key.substr(0, key.find('.'));
}

namespace {

constexpr int deepest = 16;

// Skips strings and comments, and counts the depth of brackets and dotted keys (a.b.c). It may overestimate; invalid
// TOML is reported by the parser.
class Nesting {
  public:
    explicit Nesting(std::string_view text) : text_(text) {}

    bool is_too_deep() {
        while (at_ < text_.size() && !too_deep_) step();
        return too_deep_;
    }

  private:
    void step() {
        const char c = text_[at_];
        if (c == '"' || c == '\'') return skip_text(c);
        if (c == '#') return skip_to("\n");
        ++at_;
        if (c == '[' || c == '{') deepen(brackets_);
        if (c == ']' || c == '}') brackets_ = std::max(0, brackets_ - 1);
        if (c == '.') deepen(dots_);
        if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots_ = 0;
    }

    void deepen(int& count) { too_deep_ = ++count > deepest; }

    void skip_to(std::string_view end) { at_ = std::min(text_.find(end, at_), text_.size()); }

    // Skips "...", '...' and their multi-line forms with three quotes.
    void skip_text(char quote) {
        const std::string three(3, quote);
        const bool is_long = text_.substr(at_, 3) == three;
        const std::string_view end = is_long ? std::string_view(three) : std::string_view(three).substr(0, 1);
        at_ += end.size();
        while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
            if (!is_long && text_[at_] == '\n') return;  // unterminated
            at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
        }
        at_ = std::min(at_ + end.size(), text_.size());
        if (is_long) skip_quotes_before_the_end(quote);
    }

    // A multi-line string may end with up to two additional quotes: """a quote: """".
    void skip_quotes_before_the_end(char quote) {
        for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int brackets_ = 0, dots_ = 0;
    bool too_deep_ = false;
};

// Parses `text`, the only place that parses TOML. Text nested deeper than anything written by hand is rejected first,
// because the parser destroys trees recursively and could overflow the stack. Throws Error{bad_file}, with the parser's
// message, naming `where`, line and column.
toml::table parsed_toml(std::string_view text, const std::string& where) {
    if (Nesting(text).is_too_deep()) {
        throw Error(ErrorCode::bad_file, "is nested more than " + std::to_string(deepest) + " deep", where,
                    "the file must be TOML: [section], then key = value");
    }
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        const toml::source_position& at = error.source().begin;
        const std::string line =
            at.line == 0 ? "" : " line " + std::to_string(at.line) + " column " + std::to_string(at.column);
        throw Error(ErrorCode::bad_file, std::string(error.description()), where + line,
                    "the file must be TOML: [section], then key = value");
    }
}

constexpr std::uintmax_t longest_toml = 1 << 20;  // bytes; longer files were not written by hand

std::string remedy_for(const std::string& nearest) {
    return nearest.empty() ? "" : "did you mean \"" + nearest + "\"?";
}

std::string place_in(const std::string& file, const toml::source_region& source) {
    return file + " line " + std::to_string(source.begin.line);
}

toml::table toml_of_file(const std::filesystem::path& path) {
    const std::string text = whole_file(path, longest_toml, "is not a TOML file of at most 1 MiB",
                                        "use the TOML file of a scan, view or transfer function, not its raw spectra");
    return parsed_toml(text, path.string());
}

std::optional<Value> list_of(const toml::array& array) {
    std::vector<double> list;
    for (const toml::node& element : array) {
        const std::optional<double> number = element.value<double>();
        if (!element.is_number() || !number) return std::nullopt;
        list.push_back(*number);
    }
    return list;
}

std::optional<Value> value_of_node(const toml::node& node) {
    if (const auto* boolean = node.as_boolean()) return boolean->get();
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* real = node.as_floating_point()) return real->get();
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* array = node.as_array()) return list_of(*array);
    return std::nullopt;
}

Value known_value(const toml::node& node, const std::string& where) {
    const std::optional<Value> value = value_of_node(node);
    if (!value) throw Error(ErrorCode::bad_setting, "expected one value or a list of numbers", where);
    return *value;
}

std::vector<TomlEntry> entries_of(const toml::table& table, const std::string& file) {
    std::vector<TomlEntry> entries;
    for (const auto& [key, node] : table) {
        const std::string where = place_in(file, node.source()) + ", " + std::string(key.str());
        entries.push_back({std::string(key.str()), known_value(node, where), where});
    }
    return entries;
}

std::vector<TomlEntry> keys_of(const toml::table& root, const std::string& file) {
    std::multimap<toml::source_index, TomlEntry> by_line;
    for (const auto& [section, content] : root) {
        const toml::table* table = content.as_table();
        const std::string name(section.str());
        if (table == nullptr) {
            throw Error(ErrorCode::bad_setting, "key outside of a section",
                        place_in(file, content.source()) + ", " + name, "write it below a line such as [scan]");
        }
        for (const auto& [key, node] : *table) {
            const std::string whole = name + "." + std::string(key.str());
            const std::string place = place_in(file, node.source());
            by_line.emplace(node.source().begin.line, TomlEntry{whole, known_value(node, place + ", " + whole), place});
        }
    }
    std::vector<TomlEntry> entries;
    for (auto& [line, entry] : by_line) entries.push_back(std::move(entry));
    return entries;
}

// Returns "" for a key without a section.
std::string_view section_or_none(std::string_view key) {
    return key.find('.') == std::string_view::npos ? "" : section_of(key);
}

std::string_view name_of(std::string_view key) {
    return key.substr(key.find('.') + 1);  // npos + 1 is 0
}

// Lists the keys: "[tubes] has depth, x, swing". Returns "" if there are too many to read.
std::string all_of(std::string_view section, const std::vector<std::string_view>& names) {
    constexpr std::size_t readable = 24;
    if (names.size() > readable) return {};
    std::string text;
    for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
    return "[" + std::string(section) + "] has " + text;
}

std::string without_quotes(const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : spelled(value);
}

}  // namespace

std::string assignment_of(const std::string& key, const Value& value) {
    return key + "=" + without_quotes(value);
}

static std::vector<std::vector<TomlEntry>> tables_of(const toml::table& root, const std::string& file,
                                                     const std::string& name) {
    const std::string heading = "[[" + name + "]]";
    std::vector<std::vector<TomlEntry>> tables;
    for (const auto& [key, content] : root) {
        const toml::array* array = content.as_array();
        const bool is_list = key.str() == name && array != nullptr;
        if (!is_list || !array->is_homogeneous(toml::node_type::table)) {
            throw Error(ErrorCode::bad_setting, "expected only tables " + heading,
                        place_in(file, content.source()) + ", " + std::string(key.str()),
                        "write it below a line " + heading);
        }
        for (const toml::node& node : *array) tables.push_back(entries_of(*node.as_table(), file));
    }
    if (tables.empty()) {
        throw Error(ErrorCode::bad_setting, "has no table " + heading, file, "write at least one");
    }
    return tables;
}

std::vector<std::vector<TomlEntry>> toml_tables(const std::filesystem::path& path, const std::string& name) {
    return tables_of(toml_of_file(path), path.string(), name);
}

std::vector<std::vector<TomlEntry>> toml_tables(std::string_view text, const std::string& where,
                                                const std::string& name) {
    return tables_of(parsed_toml(text, where), where, name);
}

std::vector<TomlEntry> toml_entries(const std::filesystem::path& path) {
    return keys_of(toml_of_file(path), path.string());
}

std::vector<TomlEntry> toml_entries(std::string_view text, const std::string& where) {
    return keys_of(parsed_toml(text, where), where);
}

std::vector<TomlEntry> toml_entries_of(const AssetKind& kind, const Asset& asset) {
    if (!asset.own.empty()) return toml_entries(asset.own);
    return toml_entries(shipped_text(kind, asset.name), asset.name);
}

// `known` lists the section of each field. Fields of a section are adjacent.
[[noreturn]] static void refuse_section(const std::string& section, std::vector<std::string_view> known,
                                        const std::string& place) {
    const std::string nearest = nearest_name(section, known);
    std::string names;
    known.erase(std::ranges::unique(known).begin(), known.end());
    for (const std::string_view name : known) names += (names.empty() ? "" : ", ") + std::string(name);
    throw Error(ErrorCode::bad_setting,
                section.empty() ? "has no section" : "there is no section [" + section + "] here", place,
                nearest.empty() ? "the sections are " + names : remedy_for(nearest));
}

static std::string place_of(std::string_view where, std::string_view key) {
    return where.empty() ? std::string(key) : std::string(where) + ", " + std::string(key);
}

BoundField& Settings::find(std::string_view key, std::string_view where) {
    for (BoundField& field : fields_) {
        if (field.is(key)) return field;
    }
    std::vector<std::string_view> sections;
    std::vector<std::string_view> names;  // of fields in the key's section
    std::string elsewhere;                // a field with that name in another section
    for (BoundField& field : fields_) {
        sections.push_back(field.section);
        if (field.section == section_or_none(key)) names.push_back(field.name);
        if (field.name == name_of(key) && elsewhere.empty()) elsewhere = field.key();
    }
    const std::string place = place_of(where, key);
    if (names.empty()) {  // prefer the same name in a section with a similar name
        const std::string there = nearest_name(section_or_none(key), sections) + "." + std::string(name_of(key));
        const auto is_it = [&](const BoundField& field) { return field.key() == there; };
        if (std::ranges::any_of(fields_, is_it)) elsewhere = there;
    }
    if (!elsewhere.empty()) throw Error(ErrorCode::bad_setting, "unknown key", place, remedy_for(elsewhere));
    if (names.empty()) {
        refuse_section(std::string(section_or_none(key)), sections, place);
    }
    const std::string near = nearest_name(name_of(key), names);
    if (near.empty()) throw Error(ErrorCode::bad_setting, "unknown key", place, all_of(section_or_none(key), names));
    throw Error(ErrorCode::bad_setting, "unknown key", place,
                remedy_for(std::string(section_or_none(key)) + "." + near));
}

const BoundField* Settings::field(std::string_view key) const {
    const std::string_view section = section_or_none(key), name = name_of(key);
    const auto found = std::ranges::find_if(
        fields_, [&](const BoundField& one) { return one.section == section && one.name == name; });
    return found == fields_.end() ? nullptr : &*found;
}

static bool has_one_of(const BoundField& field, const std::vector<std::string_view>& values) {
    const Value value = field.get();
    return std::ranges::any_of(values, [&](std::string_view spelling) {
        if (const auto* text = std::get_if<std::string>(&value)) return *text == spelling;
        return value == parsed(field, field.default_value, spelling, field.key());
    });
}

// Returns the setting because of which the condition does not hold, nullptr if it holds. A field may depend on its own
// value, so that one that is set can be reset.
const BoundField* Settings::obstacle(const BoundField& field, const Condition& condition) const {
    const BoundField* decider = this->field(condition.key);
    if (decider == nullptr) return nullptr;
    const BoundField* deeper = decider == &field ? nullptr : disabled_by(*decider);
    if (deeper != nullptr) return deeper;
    return has_one_of(*decider, condition.values) != condition.excluded ? nullptr : decider;
}

const BoundField* Settings::disabled_by(const BoundField& field) const {
    for (const Condition& condition : field.only_if) {
        const BoundField* decider = obstacle(field, condition);
        const auto holds = [&](const Condition& other) { return obstacle(field, other) == nullptr; };
        if (decider != nullptr && std::ranges::none_of(condition.otherwise, holds)) return decider;
    }
    return nullptr;
}

std::vector<const BoundField*> Settings::effective(std::string_view section, std::string_view group) const {
    std::vector<const BoundField*> found;
    for (const BoundField& field : fields_) {
        if (field.section == section && field.group == group && disabled_by(field) == nullptr) found.push_back(&field);
    }
    return found;
}

std::vector<std::string> unused_settings(const Settings& settings, std::span<const std::string> assignments) {
    std::vector<std::string> lines;
    std::set<std::string_view> reported;
    for (const std::string& assignment : assignments) {
        const std::string_view key = std::string_view(assignment).substr(0, assignment.find('='));
        const BoundField* field = settings.field(key);
        const BoundField* decider = field == nullptr ? nullptr : settings.disabled_by(*field);
        if (decider == nullptr || !reported.insert(key).second) continue;
        lines.push_back(std::string(key) + " has no effect: " + decider->key() + " is " +
                        without_quotes(decider->get()));
    }
    return lines;
}

void Settings::set(std::string_view key, std::string_view text, std::string_view where) {
    const BoundField& field = find(key, where);
    field.set(parsed(field, field.default_value, text, place_of(where, field.key())));
}

void Settings::set_value(std::string_view key, const Value& value, std::string_view where) {
    const BoundField& field = find(key, where);
    field.set(checked(field, field.default_value, value, place_of(where, field.key())));
}

void Settings::set_assignment(std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) {
        throw Error(ErrorCode::bad_setting, "expected KEY=VALUE, got " + std::string(assignment), "command line",
                    "for example recipe.window=hann");
    }
    set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

void Settings::take(const std::vector<TomlEntry>& entries) {
    std::vector<std::pair<const BoundField*, Value>> values;  // applied only if all are valid
    for (const TomlEntry& entry : entries) {
        const BoundField& field = find(entry.name, entry.where);
        values.emplace_back(&field, checked(field, field.default_value, entry.value, entry.where + ", " + entry.name));
    }
    for (const auto& [field, value] : values) field->set(value);
}

void Settings::read_toml(const std::filesystem::path& path) {
    take(toml_entries(path));
}

std::string Settings::toml(bool all) const {
    return toml_where([&](const BoundField& field) { return all || field.get() != field.default_value; });
}

std::string Settings::toml_where(const std::function<bool(const BoundField&)>& is_kept) const {
    std::vector<std::string> sections;
    for (const BoundField& field : fields_) {
        if (std::ranges::count(sections, field.section) == 0) sections.push_back(field.section);
    }
    std::string text;
    for (const std::string& section : sections) {
        std::string lines;
        for (const BoundField& field : fields_) {
            if (field.section != section || !is_kept(field)) continue;
            lines += std::string(field.name) + " = " + spelled(field.get()) + "\n";
        }
        if (!lines.empty()) text += (text.empty() ? "[" : "\n[") + section + "]\n" + lines;
    }
    return text;
}

}  // namespace echolux
