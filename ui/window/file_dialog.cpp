#include "ui/window/file_dialog.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <system_error>

#include "app/open/open_volume.h"
#include "compute/indexing.h"
#include "engine/io/file_name.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"
#include "ui/workspace/user_folders.h"

namespace echolux {
namespace {

namespace fs = std::filesystem;

bool is_pressed(ImGuiKey key) {
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key));
}

fs::path current_folder() {
    std::error_code problem;
    const fs::path folder = fs::current_path(problem);
    return problem ? home_folder() : folder;
}

bool is_folder(const fs::path& path) {
    std::error_code problem;
    return fs::is_directory(path, problem);
}

// Selects the name without its extension, so that typing replaces the name and keeps the extension.
int select_stem(ImGuiInputTextCallbackData* data) {
    int& length = *static_cast<int*>(data->UserData);
    if (length <= 0) return 0;
    data->SelectionStart = 0;
    data->SelectionEnd = data->CursorPos = std::min(length, data->BufTextLen);
    length = 0;
    return 0;
}

std::string date_text(fs::file_time_type time) {
    const auto system = std::chrono::file_clock::to_sys(time);
    const std::time_t seconds =
        std::chrono::system_clock::to_time_t(std::chrono::time_point_cast<std::chrono::system_clock::duration>(system));
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d  %H:%M", &parts);
    return text;
}

bool contains(const std::string& text, const std::string& wanted) {
    return lower_case(text).find(lower_case(wanted)) != std::string::npos;
}

// Draws text between `left` and `right` and clips it there.
void put(ImFont* font, float left, float right, float middle, const ImVec4& colour, const std::string& text) {
    const float top = std::round(middle - 0.5f * font->FontSize);
    const ImVec4 clip{left, top - font->FontSize, right, top + 2 * font->FontSize};
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, {left, top}, ImGui::GetColorU32(colour), text.c_str(),
                                        nullptr, 0, &clip);
}

}  // namespace

void FileDialog::ask(Workspace& work, FileRequest request) {
    request_ = std::move(request);
    typed_ = request_.kind == FileRequest::Kind::save ? fs::path(request_.suggested).filename().string() : "";
    shows_all_ = false;
    asks_to_replace_.clear();
    recent_folders_.clear();
    for (const fs::path& path : work.recent()) {
        const fs::path folder = path.parent_path();
        const bool is_allowed = work.folders() == nullptr || work.folders()->hold(folder);
        if (!folder.empty() && is_allowed && std::ranges::find(recent_folders_, folder) == recent_folders_.end()) {
            recent_folders_.push_back(folder);
        }
    }
    ending_ = ending_of(typed_);
    stem_length_ = static_cast<int>(typed_.size() - ending_.size());
    folder_ = first_folder(work);
    go_to(work, folder_);
    begins_typing_ = true;
    open();
}

// Chooses the initial folder: that of the suggested name, then that of the last saved or opened file. The current
// folder of the shell is a poor default.
fs::path FileDialog::first_folder(const Workspace& work) const {
    const fs::path suggested = fs::path(request_.suggested).parent_path();
    if (!suggested.empty()) return suggested;
    const fs::path saved = work.settings().window().save_folder;
    if (request_.kind == FileRequest::Kind::save) {
        if (is_folder(saved)) return saved;
        return folder_.empty() ? work.keeping_folder(UserFolder::documents) : folder_;
    }
    if (!folder_.empty()) return folder_;
    return recent_folders_.empty() ? home_folder() : recent_folders_.front();
}

// Returns the longest requested extension that the name has, or an empty text.
std::string FileDialog::ending_of(const std::string& name) const {
    std::string found;
    for (const std::string& ending : request_.endings) {
        if (ending.size() > found.size() && has_ending(name, {ending})) found = ending;
    }
    return found;
}

// Completes a name to save under with the previous extension if it has none.
fs::path FileDialog::complete(const fs::path& path) const {
    if (request_.kind != FileRequest::Kind::save || request_.endings.empty() || !ending_of(path.string()).empty())
        return path;
    return fs::path(path.string() + (ending_.empty() ? request_.endings.front() : ending_));
}

