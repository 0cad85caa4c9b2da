// Panel that runs operations (app/operations/operation.h). Forms are drawn from the descriptions, so an operation needs
// no code here. Each part below the form has a fixed height, so that no state moves a control.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/operations/operation.h"
#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/operating.h"
#include "ui/workspace/user_folders.h"

namespace echolux {
namespace {

// ---- Files

// A row with the name of a file and a button for the file dialog.
struct FileRow {
    std::string_view name;  // of the input or output
    std::string help;
    const char* hint = "none";  // shown without a file
    std::size_t number = 0;     // of several files
    FileRequest wish{};         // `chosen` is set by the row
};

void draw_box(const PanelContext& context, OperationForm& form, FileRow& row) {
    const Style& style = context.style;
    const RowColumns places = row_places(style);
    const std::string file = form.file(row.name, row.number);
    const float gap = style.px(3), button = ImGui::GetFrameHeight();
    row_label(context, row.number == 0 ? key_text(row.name) : "");
    tooltip(context, row.help);
    ImGui::SameLine(places.control);
    ImGui::BeginGroup();
    const auto set = [&operating = context.work.operating(), &form, name = row.name, number = row.number](
                         const std::filesystem::path& path) { operating.set_file(form, name, number, path.string()); };
    const float width = places.right - places.control - button - gap;
    if (const auto typed = text_box(context, "##file", file, width, row.hint)) set(*typed);
    ImGui::SameLine(0, gap);
    if (ImGui::Button("...", {button, 0})) {
        if (!file.empty()) row.wish.suggested = file;
        row.wish.chosen = set;
        context.state.file_request = row.wish;
    }
    ImGui::EndGroup();
}

// ---- Refusals

// Frames a control. The reason is below the button Run, where it covers nothing.
void draw_refusal(const PanelContext& context, const OperationForm& form, const std::string& key) {
    const auto found = context.state.controls.places.find(key);
    const bool is_refused = form.report.error && form.report.key == key;
    if (!is_refused || found == context.state.controls.places.end() || context.state.has_sheet) return;
    const Style& style = context.style;
    const auto [left, top, right, bottom] = found->second;
    const ImU32 colour = ImGui::GetColorU32(style.warning);
    ImGui::GetWindowDrawList()->AddRect({left, top}, {right, bottom}, colour, ImGui::GetStyle().FrameRounding, 0,
                                        style.px(1.5f));
    context.state.controls.places[key + ".refused"] = found->second;
}

// ---- State of the run

std::string progress_text(const JobState& job) {
    if (job.is_cancelled) return "Cancelling.";
    if (job.total <= 0) return job.task.empty() ? "Running." : "Running: " + job.task + ".";
    return fmt::format("Running: {}, {} of {} {}.", job.task, job.done, job.total, job.unit);
}

std::string state_of(const Operating& operating, const OperationForm& form) {
    const std::optional<JobState> job = operating.job();
    if (job && operating.is_running(form)) return progress_text(*job);
    if (form.report.error) return form.report.error->line();
    if (job) return title_of(job->title) + " is running.";
    if (form.report.is_complete) return "Done.";
    return form.report.was_started ? "Cancelled." : " ";
}

void draw_state(const PanelContext& context, const Operating& operating, const OperationForm& form) {
    const bool is_refused = form.report.error && !operating.is_running(form);
    const ImVec4& colour = is_refused ? context.style.warning : context.style.muted;
    state_text(context, state_of(operating, form), 4, colour);
}

void coloured_text(const ImVec4& colour, const std::string& text) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

// Warnings, summary, files and results, in a table of fixed height.
void draw_report(const PanelContext& context, const OperationReport& report) {
    ImGui::BeginChild("report", {0, context.style.px(170)});
    if (!report.is_complete) muted_text(context, "Results and warnings appear here.");
    for (const std::string& warning : report.warnings) coloured_text(context.style.warning, warning);
    for (const std::string& line : report.lines) muted_text(context, line);
    for (const std::filesystem::path& file : report.files) figure(context, "file", short_path(file));
    for (const OperationReport::Row& row : report.rows) {
        figure(context, key_text(row.name).c_str(), row.value, unit_text(row.unit).c_str());
        note_place(context, "operation.result=" + row.name);
        tooltip(context, row.help);
    }
    ImGui::EndChild();
    note_place(context, "operation.report");
}

// ---- The panel

class OperationPanel : public NamedPanel {
  public:
    OperationPanel()
        : NamedPanel(operation_panel, "Operations", PanelSide::right, "run job process command convert simulate") {}
    bool needs_document() const override { return false; }  // it also makes files
    void draw(const PanelContext& context) override {
        for (const auto& change : std::exchange(changes_, {})) change();
        draw_choice(context);
        OperationForm& form = context.work.operating().form();
        ImGui::PushID(form.info.name.data(), form.info.name.data() + form.info.name.size());
        muted_text(context, std::string(form.info.summary));
        tooltip(context, std::string(form.info.details));
        for (const InputText& input : form.info.inputs) draw_input(context, form, input);
        draw_settings(context, form);
        for (const OutputText& output : form.info.outputs) draw_output(context, form, output);
        draw_run(context, form);
        draw_report(context, form.report);
        ImGui::PopID();
    }

  private:
    static void draw_choice(const PanelContext& context) {
        Operating& operating = context.work.operating();
        const std::string_view chosen = operating.form().info.name;
        ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
        const bool is_open = ImGui::BeginCombo("##operation", title_of(chosen).c_str(), ImGuiComboFlags_HeightLarge);
        note_place(context, "operation.choice");
        if (!is_open) return;
        for (const OperationInfo* info : operations()) {
            if (ImGui::Selectable(title_of(info->name).c_str(), info->name == chosen)) operating.choose(info->name);
            note_place(context, "operation.choice=" + std::string(info->name));
            tooltip(context, std::string(info->summary));
        }
        ImGui::EndCombo();
    }

