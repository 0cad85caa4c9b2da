// `echolux info FILE [--json]`, `echolux info --settings|--recipes|--presets|--sources`
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/settings_table.h"
#include "app/open/description.h"
#include "app/open/proposed_scan.h"
#include "app/transfer/preset_list.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "engine/acquire/source.h"
#include "engine/scan/recipes.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"

namespace echolux {
namespace {

struct Options {
    std::string file;
    bool json = false;
    bool settings = false;
    bool sources = false;
    bool guess = false;
    std::string output;
    bool recipes = false;
    bool presets = false;
    std::vector<std::string> assignments;
};

bool is_default(const BoundField& field) {
    return field.get() == field.default_value;
}

std::string text_of(const Fact& fact, bool is_exact) {
    struct {
        bool is_exact;
        std::string operator()(std::monostate) const { return "unknown"; }
        std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
        std::string operator()(double number) const {
            return is_exact ? fmt::format("{}", number) : fmt::format("{:.5g}", number);
        }
        std::string operator()(const std::string& text) const { return text; }
    } spell{is_exact};
    const bool known = !std::holds_alternative<std::monostate>(fact.value);
    return std::visit(spell, fact.value) + (known && !fact.unit.empty() ? " " + fact.unit : "");
}

// Of what is as large as a body, not as a retina.
Fact readable(const Fact& fact) {
    constexpr double from_mm = 1e4;
    const double* um = fact.unit == "um" ? std::get_if<double>(&fact.value) : nullptr;
    if (um == nullptr || std::abs(*um) < from_mm) return fact;
    return {fact.name, *um / 1e3, "mm", fact.remark};
}

constexpr std::size_t max_name = 28;

// What has several lines goes on below where it began.
std::string indented(std::string text, std::size_t columns) {
    for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
        text.insert(i + 1, columns, ' ');
    }
    return text;
}

void print_text(const Description& description) {
    const bool is_picture = description.kind == "picture";  // is made again from all digits
    std::size_t width = 16;
    for (const Fact& fact : description.facts) width = std::max(width, std::min(fact.name.size(), max_name));
    for (const Fact& fact : description.facts) {
        fmt::print("{:<{}} {}{}\n", fact.name, width, indented(text_of(readable(fact), is_picture), width + 1),
                   fact.remark.empty() ? "" : " (" + fact.remark + ")");
    }
    if (!description.settings.empty()) fmt::print("\nsettings (. marks defaults)\n");
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

void tell_guess(const Options& options) {
    if (options.output.empty()) {
        const std::filesystem::path raw(options.file);
        fmt::print("{}", proposed_toml(raw, raw.filename().string()));
        return;
    }
    write_proposed_toml(options.file, options.output);
    fmt::print("{}\n", options.output);
}

void print_recipes() {
    fmt::print(
        "How it works and what it costs, when to use it, its settings. Cost 1: Lagrange-3, Hann, no dispersion;\n");
    fmt::print("2048 samples on a CPU.\n\n");
    for (const Asset& asset : assets_of(recipe_files)) {
        fmt::print("{} ({})\n", asset.name, origin_of(asset));
        try {
            const NamedRecipe recipe = recipe_of(asset);
            fmt::print("  {}\n  {}\n  {}\n", recipe.method, recipe.use, fmt::join(recipe.assignments, " "));
        } catch (const Error& error) {
            fmt::print("  {}\n", error.line());
        }
    }
}

// Each with where it comes from, and what is wrong with it.
void print_presets() {
    for (const PresetList& list : preset_lists()) {
        fmt::print("{}\n", list.title);
        for (const ListedPreset& preset : list.presets) {
            fmt::print("  {:<16} {}\n", preset.name, preset.origin);
            if (!preset.problem.empty()) fmt::print("    {}\n", preset.problem);
        }
    }
    fmt::print("Put your own files of the same form into {}\n", config_folder().string());
}

void inform(const Options& options) {
    if (options.recipes) return print_recipes();
    if (options.presets) return print_presets();
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
                    "name a scan or volume, or give --settings, --recipes, --presets or --sources");
    }
    if (!options.output.empty() && !options.guess) {
        throw Error(ErrorCode::bad_setting, "needs --guess", "--output", "add --guess, or leave it out");
    }
    if (options.guess) {
        tell_guess(options);
        return;
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
    CLI::App* command = program.add_subcommand("info", "Describe a scan, volume or picture, and what it lacks");
    CLI::Option* file =
        command
            ->add_option("FILE", options->file, "scan TOML, SD01RAW2 raw file, volume file or picture saved by Echolux")
            ->type_name("");
    command->add_flag("--guess", options->guess, "propose a scan TOML for an unknown raw file, with reasons");
    command->add_option("-o,--output", options->output, "write the scan TOML of --guess here")->type_name("FILE.toml");
    command->add_flag("--json", options->json, "print JSON");
    CLI::Option* settings =
        command->add_flag("--settings", options->settings, "list every setting, as a Markdown table");
    CLI::Option* recipes = command->add_flag("--recipes", options->recipes,
                                             "list the recipes for --recipe, what each costs, and when to use it");
    CLI::Option* sources =
        command->add_flag("--sources", options->sources, "list the live sources that are available now");
    CLI::Option* presets = command->add_flag("--presets", options->presets,
                                             "list transfer functions, colour maps and scenes, with your own");
    const std::vector<CLI::Option*> lists{settings, recipes, presets, sources};
    for (std::size_t i = 0; i < lists.size(); ++i) {
        lists[i]->excludes(file);
        for (std::size_t other = i + 1; other < lists.size(); ++other) lists[i]->excludes(lists[other]);
    }
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    command->callback([options] { inform(*options); });
}

}  // namespace echolux
