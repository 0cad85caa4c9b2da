#include "app/operations/operation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/figure/figure_page.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/image_format.h"
#include "engine/io/regular_file.h"
#include "engine/io/scratch_folder.h"

namespace echolux {

std::vector<const OperationInfo*> compiled_operations();  // made by CMake from the names of the files

// ---- Data

std::string VolumeInput::name(std::size_t number) const {
    if (is_in_memory()) return "volume";
    return number < names.size() ? std::filesystem::path(names[number]).filename().string() : "";
}

std::vector<std::string_view> stored_as_names() {
    std::vector<std::string_view> names;
    for (const StoredAs one : {StoredAs::automatic, StoredAs::db, StoredAs::intensity, StoredAs::amplitude,
                               StoredAs::fourth_root, StoredAs::log})
        names.emplace_back(word_for(one));
    return names;
}

VolumeSource source_of(const VolumeInput& input, std::size_t number) {
    VolumeSource source;
    if (input.is_in_memory())
        source.shown = [held = input.held.at(number)] { return held; };
    else
        source.input = input.names.at(number);
    source.settings = input.settings;
    source.part.volume = input.volume;
    source.stored_as = input.stored_as;
    return source;
}

// ---- Context

std::shared_ptr<const Volume> Context::volume(const VolumeInput& input, std::size_t number) {
    if (input.is_in_memory() && input.stored_as == StoredAs::automatic) return input.held.at(number);
    return std::make_shared<const Volume>(volume_to_change(input, number));
}

Volume Context::volume_to_change(const VolumeInput& input, std::size_t number) {
    if (input.is_in_memory()) {
        Volume copy = *input.held.at(number);
        if (input.stored_as != StoredAs::automatic) state_quantity(copy, input.stored_as);
        return copy;
    }
    OpenedVolume opened = open_volume(source_of(input, number), progress);
    warn(opened.warnings);
    return std::move(opened.volume);
}

void Context::write(OperationOutput& output, Volume volume) {
    if (!output.file.empty()) {
        write_volume(output.file, volume, progress);
        files.push_back(output.file);
    }
    if (output.is_kept) output.volume = std::make_shared<const Volume>(std::move(volume));
}

void Context::write(OperationOutput& output, const std::string& text) {
    if (!output.file.empty()) {
        write_text(output.file, text);
        files.push_back(output.file);
    }
    if (output.is_kept) output.bytes = text;
}

namespace {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream = open_file(path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

void Context::write(OperationOutput& output, const std::string& ending,
                    const std::function<void(const std::filesystem::path&)>& to_file) {
    if (!output.file.empty()) {
        to_file(output.file);
        files.push_back(output.file);
    }
    if (!output.is_kept) return;
    const bool is_written = !output.file.empty() && lower_ending(output.file) == ending;
    if (is_written) {
        output.bytes = bytes_of(output.file);
        return;
    }
    const ScratchFolder folder;
    const std::filesystem::path path = folder.path() / ("output" + ending);
    to_file(path);
    output.bytes = bytes_of(path);
}

// ---- The table of operations

const std::vector<const OperationInfo*>& operations() {
    static const std::vector<const OperationInfo*> all = [] {
        std::vector<const OperationInfo*> made = compiled_operations();
        std::ranges::sort(made, {}, &OperationInfo::name);
        return made;
    }();
    return all;
}

const OperationInfo& operation_named(std::string_view name) {
    std::vector<std::string_view> names;
    for (const OperationInfo* one : operations()) {
        if (one->name == name) return *one;
        names.push_back(one->name);
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "is not an operation", std::string(name),
                near.empty() ? "docs/operations.md lists them" : "did you mean " + near + "?");
}

std::vector<std::string> endings_of(const OutputText& text) {
    if (!text.endings.empty()) return text.endings;
    const auto is_one_of = [&](std::initializer_list<OutputKind> kinds) {
        return std::ranges::count(kinds, text.kind);
    };
    std::vector<std::string> endings;
    if (is_one_of({OutputKind::volume, OutputKind::volume_or_figure, OutputKind::volume_or_table}))
        endings = written_endings();
    if (is_one_of({OutputKind::figure, OutputKind::volume_or_figure}))
        endings.insert(endings.end(), {".pdf", ".svg", ".png"});
    if (is_one_of({OutputKind::table, OutputKind::volume_or_table})) endings.emplace_back(".csv");
    return endings;
}

// ---- Setting

namespace {

// Returns the index of the text with that name, or the number of texts.
template <class Text>
std::size_t index_named(const std::vector<Text>& texts, std::string_view name) {
    const auto found = std::ranges::find(texts, name, &Text::name);
    return static_cast<std::size_t>(found - texts.begin());
}

// Like index_named(), for a name that must be there. Throws Error{bad_setting} that suggests the nearest.
template <class Text>
std::size_t required_index(const OperationInfo& info, const std::vector<Text>& texts, std::string_view name,
                           const std::string& what) {
    const std::size_t number = index_named(texts, name);
    if (number < texts.size()) return number;
    std::vector<std::string_view> names;
    for (const Text& text : texts) names.push_back(text.name);
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "is not " + what + " of " + std::string(info.name), std::string(name),
                near.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : "did you mean " + near + "?");
}

bool is_figure_name(const std::filesystem::path& path) {
    return figure_format_of(path) != FigureFormat::none;
}

bool is_table_name(const std::filesystem::path& path) {
    return lower_ending(path) == ".csv";
}

// Kind of a file whose output may be of two kinds.
OutputKind kind_of(const OutputText& text, const std::filesystem::path& file) {
    if (text.kind == OutputKind::volume_or_figure)
        return is_figure_name(file) ? OutputKind::figure : OutputKind::volume;
    if (text.kind == OutputKind::volume_or_table) return is_table_name(file) ? OutputKind::table : OutputKind::volume;
    return text.kind;
}

Output rule_for(const OutputText& text, const std::filesystem::path& file) {
    switch (kind_of(text, file)) {
        case OutputKind::volume:  // check_writable() checks endings such as .nii.gz
            return {file, is_own_volume, text.kind == OutputKind::volume ? text.endings : std::vector<std::string>()};
        case OutputKind::figure: return {file, is_own_figure, text.endings};
        case OutputKind::table:
            return {file, text.is_own, text.endings.empty() ? std::vector<std::string>{".csv"} : text.endings};
        default: return {file, text.is_own, text.endings};
    }
}

void check_writable(const OutputText& text, const std::filesystem::path& file) {
    if (file.empty()) return;
    const OutputKind kind = kind_of(text, file);
    if (kind == OutputKind::volume)
        check_volume_output(file, VoxelType::f32);
    else if (kind == OutputKind::figure)
        check_figure_name(file);
    else
        check_can_be_written(file);
}

// A further file or volume in memory extends an input that takes several. The last one counts for others.
void start_or_extend(const InputText& text, VolumeInput& input, bool with_memory) {
    if (!text.takes_many) {
        input.names.clear();
        input.held.clear();
    } else if (with_memory ? !input.names.empty() : input.is_in_memory()) {
        throw Error(ErrorCode::bad_setting, "takes either files or volumes in memory", std::string(text.name),
                    "read the files first, or name files only");
    }
}

}  // namespace

// "level" -> "segment.level", "count" -> "layers.count", others as they are.
std::string Operation::key_of(std::string_view key) const {
    if (key.find('.') != std::string_view::npos) return std::string(key);
    const std::string own = std::string(info_.name) + "." + std::string(key);
    if (settings_.field(own) != nullptr || info_.sections.empty()) return own;
    const std::string of_section = std::string(info_.sections.front().name) + "." + std::string(key);
    return settings_.field(of_section) != nullptr ? of_section : own;
}

// Returns false unless the key names an input or output.
bool Operation::set_file(std::string_view key, const std::string& name) {
    const std::size_t input = index_named(info_.inputs, key);
    if (input < info_.inputs.size()) {
        start_or_extend(info_.inputs[input], input_at(input), false);
        input_at(input).names.push_back(name);
        return true;
    }
    const std::size_t output = index_named(info_.outputs, key);
    if (output == info_.outputs.size()) return false;
    output_at(output).file = name;
    return true;
}

VolumeInput* Operation::scan_input() {
    for (std::size_t i = 0; i < info_.inputs.size(); ++i) {
        if (info_.inputs[i].takes_scans || info_.inputs[i].is_file) return &input_at(i);
    }
    return nullptr;
}

bool Operation::is_of_scan(std::string_view section) const {
    const std::size_t known = index_named(info_.sections, section);
    if (known < info_.sections.size()) return info_.sections[known].is_of_scan;
    if (section == info_.name) return false;
    const auto is_of_section = [&](const BoundField& field) { return field.section == section; };
    return std::ranges::none_of(settings_.fields(), is_of_section);
}

void Operation::set_own(const std::string& key, std::string_view text, const Value* value) {
    if (is_of_scan(section_of(key)) && scan_input() != nullptr) {
        scan_input()->settings.push_back(value != nullptr ? assignment_of(key, *value) : key + "=" + std::string(text));
        return;
    }
    if (settings_.fields().empty()) {
        throw Error(ErrorCode::bad_setting, "unknown key", key,
                    std::string(info_.name) + " has no arguments but inputs and outputs");
    }
    const BoundField* known = settings_.field(key);
    const Value before = known != nullptr ? known->get() : Value();
    if (value != nullptr)
        settings_.set_value(key, *value, "");
    else
        settings_.set(key, text, "");
    assigned_.emplace_back(key, settings_.field(key)->get());
    if (info_.preset_argument.empty() || key != key_of(info_.preset_argument)) return;
    try {
        apply_preset();
    } catch (const Error&) {
        assigned_.pop_back();
        settings_.set_value(key, before, "");
        apply_preset();
        throw;
    }
}

void Operation::apply_preset() {
    take_preset();
    for (const auto& [key, value] : assigned_) settings_.set_value(key, value, "");
}

void Operation::set_text(std::string_view key, std::string_view text) {
    if (!set_file(key, std::string(text))) set_own(key_of(key), text, nullptr);
}

void Operation::set(std::string_view key, const Value& value) {
    const auto* name = std::get_if<std::string>(&value);
    if (name == nullptr || !set_file(key, *name)) set_own(key_of(key), {}, &value);
}

void Operation::set_assignment(std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) {
        throw Error(ErrorCode::bad_setting, "expected KEY=VALUE, got " + std::string(assignment),
                    std::string(info_.name), "for example volume=1");
    }
    set_text(assignment.substr(0, equals), assignment.substr(equals + 1));
}

void Operation::add_input(std::string_view name, std::shared_ptr<const Volume> volume) {
    const std::size_t input = required_index(info_, info_.inputs, name, "an input");
    if (info_.inputs[input].is_file)
        throw Error(ErrorCode::bad_setting, "cannot be a volume in memory", std::string(name), "name a file");
    start_or_extend(info_.inputs[input], input_at(input), true);
    input_at(input).held.push_back(std::move(volume));
}

void Operation::keep(std::string_view output) {
    const std::size_t number = index_named(info_.outputs, output);
    if (number < info_.outputs.size() && info_.outputs[number].is_file)
        throw Error(ErrorCode::bad_setting, "cannot be kept in memory", std::string(output), "name a file");
    output_named(output).is_kept = true;
}

// ---- Running

// Choosing a time point and settings of a reconstruction have no effect on a volume in memory.
static void require_no_reading(const OperationInfo& info, const VolumeInput& held) {
    if (held.settings.empty() && held.volume == 0) return;
    throw Error(ErrorCode::bad_setting, "has no effect on a volume in memory",
                held.settings.empty() ? std::string(info.name) + ".volume" : held.settings.front(),
                "leave it out, or set it when the volume is read");
}

void Operation::require_inputs() {
    const BoundField* first = info_.first_argument.empty() ? nullptr : field(info_.first_argument);
    if (first != nullptr && first->get() == Value(std::string()))
        throw Error(ErrorCode::bad_setting, "is missing", std::string(info_.first_argument), "give one");
    for (std::size_t i = 0; i < info_.inputs.size(); ++i) {
        const VolumeInput& one = input_at(i);
        if (info_.inputs[i].is_required && !one.is_given())
            throw Error(ErrorCode::bad_setting, "is missing", std::string(info_.inputs[i].name), "name a volume");
        if (one.is_in_memory()) require_no_reading(info_, one);
    }
}

void Operation::require_needed() {
    const auto is_given = [&](std::string_view name) {
        const BoundField* one = field(name);
        return one != nullptr && one->get() != one->default_value;
    };
    for (const auto& [argument, other] : info_.needs) {
        const std::size_t output = index_named(info_.outputs, other);
        const bool has_other = output < info_.outputs.size() ? output_at(output).is_wanted() : is_given(other);
        if (has_other || !is_given(argument)) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("has no effect without `{}`", other), std::string(argument),
                    "leave it out");
    }
}

