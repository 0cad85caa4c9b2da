#include "ui/workspace/operating.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/open/open_volume.h"
#include "app/viewer/live_controller.h"
#include "engine/io/file_name.h"
#include "ui/workspace/layering.h"
#include "ui/workspace/workspace.h"
#include "ui/workspace/workspace_state.h"

namespace echolux {

template <>
const std::vector<Field<OperationOptions>>& describe<OperationOptions>() {
    using O = OperationOptions;
    static const std::vector<Field<O>> fields{
        flag("opens_result", &O::opens_result, Effect::view,
             "opens the first written volume, scan or view, unless a source is running")
            .called("open the result"),
        flag("overwrites", &O::overwrites, Effect::view,
             "replaces any existing file; otherwise only earlier results of the same kind")
            .called("replace files"),
    };
    return fields;
}

namespace {

bool is_scan_setting(const OperationInfo& info, std::string_view key) {
    const auto found = std::ranges::find(info.sections, section_of(key), &SectionText::name);
    return found != info.sections.end() && found->is_of_scan;
}

std::unique_ptr<Operation> operation_with(const OperationInfo& info, const Values& values) {
    std::unique_ptr<Operation> operation = info.make();
    for (const auto& [key, value] : values) operation->set(key, value);
    return operation;
}

// Settings of a scan are kept for its reconstruction, so they are set once more to be shown and checked.
std::unique_ptr<Operation> operation_to_show(const OperationInfo& info, const Values& values) {
    std::unique_ptr<Operation> operation = operation_with(info, values);
    for (const auto& [key, value] : values) {
        const BoundField* field = is_scan_setting(info, key) ? operation->field(key) : nullptr;
        if (field != nullptr) field->set(checked(*field, field->default_value, value, key));
    }
    return operation;
}

// Returns the key of the field that a part of Error::where() names, or an empty text.
std::string key_named(const OperationForm& form, std::string_view part) {
    const auto is_it = [&](const auto& text) { return text.name == part; };
    if (part == "volume" && form.uses_displayed_volume()) return form.key_of(form.info.inputs.front().name);
    if (std::ranges::any_of(form.info.inputs, is_it) || std::ranges::any_of(form.info.outputs, is_it))
        return form.key_of(part);
    if (const BoundField* field = form.operation->field(part)) return field->key();
    for (const auto& [name, files] : form.files) {
        const auto is_named = [&](const std::string& file) {
            return file == part || std::filesystem::path(file).filename() == part;
        };
        if (std::ranges::any_of(files, is_named)) return form.key_of(name);
    }
    return "";
}

// The last part is the most specific: "in.nrrd, filter.method". A setting may be followed by its value.
std::string key_concerned(const OperationForm& form, std::string where) {
    while (true) {
        const std::size_t comma = where.rfind(", ");
        std::string part = comma == std::string::npos ? where : where.substr(comma + 2);
        part.resize(std::min(part.find('='), part.size()));
        std::string key = key_named(form, part);
        if (!key.empty() || comma == std::string::npos) return key;
        where.resize(comma);
    }
}

OperationReport report_of(const Operation& operation, const Context& context) {
    OperationReport report{.was_started = true, .is_complete = true};
    for (const ResultText& text : operation.info().results) {
        report.rows.push_back({std::string(text.name), text_of(operation.result(text.name)), std::string(text.unit),
                               std::string(text.help)});
    }
    report.warnings = context.warnings;
    report.lines = context.lines;
    report.files = context.files;
    report.error = context.failure;
    return report;
}

// Tables and figures are shown by other programs.
bool is_opened(const OutputText& text, const std::filesystem::path& file) {
    const bool is_page = text.kind == OutputKind::table || text.kind == OutputKind::figure ||
                         figure_format_of(file) != FigureFormat::none || lower_ending(file) == ".csv";
    std::error_code problem;
    return !is_page && may_open(file) && std::filesystem::exists(file, problem);
}

// Returns the surfaces that the operation wrote, or an empty path.
std::filesystem::path surfaces_of(const Operation& operation) {
    const auto& outputs = operation.info().outputs;
    const auto found = std::ranges::find_if(outputs, &OutputText::are_surfaces);
    return found == outputs.end() ? std::filesystem::path() : operation.output(found->name).file;
}

// Returns the first result that Echolux opens in place of the document, or an empty path.
std::filesystem::path file_to_open(const Operation& operation, bool draws_surfaces) {
    for (const OutputText& text : operation.info().outputs) {
        if (text.are_surfaces && draws_surfaces) continue;
        const std::filesystem::path& file = operation.output(text.name).file;
        if (!file.empty() && is_opened(text, file)) return file;
    }
    return {};
}

}  // namespace

// ---- Form

OperationForm::OperationForm(const OperationInfo& of) : info(of), operation(of.make()) {
    own.bind("operation", options);
}

bool OperationForm::uses_displayed_volume() const {
    return !info.inputs.empty() && !info.inputs.front().is_file && files_of(info.inputs.front().name) == 0;
}

std::string OperationForm::file(std::string_view name, std::size_t number) const {
    const auto found = files.find(name);
    return found == files.end() || number >= found->second.size() ? "" : found->second[number];
}

std::size_t OperationForm::files_of(std::string_view name) const {
    const auto found = files.find(name);
    return found == files.end() ? 0 : found->second.size();
}

void Operating::choose(std::string_view name) {
    chosen_ = operation_named(name).name;
}

OperationForm& Operating::form() {
    const OperationInfo& info = chosen_.empty() ? *operations().front() : operation_named(chosen_);
    std::unique_ptr<OperationForm>& form = forms_[info.name];
    if (form == nullptr) form = std::make_unique<OperationForm>(info);
    return *form;
}

void Operating::set(OperationForm& form, const std::string& key, const Value& value) {
    Values values = form.values;
    values[key] = value;
    const BoundField* field = form.operation->field(key);
    if (field != nullptr && is_scan_setting(form.info, key) && value == field->default_value) values.erase(key);
    form.report.error.reset();
    try {
        if (field != nullptr) require_allowed(*field, value);
        form.operation = operation_to_show(form.info, values);
        form.values = std::move(values);
    } catch (const Error& error) {
        refuse(form, error);
    }
}

// Presets are read as soon as they are named.
void Operating::require_allowed(const BoundField& field, const Value& value) const {
    const auto* name = std::get_if<std::string>(&value);
    if (name == nullptr || !is_file_name(field, *name, "")) return;
    try {
        state_.require_allowed(*name);
    } catch (const Error& error) {
        throw Error(error.code(), *name + " " + error.problem(), field.key(), error.remedy());
    }
}

void Operating::set_file(OperationForm& form, std::string_view name, std::size_t number, const std::string& file) {
    std::vector<std::string>& files = form.files[std::string(name)];
    files.resize(std::max(files.size(), number + 1));
    files[number] = file;
    std::erase(files, "");
    form.report.error.reset();
}

void Operating::refuse(OperationForm& form, const Error& error) {
    form.report.error = error;
    form.report.key = key_concerned(form, error.where());
    if (form.report.key.empty()) state_.notices.report_problem("operation", error);
}

// ---- Job

std::optional<JobState> Operating::job() const {
    for (JobState& state : state_.jobs.states()) {
        if (state.id == job_) return std::move(state);
    }
    return {};
}

void Operating::cancel() {
    state_.jobs.cancel(job_);
}

void Operating::run() {
    if (job()) return;
    OperationForm& chosen = form();
    chosen.report = {};
    try {
        start(chosen);
    } catch (const Error& error) {
        refuse(chosen, error);
    }
}

void Operating::start(OperationForm& form) {
    const std::shared_ptr<Operation> operation = operation_with(form.info, form.values);
    for (const auto& [name, files] : form.files) {
        for (const std::string& file : files) operation->set_text(name, file);
    }
    check_names(form, *operation);
    const PendingVolume displayed =
        form.uses_displayed_volume() ? displayed_volume(form.info.inputs.front().name) : PendingVolume{};
    running_ = &form;
    form.report.was_started = true;
    job_ = state_.jobs.start(
        std::string(form.info.name),
        [this, &form, operation, displayed, backend = state_.viewer.backend(),
         overwrites = form.options.overwrites](Progress& progress) -> Jobs::LastStep {
            if (displayed) {
                progress.begin("fetch the volume", 0, "");
                operation->add_input(operation->info().inputs.front().name, displayed());
                progress.end();
            }
            Context context{progress, backend, overwrites};
            operation->run(context);
            return
                [this, &form, operation, report = report_of(*operation, context)] { finish(form, *operation, report); };
        },
        [this, &form](const Error& error) { refuse(form, error); }, LateCancel::keeps_result);
}

// Results must not replace what is displayed. All files must be in the allowed folders.
void Operating::check_names(const OperationForm& form, Operation& operation) const {
    for (const OutputText& text : form.info.outputs) {
        if (const std::string file = form.file(text.name); !file.empty()) state_.check_recent_name(file);
    }
    if (state_.folders() == nullptr) return;
    for (const std::filesystem::path& file : operation.files_to_read()) {
        if (!file.empty()) state_.require_allowed(file);
    }
}

PendingVolume Operating::displayed_volume(std::string_view input) const {
    ViewSource* view_source = state_.viewer.view_source();
    const bool has_volume = view_source != nullptr && !view_source->has_planes();
    const PendingVolume coming = has_volume ? view_source->begin_reading() : PendingVolume{};
    if (!coming) throw Error(ErrorCode::bad_setting, "no volume is displayed", std::string(input), "name a file");
    return coming;
}

void Operating::finish(OperationForm& form, const Operation& operation, const OperationReport& report) {
    form.report = report;
    state_.notices.settle("operation");
    const std::filesystem::path surfaces = surfaces_of(operation);
    const bool draws_surfaces = form.options.opens_result && form.uses_displayed_volume() && !surfaces.empty();
    if (draws_surfaces) work_.layering().open(work_, surfaces);
    const std::filesystem::path opened = file_to_open(operation, draws_surfaces);
    for (const std::filesystem::path& file : report.files) {
        std::error_code problem;
        const auto opener = file == opened ? NoticeFile::Opener::echolux : NoticeFile::Opener::desktop;
        state_.notices.note("operation", fmt::format("{}: saved {}", form.info.name, short_path(file)),
                            {std::filesystem::absolute(file, problem), opener});
    }
    if (report.error) refuse(form, *report.error);
    // A running source would end, with the volumes that it keeps.
    const bool may_open = state_.viewer.live() == nullptr || !state_.viewer.live()->is_running();
    if (form.options.opens_result && may_open && !opened.empty()) work_.open(opened);
}

}  // namespace echolux
