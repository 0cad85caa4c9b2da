// `echolux info FILE [--json]`, `echolux info --settings|--recipes|--sources`
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>

#include "compute/error.h"
#include "engine/acquire/source.h"
#include "engine/recipes.h"
#include "ui/app/description.h"
#include "ui/app/settings_table.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"

namespace echolux {
namespace {

struct Options {
    std::string file;
    bool json = false;
    bool settings = false;
    bool sources = false;
    bool recipes = false;
    std::vector<std::string> assignments;
};

bool is_default(const BoundField& field) {
    return field.get() == field.default_value;
}

std::string text_of(const Fact& fact) {
    struct {
        std::string operator()(std::monostate) const { return "unknown"; }
        std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
        std::string operator()(double number) const { return fmt::format("{:.5g}", number); }
        std::string operator()(const std::string& text) const { return text; }
    } spell;
    const bool known = !std::holds_alternative<std::monostate>(fact.value);
    return std::visit(spell, fact.value) + (known && !fact.unit.empty() ? " " + fact.unit : "");
}

void print_text(const Description& description) {
    for (const Fact& fact : description.facts) {
        fmt::print("{:<16} {}{}\n", fact.name, text_of(fact), fact.remark.empty() ? "" : " (" + fact.remark + ")");
    }
    if (!description.settings.empty()) fmt::print("\nsettings (defaults are marked with .)\n");
    for (const BoundField& field : description.settings) {
        fmt::print("{} {:<34} {} {}\n", is_default(field) ? '.' : ' ', field.key(), spelled(field.get()), field.unit);
    }
    if (!description.missing.empty()) fmt::print("\nnot given\n");
    for (const std::string& line : description.missing) fmt::print("  {}\n", line);
}

struct ToJson {
    nlohmann::ordered_json operator()(std::monostate) const { return nullptr; }
    template <class T>
    nlohmann::ordered_json operator()(const T& value) const {
        return value;
    }
};

// "A-scan spacing" -> "a_scan_spacing".
std::string json_key(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(c)); });
    return name;
}

void print_json(const Description& description) {
    nlohmann::ordered_json json{{"kind", description.kind}};
    for (const Fact& fact : description.facts) {
        json["facts"][json_key(fact.name)] = {
            {"value", std::visit(ToJson{}, fact.value)}, {"unit", fact.unit}, {"remark", fact.remark}};
    }
    for (const BoundField& field : description.settings) {
        json["settings"][field.key()] = {
            {"value", std::visit(ToJson{}, field.get())}, {"unit", field.unit}, {"default", is_default(field)}};
    }
    json["missing"] = description.missing;
    fmt::print("{}\n", json.dump(2));
}

void print_recipes() {
    for (const ShippedRecipe& recipe : shipped_recipes()) {
        fmt::print("{}\n  {}\n  {}\n  {}\n", recipe.name, recipe.method, recipe.use,
                   fmt::join(recipe.assignments, " "));
    }
}

void inform(const Options& options) {
    if (options.recipes) return print_recipes();
    if (options.settings) {
        fmt::print("{}", settings_table());
        return;
    }
    if (options.sources) {
        for (const std::string& source : sources_found()) fmt::print("{}\n", source);
        return;
    }
    if (options.file.empty()) {
        throw Error(ErrorCode::bad_setting, "no file is named", "info",
                    "name a scan or volume, or give --settings, --recipes or --sources");
    }
    const Description description = described(options.file, options.assignments);
    if (options.json)
        print_json(description);
    else
        print_text(description);
}

}  // namespace

void add_info(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("info", "Tell what a scan or volume is and what is missing");
    command->add_option("FILE", options->file, "scan TOML, SD01RAW2 raw file or volume file")->type_name("");
    command->add_flag("--json", options->json, "for programs");
    command->add_flag("--settings", options->settings, "every setting of the program, as a Markdown table");
    command->add_flag("--recipes", options->recipes, "what --recipe can name, what each costs, and when to use it");
    command->add_flag("--sources", options->sources, "where live spectra could come from now");
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    command->callback([options] { inform(*options); });
}

}  // namespace echolux
