#include "ui/cli/standard_streams.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "engine/io/unfinished_files.h"
#include "ui/cli/telling.h"

namespace echolux {
namespace {

// Temporary folder with the files that replace standard input and output. Removed when the program ends.
class Streams {
  public:
    ~Streams() {
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    }

    // Copies standard input to a file and returns its name. Throws Error if it was read before or is empty.
    std::string take_input(const std::string& ending) {
        if (std::exchange(has_input_, true)) {
            throw Error(ErrorCode::bad_setting, "standard input can be read once", "-", "name a file instead");
        }
        const std::filesystem::path file = folder() / "stdin";
        spool(file);
        if (std::filesystem::file_size(file) == 0)
            throw Error(ErrorCode::bad_file, "is empty", "standard input", "pipe a file into it");
        const std::filesystem::path named = file.string() + ending_by_content(file, ending);
        std::filesystem::rename(file, named);
        call(named, "standard input");
        return named.string();
    }

    // Returns the name of the file that deliver() will copy. From then on, messages go to standard error.
    std::string promise_output(const std::string& ending, bool is_binary) {
        if (!output_.empty() || telling().is_json) {
            throw Error(ErrorCode::bad_setting, "standard output can carry one thing", "-",
                        telling().is_json ? "leave out --json, or name a file" : "name a file instead");
        }
        if (is_binary && isatty(STDOUT_FILENO) != 0) {
            throw Error(ErrorCode::bad_setting, "standard output is a terminal", "-",
                        "pipe it into a program or a file");
        }
        telling().streams_out = true;
        output_ = folder() / ("stdout" + ending);
        call(output_, "standard output");
        return output_.string();
    }

    // Copies the file to standard output. Throws std::system_error if the pipe was closed.
    void deliver() {
        if (output_.empty()) return;
        std::ifstream file(output_, std::ios::binary);
        std::vector<char> part(1 << 20);
        while (file) {
            file.read(part.data(), std::ssize(part));
            const auto count = static_cast<std::size_t>(file.gcount());
            errno = 0;
            if (std::fwrite(part.data(), 1, count, stdout) == count) continue;
            throw std::system_error(errno, std::generic_category(), "standard output");
        }
    }

  private:
    // Makes later messages print `plain` instead of the temporary path or file name.
    static void call(const std::filesystem::path& file, const std::string& plain) {
        telling().stand_ins.emplace_back(file.string(), plain);
        telling().stand_ins.emplace_back(file.filename().string(), plain);
    }

    // Created on first use.
    const std::filesystem::path& folder() {
        if (!folder_.empty()) return folder_;
        std::string name = (std::filesystem::temp_directory_path() / "echolux-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw Error(ErrorCode::output, "no temporary folder can be made", name, "set TMPDIR to one with room");
        }
        unfinished_.emplace(name);
        return folder_ = name;
    }

    // Copies standard input to a file, because readers need to seek.
    static void spool(const std::filesystem::path& file) {
        std::ofstream to(file, std::ios::binary);
        std::vector<char> part(1 << 20);
        while (const std::size_t count = std::fread(part.data(), 1, part.size(), stdin)) {
            to.write(part.data(), static_cast<std::streamsize>(count));
        }
        if (!to.flush()) {
            throw Error(ErrorCode::output, "standard input does not fit into a temporary file", file.string(),
                        "set TMPDIR to a folder with room");
        }
    }

    // Detects the format from the first bytes.
    static std::string ending_by_content(const std::filesystem::path& file, const std::string& otherwise) {
        using namespace std::string_view_literals;
        constexpr std::array<std::pair<std::string_view, std::string_view>, 6> known{{{"\x93NUMPY"sv, ".npy"sv},
                                                                                      {"NRRD"sv, ".nrrd"sv},
                                                                                      {"\x89PNG"sv, ".png"sv},
                                                                                      {"II*\0"sv, ".tif"sv},
                                                                                      {"\x89HDF"sv, ".h5"sv},
                                                                                      {"ObjectType"sv, ".mha"sv}}};
        std::array<char, 16> start{};
        std::ifstream(file, std::ios::binary).read(start.data(), start.size());
        for (const auto& [magic, ending] : known) {
            if (std::string_view(start.data(), start.size()).starts_with(magic)) return std::string(ending);
        }
        return otherwise;
    }

    std::filesystem::path folder_, output_;
    std::optional<UnfinishedName> unfinished_;  // removes the folder if the program is stopped
    bool has_input_ = false;
};

Streams& streams() {
    static Streams both;
    return both;
}

}  // namespace

std::string input_named(const std::string& name, const std::string& ending) {
    return name == "-" ? streams().take_input(ending) : name;
}

std::string output_named(const std::string& name, const std::string& ending, bool is_binary) {
    return name == "-" ? streams().promise_output(ending, is_binary) : name;
}

void deliver_output() {
    streams().deliver();
}

}  // namespace echolux