FileNames Operation::files_to_read() {
    FileNames read;
    const auto add = [&](const FileNames& names) { read.insert(read.end(), names.begin(), names.end()); };
    for (std::size_t i = 0; i < info_.inputs.size(); ++i) {
        const bool is_scan = info_.inputs[i].takes_scans;  // all scans share their settings
        for (const std::string& name : input_at(i).names)
            add(is_scan ? files_read(name, scan_input()->settings) : files_read(name));
    }
    for (const BoundField& field : settings_.fields()) {
        const Value value = field.get();
        const auto* name = std::get_if<std::string>(&value);
        const bool is_joined = field.section == info_.name && field.name == info_.joined_argument;
        if (name != nullptr && !is_joined && is_file_name(field, *name, "")) add({*name});
    }
    add(further_files());
    return read;
}

void Operation::check_files(const Context& context) {
    std::vector<Output> outputs;
    bool is_any = false;
    for (std::size_t i = 0; i < info_.outputs.size(); ++i) {
        const OutputText& text = info_.outputs[i];
        const std::filesystem::path& file = output_at(i).file;
        is_any = is_any || output_at(i).is_wanted() || text.is_checked_by_run;
        if (text.is_required && !output_at(i).is_wanted())
            throw Error(ErrorCode::bad_setting, "is missing", std::string(text.name), "name a file");
        if (file.empty() || text.is_checked_by_run) continue;
        outputs.push_back(rule_for(text, file));
    }
    if (!is_any && !info_.outputs.empty() && !info_.may_write_nothing) {
        throw Error(ErrorCode::bad_setting, "no output is named", std::string(info_.outputs.front().name),
                    "name a file for at least one result");
    }
    check_outputs(outputs, files_to_read(), context.overwrites);
    for (std::size_t i = 0; i < info_.outputs.size(); ++i) {
        if (!info_.outputs[i].is_checked_by_run) check_writable(info_.outputs[i], output_at(i).file);
    }
}