// Reads the folder in a job, because it may be on a slow disk. Folders outside the allowed ones are replaced by the
// first allowed folder.
void FileDialog::go_to(Workspace& work, const fs::path& folder) {
    folder_ = folder.is_absolute() ? folder.lexically_normal() : (current_folder() / folder).lexically_normal();
    if (!folder_.has_filename() && folder_.has_parent_path() && folder_ != folder_.root_path()) {
        folder_ = folder_.parent_path();  // "a/b/" becomes "a/b"
    }
    const AllowedFolders* limits = work.folders();
    if (limits != nullptr && !limits->hold(folder_)) folder_ = limits->all().front();
    chosen_ = 0;
    if (request_.kind != FileRequest::Kind::save) typed_.clear();
    begins_typing_ = true;
    listing_ = std::make_shared<FolderListing>();
    work.jobs().start(
        "reading " + folder_.string(),
        [folder = folder_, target = listing_](Progress&) -> Jobs::LastStep {
            return [target, listing = list_folder(folder)] { *target = listing; };
        },
        [target = listing_](const Error& error) { target->problem = error.line(); });
}

// Typing filters the list, except while saving or while a path is typed.
bool FileDialog::fits(const FolderEntry& entry) const {
    const bool narrows = request_.kind != FileRequest::Kind::save && typed_.find('/') == std::string::npos;
    if (narrows && !contains(entry.name, typed_)) return false;
    if (entry.is_folder) return true;
    if (request_.kind == FileRequest::Kind::folder) return false;
    if (shows_all_) return true;
    return request_.endings.empty() ? request_.kind == FileRequest::Kind::save || may_open(entry.name)
                                    : has_ending(entry.name, request_.endings);
}

std::vector<const FolderEntry*> FileDialog::fitting() const {
    std::vector<const FolderEntry*> found;
    for (const FolderEntry& entry : listing_->entries) {
        if (fits(entry)) found.push_back(&entry);
    }
    return found;
}

void FileDialog::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    const Style& style = context.style;
    begin_sheet(context, size, "files", {900, 620});
    title(context, request_.title.c_str());
    draw_path(context);
    const float below = ImGui::GetFrameHeight() * 2 + ImGui::GetStyle().ItemSpacing.y * 3;
    const float height = ImGui::GetContentRegionAvail().y - below;
    ImGui::BeginChild("places", {style.px(180), height});
    draw_places(context);
    ImGui::EndChild();
    ImGui::SameLine();
    draw_list(context, height);
    draw_answer(context);
    end_sheet();
}

void FileDialog::draw_places(const PanelContext& context) {
    std::vector<std::pair<std::string, fs::path>> places{
        {"Home", home_folder()}, {"Current folder", current_folder()}, {"Computer", "/"}};
    if (const AllowedFolders* limits = context.work.folders(); limits != nullptr) {
        places.clear();
        for (const fs::path& folder : limits->all()) places.emplace_back(folder.filename().string(), folder);
    }
    for (std::size_t i = 0; i < places.size() + recent_folders_.size(); ++i) {
        const bool is_recent = i >= places.size();
        if (i == places.size()) {
            ImGui::Dummy({0, context.style.px(6)});
            ImGui::TextColored(context.style.muted, "Recent");
        }
        const fs::path& folder = is_recent ? recent_folders_[i - places.size()] : places[i].second;
        const std::string name = is_recent ? folder.filename().string() : places[i].first;
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::Selectable(name.c_str(), folder == folder_)) go_to(context.work, fs::path(folder));
        ImGui::PopID();
        tooltip(context, folder.string());
    }
}

// The parts of the path are buttons that lead to the parent folders.
void FileDialog::draw_path(const PanelContext& context) {
    ImGui::PushStyleColor(ImGuiCol_Button, {0, 0, 0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {context.style.px(5), context.style.px(3)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {context.style.px(1), context.style.px(6)});
    fs::path so_far, wanted;
    int number = 0;
    for (const fs::path& part : folder_) {
        so_far /= part;
        ImGui::PushID(number++);
        if (number > 2) {
            ImGui::SameLine();
            ImGui::TextColored(context.style.muted, "/");
        }
        if (number > 1) ImGui::SameLine();
        if (ImGui::Button(part == fs::path("/") ? "/" : part.string().c_str())) wanted = so_far;
        ImGui::PopID();
    }
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
    if (!wanted.empty()) go_to(context.work, wanted);
}

// A double click opens the entry. Returns true if the row was clicked, because the list may have changed then.
bool FileDialog::draw_row(const PanelContext& context, const FolderEntry& entry, int number) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = style.px(26), middle = at.y + 0.5f * height;
    ImGui::PushID(number);
    const bool clicked = ImGui::InvisibleButton("row", {width, height});
    ImGui::PopID();
    note_place(context, "file." + entry.name);
    const bool continues = ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0);
    if (number == chosen_ && follows_) ImGui::SetScrollHereY();
    if (number == chosen_ || ImGui::IsItemHovered()) {
        ImGui::GetWindowDrawList()->AddRectFilled(
            at, {at.x + width, at.y + height},
            ImGui::GetColorU32(number == chosen_ ? ImGuiCol_HeaderHovered : ImGuiCol_FrameBg), style.px(4));
    }
    const float right = at.x + width - style.px(8), date_left = right - style.px(134),
                size_left = date_left - style.px(84);
    put(entry.is_folder ? style.strong : style.text, at.x + style.px(8), size_left - style.px(10), middle, style.ink,
        entry.is_folder ? entry.name + "/" : entry.name);
    if (!entry.is_folder)
        put(style.text, size_left, date_left, middle, style.muted, bytes_text(static_cast<double>(entry.bytes)));
    put(style.text, date_left, right, middle, style.muted, date_text(entry.changed));
    if (clicked || continues) {
        chosen_ = number;
        take(context, entry, continues);
    }
    return clicked || continues;
}