    void draw_file(const PanelContext& context, OperationForm& form, FileRow row) {
        std::string key = form.key_of(row.name);
        if (row.number > 0) key += fmt::format("[{}]", row.number);
        ImGui::PushID(key.c_str());
        draw_box(context, form, row);
        note_place(context, key);
        tooltip(context, row.help);
        ImGui::PopID();
        draw_refusal(context, form, key);
    }

    // Inputs that take several files have an empty row at their end.
    void draw_input(const PanelContext& context, OperationForm& form, const InputText& input) {
        const bool is_first = &input == &form.info.inputs.front();
        const std::size_t files = form.files_of(input.name);
        const std::size_t rows = input.takes_many ? files + 1 : 1;
        for (std::size_t i = 0; i < rows; ++i) {
            FileRow row{.name = input.name, .help = std::string(input.help), .number = i};
            row.wish.title = title_of(input.name);
            if (i > 0) row.hint = "another one";
            if (is_first && form.uses_displayed_volume() && context.work.viewer().view_source() != nullptr)
                row.hint = "shown volume";
            draw_file(context, form, std::move(row));
        }
    }

    void draw_output(const PanelContext& context, OperationForm& form, const OutputText& output) {
        FileRow row{.name = output.name, .help = std::string(output.help)};
        const std::vector<std::string> endings = endings_of(output);
        const std::string name = output.name == "output" ? std::string(form.info.name) : std::string(output.name);
        const ViewSource* shown = context.work.viewer().view_source();
        const std::string ending = "-" + name + (endings.empty() ? "" : endings.front());
        row.wish = {.kind = FileRequest::Kind::save,
                    .title = title_of(output.name),
                    .suggested = shown != nullptr ? suggested_name(*shown, ending) : "echolux" + ending,
                    .endings = endings,
                    .chosen = {}};
        draw_file(context, form, std::move(row));
    }

    // Arguments without a heading come first. Sections fold; the first one is open.
    void draw_settings(const PanelContext& context, OperationForm& form) {
        const std::vector<Heading> headings = headings_of(form);
        for (const Heading& heading : headings) {
            const bool is_open = heading.title.empty() || section(context, heading.title.c_str(), heading.opens);
            if (!is_open) continue;
            for (const BoundField* field : heading.fields) draw_field(context, form, *field);
        }
    }

    struct Heading {
        std::string title;
        bool opens = true;
        std::vector<const BoundField*> fields{};
    };

    // Settings that have an effect, by heading. A setting that is an argument too is listed once.
    static std::vector<Heading> headings_of(const OperationForm& form) {
        const Settings& settings = form.operation->settings();
        std::vector<Heading> headings;
        for (const BoundField& field : settings.fields()) {
            const bool is_argument =
                std::ranges::find(form.info.arguments, field.name, &FieldText::name) != form.info.arguments.end();
            const bool is_own = field.section == form.info.name && is_argument;
            if ((is_argument && !is_own) || settings.disabled_by(field) != nullptr) continue;
            const Heading wanted = is_own ? Heading{std::string(field.group)} : heading_of(form.info, field);
            auto found = std::ranges::find(headings, wanted.title, &Heading::title);
            if (found == headings.end()) found = headings.insert(headings.end(), wanted);
            found->fields.push_back(&field);
        }
        return headings;
    }

    static Heading heading_of(const OperationInfo& info, const BoundField& field) {
        const auto found = std::ranges::find(info.sections, field.section, &SectionText::name);
        const bool has_title = found != info.sections.end() && !found->heading.empty();
        std::string title = has_title ? std::string(found->heading) : title_of(field.section);
        if (!field.group.empty() && field.group != title) title += ": " + std::string(field.group);
        return {title, found == info.sections.begin()};
    }

    // Changes replace the fields of the form, so they wait for the next frame.
    void draw_field(const PanelContext& context, OperationForm& form, const BoundField& field) {
        const std::string key = field.key();
        Operating& operating = context.work.operating();
        setting_row(
            context, field,
            [this, &operating, &form, key](const Value& value, Edit) {
                changes_.emplace_back([&operating, &form, key, value] { operating.set(form, key, value); });
            },
            "", [&operating, &form](const Error& error) { operating.refuse(form, error); });
        draw_refusal(context, form, key);
    }

    static void draw_run(const PanelContext& context, OperationForm& form) {
        Operating& operating = context.work.operating();
        for (const BoundField& field : form.own.fields())
            setting_row(context, field, [&field](const Value& value, Edit) { field.set(value); });
        const std::optional<JobState> job = operating.job();
        if (plain_button(context, "operation.run", "Run", "runs in the background", !job)) operating.run();
        ImGui::SameLine();
        if (plain_button(context, "operation.cancel", "Cancel", "ends the run", job.has_value())) operating.cancel();
        const bool has_share = job && operating.is_running(form) && job->total > 0;
        const float share = has_share ? static_cast<float>(job->done) / static_cast<float>(job->total) : 0.0f;
        ImGui::ProgressBar(std::clamp(share, 0.0f, 1.0f), {ImGui::GetContentRegionAvail().x, context.style.px(6)}, "");
        note_place(context, "operation.progress");
        draw_state(context, operating, form);
    }

    std::vector<std::function<void()>> changes_;
};

}  // namespace

std::unique_ptr<Panel> make_operation_panel() {
    return std::make_unique<OperationPanel>();
}

}  // namespace echolux