void Operation::run(Context& context) {
    require_inputs();
    require_needed();
    if (!info_.backend.empty()) require_backend(context.backend);
    check_files(context);
    for (const auto& [key, value] : assigned_) context.assigned.push_back(assignment_of(key, value));
    work(context);
}

void Operation::release_inputs() {
    for (std::size_t i = 0; i < info_.inputs.size(); ++i) input_at(i).held.clear();
}

// ---- Results

OperationOutput& Operation::output_named(std::string_view name) {
    return output_at(required_index(info_, info_.outputs, name, "an output"));
}

const OperationOutput& Operation::output(std::string_view name) const {
    return const_cast<Operation*>(this)->output_named(name);
}

ResultValue Operation::result(std::string_view name) const {
    return result_at(required_index(info_, info_.results, name, "a result"));
}

using Json = nlohmann::ordered_json;

Json json_of(const ResultValue& result) {
    return std::visit(
        [](const auto& value) -> Json {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, std::shared_ptr<const ResultArray>>)
                return nullptr;
            else if constexpr (std::is_same_v<T, std::shared_ptr<const Json>>)
                return value == nullptr ? Json() : *value;
            else if constexpr (std::is_same_v<T, double>)
                return std::isfinite(value) ? Json(value) : Json(nullptr);  // JSON has no NaN
            else
                return value;
        },
        result);
}

