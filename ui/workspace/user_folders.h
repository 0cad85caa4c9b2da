// Folders of the user: those for pictures, videos and documents, as defined by xdg-user-dirs, where files with
// generated names go, and the one with the state of the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/jobs.h"

namespace echolux {

enum class UserFolder { pictures, videos, documents };

// Returns the home folder if the folder does not exist. Accesses the disk.
std::filesystem::path user_folder(UserFolder which);
std::filesystem::path home_folder();

// Abbreviates paths below the home folder: "~/Pictures".
std::string short_path(const std::filesystem::path& path);

// ---- State of the program in one folder: recent files, the last session, and user presets. Without a folder nothing
// is stored. Files are written by a thread, see take_problems().

class StateFolder {
  public:
    // The state left over by crashed programs becomes the last session. The state of running programs is not touched.
    explicit StateFolder(std::filesystem::path folder);

    bool is_there() const { return !folder_.empty(); }

    // Recent files, newest first, whether or not they still exist.
    const std::vector<std::filesystem::path>& recent() const { return recent_; }
    void add_recent(const std::filesystem::path& path);

    // Session of the previous run; empty if there is none.
    std::filesystem::path last_session() const;
    bool last_ended_in_order() const { return last_ended_in_order_; }

    // File in which the running program stores its state.
    std::filesystem::path running_session() const;
    void keep_running_session(const std::string& toml);
    // Stores the final state. With an empty text, the session of the previous run remains. Throws Error{output}.
    void end_session(const std::string& toml);

    // Throws Error{bad_setting} for invalid names, or without a state folder.
    std::filesystem::path preset(const std::string& name) const;
    const std::vector<std::string>& presets() const { return presets_; }  // in alphabetical order
    // Throws like preset().
    void save_preset(const std::string& name, const std::string& toml);

    // Waits for pending writes. Call it before reading files that may be written.
    void finish() { writer_.finish(); }
    bool is_idle() const { return writer_.is_idle(); }

    // Returns and clears the errors of the writer thread.
    std::vector<Error> take_problems() { return writer_.take_problems(); }

  private:
    std::filesystem::path ended_session() const { return folder_ / "last.toml"; }
    void find_crashed();
    void read_recent();
    void find_presets();

    std::filesystem::path folder_;
    std::vector<std::filesystem::path> recent_;
    std::vector<std::string> presets_;
    bool last_ended_in_order_ = true;
    TextWriter writer_;
};

}  // namespace echolux
