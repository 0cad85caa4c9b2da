#include "ui/control/operation_methods.h"

#include <algorithm>
#include <string>

#include "compute/error.h"
#include "compute/plural.h"
#include "engine/io/file_name.h"
#include "ui/control/methods.h"

namespace echolux {
namespace {

using Json = nlohmann::json;

// Returns the name with an absolute path if the key takes one, after checking that it is allowed.
std::string allowed_text(const Operation& operation, const std::string& key, std::string text,
                         const KnownSettings& known, const AllowedFolders& folders) {
    const auto is_it = [&](const auto& one) { return one.name == key; };
    const OperationInfo& info = operation.info();
    if (std::ranges::any_of(info.inputs, is_it) || std::ranges::any_of(info.outputs, is_it))
        return text.empty() ? text : folders.within(text).string();
    const BoundField* field = operation.field(key);
    const bool is_joined = field != nullptr && field->section == info.name && field->name == info.joined_argument;
    if (is_joined) return allowed_parts(text, folders);
    if (field == nullptr) field = known.description(key);
    return field == nullptr ? text : allowed_name(*field, text, &folders);
}

bool is_list_of_texts(const Json& value) {
    return value.is_array() && !value.empty() &&
           std::ranges::all_of(value, [](const Json& one) { return one.is_string(); });
}

// A text may spell a value of another type, as on a command line. null is the default.
void set_argument(Operation& operation, const std::string& key, const Json& value, const KnownSettings& known,
                  const AllowedFolders& folders) {
    if (value.is_null()) return;
    // Settings of scans become assignments, so a key must not contain a value.
    if (key.find('=') != key.npos) throw Error(ErrorCode::bad_setting, "is not a key", key.substr(0, 100));
    const std::vector<InputText>& inputs = operation.info().inputs;
    const auto takes_many = [&](const InputText& input) { return input.takes_many && input.name == key; };
    const bool is_list = is_list_of_texts(value) && std::ranges::any_of(inputs, takes_many);
    if (value.is_string() || is_list) {
        for (const std::string& text : texts_of(value))
            operation.set_text(key, allowed_text(operation, key, text, known, folders));
        return;
    }
    const std::optional<Value> given = setting_value(value);
    if (!given) throw Error(ErrorCode::bad_setting, "expected one value or a list of numbers", key.substr(0, 100));
    operation.set(key, *given);
}

}  // namespace

std::string allowed_parts(std::string_view joined, const AllowedFolders& folders) {
    std::string allowed;
    for (std::size_t from = 0; from <= joined.size();) {
        const std::size_t plus = std::min(joined.find('+', from), joined.size());
        std::string part(joined.substr(from, plus - from));
        if (part.ends_with(".toml")) part = folders.within(part).string();
        allowed += (from == 0 ? "" : "+") + part;
        from = plus + 1;
    }
    return allowed;
}

std::shared_ptr<Operation> requested_operation(const Json& params, const KnownSettings& known,
                                               const AllowedFolders& folders) {
    const std::shared_ptr<Operation> operation = operation_named(params.at("name").get<std::string>()).make();
    for (const auto& [key, value] : params.at("arguments").items())
        set_argument(*operation, key, value, known, folders);
    // Names in a scan are relative to its folder. Names that did not look like files are relative to the current one.
    for (const std::filesystem::path& file : operation->files_to_read()) {
        if (!file.empty()) folders.within(std::filesystem::absolute(file));
    }
    return operation;
}

void RunningOperations::start(const std::shared_ptr<Operation>& operation, const BackendChoice& backend,
                              bool overwrites, const std::shared_ptr<nlohmann::ordered_json>& result) {
    if (std::ssize(running()) >= max_running_) {
        throw Error(ErrorCode::bad_setting, plural(max_running_, "operations") + " run already", "operation.run",
                    "wait for one of them to end, or cancel one");
    }
    const auto work = [operation, backend, overwrites, result](Progress& progress) -> Jobs::LastStep {
        Context context{progress, backend, overwrites};
        operation->run(context);
        return [result, json = operation->json(context)] { *result = json; };
    };
    // The client receives errors, so the window shows none. Files of a complete operation exist, so its result is kept.
    started_.insert(jobs_.start(
        std::string(operation->info().name), work, [](const Error&) {}, LateCancel::keeps_result));
}

std::set<std::uint64_t> RunningOperations::running() {
    std::set<std::uint64_t> running;
    for (const JobState& state : jobs_.states()) {
        if (started_.contains(state.id)) running.insert(state.id);
    }
    return started_ = running;
}

std::vector<std::uint64_t> RunningOperations::cancel(std::uint64_t job) {
    const std::set<std::uint64_t> running = this->running();
    if (job != 0 && !running.contains(job)) {
        throw Error(ErrorCode::bad_setting, "is not a running operation", "operation.cancel, job",
                    "`state` lists the jobs");
    }
    std::vector<std::uint64_t> cancelled;
    for (const std::uint64_t one : running) {
        if (job != 0 && one != job) continue;
        jobs_.cancel(one);
        cancelled.push_back(one);
    }
    return cancelled;
}

}  // namespace echolux
