// Operations of app/operations, for callers of the C interface. Volumes in memory are shared in both directions.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/operations/operation.h"
#include "app/operations/operation_json.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

namespace {

// An array that the caller views without a copy. It is kept until the operation is freed.
struct ViewedArray {
    std::shared_ptr<const ResultArray> array;
    std::vector<const char*> words;  // of the array
};

}  // namespace

struct echolux_operation : Handle<Kind::operation> {
    explicit echolux_operation(const std::string& name) : operation(operation_named(name).make()) {}

    bool is_first(const std::string& input) const {
        const std::vector<InputText>& inputs = operation->info().inputs;
        return !inputs.empty() && inputs.front().name == input;
    }

    std::unique_ptr<Operation> operation;
    std::unique_ptr<echolux_volume> first;  // first volume in memory of the first input; without its voxels after a run
    bool has_started = false;
    bool has_results = false;
    std::vector<std::string> warnings;
    std::string json;
    std::map<std::string, ViewedArray> viewed;
};

namespace {

// Throws BadArgument if the operation has run.
echolux_operation& prepared(echolux_operation* operation) {
    echolux_operation& one = checked_handle(operation, "operation");
    if (one.has_started) throw BadArgument("has run", "operation", "create another one");
    return one;
}

// Callers may keep an operation for long, and its inputs with it.
void release_inputs(echolux_operation& one) {
    one.operation->release_inputs();
    if (one.first != nullptr) one.first->volume.reset();
}

// Throws BadArgument unless the operation has run successfully.
const echolux_operation& finished(const echolux_operation* operation) {
    const echolux_operation& one = checked_handle(operation, "operation");
    if (!one.has_results)
        throw BadArgument("has no results", "operation", one.has_started ? "create another one" : "run it first");
    return one;
}

ResultValue result_of(const echolux_operation* operation, const char* result) {
    return finished(operation).operation->result(text_argument(result, "result"));
}

// File names may contain invalid UTF-8, which is replaced.
std::string dumped(const nlohmann::ordered_json& object) {
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// A flag is 0 or 1. NaN: the operation has no such result, for example no heart rate.
double number_of(const ResultValue& value, const char* result) {
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
    if (std::holds_alternative<std::monostate>(value)) return std::numeric_limits<double>::quiet_NaN();
    throw BadArgument("is not a number", result, "read it with echolux_operation_get_text() or _get_array()");
}

// Throws BadArgument unless the result is an array or a list of numbers.
std::shared_ptr<const ResultArray> array_of(const ResultValue& value, const char* result) {
    if (const auto* numbers = std::get_if<std::vector<double>>(&value))
        return std::make_shared<const ResultArray>(ResultArray{{std::ssize(*numbers)}, *numbers});
    const auto* array = std::get_if<std::shared_ptr<const ResultArray>>(&value);
    if (array != nullptr && *array != nullptr) return *array;
    throw BadArgument(array == nullptr ? "is not an array" : "was not computed", result,
                      "echolux_operations_json() lists the results and their types");
}

ViewedArray viewed(std::shared_ptr<const ResultArray> array) {
    ViewedArray one{std::move(array), {}};
    for (const std::string& word : one.array->words) one.words.push_back(word.c_str());
    return one;
}

echolux_array view_of(const ViewedArray& one) {
    echolux_array view{};
    constexpr std::size_t max_dims = std::size(decltype(view.shape){});
    if (one.array->shape.size() > max_dims) throw BadArgument("has more than 4 dimensions", "result");
    std::ranges::copy(one.array->shape, view.shape);
    view.dims = static_cast<std::int32_t>(one.array->shape.size());
    view.type = static_cast<std::int32_t>(one.array->values.index());
    std::visit(
        [&](const auto& values) {
            view.data = values.data();
            view.count = std::ssize(values);
        },
        one.array->values);
    view.words = one.words.empty() ? nullptr : one.words.data();
    view.word_count = std::ssize(one.words);
    return view;
}

const OperationOutput& kept_output(const echolux_operation& one, const std::string& output) {
    const OperationOutput& kept = one.operation->output(output);
    if (!kept.is_kept) throw BadArgument("was not kept", output, "call echolux_operation_keep() before it runs");
    return kept;
}

}  // namespace

echolux_status echolux_operations_json(char* buffer, size_t size, size_t* needed, echolux_error* error) {
    return guarded(error, [&] { copy_text_out(descriptions_of_operations().dump(), buffer, size, needed); });
}

echolux_status echolux_operation_create(const char* name, echolux_operation** operation, echolux_error* error) {
    return guarded(error, [&] {
        required(operation, "operation") = nullptr;
        *operation = new echolux_operation(text_argument(name, "name"));
    });
}

echolux_status echolux_operation_free(echolux_operation* operation) {
    return free_handle(operation);
}

echolux_status echolux_operation_set(echolux_operation* operation, const char* key, const char* text,
                                     echolux_error* error) {
    return guarded(error, [&] {
        echolux_operation& one = prepared(operation);
        const std::string name = text_argument(key, "key");
        one.operation->set_text(name, text_argument(text, "text"));
        if (one.is_first(name)) one.first.reset();  // a file replaces volumes in memory
    });
}

echolux_status echolux_operation_add_input(echolux_operation* operation, const char* name, const echolux_volume* volume,
                                           echolux_error* error) {
    return guarded(error, [&] {
        echolux_operation& one = prepared(operation);
        const std::string input = text_argument(name, "name");
        const echolux_volume& given = checked_handle(volume, "volume");
        one.operation->add_input(input, given.volume);
        // Results that are volumes get the time, number and geometry of the first volume.
        if (!one.is_first(input) || (one.first != nullptr && one.operation->info().inputs.front().takes_many)) return;
        one.first.reset(derived_volume(given, given.volume));
    });
}

echolux_status echolux_operation_keep(echolux_operation* operation, const char* output, echolux_error* error) {
    return guarded(error, [&] { prepared(operation).operation->keep(text_argument(output, "output")); });
}

echolux_status echolux_operation_run(echolux_operation* operation, const echolux_device* device, int32_t overwrites,
                                     echolux_progress progress, void* user, echolux_error* error) {
    return guarded(error, [&] {
        echolux_operation& one = prepared(operation);
        CallerProgress progress_shown(progress, user);
        Context context{progress_shown, backend_of(device), overwrites != 0};
        one.has_started = true;  // even if it fails: settings and inputs may have been consumed
        try {
            one.operation->run(context);
        } catch (...) {
            release_inputs(one);
            throw;
        }
        release_inputs(one);
        one.json = dumped(one.operation->json(context));
        one.warnings = std::move(context.warnings);
        one.has_results = true;
    });
}

// ---- Results

echolux_status echolux_operation_get_number(const echolux_operation* operation, const char* result, double* value,
                                            echolux_error* error) {
    return guarded(error, [&] { required(value, "value") = number_of(result_of(operation, result), result); });
}

echolux_status echolux_operation_get_text(const echolux_operation* operation, const char* result, char* buffer,
                                          size_t size, size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const ResultValue value = result_of(operation, result);
        if (std::holds_alternative<std::shared_ptr<const ResultArray>>(value))
            throw BadArgument("is an array", result, "read it with echolux_operation_get_array()");
        const auto* text = std::get_if<std::string>(&value);
        copy_text_out(text != nullptr ? *text : dumped(json_of(value)), buffer, size, needed);
    });
}

