// `echolux info FILE [--json]`: describes scans, volumes and pictures. `echolux info
// --settings|--recipes|--presets|--sources|--operations` prints a list. `echolux info RAW --guess` proposes the scan
// TOML of an unknown raw file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/settings_table.h"
#include "app/open/description.h"
#include "app/operations/operation_json.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/scan/scan.h"
#include "ui/cli/completion.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
    std::string file;
    bool settings = false;
    bool sources = false;
    bool guess = false;
    bool all = false;
    std::string output, completion;
    bool recipes = false;
    bool presets = false;
    bool operations = false;
    bool is_markdown = false;
    bool overwrites = false;
    std::vector<std::string> assignments;
};

bool is_default(const BoundField& field) {
    return field.get() == field.default_value;
}

// `is_exact` prints all digits of a number instead of five.
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

// Converts lengths of at least 10 mm from um to mm.
Fact readable(const Fact& fact) {
    constexpr double from_mm = 1e4;
    const double* um = fact.unit == "um" ? std::get_if<double>(&fact.value) : nullptr;
    if (um == nullptr || std::abs(*um) < from_mm) return fact;
    return {fact.name, *um / 1e3, "mm", fact.remark};
}

constexpr std::size_t max_name = 28;

// Indents the second and later lines by `columns`.
std::string indented(std::string text, std::size_t columns) {
    for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
        text.insert(i + 1, columns, ' ');
    }
    return text;
}

void print_facts(const std::vector<Fact>& facts, bool is_exact) {
    std::size_t width = 16;
    for (const Fact& fact : facts) width = std::max(width, std::min(fact.name.size(), max_name));
    for (const Fact& fact : facts) {
        answer("{:<{}} {}{}\n", fact.name, width, indented(text_of(readable(fact), is_exact), width + 1),
               fact.remark.empty() ? "" : " (" + fact.remark + ")");
    }
}

// Prints the settings that differ from their defaults, or all with their units.
void print_settings(const std::vector<BoundField>& settings, bool all) {
    if (settings.empty()) return;
    answer("\n{}\n", all ? "settings (. marks defaults)" : "settings that differ from their defaults (--all: all)");
    for (const BoundField& field : settings) {
        const bool is_left = is_default(field);
        if (is_left && !all) continue;
        answer("{} {:<34} {} {}\n", is_left ? '.' : ' ', field.key(), spelled(field.get()), field.unit);
    }
}

void print_text(const Description& description, bool all) {
    // a picture is reproduced from these values, so print all digits
    print_facts(description.facts, description.kind == "picture");
    if (!description.missing.empty()) answer("\nmissing\n");
    for (const std::string& line : description.missing) answer("  {}\n", line);
    print_settings(description.settings, all);
}

// An unknown fact is null.
struct ToJson {
    Json operator()(std::monostate) const { return nullptr; }
    template <class T>
    Json operator()(const T& value) const {
        return value;
    }
};

// "A-scan spacing" becomes "a_scan_spacing".
std::string json_key(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(c)); });
    return name;
}

// Converts text that is a complete number or boolean to that type. Versions, names and hashes stay text.
Json value_of(const Fact& fact) {
    const auto* text = std::get_if<std::string>(&fact.value);
    const bool is_name = fact.name == "echolux" || fact.name == "source" || fact.name == "backend" ||
                         fact.name == "spectra" || fact.name == "pixels" || fact.name.ends_with("_fnv1a64") ||
                         fact.name.ends_with("hash") || fact.name.ends_with("program");
    if (text == nullptr || is_name) return std::visit(ToJson{}, fact.value);
    if (*text == "true" || *text == "false") return *text == "true";
    std::int64_t whole = 0;
    double number = 0;
    const char* const end = text->data() + text->size();
    if (const auto [at, problem] = std::from_chars(text->data(), end, whole); problem == std::errc{} && at == end)
        return whole;
    if (const auto [at, problem] = std::from_chars(text->data(), end, number);
        problem == std::errc{} && at == end && std::isfinite(number))
        return number;
    return *text;
}

