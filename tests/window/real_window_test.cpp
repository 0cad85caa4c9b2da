// The program in a real window on its own screen (Xvfb), with pointer and keys controlled by xdotool. The screen is
// read from Xvfb's memory. Skipped if either tool is not installed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "await.h"
#include "engine/io/volume_file.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

using Strings = std::vector<std::string>;

// A child process that is killed at the end of the test at the latest.
class Running {
  public:
    Running(const Strings& command, const std::string& output) {
        process_ = fork();
        if (process_ != 0) return;
        const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        std::vector<char*> arguments;
        for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
        arguments.push_back(nullptr);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    ~Running() {
        if (process_ <= 0 || ended()) return;
        kill(process_, SIGTERM);
        if (becomes_true([this] { return ended(); }, std::chrono::seconds(10))) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    bool ended() {
        if (process_ > 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = 0;
        return process_ == 0;
    }
    int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }

  private:
    pid_t process_ = 0;
    int status_ = 0;
};

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the first complete line that is a number, or an empty string. Xvfb also prints other messages while it looks
// for a free display.
std::string number_in(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line) && !in.eof()) {
        if (!line.empty() && line.find_first_not_of("0123456789") == std::string::npos) return line;
    }
    return {};
}

// Waits for up to two minutes. On timeout, reports what it waited for. Compares whole screens, so it does so rarely.
bool wait_until(const char* what, const std::function<bool()>& is_so) {
    if (becomes_true(is_so, std::chrono::minutes(2), std::chrono::milliseconds(50))) return true;
    ADD_FAILURE() << "waited two minutes for " << what;
    return false;
}

class RealWindow : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* tool : {"Xvfb", "xdotool"}) {
            if (std::system((std::string("command -v ") + tool + " > /dev/null").c_str()) != 0) {
                GTEST_SKIP() << tool << " is not installed: no test of a real window";
            }
        }
        std::filesystem::create_directory(folder_ / "screen");
        const std::string number = (folder_ / "display").string();
        screen_ = std::make_unique<Running>(Strings{"Xvfb", "-displayfd", "1", "-screen", "0", "1200x760x24",
                                                    "-nolisten", "tcp", "-fbdir", (folder_ / "screen").string()},
                                            number);
        ASSERT_TRUE(wait_until("a display", [&] { return !number_in(number).empty() || screen_->ended(); }))
            << text_of(number);
        ASSERT_FALSE(screen_->ended()) << text_of(number);
        setenv("DISPLAY", (":" + number_in(number)).c_str(), 1);
        unsetenv("WAYLAND_DISPLAY");
        const auto is_answering = [&] { return !hand("getdisplaygeometry").empty() || screen_->ended(); };
        ASSERT_TRUE(wait_until("an answer of the display", is_answering));
        ASSERT_FALSE(screen_->ended()) << text_of(number);
    }

    void TearDown() override {
        program_.reset();
        screen_.reset();
        unsetenv("DISPLAY");
    }

    void start(const Strings& arguments) {
        Strings command{ECHOLUX_PROGRAM, "view", "--fresh", "--size", "1200x760", "--set", "view.rest_samples=2"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        program_ = std::make_unique<Running>(command, said());
    }
    std::string said() { return (folder_ / "said").string(); }

    // Returns the output of xdotool, or an empty string if it fails.
    std::string hand(const std::string& what) {
        const std::string file = (folder_ / "hand").string();
        return std::system(("xdotool " + what + " > " + file + " 2>/dev/null").c_str()) == 0 ? text_of(file) : "";
    }

    // Returns all bytes of the screen.
    std::string screen() { return text_of(folder_ / "screen" / "Xvfb_screen0"); }

    static double changed(const std::string& a, const std::string& b) {
        if (a.size() != b.size() || a.empty()) return 1;
        std::size_t different = 0;
        for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i] ? 1 : 0;
        return static_cast<double>(different) / static_cast<double>(a.size());
    }

    // Waits until the picture is the same several times in a row.
    bool await_still_picture() {
        std::string before;
        int same = 0;
        constexpr int seen_as_still = 15;
        const auto is_still = [&] {
            std::string now = screen();
            same = changed(before, now) < 1e-5 ? same + 1 : 0;
            before = std::move(now);
            return same >= seen_as_still || program_->ended();
        };
        return wait_until("a picture that stays", is_still) && !program_->ended();
    }

    TemporaryFolder folder_;
    std::unique_ptr<Running> screen_, program_;
};

void write_ramp(const std::filesystem::path& path) {
    Volume volume;
    volume.grid.depth = volume.grid.a_scans = volume.grid.b_scans = 32;
    volume.grid.type = VoxelType::u8;
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i)
        volume.voxels.push_back(static_cast<std::byte>(i % 32 * (i / 32 % 32) / 4));
    write_volume(path, volume);
}

TEST_F(RealWindow, ShowsVolumeTurnsItAndEnds) {
    write_ramp(folder_ / "ramp.nrrd");
    start({(folder_ / "ramp.nrrd").string()});
    ASSERT_TRUE(wait_until("the window",
                           [&] { return !hand("search --name 'ramp.nrrd - Echolux'").empty() || program_->ended(); }));
    ASSERT_FALSE(program_->ended()) << text_of(said());
    ASSERT_TRUE(await_still_picture()) << text_of(said());
    const std::string before = screen();

    hand("mousemove 500 250 mousedown 1 mousemove_relative -- 80 20 mousemove_relative -- 40 10 mouseup 1");
    EXPECT_TRUE(wait_until("the volume to turn", [&] { return changed(before, screen()) > 0.005; }));
    ASSERT_TRUE(await_still_picture());
    const std::string turned = screen();

    hand("key ctrl+k");
    EXPECT_TRUE(wait_until("the palette", [&] { return changed(turned, screen()) > 0.005; }));
    hand("key Escape");
    EXPECT_TRUE(wait_until("the palette to go", [&] { return changed(turned, screen()) < 0.005; }));
    hand("key ctrl+q");
    ASSERT_TRUE(wait_until("the program to end", [&] { return program_->ended(); }));
    EXPECT_EQ(program_->exit_code(), 0) << text_of(said());
}

// Without any screen, the program reports it and explains how to work without one.
TEST(WithoutAScreen, ExplainsRemedy) {
    const TemporaryFolder folder;
    const std::string said = (folder / "said").string();
    const int status =
        std::system(("env -u DISPLAY -u WAYLAND_DISPLAY " ECHOLUX_PROGRAM " view --fresh > " + said + " 2>&1").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1);
    const std::string line = text_of(said);
    EXPECT_NE(line.find("display"), std::string::npos) << line;
    EXPECT_NE(line.find("echolux live --headless"), std::string::npos) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
}

}  // namespace
}  // namespace echolux::test