void FileDialog::draw_list(const PanelContext& context, float height) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, context.style.surface);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {context.style.px(6), context.style.px(6)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::BeginChild("list", {0, height}, false, ImGuiWindowFlags_AlwaysUseWindowPadding);
    const std::shared_ptr<FolderListing> listing = listing_;  // a row may open another folder
    const std::vector<const FolderEntry*> found = fitting();
    chosen_ = std::clamp(chosen_, 0, std::max(static_cast<int>(found.size()) - 1, 0));
    follows_ = is_pressed(ImGuiKey_DownArrow) || is_pressed(ImGuiKey_UpArrow);
    if (is_pressed(ImGuiKey_DownArrow))
        chosen_ = std::min(chosen_ + 1, std::max(static_cast<int>(found.size()) - 1, 0));
    if (is_pressed(ImGuiKey_UpArrow)) chosen_ = std::max(chosen_ - 1, 0);
    for (int i = 0; i < static_cast<int>(found.size()); ++i) {
        const bool far = ImGui::GetCursorScreenPos().y > ImGui::GetWindowPos().y + 2 * height;
        if (far && i != chosen_) {  // skip rows far below the visible area
            ImGui::Dummy({0, context.style.px(26) * static_cast<float>(static_cast<int>(found.size()) - i)});
            break;
        }
        if (draw_row(context, *found[index(i)], i)) break;
    }
    if (!listing->problem.empty())
        muted_text(context, folder_.string() + ": " + listing->problem);
    else if (found.empty())
        muted_text(context, typed_.empty() ? "No files that can be opened" : "No matching file");
    ImGui::PopStyleVar(2);
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

void FileDialog::draw_answer(const PanelContext& context) {
    const Style& style = context.style;
    const bool saves = request_.kind == FileRequest::Kind::save;
    if (begins_typing_) ImGui::SetKeyboardFocusHere();
    begins_typing_ = false;
    ImGui::SetNextItemWidth(-1);
    const auto flags = ImGuiInputTextFlags_EnterReturnsTrue | (saves ? ImGuiInputTextFlags_CallbackAlways : 0);
    const bool takes = ImGui::InputTextWithHint("##typed", saves ? "Name" : "Filter, or enter a path", &typed_, flags,
                                                saves ? select_stem : nullptr, &stem_length_);
    note_place(context, "files.typed");
    if (ImGui::IsItemEdited()) asks_to_replace_.clear();
    // Backspace in an empty box leads to the parent folder.
    const bool goes_up =
        !saves && typed_.empty() && ImGui::IsItemActive() && is_pressed(ImGuiKey_Backspace) && !ImGui::IsItemEdited();
    if (request_.kind == FileRequest::Kind::open) {
        ImGui::Checkbox("All files", &shows_all_);
        note_place(context, "files.all");
        ImGui::SameLine();
        if (plain_button(context, "files.folder", "Open this folder",
                         "Open as a series: one volume file per time point")) {
            answer(context, folder_);
        }
    } else if (!asks_to_replace_.empty()) {
        ImGui::AlignTextToFramePadding();
        ImGui::TextColored(style.warning, "This file exists. Click Save again to replace it.");
    } else {
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted("");
    }
    const float button = style.px(110);
    ImGui::SameLine(ImGui::GetWindowWidth() - style.px(20) - 2 * button - ImGui::GetStyle().ItemSpacing.x);
    if (ImGui::Button("Cancel", {button, 0})) close();
    note_place(context, "files.cancel");
    ImGui::SameLine();
    const char* label = saves ? "Save" : request_.kind == FileRequest::Kind::folder ? "Choose this folder" : "Open";
    const bool pressed = primary_button(context, "files.answer", label, button);
    if (is_open() && goes_up) go_to(context.work, folder_.parent_path());
    if (is_open() && pressed && request_.kind == FileRequest::Kind::folder)
        answer(context, folder_);
    else if (is_open() && (takes || pressed))
        enter(context);
}

// Handles Enter and the main button: accepts a typed path, or the selected row. An existing file is replaced only on
// the second request.
void FileDialog::enter(const PanelContext& context) {
    begins_typing_ = true;
    std::error_code problem;
    if (request_.kind == FileRequest::Kind::save || typed_.find('/') != std::string::npos) {
        if (typed_.empty()) return;
        const fs::path typed = typed_.starts_with("~/") ? home_folder() / typed_.substr(2) : fs::path(typed_);
        const fs::path entered = typed.is_absolute() ? typed : folder_ / typed;
        if (is_folder(entered)) {
            if (request_.kind == FileRequest::Kind::save) typed_.clear();
            go_to(context.work, entered);
            return;
        }
        const fs::path path = complete(entered);
        if (request_.kind == FileRequest::Kind::save && fs::exists(path, problem) && asks_to_replace_ != path) {
            asks_to_replace_ = path;
            return;
        }
        answer(context, path);
        return;
    }
    const std::vector<const FolderEntry*> found = fitting();
    if (!found.empty()) take(context, FolderEntry(*found[index(chosen_)]), true);
}

// `continues` opens the entry; otherwise it is only selected.
void FileDialog::take(const PanelContext& context, const FolderEntry& entry, bool continues) {
    const fs::path path = folder_ / entry.name;
    begins_typing_ = true;
    if (!continues) {
        if (request_.kind == FileRequest::Kind::save && !entry.is_folder) take_name(entry.name);
    } else if (entry.is_folder) {
        go_to(context.work, path);
    } else if (request_.kind == FileRequest::Kind::save) {
        take_name(entry.name);
    } else {
        answer(context, path);
    }
}

void FileDialog::take_name(const std::string& name) {
    typed_ = name;
    if (const std::string ending = ending_of(name); !ending.empty()) ending_ = ending;
}

// Closes the dialog before the callback runs. Names outside the allowed folders become an error.
void FileDialog::answer(const PanelContext& context, const fs::path& path) {
    close();
    attempt(context, "files", [&] {
        if (const AllowedFolders* limits = context.work.folders(); limits != nullptr) limits->within(path);
        if (request_.kind == FileRequest::Kind::save) {
            context.work.change("window.save_folder", path.parent_path().lexically_normal().string());
        }
        if (request_.chosen) request_.chosen(path);
    });
}

// ---- Folder listing

static bool goes_before(const FolderEntry& a, const FolderEntry& b) {
    if (a.is_folder != b.is_folder) return a.is_folder;
    const std::string one = lower_case(a.name), other = lower_case(b.name);
    return one != other ? one < other : a.name < b.name;
}

FolderListing list_folder(const std::filesystem::path& folder, std::size_t max_entries) {
    FolderListing listing{folder, {}, {}};
    std::error_code problem;
    std::filesystem::directory_iterator entry(folder, problem);
    const std::filesystem::directory_iterator end;
    while (!problem && entry != end && listing.entries.size() < max_entries) {
        FolderEntry found{entry->path().filename().string(), false, 0, {}};
        std::error_code gone;  // the entry may be deleted while the folder is read
        found.is_folder = entry->is_directory(gone);
        if (!found.is_folder) found.bytes = entry->file_size(gone);
        if (gone) found.bytes = 0;
        found.changed = entry->last_write_time(gone);
        if (!found.name.starts_with('.')) listing.entries.push_back(std::move(found));
        entry.increment(problem);
    }
    if (problem) listing.problem = problem.message();
    std::ranges::sort(listing.entries, goes_before);
    return listing;
}

bool has_ending(std::string_view name, const std::vector<std::string>& endings) {
    if (endings.empty()) return true;
    const std::string plain = lower_case(std::string(name));
    return std::ranges::any_of(endings,
                               [&plain](const std::string& ending) { return plain.ends_with(lower_case(ending)); });
}

}  // namespace echolux
