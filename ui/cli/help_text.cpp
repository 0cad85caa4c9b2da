#include "ui/cli/help_text.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace echolux {
namespace {

// CLI11 prints a flag and its opposite as "--box,--no-box{false}". This formatter removes the braces.
class HelpText : public CLI::Formatter {
  public:
    HelpText() {
        column_width(34);
        label("SUBCOMMAND", "COMMAND");
        label("REQUIRED", "(required)");
    }

    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
        std::string name;
        for (const char c : CLI::Formatter::make_option_name(option, is_positional)) {
            if (c == '{') break;
            name += c;
            if (c == ',') name += ' ';
        }
        return name;
    }

    // Prints the type and whether the option is required. Exclusions are reported by the error when they occur.
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string text =
            option->get_type_size() == 0 || option->get_type_name().empty() ? "" : " " + option->get_type_name();
        if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
        if (option->get_required()) text += " " + get_label("REQUIRED");
        for (const CLI::Option* needed : option->get_needs()) text += " (needs " + needed->get_name() + ")";
        return text;
    }
};

}  // namespace

void set_help_format(CLI::App& program) {
    program.formatter(std::make_shared<HelpText>());
    program.set_help_flag("-h,--help", "Print this help and exit");
}

}  // namespace echolux
