// An operation is a job that ends, such as `filter` or `segment`: one struct with its inputs, settings, outputs and
// results, which are described once, and run(Context&). The command line, JSON-RPC, the C, C++ and Python interfaces,
// the forms of the window and docs/operations.md are made from the description, as libvips does it.
//
// Each file app/operations/NAME.cpp defines one operation with ECHOLUX_OPERATION(NAME, Struct). CMake lists the files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/open/open_volume.h"
#include "compute/backend.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Data that operations read and make

// Volumes: files, scans, series and patterns by name, or volumes in memory.
struct VolumeInput {
    std::vector<std::string> names;
    std::vector<std::shared_ptr<const Volume>> held;  // instead of names
    std::int64_t volume = 0;                          // time point of a scan or series
    StoredAs stored_as = StoredAs::automatic;         // what the voxels hold, if a file does not state it
    std::vector<std::string> settings{};              // for reconstructing a scan, such as "recipe.window=hann"

    bool is_given() const { return !names.empty() || !held.empty(); }
    bool is_in_memory() const { return !held.empty(); }
    std::size_t size() const { return names.size() + held.size(); }
    std::string name(std::size_t number = 0) const;  // of the file, without its folder, or "volume"
};
std::vector<std::string_view> stored_as_names();

// Source of one volume, for code that opens it by itself, for example only one B-scan of a scan.
VolumeSource source_of(const VolumeInput& input, std::size_t number = 0);

// A product of an operation: written to a file, kept in memory for the caller, or not wanted.
struct OperationOutput {
    std::filesystem::path file;  // empty: no file
    bool is_kept = false;

    // Kept: a volume, or the bytes of a table or figure.
    std::shared_ptr<const Volume> volume{};
    std::string bytes{};

    bool is_wanted() const { return is_kept || !file.empty(); }
};

enum class OutputKind { volume, table, figure, volume_or_figure, volume_or_table, file };

// An array of results, last index fastest. Codes have words: words[code].
struct ResultArray {
    std::vector<std::int64_t> shape;
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>, std::vector<std::uint8_t>> values;
    std::vector<std::string> words{};
};

// A result. std::monostate: there is none, for example no heart rate. NaN: unknown. JSON: a list of objects.
using ResultValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>,
                                 std::vector<std::string>, std::map<std::string, std::int64_t>,
                                 std::shared_ptr<const ResultArray>, std::shared_ptr<const nlohmann::ordered_json>>;

// As `--json` prints it; null for arrays and for numbers that are unknown.
nlohmann::ordered_json json_of(const ResultValue& result);
// One short line for people: "12", "yes", "none", "16 x 32" for an array.
std::string text_of(const ResultValue& result);

// ---- Where an operation runs

struct Context {
    Progress& progress;
    BackendChoice backend{};
    bool overwrites = false;  // replaces any existing file

    std::vector<std::string> warnings{};
    std::vector<std::string> lines{};            // a summary for people
    std::vector<std::string> answers{};          // results in words, which a command prints unless it prints JSON
    std::vector<std::string> assigned{};         // arguments and settings of this run, such as "view.mode=mip"
    std::vector<std::filesystem::path> files{};  // written until now
    std::optional<Error> failure{};              // a result for which a command exits with 1, such as a failed check

    void warn(const std::vector<std::string>& more) { warnings.insert(warnings.end(), more.begin(), more.end()); }
    void say(std::string line) { lines.push_back(std::move(line)); }
    void answer(std::string text) { answers.push_back(std::move(text)); }

    // Returns one volume of an input: from memory without a copy, read from a file, or reconstructed from a scan with
    // its settings. Its warnings are added.
    std::shared_ptr<const Volume> volume(const VolumeInput& input, std::size_t number = 0);
    // The same as a volume that may be changed, copied only if it is in memory.
    Volume volume_to_change(const VolumeInput& input, std::size_t number = 0);

    // Write to the output's file and keep for the caller, as wanted. A file only appears once it is complete.
    void write(OperationOutput& output, Volume volume);
    void write(OperationOutput& output, const std::string& text);
    // `to_file` writes to the path that it gets. For memory alone that is a temporary file *ENDING, such as ".svg".
    void write(OperationOutput& output, const std::string& ending,
               const std::function<void(const std::filesystem::path&)>& to_file);
};

// ---- Descriptions