Json json_of(const Description& description) {
    Json json{{"kind", description.kind}};
    for (const Fact& fact : description.facts) {
        json["facts"][json_key(fact.name)] = {{"value", value_of(fact)}, {"unit", fact.unit}, {"remark", fact.remark}};
    }
    for (const BoundField& field : description.settings) {
        json["settings"][field.key()] = {
            {"value", object_of(field.get())}, {"unit", field.unit}, {"default", is_default(field)}};
    }
    json["missing"] = description.missing;
    return json;
}

void add_guesses(Json& json, const ScanProposal& proposal) {
    json["uncertain"] = !proposal.doubts.empty();
    json["doubts"] = proposal.doubts;
    json["guesses"] = Json::array();
    for (const RawGuess& guess : proposal.guesses) {
        const RawFormat format{guess.sample_format, guess.byte_order};
        json["guesses"].push_back({{"sample_format", object_of(value_of(format, "sample_format"))},
                                   {"byte_order", object_of(value_of(format, "byte_order"))},
                                   {"offset_bytes", guess.offset_bytes},
                                   {"frame_offset_bytes", guess.frame_offset_bytes},
                                   {"samples", guess.samples},
                                   {"a_scans", guess.a_scans},
                                   {"b_scans", guess.b_scans},
                                   {"likeness", guess.likeness},
                                   {"smoothness", guess.smoothness}});
    }
}

// Prints the proposed scan TOML, or writes it to --output.
void print_guess(const InfoOptions& options) {
    const std::filesystem::path raw(options.file);
    if (!options.output.empty()) {
        const ScanProposal proposal = write_proposed_toml(raw, options.output, options.overwrites);
        close_with("{}\n", options.output);
        for (const std::string& doubt : proposal.doubts) close_with("uncertain: {}\n", doubt);
        Json json{{"files", names_of({options.output})}};
        add_guesses(json, proposal);
        return print_json(json);
    }
    const ScanProposal proposal = proposed_scan(raw, raw.filename().string());
    print_answer(proposal.toml);
    Json json{{"toml", proposal.toml}};
    add_guesses(json, proposal);
    print_json(json);
}

// Returns the description lines and the settings of a recipe, or its error.
Json json_of_recipe(const Asset& asset) {
    Json json{{"name", asset.name}, {"origin", origin_of(asset)}};
    try {
        const NamedRecipe recipe = recipe_of(asset);
        json.update({{"method", recipe.method}, {"use", recipe.use}, {"settings", recipe.assignments}});
    } catch (const Error& error) {
        json["problem"] = error.line();
    }
    return json;
}

void print_recipes() {
    answer("How it works and what it costs, when to use it, its settings. Cost 1: Lagrange-3, Hann, no dispersion;\n");
    answer("2048 samples on a CPU.\n\n");
    Json recipes = Json::array();
    for (const Asset& asset : assets_of(recipe_files)) {
        const Json recipe = json_of_recipe(asset);
        recipes.push_back(recipe);
        answer("{} ({})\n", asset.name, origin_of(asset));
        for (const char* key : {"method", "use", "problem"}) {
            if (recipe.contains(key)) answer("  {}\n", recipe[key].get<std::string>());
        }
        if (recipe.contains("settings")) {
            answer("  {}\n", fmt::join(recipe["settings"].get<std::vector<std::string>>(), " "));
        }
    }
    print_json({{"recipes", recipes}});
}

// Lists each preset with its origin and its error, if any.
void print_presets() {
    Json lists = Json::array();
    for (const PresetList& list : preset_lists()) {
        answer("{}\n", list.title);
        Json presets = Json::array();
        for (const ListedPreset& preset : list.presets) {
            answer("  {:<16} {}\n", preset.name, preset.origin);
            if (!preset.problem.empty()) answer("    {}\n", preset.problem);
            presets.push_back({{"name", preset.name}, {"origin", preset.origin}, {"problem", preset.problem}});
        }
        lists.push_back({{"title", list.title}, {"presets", presets}});
    }
    // Files in this folder are listed with the built-in presets.
    answer("Put your own files of the same form into {}\n", config_folder().string());
    print_json({{"lists", lists}, {"folder", config_folder().string()}});
}

