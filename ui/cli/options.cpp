#include "ui/cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>

#include "app/jobs/settings_table.h"
#include "app/settings/short_texts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "engine/io/file_name.h"
#include "engine/scan/scan.h"
#include "ui/cli/output.h"

namespace echolux {
namespace {

// Returns the placeholder of a value in help texts: its choices, unit or kind.
std::string type_text(const BoundField& field) {
    if (!field.placeholder.empty()) return std::string(field.placeholder);
    if (!field.choices.empty()) return fmt::format("{}", fmt::join(field.choices, "|"));
    if (std::holds_alternative<std::string>(field.default_value)) {
        return field.control.path == PathKind::none ? "TEXT" : "FILE";
    }
    const std::string one = field.unit.empty() ? "NUMBER" : std::string(field.unit);
    return std::holds_alternative<std::vector<double>>(field.default_value) ? one + ",..." : one;
}

// Replaces "scan.file=-" by a file with the spectra from standard input.
std::string streamed(const std::string& assignment) {
    constexpr std::string_view of_spectra = "scan.file=";
    if (assignment != std::string(of_spectra) + "-") return assignment;
    return std::string(of_spectra) + input_named("-", ".raw");
}

// Builds a validator for finite numbers that satisfy `is_right`.
CLI::Validator number_check(const std::string& expected, const std::function<bool(double)>& is_right) {
    const auto complaint = [expected, is_right](const std::string& text) {
        double value = NAN;
        if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && is_right(value)) return std::string();
        return fmt::format("expected {}, got {}", expected, text);
    };
    return CLI::Validator(complaint, "");
}

// Returns the default value in a readable form, or an empty text if it is not worth printing.
std::string default_text(const BoundField& field) {
    const Value& value = field.default_value;
    if (const auto* on = std::get_if<bool>(&value)) return *on ? "on" : "off";
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
        return fmt::format("{:.15g}", fmt::join(*list, ","));
    }
    const auto* whole = std::get_if<std::int64_t>(&value);
    const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
    if (field.control.special_value == number) return std::string(field.control.special_text);
    return fmt::format("{:.15g}", number);
}

std::string help_of(const BoundField& field) {
    const std::string usual = default_text(field);
    return usual.empty() ? std::string(field.help) : fmt::format("{} [{}]", field.help, usual);
}

}  // namespace

CLI::Validator positive() {
    return number_check("a positive number", [](double value) { return value > 0; });
}

CLI::Validator not_negative() {
    return number_check("a number of 0 or more", [](double value) { return value >= 0; });
}

CLI::Validator between(double low, double high) {
    return number_check(fmt::format("a number from {:.15g} to {:.15g}", low, high),
                        [low, high](double value) { return value >= low && value <= high; });
}

CLI::Validator one_of(std::vector<std::string> names) {
    const auto complaint = [names = std::move(names)](const std::string& text) {
        if (std::ranges::count(names, text) > 0) return std::string();
        const std::vector<std::string_view> candidates(names.begin(), names.end());
        const std::string near = nearest_name(text, candidates);
        return fmt::format("expected one of {}, got {}{}", fmt::join(names, ", "), text,
                           near.empty() ? "" : ", did you mean " + near + "?");
    };
    return CLI::Validator(complaint, "");
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
        const std::string help = help_of(field);
        const std::string name = option_name(field);
        CLI::Option* option = nullptr;
        if (field.is_repeated) {
            const auto join = [assign](const std::vector<std::string>& parts) {
                assign(fmt::format("{}", fmt::join(parts, ",")));
            };
            command.add_option_function<std::vector<std::string>>(name, join, help)
                ->type_name(type_text(field))
                ->take_all()
                ->allow_extra_args(false)
                ->group(group);
            continue;
        }
        if (std::holds_alternative<bool>(field.default_value)) {
            option = command.add_flag_function(
                fmt::format("{},!--no-{}", name, name.substr(2)),
                [assign](std::int64_t times) { assign(times > 0 ? "true" : "false"); }, help);
        } else {
            option = command.add_option_function<std::string>(name, assign, help)->type_name(type_text(field));
        }
        option->group(group)->trigger_on_parse();  // apply in the order of the command line, so that the last one wins
    }
}

CLI::Option* add_set_option(CLI::App& command, std::vector<std::string>& assignments,
                            std::function<void(const std::string&)> check) {
    if (!check) check = check_assignment;
    return command
        .add_option_function<std::vector<std::string>>(
            "--set",
            [&assignments, check](const std::vector<std::string>& given) {
                for (const std::string& one : given) {
                    check(one);
                    assignments.push_back(streamed(one));
                }
            },
            "any setting by its key, e.g. recipe.window=hann; `echolux info --settings` lists them")
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
                // Insert at the front, so that other options override the recipe.
                const std::vector<std::string> recipe = assignments_of_recipe(name);
                assignments.insert(assignments.begin(), recipe.begin(), recipe.end());
            },
            "a named set of settings, which other options override; `echolux info --recipes` explains them")
        ->type_name("NAME|FILE.toml");
}