struct InputText {
    std::string_view name, help;
    bool is_required = true;
    bool takes_many = false;
    bool takes_scans = true;         // with their settings, and one volume of a series; else volume files as they are
    bool has_stored_as = true;       // the first input, unless it is_file, adds the argument stored_as
    bool is_file = false;            // the operation opens it by itself, for example a scan: never from memory
    bool is_spectrum = false;        // a file: a scan, or its mean spectrum as numbers
    bool is_positional = false;      // the command takes it without an option, like a required first one
    std::string_view placeholder{};  // for help; empty: decided by kind

    bool is_scan() const { return is_file && takes_scans && !is_spectrum; }  // names other files: cannot be streamed
};

struct OutputText {
    std::string_view name;
    OutputKind kind = OutputKind::volume;
    std::string_view help;
    bool is_required = false;
    std::string_view group{};                                // heading in help
    std::string_view placeholder{};                          // "DIR/scan.toml", for help; empty: decided by kind
    bool is_positional = false;                              // the command takes it without an option too
    std::string_view alias{};                                // another option of the command: "out"
    bool (*is_own)(const std::filesystem::path&) = nullptr;  // nullptr: decided by kind
    std::vector<std::string> endings{};                      // empty: decided by kind
    bool is_file = false;                                    // never in memory, for example a scan with its spectra
    bool is_checked_by_run = false;                          // run() checks its files, for example one per volume
    bool is_printed = false;                                 // the command prints it if no file is named
    bool are_surfaces = false;  // of the first input: the window draws them over it, as the panel Layers does
    std::string (*streamed)(const Settings&) = nullptr;  // ending at standard output; nullptr: decided by kind
};

// Endings of its files, the usual one first; empty: any.
std::vector<std::string> endings_of(const OutputText& text);

struct ResultText {
    std::string_view name;  // "vessels.area_mm2" is area_mm2 of the object vessels
    std::string_view unit;
    std::string_view help;
    std::string_view type{};  // bool, integer, number, text, numbers, texts, counts, array; value: any of them
};

struct SectionText {
    std::string_view name, heading;  // "layers", "Layers"; empty heading: set by key alone
    bool is_of_scan = false;         // settings of the input, a scan: those that are not set are as in its file
    std::vector<std::string_view> without{};  // fields that the command has in another form
};

class Operation;

struct OperationInfo {
    std::string_view name;
    std::string_view command;                // words of the command line, such as "calibrate k"; default: the name
    std::string_view summary;                // one line for a list
    std::string_view details;                // methods, papers, limits
    std::vector<std::string_view> examples;  // runs as assignments: "input=v.nrrd output=v.nii.gz"
    std::vector<InputText> inputs;
    std::vector<FieldText> arguments;
    std::string_view first_argument;   // the command takes it without an option, before all inputs
    std::string_view preset_argument;  // sets further settings, which all others override
    std::string_view joined_argument;  // may name several files joined with +, see further_files()
    // Arguments without effect unless another argument or an output, the second name, is given.
    std::vector<std::pair<std::string_view, std::string_view>> needs;
    std::vector<SectionText> sections;  // the first: its fields are arguments too
    std::vector<OutputText> outputs;
    bool may_write_nothing = false;  // its results alone are worth a run
    std::vector<ResultText> results;
    std::string_view backend;  // "device that ..."; empty: it does not use a GPU
    bool shares_gpus = false;  // several GPUs can share the work
    std::unique_ptr<Operation> (*make)();
};

// All operations, in alphabetical order.
const std::vector<const OperationInfo*>& operations();

// Throws Error{bad_setting} that suggests the nearest name.
const OperationInfo& operation_named(std::string_view name);

// One run of an operation. Arguments and the settings of its sections have keys: "level", "layers.count", and "count"
// as far as the first section has it. Not thread-safe.
class Operation {
  public:
    virtual ~Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    const OperationInfo& info() const { return info_; }

    // Sets an argument, a setting, the file name of an input or output, or a setting for the reconstruction of a
    // scan. An input that takes several is extended. Throws Error{bad_setting} for an unknown key (suggesting the
    // nearest), a wrong type or a value out of range.
    void set(std::string_view key, const Value& value);
    void set_text(std::string_view key, std::string_view text);
    void set_assignment(std::string_view assignment);  // "level=ILM"

    void add_input(std::string_view name, std::shared_ptr<const Volume> volume);
    void keep(std::string_view output);  // in memory

    // All arguments and settings with their present values.
    const Settings& settings() const { return settings_; }
    // Returns the argument or setting with this key; nullptr if there is none.
    const BoundField* field(std::string_view key) const { return settings_.field(key_of(key)); }

    // Files and folders that inputs and settings name, and those named in a scan or picture. Empty names count as none.
    FileNames files_to_read();

    // Checks inputs and outputs, then runs. `context.files` and warnings are complete afterwards. Throws Error.
    void run(Context& context);

