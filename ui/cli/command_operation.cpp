// Commands of operations (app/operations/operation.h): options, help, `--json` and refusals follow from the
// descriptions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/jobs/settings_table.h"
#include "app/operations/operation.h"
#include "engine/io/image_format.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {
namespace {

// Names, assignments and flags of a command line.
struct Given {
    const OperationInfo* info = nullptr;
    std::shared_ptr<Operation> defaults;
    std::map<std::string_view, std::vector<std::string>> inputs;
    std::map<std::string_view, std::string> outputs;
    std::vector<std::string> assignments;
    BackendChoice backend;
    bool overwrites = false;
};

const OperationInfo* running = nullptr;  // the operation to which messages refer

std::string dashed(std::string_view name) {
    std::string option = "--" + std::string(name);
    std::ranges::replace(option, '_', '-');
    return option;
}

std::string type_of(const OutputText& text) {
    if (!text.placeholder.empty()) return std::string(text.placeholder);
    if (!text.endings.empty()) return fmt::format("FILE{}", fmt::join(text.endings, "|"));
    switch (text.kind) {
        case OutputKind::volume: return "VOLUME";
        case OutputKind::table: return "FILE.csv";
        case OutputKind::figure: return "FILE.pdf|.svg|.png";
        case OutputKind::volume_or_figure: return "FIGURE|VOLUME";
        case OutputKind::volume_or_table: return "FILE.nrrd|.csv";
        case OutputKind::file: return "FILE";
    }
    return "FILE";
}

// Ending of a temporary file for standard output.
const char* streamed_as(OutputKind kind) {
    if (kind == OutputKind::table) return ".csv";
    return kind == OutputKind::figure ? ".png" : ".npy";
}

std::string in_capitals(std::string_view name) {
    std::string capitals(name);
    std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return std::toupper(c); });
    return capitals;
}

void add_first_argument(CLI::App& command, Given& given) {
    const std::string_view first = given.info->first_argument;
    if (first.empty()) return;
    const FieldText& text = *std::ranges::find(given.info->arguments, first, &FieldText::name);
    command
        .add_option_function<std::string>(
            in_capitals(first),
            [&given, key = std::string(first)](const std::string& value) {
                given.assignments.push_back(key + "=" + value);
            },
            std::string(text.help))
        ->required()
        ->type_name("");
}

std::string type_of(const InputText& text) {
    if (!text.placeholder.empty()) return std::string(text.placeholder);
    return text.is_spectrum ? "SCAN|FILE" : text.is_scan() ? "SCAN" : "FILE";
}

void add_inputs(CLI::App& command, Given& given) {
    for (const InputText& text : given.info->inputs) {
        const InputText& first = given.info->inputs.front();
        const bool is_first = &text == &first && first.is_required;
        const bool is_positional = is_first || text.is_positional;
        const std::string name = is_positional ? in_capitals(text.name) : dashed(text.name);
        const char* streamed = is_first && !text.is_file ? "; - for standard input" : "";
        CLI::Option* option = command.add_option(name, given.inputs[text.name], std::string(text.help) + streamed);
        if (!text.takes_many)
            option->expected(1)->allow_extra_args(false);
        else if (!is_first && first.is_required)
            option->take_all()->allow_extra_args(false);  // the names that follow are those of the first input
        option->required(text.is_required);
        option->type_name(is_positional ? "" : type_of(text));
    }
}

void add_outputs(CLI::App& command, Given& given) {
    for (const OutputText& text : given.info->outputs) {
        const bool is_first = &text == &given.info->outputs.front();
        std::string help(text.help);
        if (is_first && (text.kind == OutputKind::volume || text.kind == OutputKind::volume_or_figure)) {
            help += "; the ending decides the format: " + endings_written() + "; - for standard output, as NumPy";
            if (text.streamed != nullptr) help += " or PNG";
        } else if (text.kind == OutputKind::table || (is_first && text.kind == OutputKind::figure))
            help += "; - for standard output";
        std::string names = (text.name == "output" ? "-o," : "") + dashed(text.name);
        if (!text.alias.empty()) names += "," + dashed(text.alias);
        CLI::Option* option = command.add_option(names, given.outputs[text.name], help);
        option->required(text.is_required && !text.is_positional);
        option->type_name(type_of(text));
        if (text.is_positional)
            command.add_option("OUT", given.outputs[text.name], help)->type_name("")->excludes(option);
        if (!text.group.empty()) option->group(std::string(text.group));
    }
}

// Arguments of the operation are checked by itself: "filter.all_volumes=true", "all_volumes=true".
void check_key(const OperationInfo& info, const std::string& assignment) {
    const std::string_view key = std::string_view(assignment).substr(0, assignment.find('='));
    if (section_of(key) == info.name || key.find('.') == key.npos)
        info.make()->set_assignment(assignment);
    else
        check_assignment(assignment);
}

