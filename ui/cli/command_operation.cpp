// Commands of operations (app/operations/operation.h): options, help, `--json` and refusals follow from the
// descriptions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

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
    Backend backend = Backend::automatic;
    bool overwrites = false;
};

const OperationInfo* running = nullptr;  // the operation to which messages refer

std::string dashed(std::string_view name) {
    std::string option = "--" + std::string(name);
    std::ranges::replace(option, '_', '-');
    return option;
}

std::string type_of(OutputKind kind) {
    switch (kind) {
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

void add_inputs(CLI::App& command, Given& given) {
    for (const InputText& text : given.info->inputs) {
        const bool is_first = &text == &given.info->inputs.front();
        const std::string name = is_first ? in_capitals(text.name) : dashed(text.name);
        CLI::Option* option = command.add_option(name, given.inputs[text.name],
                                                 std::string(text.help) + (is_first ? "; - for standard input" : ""));
        if (!text.takes_many) option->expected(1);
        if (is_first) option->required(text.is_required);
        option->type_name(is_first ? "" : "FILE");
    }
}

void add_outputs(CLI::App& command, Given& given) {
    for (const OutputText& text : given.info->outputs) {
        const bool is_first = &text == &given.info->outputs.front();
        std::string help(text.help);
        if (is_first && text.kind == OutputKind::volume)
            help += "; the ending decides the format: " + endings_written() + "; - for standard output, as NumPy";
        else if (text.kind == OutputKind::table)
            help += "; - for standard output";
        std::string names = (text.name == "output" ? "-o," : "") + dashed(text.name);
        if (!text.alias.empty()) names += "," + dashed(text.alias);
        CLI::Option* option = command.add_option(names, given.outputs[text.name], help);
        option->required(text.is_required && !text.is_positional);
        option->type_name(text.placeholder.empty() ? type_of(text.kind) : std::string(text.placeholder));
        if (text.is_positional)
            command.add_option("OUT", given.outputs[text.name], help)->type_name("")->excludes(option);
        if (!text.group.empty()) option->group(std::string(text.group));
    }
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
    add_setting_options(command, settings, info.name, "OPTIONS", given.assignments, of_section);
    if (std::ranges::any_of(info.inputs, &InputText::takes_scans)) add_recipe_option(command, given.assignments);
    add_set_option(command, given.assignments);
    std::vector<std::string_view> arguments;
    for (const FieldText& argument : info.arguments) arguments.push_back(argument.name);
    for (const SectionText& section : info.sections) {
        add_setting_options(command, settings, section.name,
                            fmt::format("{0} (each also as --set {1}.KEY=VALUE)", section.heading, section.name),
                            given.assignments, section.name == info.name ? arguments : std::vector<std::string_view>{});
    }
}

// Inputs and outputs precede assignments, so that settings of a scan find their input.
void run_command(Given& given) {
    running = given.info;
    const std::unique_ptr<Operation> operation = given.info->make();
    TerminalProgress progress;
    for (const InputText& text : given.info->inputs) {
        for (const std::string& name : given.inputs[text.name])
            operation->set_text(text.name, input_named(name, ".npy"));
    }
    for (const OutputText& text : given.info->outputs) {
        const std::string& name = given.outputs[text.name];
        if (!name.empty())
            operation->set_text(text.name, output_named(name, streamed_as(text.kind), text.kind != OutputKind::table));
    }
    for (const std::string& assignment : given.assignments) operation->set_assignment(assignment);
    Context context{progress, {}, given.overwrites};
    context.backend.backend = given.backend;
    operation->run(context);
    print_warnings(context.warnings);
    for (const std::string& line : context.lines) close_with("{}\n", line);
    for (const std::filesystem::path& file : context.files) close_with("{}\n", file.string());
    nlohmann::ordered_json object = operation->json(context);
    object["warnings"] = lines_of(context.warnings);
    print_json(object);
}

// "segment.level" and "level" -> "--level", for messages of the running operation.
std::string option_of_operation(std::string_view key) {
    const std::size_t dot = key.find('.');
    const std::string_view name = dot == std::string_view::npos ? key : key.substr(dot + 1);
    if (running == nullptr || (dot != std::string_view::npos && key.substr(0, dot) != running->name)) return "";
    for (const FieldText& argument : running->arguments) {
        if (argument.name == name) return option_name(argument);
    }
    const auto is_it = [&](const auto& text) { return text.name == name; };
    const bool is_file = std::ranges::any_of(running->outputs, is_it) || std::ranges::any_of(running->inputs, is_it);
    return is_file ? dashed(name) : "";
}

void add_operation(CLI::App& program, const OperationInfo& info) {
    auto given = std::make_shared<Given>();
    given->info = &info;
    given->defaults = info.make();
    CLI::App* command = program.add_subcommand(std::string(info.name), std::string(info.summary));
    command->footer(std::string(info.details));
    add_first_argument(*command, *given);
    add_inputs(*command, *given);
    add_outputs(*command, *given);
    add_data_folder_option(*command);
    add_overwrite_option(*command, given->overwrites);
    if (!info.backend.empty()) add_backend_option(*command, given->backend, std::string(info.backend));
    add_settings(*command, *given);
    command->callback([given] { run_command(*given); });
}

}  // namespace

void add_operations(CLI::App& program) {
    output_options().option_of = option_of_operation;
    for (const OperationInfo* info : operations()) add_operation(program, *info);
}

}  // namespace echolux