    // After run(). Throw Error{bad_setting} for an unknown name.
    ResultValue result(std::string_view name) const;
    const OperationOutput& output(std::string_view name) const;

    // Frees volumes in memory that were read, after run().
    void release_inputs();

    // The object that `--json` prints: files, all results but arrays, and warnings.
    nlohmann::ordered_json json(const Context& context) const;

  protected:
    explicit Operation(const OperationInfo& info) : info_(info) {}

    virtual void work(Context& context) = 0;
    virtual FileNames further_files() const = 0;  // that inputs and settings do not name
    virtual ResultValue result_at(std::size_t number) const = 0;
    virtual VolumeInput& input_at(std::size_t number) = 0;
    virtual OperationOutput& output_at(std::size_t number) = 0;
    virtual void take_preset() = 0;  // resets the sections to it; without effect if the operation has none

    Settings settings_;

  private:
    std::string key_of(std::string_view key) const;
    void set_own(const std::string& key, std::string_view text, const Value* value);
    void apply_preset();
    bool is_of_scan(std::string_view section) const;
    bool set_file(std::string_view key, const std::string& name);
    void check_files(const Context& context);
    void require_inputs();
    void require_needed();
    VolumeInput* scan_input();
    OperationOutput& output_named(std::string_view name);

    const OperationInfo& info_;
    std::vector<std::pair<std::string, Value>> assigned_;  // repeated after a preset
};

// ---- Makes an operation of a described struct S

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

template <class S>
struct OperationParts {
    OperationInfo info;
    std::vector<VolumeInput S::*> inputs;
    std::vector<OperationOutput S::*> outputs;
    std::vector<std::function<ResultValue(const S&)>> results;
    std::vector<Field<S>> fields;
    std::vector<std::function<void(Settings&, S&)>> bind;
    std::function<void(const S&, Settings&)> preset;

    // Volumes that the operation reads. The first is named on the command line without an option.
    OperationParts& input(const InputText& text, VolumeInput S::*member) {
        info.inputs.push_back(text);
        inputs.push_back(member);
        if (inputs.size() == 1 && !text.is_file) add_reading(text, member);
        return *this;
    }

    OperationParts& argument(Field<S> field) {
        info.arguments.push_back(field);
        fields.push_back(std::move(field));
        return *this;
    }

    // An argument that names settings, which all others override. `apply` sets them.
    OperationParts& preset_argument(Field<S> field, std::function<void(const S&, Settings&)> apply) {
        preset = std::move(apply);
        info.preset_argument = field.name;
        return argument(std::move(field));
    }

    template <class P>
    OperationParts& section(std::string_view name, std::string_view heading, P S::*member, bool is_of_scan = false) {
        info.sections.push_back({name, heading, is_of_scan, {}});
        bind.push_back([name, member](Settings& settings, S& one) { settings.bind(std::string(name), one.*member); });
        return *this;
    }

    // Leaves out options for these fields of the last section.
    OperationParts& without(std::vector<std::string_view> names) {
        info.sections.back().without = std::move(names);
        return *this;
    }

    OperationParts& needs(std::string_view argument, std::string_view other) {
        info.needs.emplace_back(argument, other);
        return *this;
    }

    OperationParts& output(OutputText text, OperationOutput S::*member) {
        info.outputs.push_back(std::move(text));
        outputs.push_back(member);
        return *this;
    }

    // `from`: a member of S, or a function of const S&. std::optional: there may be none.
    template <class From>
    OperationParts& result(std::string_view name, std::string_view unit, std::string_view help, From from) {
        using Made = std::decay_t<std::invoke_result_t<From, const S&>>;
        info.results.push_back({name, unit, help, result_type<Made>()});
        results.push_back([from](const S& one) { return result_value(std::invoke(from, one)); });
        return *this;
    }

    OperationParts& uses_backend(std::string_view work, bool shares_gpus = false) {
        info.backend = work;
        info.shares_gpus = shares_gpus;
        return *this;
    }

  private:
    template <class T>
    static constexpr std::string_view result_type() {
        if constexpr (std::is_same_v<T, ResultValue> ||
                      std::is_same_v<T, std::shared_ptr<const nlohmann::ordered_json>>)
            return "value";
        else if constexpr (is_optional<T>)
            return result_type<typename T::value_type>();
        else if constexpr (std::is_same_v<T, bool>)
            return "bool";
        else if constexpr (std::is_integral_v<T>)
            return "integer";
        else if constexpr (std::is_floating_point_v<T>)
            return "number";
        else if constexpr (std::is_convertible_v<T, std::string>)
            return "text";
        else if constexpr (std::is_same_v<T, std::vector<double>>)
            return "numbers";
        else if constexpr (std::is_same_v<T, std::vector<std::string>>)
            return "texts";
        else if constexpr (std::is_same_v<T, std::map<std::string, std::int64_t>>)
            return "counts";
        else
            return "array";
    }

