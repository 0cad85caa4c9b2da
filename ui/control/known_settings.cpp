#include "ui/control/known_settings.h"

#include <array>
#include <limits>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/file_name.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

// These sections only configure how a source is opened.
bool is_of_opening(std::string_view section) {
    return section == "source" || section == "simulation";
}

// Type names as shown by `describe`.
const char* type_of(const BoundField& field) {
    constexpr std::array types{"flag", "whole number", "number", "text", "numbers"};
    if (names_files(field)) return field.control.path == PathKind::folder ? "folder" : "file";
    return field.choices.empty() ? types.at(field.default_value.index()) : "choice";
}

}  // namespace

std::optional<Value> setting_value(const nlohmann::json& json) {
    if (json.is_boolean()) return json.get<bool>();
    const bool is_large =
        json.is_number_unsigned() &&
        json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (json.is_number_integer() && !is_large) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_array()) return std::nullopt;
    std::vector<double> list;
    for (const nlohmann::json& one : json) {
        if (!one.is_number()) return std::nullopt;
        list.push_back(one.get<double>());
    }
    return list;
}

Value checked_value(const BoundField& field, const nlohmann::json& json, const AllowedFolders* folders) {
    const std::string key = field.key();
    if (json.is_null()) return field.default_value;
    const std::optional<Value> given = setting_value(json);
    if (!given) throw Error(ErrorCode::bad_setting, "expected one value or a list of numbers", key);
    const auto* text = std::get_if<std::string>(&*given);
    // A text may spell a value of another type, e.g. "0.5" for a number.
    const bool is_spelled = text != nullptr && !std::holds_alternative<std::string>(field.default_value);
    Value value =
        is_spelled ? parsed(field, field.default_value, *text, key) : checked(field, field.default_value, *given, key);
    if (auto* name = std::get_if<std::string>(&value)) *name = allowed_name(field, *name, folders);
    return value;
}

std::string allowed_name(const BoundField& field, const std::string& name, const AllowedFolders* folders) {
    if (folders == nullptr) return name;
    const std::filesystem::path folder = folders->all().empty() ? "" : folders->all().front();
    if (!is_file_name(field, name, folder)) return name;
    try {
        return folders->within(name).string();
    } catch (const Error& error) {
        throw Error(error.code(), name + " " + error.problem(), field.key(), error.remedy());
    }
}

KnownSettings::KnownSettings(Workspace& work) : work_(work), listed_(all_settings()) {
    for (std::size_t i = 0; i < listed_.size(); ++i) places_.emplace(listed_[i].field.key(), i);
}

const ListedSetting* KnownSettings::find(std::string_view key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &listed_[found->second];
}

const BoundField* KnownSettings::description(std::string_view key) const {
    const ListedSetting* setting = find(key);
    return setting == nullptr ? nullptr : &setting->field;
}

// The workspace only contains settings of the view and of the open document.
KnownSettings::SettingScope KnownSettings::scope_of(std::string_view key) const {
    const std::string_view section = section_of(key);
    if (section == "figure") return SettingScope::figures;
    return is_of_opening(section) || work_.settings().field(key) == nullptr ? SettingScope::next : SettingScope::now;
}

Value KnownSettings::value(std::string_view key) const {
    const BoundField* field = work_.settings().field(key);
    if (scope_of(key) == SettingScope::now) return field->get();
    if (const auto found = waiting_.find(std::string(key)); found != waiting_.end()) return found->second;
    return field != nullptr ? field->get() : find(key)->field.default_value;
}

std::vector<std::string> KnownSettings::all() const {
    std::vector<std::string> keys;
    for (const ListedSetting& setting : listed_) keys.push_back(setting.field.key());
    return keys;
}

// check_assignment() throws the error with the most similar key.
void KnownSettings::refuse(std::string_view key) {
    const std::string short_key(key.substr(0, 100));
    try {
        check_assignment(short_key + "=");
    } catch (const Error& error) {
        throw Error(ErrorCode::bad_setting, error.problem(), short_key, error.remedy());
    }
    throw Error(ErrorCode::bad_setting, "unknown key", short_key);
}

std::vector<std::string> KnownSettings::keys_of(const std::string& key_or_section) const {
    if (is_known(key_or_section)) return {key_or_section};
    std::vector<std::string> keys;
    for (const ListedSetting& setting : listed_) {
        if (setting.field.section == key_or_section) keys.push_back(setting.field.key());
    }
    if (keys.empty()) refuse(key_or_section);
    return keys;
}

Value KnownSettings::checked_value(const std::string& key, const nlohmann::json& json,
                                   const AllowedFolders* folders) const {
    const ListedSetting* listed = find(key);
    if (listed == nullptr) refuse(key);
    const BoundField* bound = work_.settings().field(key);
    return echolux::checked_value(bound != nullptr ? *bound : listed->field, json, folders);
}

Values KnownSettings::checked_values(const nlohmann::json& values, const AllowedFolders* folders) const {
    Values checked;
    for (const auto& [key, value] : values.items()) checked[key] = checked_value(key, value, folders);
    return checked;
}

Json KnownSettings::object_of(const std::string& key) const {
    const ListedSetting& setting = *find(key);
    Json json = echolux::object_of(setting);
    json["type"] = type_of(setting.field);
    json["value"] = echolux::object_of(value(key));
    if (const ControlHint& hint = setting.field.control; hint.special_value) {
        json["special"] = {{"value", *hint.special_value}, {"text", hint.special_text}};
    }
    switch (scope_of(key)) {
        case SettingScope::now:
            json["holds"] = section_of(key) == "scan" || section_of(key) == "recording" ? "fixed" : "now";
            break;
        case SettingScope::next: json["holds"] = "next open"; break;
        case SettingScope::figures: json["holds"] = "figures"; break;
    }
    return json;
}

}  // namespace echolux