void add_settings(CLI::App& command, Given& given) {
    const OperationInfo& info = *given.info;
    const Settings& settings = given.defaults->settings();
    std::vector<std::string_view> of_section;  // an operation and a section may share a name: filter
    if (!info.first_argument.empty()) of_section.push_back(info.first_argument);
    for (const BoundField& field : settings.fields()) {
        if (std::ranges::find(info.arguments, field.name, &FieldText::name) == info.arguments.end())
            of_section.push_back(field.name);
    }
    add_setting_options(command, settings, info.name, command.option_defaults()->get_group(), given.assignments,
                        of_section);
    for (const FieldText& argument : info.arguments) {
        if (!argument.group.empty() && argument.name != info.first_argument)
            command.get_option(option_name(argument))->group(std::string(argument.group));
    }
    const bool takes_scans = std::ranges::any_of(info.inputs, &InputText::takes_scans);
    if (takes_scans) add_recipe_option(command, given.assignments);
    if (takes_scans || !info.sections.empty() || !info.arguments.empty()) {
        add_set_option(command, given.assignments,
                       [&info](const std::string& assignment) { check_key(info, assignment); });
    }
    for (const SectionText& section : info.sections) {
        if (section.heading.empty()) continue;
        std::vector<std::string_view> without = section.without;
        for (const FieldText& argument : info.arguments) without.push_back(argument.name);
        add_setting_options(command, settings, section.name,
                            fmt::format("{0} (each also as --set {1}.KEY=VALUE)", section.heading, section.name),
                            given.assignments, without);
    }
    for (const auto& [argument, other] : info.needs) {
        const FieldText& text = *std::ranges::find(info.arguments, argument, &FieldText::name);
        command.get_option(option_name(text))->needs(command.get_option(dashed(other)));
    }
}

// Settings of a scan that may be left out need it.
void require_scan(const Given& given) {
    const std::vector<InputText>& inputs = given.info->inputs;
    if (inputs.empty() || inputs.front().is_required || !inputs.front().is_scan()) return;
    if (!given.inputs.at(inputs.front().name).empty()) return;
    const auto is_of_scan = [&](const std::string& assignment) {
        const std::string key = assignment.substr(0, assignment.find('='));
        return key.find('.') != key.npos && section_of(key) != given.info->name;
    };
    if (std::ranges::any_of(given.assignments, is_of_scan))
        throw UsageError("has no effect without a scan", "--set", "name one with " + dashed(inputs.front().name));
}

// Outputs follow the settings that decide their kind.
void set_all(Operation& operation, Given& given) {
    require_scan(given);
    for (const InputText& text : given.info->inputs) {
        for (const std::string& name : given.inputs[text.name])
            operation.set_text(text.name,
                               text.is_scan() ? name : input_named(name, text.is_spectrum ? ".csv" : ".npy"));
    }
    for (const std::string& assignment : given.assignments) operation.set_assignment(assignment);
    for (const OutputText& text : given.info->outputs) {
        const std::string& name = given.outputs[text.name];
        if (name.empty() && text.is_required)
            throw UsageError("one output is needed", "OUT", "name it after the input, or by -o");
        if (name.empty() && text.is_printed) operation.keep(text.name);
        if (name.empty()) continue;
        const std::string ending =
            text.streamed != nullptr ? text.streamed(operation.settings()) : streamed_as(text.kind);
        const bool is_text = ending == ".csv" || text.is_printed;
        operation.set_text(text.name, output_named(name, ending, !is_text));
    }
}

// A setting of the command line is wrong there, not in the scan's file: "scan.toml, recipe.low" -> "command line,
// recipe.low".
Error with_given_key(const Error& error, const Given& given) {
    const std::size_t comma = error.where().rfind(", ");
    if (comma == std::string::npos) return error;
    const std::string file = error.where().substr(0, comma), key = error.where().substr(comma + 2);
    const auto names_file = [&](const auto& input) { return std::ranges::count(input.second, file) > 0; };
    const auto sets_key = [&](const std::string& assignment) { return assignment.starts_with(key + "="); };
    if (std::ranges::none_of(given.inputs, names_file) || std::ranges::none_of(given.assignments, sets_key))
        return error;
    return {error.code(), error.problem(), "command line, " + key, error.remedy()};
}

void run_command(Given& given) {
    running = given.info;
    const std::unique_ptr<Operation> operation = given.info->make();
    const bool may_keep_frames = given.info->name == std::string_view("render");  // of a movie
    TerminalProgress progress(may_keep_frames ? AtInterrupt::saves : AtInterrupt::only_cancels);
    set_all(*operation, given);
    Context context{progress, given.backend, given.overwrites};
    try {
        operation->run(context);
    } catch (const Error& error) {
        throw with_given_key(error, given);
    }
    print_warnings(context.warnings);
    for (const OutputText& text : given.info->outputs) {
        const OperationOutput& output = operation->output(text.name);
        if (text.is_printed && output.is_kept) print_answer(output.bytes);
    }
    for (const std::string& text : context.answers) answer("{}\n", text);
    for (const std::string& line : context.lines) close_with("{}\n", with_options(line));
    for (const std::filesystem::path& file : context.files) {
        const auto names_it = [&](const std::string& text) { return text.find(file.string()) != std::string::npos; };
        if (std::ranges::none_of(context.answers, names_it)) close_with("{}\n", file.string());
    }
    nlohmann::ordered_json object = operation->json(context);
    object["warnings"] = lines_of(context.warnings);
    print_json(object);
    if (context.failure) throw Error(*context.failure);
}