// The folders are passed in an environment variable, which child processes inherit.
void add_data_folder_option(CLI::App& command) {
    const auto allow = [](const std::string& folder) {
        const char* before = std::getenv(data_folders_variable);
        setenv(data_folders_variable, (before == nullptr ? folder : std::string(before) + ":" + folder).c_str(), 1);
    };
    command
        .add_option_function<std::vector<std::string>>(
            "--data-folder",
            [allow](const std::vector<std::string>& folders) { std::ranges::for_each(folders, allow); },
            "let a header (.nhdr, .mhd, Zarr) name files in this folder too, not only beside itself; may be repeated")
        ->type_name("FOLDER")
        ->take_all()
        ->allow_extra_args(false);
}

std::string examples_text(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "\nExamples:\n  " : "\n  ") + line;
    return text;
}

void add_overwrite_option(CLI::App& command, bool& overwrites) {
    command.add_flag(
        "--overwrite", overwrites,
        "overwrite existing output files, even those not made by Echolux; never an input or a running recording");
}

CLI::Option* add_backend_option(CLI::App& command, Backend& backend, const std::string& work) {
    return command
        .add_option_function<std::string>(
            "--backend", [&backend](const std::string& name) { backend = parsed_backend(name); },
            "device that " + work + " [auto]")
        ->check(one_of({"auto", "cpu", "cuda"}))
        ->type_name("auto|cpu|cuda");
}

// Returns the GPU with this number among the usable ones, counted from 0. Throws UsageError.
static DeviceId gpu_numbered(std::int64_t number) {
    const GpuSurvey& survey = surveyed_gpus();
    if (number >= 0 && number < std::ssize(survey.usable)) return survey.usable[index(number)].id;
    const std::string reason = survey.refusal.empty() ? "" : ": " + survey.refusal;
    throw UsageError(fmt::format("there is no GPU {}, {} can be used{}", number, survey.usable.size(), reason),
                     "--gpus", "give the numbers of GPUs, the first one is 0");
}

// A single number is a count; a list contains GPU numbers.
static void choose_gpus(const std::string& text, BackendChoice& choice) {
    constexpr const char* expected = "a number of GPUs (0: all), or the numbers of several: 0,1";
    if (text.find(',') == std::string::npos) {
        const std::int64_t count = parsed_number(text, "--gpus", expected);
        if (count < 0 || count > 1024) throw UsageError("got " + text, "--gpus", std::string("give ") + expected);
        choice.gpus = static_cast<int>(count);
        return;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        choice.named_gpus.push_back(gpu_numbered(parsed_number(text.substr(begin, end - begin), "--gpus", expected)));
        begin = end + 1;
    }
}

CLI::Option* add_gpus_option(CLI::App& command, const std::function<void(const BackendChoice&)>& choose,
                             const std::string& help) {
    return command
        .add_option_function<std::string>(
            "--gpus",
            [choose](const std::string& text) {
                BackendChoice chosen;
                choose_gpus(text, chosen);
                choose(chosen);
            },
            help)
        ->type_name("N|A,B");
}

CLI::Option* add_gpus_option(CLI::App& command, BackendChoice& choice) {
    const auto choose = [&choice](const BackendChoice& chosen) {
        choice.gpus = chosen.gpus;
        choice.named_gpus = chosen.named_gpus;
    };
    return add_gpus_option(command, choose, "number of GPUs that share the work, or their numbers: 0,1; 0: all [1]");
}

// ---- texts ----------------------------------------------------------------------------------------------------------

std::int64_t parsed_number(const std::string& text, const char* option, const char* expected) {
    if (const auto value = number_in<std::int64_t>(text)) return *value;
    throw UsageError("'" + text + "' is not valid", option, std::string("give ") + expected);
}

std::pair<std::int64_t, std::int64_t> parsed_size(const std::string& text, const char* option) {
    if (const auto size = pair_in<std::int64_t>(text, 'x')) return *size;
    throw UsageError("'" + text + "' is not valid", option, "write WIDTHxHEIGHT, e.g. 1280x960");
}

Backend parsed_backend(const std::string& name) {
    if (name == "cpu") return Backend::cpu;
    return name == "cuda" ? Backend::cuda : Backend::automatic;
}

}  // namespace echolux
