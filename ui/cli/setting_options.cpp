#include "ui/cli/setting_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "engine/scan/recipes.h"
#include "ui/cli/parse_text.h"

namespace echolux {
namespace {

std::string type_text(const BoundField& field) {
    if (!field.choices.empty()) return fmt::format("{}", fmt::join(field.choices, "|"));
    if (std::holds_alternative<std::string>(field.default_value)) return "TEXT";
    const std::string one = field.unit.empty() ? "NUMBER" : std::string(field.unit);
    return std::holds_alternative<std::vector<double>>(field.default_value) ? one + ",..." : one;
}

CLI::Validator number(const char* expected, bool (*is_right)(double)) {
    const auto complaint = [expected, is_right](const std::string& text) {
        double value = NAN;
        if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && is_right(value)) return std::string();
        return fmt::format("expected {}, got {}", expected, text);
    };
    return CLI::Validator(complaint, "");
}

}  // namespace

CLI::Validator positive() {
    return number("a positive number", [](double value) { return value > 0; });
}

CLI::Validator not_negative() {
    return number("a number that is not negative", [](double value) { return value >= 0; });
}

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
        const auto assign = [&assignments, key = field.key()](const std::string& text) {
            assignments.push_back(key + "=" + text);
        };
        const std::string help = fmt::format("{} [{}]", field.help, spelled(field.default_value));
        const std::string name = option_name(field);
        CLI::Option* option = nullptr;
        if (std::holds_alternative<bool>(field.default_value)) {
            option = command.add_flag_function(
                fmt::format("{},!--no-{}", name, name.substr(2)),
                [assign](std::int64_t times) { assign(times > 0 ? "true" : "false"); }, help);
        } else {
            option = command.add_option_function<std::string>(name, assign, help)->type_name(type_text(field));
        }
        option->group(group)->trigger_on_parse();  // in the order of the command line: the last word counts
    }
}

CLI::Option* add_set_option(CLI::App& command, std::vector<std::string>& assignments) {
    return command
        .add_option_function<std::vector<std::string>>(
            "--set",
            [&assignments](const std::vector<std::string>& given) {
                assignments.insert(assignments.end(), given.begin(), given.end());
            },
            "any setting of the scan's file, e.g. recipe.window=hann; `echolux info --settings` lists them")
        ->type_name("KEY=VALUE")
        ->take_all()
        ->allow_extra_args(false)
        ->trigger_on_parse();
}

void add_recipe_option(CLI::App& command, std::vector<std::string>& assignments) {
    command
        .add_option_function<std::string>(
            "--recipe",
            [&assignments](const std::string& name) {
                const std::vector<std::string> recipe = assignments_of_recipe(name);
                assignments.insert(assignments.begin(), recipe.begin(), recipe.end());
            },
            "settings that belong together, under all that is given besides; `echolux info --recipes` explains them")
        ->type_name("NAME|FILE.toml");
}

CLI::Option* add_backend_option(CLI::App& command, Backend& backend) {
    return command
        .add_option_function<std::string>(
            "--backend", [&backend](const std::string& name) { backend = parsed_backend(name); },
            "what computes [auto]")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}).description(""))
        ->type_name("auto|cpu|cuda");
}

void add_gpus_option(CLI::App& command, int& gpus) {
    command.add_option("--gpus", gpus, "how many GPUs share the work, with the same bits; 0: all there are [1]")
        ->check(not_negative())
        ->type_name("N");
}

}  // namespace echolux