// "segment.level" and "level" -> "--level", for messages of the running operation.
std::string option_of_operation(std::string_view key) {
    const std::size_t dot = key.find('.');
    const std::string_view name = dot == std::string_view::npos ? key : key.substr(dot + 1);
    if (running == nullptr || (dot != std::string_view::npos && key.substr(0, dot) != running->name)) return "";
    if (name == running->first_argument) return in_capitals(name);
    for (const FieldText& argument : running->arguments) {
        if (argument.name == name) return option_name(argument);
    }
    const auto is_it = [&](const auto& text) { return text.name == name; };
    const bool is_file = std::ranges::any_of(running->outputs, is_it) || std::ranges::any_of(running->inputs, is_it);
    return is_file ? dashed(name) : "";
}

std::string quoted(const std::string& word) {
    return word.find_first_of("*? ") == std::string::npos ? word : '"' + word + '"';
}

// Returns a word of an example as on the command line: "input=v.nrrd" -> "v.nrrd", "level=20" -> "--level 20".
std::string example_word(const OperationInfo& info, Operation& operation, std::string_view key,
                         const std::string& value) {
    const auto is_it = [key](const auto& text) { return text.name == key; };
    if (const auto input = std::ranges::find_if(info.inputs, is_it); input != info.inputs.end()) {
        const bool is_positional = input->is_positional || (input == info.inputs.begin() && input->is_required);
        return is_positional ? quoted(value) : dashed(key) + " " + quoted(value);
    }
    if (const auto output = std::ranges::find_if(info.outputs, is_it); output != info.outputs.end())
        return (output->is_positional ? "" : key == "output" ? "-o " : dashed(key) + " ") + value;
    if (key == info.first_argument) return value;
    const BoundField* field = operation.field(key);
    const auto section = std::ranges::find(info.sections, section_of(key), &SectionText::name);
    const bool has_option = section == info.sections.end() || !section->heading.empty();
    if (field == nullptr || !has_option) return fmt::format("--set {}={}", key, value);
    return option_name(*field) + (value == "true" ? "" : " " + value);
}

std::vector<std::string> command_lines(const OperationInfo& info, Operation& operation) {
    std::vector<std::string> lines;
    for (const std::string_view example : info.examples) {
        std::string line = "echolux " + std::string(info.command);
        std::istringstream words{std::string(example)};
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            line +=
                " " + example_word(info, operation, std::string_view(word).substr(0, equals), word.substr(equals + 1));
        }
        lines.push_back(line);
    }
    return lines;
}

// Keys in `backticks` become options.
void translate_help(CLI::App& command, const OperationInfo& info, Operation& operation) {
    running = &info;
    for (CLI::Option* option : command.get_options()) option->description(with_options(option->get_description()));
    const std::string details = with_options(info.details);
    command.footer(details + (details.empty() ? "" : "\n") + examples_text(command_lines(info, operation)));
    running = nullptr;
}

// Returns the command whose subcommands are operations, such as `calibrate`.
CLI::App& group_of_commands(CLI::App& program, const std::string& name) {
    for (CLI::App* known : program.get_subcommands({})) {
        if (known->get_name() == name) return *known;
    }
    static const std::map<std::string, std::string> summaries = {
        {"calibrate", "Background, noise floor, k map, dispersion and roll-off from recordings"}};
    CLI::App* group = program.add_subcommand(name, summaries.at(name));
    group->require_subcommand(1);
    return *group;
}

CLI::App* add_command(CLI::App& program, const OperationInfo& info) {
    const std::string words(info.command), summary(info.summary);
    const std::size_t space = words.find(' ');
    if (space == std::string::npos) return program.add_subcommand(words, summary);
    CLI::App& group = group_of_commands(program, words.substr(0, space));
    return group.add_subcommand(words.substr(space + 1), summary)->group("Commands");
}

void add_operation(CLI::App& program, const OperationInfo& info) {
    auto given = std::make_shared<Given>();
    given->info = &info;
    given->defaults = info.make();
    CLI::App* command = add_command(program, info);
    add_first_argument(*command, *given);
    add_inputs(*command, *given);
    add_outputs(*command, *given);
    if (!std::ranges::all_of(info.inputs, &InputText::is_file)) add_data_folder_option(*command);
    add_overwrite_option(*command, given->overwrites);
    if (!info.backend.empty()) add_backend_option(*command, given->backend.backend, std::string(info.backend));
    if (info.shares_gpus) add_gpus_option(*command, given->backend);
    add_settings(*command, *given);
    translate_help(*command, info, *given->defaults);
    command->callback([given] { run_command(*given); });
}

}  // namespace

void add_operations(CLI::App& program) {
    output_options().option_of = option_of_operation;
    for (const OperationInfo* info : operations()) add_operation(program, *info);
}

}  // namespace echolux
