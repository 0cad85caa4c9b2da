// The program's state in one folder: recent files, the state of the last session, the user's presets. Nothing
// is kept where there is no folder. Files are written by a thread: see take_problems().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session/text_writer.h"

namespace echolux {

class StateFolder {
  public:
    // What programs that did not end in order left behind becomes the last session; those that run now keep theirs.
    explicit StateFolder(std::filesystem::path folder);

    bool is_there() const { return !folder_.empty(); }

    // Newest first, whether they are still there or not.
    const std::vector<std::filesystem::path>& recent() const { return recent_; }
    void add_recent(const std::filesystem::path& path);

    // Of the program that ran before; empty: there is none.
    std::filesystem::path last_session() const;
    bool last_ended_in_order() const { return last_ended_in_order_; }

    // Where the running program keeps its state: it becomes the last session.
    std::filesystem::path running_session() const;
    void keep_running_session(const std::string& toml);
    // The program ends in order; empty: the last session stays that of the program before. Throws Error{output}.
    void end_session(const std::string& toml);

    // Throws Error{bad_setting} for a name that no file can have, or where nothing is kept.
    std::filesystem::path preset(const std::string& name) const;
    const std::vector<std::string>& presets() const { return presets_; }  // in alphabetical order
    // Throws as preset().
    void save_preset(const std::string& name, const std::string& toml);

    // Before files are read that may just be written.
    void finish() { writer_.finish(); }
    bool is_idle() const { return writer_.is_idle(); }

    // What could not be written.
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