constexpr std::size_t max_listed = 12;  // longer lists are counted

template <class List>
static std::string text_of_list(const List& list) {
    if (list.size() > max_listed) return plural(list.size(), "values");
    return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

static std::string text_of_counts(const std::map<std::string, std::int64_t>& counts) {
    std::vector<std::string> texts;
    for (const auto& [name, count] : counts) texts.push_back(fmt::format("{} {}", count, name));
    return text_of_list(texts);
}

static std::string text_of_number(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : "unknown";
}

std::string text_of(const ResultValue& result) {
    return std::visit(
        [](const auto& value) -> std::string {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::monostate>)
                return "none";
            else if constexpr (std::is_same_v<T, bool>)
                return value ? "yes" : "no";
            else if constexpr (std::is_same_v<T, double>)
                return text_of_number(value);
            else if constexpr (std::is_same_v<T, std::map<std::string, std::int64_t>>)
                return text_of_counts(value);
            else if constexpr (std::is_same_v<T, std::shared_ptr<const ResultArray>>)
                return value == nullptr ? "none" : fmt::format("{}", fmt::join(value->shape, " x "));
            else if constexpr (std::is_same_v<T, std::shared_ptr<const Json>>)
                return value == nullptr ? "none" : plural(value->size(), "entries");
            else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::string>)
                return fmt::format("{}", value);
            else
                return text_of_list(value);
        },
        result);
}

Json Operation::json(const Context& context) const {
    Json object = {{"files", Json::array()}};
    for (const std::filesystem::path& file : context.files) object["files"].push_back(file.string());
    for (std::size_t i = 0; i < info_.results.size(); ++i) {
        const ResultValue result = result_at(i);
        if (std::holds_alternative<std::shared_ptr<const ResultArray>>(result)) continue;
        const std::string_view name = info_.results[i].name;
        const std::size_t dot = name.find('.');
        if (dot == std::string_view::npos)
            object[name] = json_of(result);
        else if (!std::holds_alternative<std::monostate>(result))
            object[name.substr(0, dot)][name.substr(dot + 1)] = json_of(result);
    }
    object["warnings"] = context.warnings;
    return object;
}

}  // namespace echolux