echolux_status echolux_operation_get_array(echolux_operation* operation, const char* result, echolux_array* array,
                                           echolux_error* error) {
    return guarded(error, [&] {
        finished(operation);
        const std::string name = text_argument(result, "result");
        auto& known = operation->viewed;
        auto found = known.find(name);
        if (found == known.end())
            found = known.emplace(name, viewed(array_of(result_of(operation, result), result))).first;
        copy_out(array, view_of(found->second), "array");
    });
}

echolux_status echolux_operation_get_volume(const echolux_operation* operation, const char* output,
                                            echolux_volume** volume, echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        const echolux_operation& one = finished(operation);
        const std::string name = text_argument(output, "output");
        const OperationOutput& kept = kept_output(one, name);
        if (kept.volume == nullptr)
            throw BadArgument("is not a volume", name, "read it with echolux_operation_get_bytes()");
        std::unique_ptr<echolux_volume> made(one.first != nullptr ? derived_volume(*one.first, kept.volume)
                                                                  : new echolux_volume(kept.volume));
        made->warnings.insert(made->warnings.end(), one.warnings.begin(), one.warnings.end());
        *volume = made.release();
    });
}

echolux_status echolux_operation_get_bytes(const echolux_operation* operation, const char* output, const void** bytes,
                                           size_t* count, echolux_error* error) {
    return guarded(error, [&] {
        required(bytes, "bytes") = nullptr;
        required(count, "count") = 0;
        const std::string name = text_argument(output, "output");
        const OperationOutput& kept = kept_output(finished(operation), name);
        if (kept.bytes.empty()) throw BadArgument("is a volume", name, "read it with echolux_operation_get_volume()");
        *bytes = kept.bytes.data();
        *count = kept.bytes.size();
    });
}

echolux_status echolux_operation_warnings(const echolux_operation* operation, char* buffer, size_t size, size_t* needed,
                                          echolux_error* error) {
    return guarded(error, [&] { copy_text_out(lines_of(finished(operation).warnings), buffer, size, needed); });
}

echolux_status echolux_operation_json(const echolux_operation* operation, char* buffer, size_t size, size_t* needed,
                                      echolux_error* error) {
    return guarded(error, [&] { copy_text_out(finished(operation).json, buffer, size, needed); });
}
