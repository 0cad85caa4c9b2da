#include "ui/cli/setting_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace echolux {
namespace {

std::string type_text(const BoundField& field) {
    if (!field.choices.empty()) return fmt::format("{}", fmt::join(field.choices, "|"));
    if (std::holds_alternative<bool>(field.default_value)) return "true|false";
    if (!field.unit.empty()) return std::string(field.unit);
    if (std::holds_alternative<std::string>(field.default_value)) return "TEXT";
    return "NUMBER";
}

}  // namespace

std::string option_name(const FieldText& field) {
    std::string name(field.name);
    const std::string suffix = "_" + std::string(field.unit);
    if (!field.unit.empty() && name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
}

void add_setting_options(CLI::App& command, const Settings& settings, std::string_view section,
                         const std::string& group, std::vector<std::string>& assignments,
                         const std::vector<std::string_view>& without) {
    for (const BoundField& field : settings.fields()) {
        if (field.section != section) continue;
        if (std::find(without.begin(), without.end(), field.name) != without.end()) continue;
        command
            .add_option_function<std::string>(
                option_name(field),
                [&assignments, key = field.key()](const std::string& text) { assignments.push_back(key + "=" + text); },
                fmt::format("{} [{}]", field.help, spelled(field.default_value)))
            ->type_name(type_text(field))
            ->group(group);
    }
}

void add_set_option(CLI::App& command, std::vector<std::string>& assignments) {
    command
        .add_option("--set", assignments,
                    "any setting of the scan's file, e.g. recipe.window=hann; `echolux info --settings` lists them")
        ->type_name("KEY=VALUE")
        ->take_all()
        ->allow_extra_args(false);
}

}  // namespace echolux
