#include "ui/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <vector>

#include "compute/error.h"

namespace echolux {
namespace {

using Words = std::vector<std::string>;

// "calibrate k" of the command and the commands above it, without the program.
std::string path_of(const CLI::App& command) {
    if (command.get_parent() == nullptr) return "";
    const std::string above = path_of(*command.get_parent());
    return above.empty() ? command.get_name() : above + " " + command.get_name();
}

Words commands_of(const CLI::App& command) {
    Words names;
    for (const CLI::App* below : command.get_subcommands({})) {
        if (!below->get_group().empty()) names.push_back(below->get_name());
    }
    return names;
}

Words names_of(const CLI::Option& option) {
    Words names;
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    return names;
}

// The choices of an option: "none|median". Empty for numbers, texts and files, whose types are in capitals or units.
Words choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const bool has_choices = type.find('|') != std::string::npos &&
                             std::ranges::none_of(type, [](char c) { return (c >= 'A' && c <= 'Z') || c == '/'; });
    Words choices;
    std::istringstream words(has_choices ? type : "");
    for (std::string word; std::getline(words, word, '|');) choices.push_back(word);
    return choices;
}

void each_command(const CLI::App& command, const std::function<void(const CLI::App&)>& use) {
    use(command);
    for (const CLI::App* below : command.get_subcommands({})) each_command(*below, use);
}

// Cases "path) WORDS" for the next word, and "path --option) CHOICES" for the value of an option. Without
// choices the shell offers files. zsh runs the script too, so no variable has the name of one of zsh's own (path,
// words).
std::string bash_script(const CLI::App& program) {
    std::string words, values;
    each_command(program, [&](const CLI::App& command) {
        Words next = commands_of(command);
        for (const CLI::Option* option : command.get_options()) {
            const Words names = names_of(*option);
            next.insert(next.end(), names.begin(), names.end());
            if (option->get_items_expected_max() == 0) continue;  // a flag
            for (const std::string& name : names)
                values += fmt::format("        '{} {}') choices='{}' ;;\n", path_of(command), name,
                                      fmt::join(choices_of(*option), " "));
        }
        words += fmt::format("            '{}') choices='{}' ;;\n", path_of(command), fmt::join(next, " "));
    });
    return fmt::format(R"(_echolux() {{
    local used='' choices='' word
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
        [[ $word == [a-z]* && $word != *[./=]* ]] || break
        used+="${{used:+ }}$word"
    done
    case "$used ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}        *) case "$used" in
{}        esac ;;
    esac
    COMPREPLY=($(compgen -W "$choices" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _echolux echolux
)",
                       values, words);
}

std::string in_quotes(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return quoted + "'";
}

std::string fish_script(const CLI::App& program) {
    std::string script;
    each_command(program, [&](const CLI::App& command) {
        std::string seen = "__fish_use_subcommand";
        if (const std::string path = path_of(command); !path.empty()) {
            std::istringstream names(path);
            seen.clear();
            for (std::string name; names >> name;)
                seen += (seen.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + name);
        }
        const std::string start = "complete -c echolux -n " + in_quotes(seen);
        for (const CLI::App* below : command.get_subcommands({})) {
            if (!below->get_group().empty())
                script +=
                    fmt::format("{} -a {} -d {}\n", start, below->get_name(), in_quotes(below->get_description()));
        }
        for (const CLI::Option* option : command.get_options()) {
            const Words choices = choices_of(*option);
            const std::string values =
                choices.empty() ? "" : " -xa " + in_quotes(fmt::format("{}", fmt::join(choices, " ")));
            for (const std::string& name : option->get_lnames())
                script += fmt::format("{} -l {} -d {}{}\n", start, name, in_quotes(option->get_description()), values);
        }
    });
    return script;
}

}  // namespace

std::string completion_script(const CLI::App& program, const std::string& shell) {
    if (shell == "bash") return bash_script(program);
    if (shell == "zsh") return "#compdef echolux\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(program);
    if (shell == "fish") return fish_script(program);
    throw Error(ErrorCode::bad_setting, "'" + shell + "' is not a known shell", "--completion",
                "give bash, zsh or fish");
}

}  // namespace echolux