    template <class T>
    static ResultValue result_value(const T& value) {
        if constexpr (std::is_same_v<T, ResultValue>)
            return value;
        else if constexpr (is_optional<T>)
            return value ? result_value(*value) : ResultValue();
        else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
            return static_cast<std::int64_t>(value);
        else if constexpr (std::is_floating_point_v<T>)
            return static_cast<double>(value);
        else if constexpr (std::is_convertible_v<T, std::string>)
            return std::string(value);
        else
            return ResultValue(value);
    }

    // Arguments for reading the first input.
    void add_reading(const InputText& text, VolumeInput S::*member) {
        if (text.takes_scans) {
            Field<S> field{
                {"volume", "", "volume of a scan or series, counted from 0", Effect::file, 0, 1e9, {}}, {}, {}, {}};
            field.get = [member](const S& one) { return Value((one.*member).volume); };
            field.set = [member](S& one, const Value& value) { (one.*member).volume = std::get<std::int64_t>(value); };
            argument(std::move(field));
        }
        if (!text.has_stored_as) return;
        Field<S> field{{"stored_as", "",
                        "what the voxels hold, if the file does not state it; log: 8 or 16 bits of a "
                        "logarithmic picture",
                        Effect::file, 0, 0, stored_as_names()},
                       {},
                       {},
                       {}};
        field.get = [member, names = field.choices](const S& one) {
            return Value(std::string(names.at(static_cast<std::size_t>((one.*member).stored_as))));
        };
        field.set = [member, names = field.choices](S& one, const Value& value) {
            const auto found = std::ranges::find(names, std::get<std::string>(value));
            (one.*member).stored_as = static_cast<StoredAs>(found - names.begin());
        };
        argument(std::move(field));
    }
};

template <class S>
class OperationOf final : public Operation {
  public:
    explicit OperationOf(const OperationParts<S>& parts) : Operation(parts.info), parts_(parts) {
        const S defaults{};
        for (const Field<S>& field : parts.fields) {
            settings_.bind_field({field, std::string(parts.info.name), field.get(defaults),
                                  [this, get = field.get] { return get(one_); },
                                  [this, set = field.set](const Value& value) { set(one_, value); }});
        }
        for (const auto& bind : parts.bind) bind(settings_, one_);
        take_preset();
    }

  private:
    void work(Context& context) override { one_.run(context); }
    FileNames further_files() const override {
        if constexpr (requires { one_.further_files(); })
            return one_.further_files();
        else
            return {};
    }
    ResultValue result_at(std::size_t number) const override { return parts_.results[number](one_); }
    VolumeInput& input_at(std::size_t number) override { return one_.*parts_.inputs[number]; }
    OperationOutput& output_at(std::size_t number) override { return one_.*parts_.outputs[number]; }
    void take_preset() override {
        if (!parts_.preset) return;
        for (const BoundField& field : settings_.fields()) {
            if (field.section != parts_.info.name) field.set(field.default_value);
        }
        parts_.preset(one_, settings_);
    }

    const OperationParts<S>& parts_;
    S one_;
};

// Defines NAME_operation(), by which CMake finds the operation. `Struct` has run(Context&) and a static
// describe(OperationParts<Struct>&), which sets the summary, inputs, arguments, outputs and results. An operation that
// reads further files, such as those named in a picture, also has `FileNames further_files() const`.
#define ECHOLUX_OPERATION(NAME, Struct)                                                                   \
    const OperationInfo& NAME##_operation();                                                              \
    static const OperationParts<Struct>& NAME##_parts() {                                                 \
        static const OperationParts<Struct> parts = [] {                                                  \
            OperationParts<Struct> made;                                                                  \
            made.info.name = made.info.command = #NAME;                                                   \
            made.info.make = [] {                                                                         \
                return std::unique_ptr<Operation>(std::make_unique<OperationOf<Struct>>(NAME##_parts())); \
            };                                                                                            \
            Struct::describe(made);                                                                       \
            return made;                                                                                  \
        }();                                                                                              \
        return parts;                                                                                     \
    }                                                                                                     \
    const OperationInfo& NAME##_operation() {                                                             \
        return NAME##_parts().info;                                                                       \
    }

}  // namespace echolux