void notify_settings() {
    print_answer(settings_table());
    Json settings = Json::array();
    for (const auto& list : {all_settings(), settings_of_commands()}) {
        for (const ListedSetting& setting : list) settings.push_back(object_of(setting));
    }
    print_json({{"settings", settings}});
}

void print_sources() {
    const std::vector<std::string> sources = sources_found();
    for (const std::string& source : sources) answer("{}\n", source);
    print_json({{"sources", sources}});
}

void print_operations(bool is_markdown) {
    if (is_markdown) print_answer(operations_page(operations()));
    for (const OperationInfo* info : operations()) {
        if (!is_markdown) answer("{:<14} {}\n", info->name, info->summary);
    }
    print_json({{"operations", descriptions_of_operations()}});
}

void inform(const InfoOptions& options) {
    if (options.recipes) return print_recipes();
    if (options.presets) return print_presets();
    if (options.settings) return notify_settings();
    if (options.sources) return print_sources();
    if (options.operations) return print_operations(options.is_markdown);
    if (options.file.empty()) {
        throw UsageError("no file is named", "info",
                         "name a scan or volume, or give --settings, --recipes, --presets, --sources or --operations");
    }
    if (!options.output.empty() && !options.guess) {
        throw UsageError("needs --guess", "--output", "add --guess, or leave it out");
    }
    if (options.guess) return print_guess(options);
    const Description description = described(input_named(options.file, ".npy"), options.assignments);
    print_text(description, options.all);
    print_json(json_of(description));
}

}  // namespace

void add_info(CLI::App& program) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App* command = program.add_subcommand("info", "Describe a scan, volume or image and list missing metadata");
    command->footer(
        examples_text({"echolux info scan.toml", "echolux info spectra.raw --guess", "echolux info --settings"}));
    CLI::Option* file =
        command
            ->add_option("FILE", options->file,
                         "scan TOML, SD01RAW2 raw file, volume file or picture saved by Echolux; - for standard input")
            ->type_name("");
    command->add_flag("--guess", options->guess, "propose a scan TOML for an unknown raw file, with reasons");
    command->add_option("-o,--output", options->output, "write the scan TOML of --guess here")->type_name("FILE.toml");
    command->add_flag("--all", options->all, "also list settings that have their defaults");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->overwrites);
    CLI::Option* settings =
        command->add_flag("--settings", options->settings, "list every setting, as a Markdown table");
    CLI::Option* recipes = command->add_flag("--recipes", options->recipes,
                                             "list the recipes for --recipe, what each costs, and when to use it");
    CLI::Option* sources =
        command->add_flag("--sources", options->sources, "list the live sources that are available now");
    CLI::Option* presets = command->add_flag("--presets", options->presets,
                                             "list transfer functions, colour maps and scenes, with your own");
    CLI::Option* operations =
        command->add_flag("--operations", options->operations,
                          "list the operations: commands that are also functions in C, Python and remote control");
    command->add_flag("--markdown", options->is_markdown, "list the operations with all their arguments")
        ->needs(operations);
    CLI::Option* completion =
        command->add_option("--completion", options->completion, "print a script for completion in this shell")
            ->type_name("bash|zsh|fish");
    const std::vector<CLI::Option*> lists{settings, recipes, presets, sources, operations, completion};
    for (std::size_t i = 0; i < lists.size(); ++i) {
        lists[i]->excludes(file);
        for (std::size_t other = i + 1; other < lists.size(); ++other) lists[i]->excludes(lists[other]);
    }
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    command->callback([options, &program] {
        if (options->completion.empty()) return inform(*options);
        answer("{}", completion_script(program, options->completion));
    });
}

}  // namespace echolux
