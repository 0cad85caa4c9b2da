// Trials in a forked process: see trial.h. The copy has this thread alone, touches nothing but the file, writes nothing
// and ends without the cleaning up that is this process's. What came of it is told through a pipe.
#include "engine/io/trial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "compute/error.h"

namespace echolux {
namespace {

constexpr char came_to_its_end = 'e', was_refused = 'r';

// The texts of an error, each ended by a zero.
std::string told(const Error& error) {
    std::string text{was_refused, static_cast<char>(error.code())};
    for (const std::string* part : {&error.problem(), &error.where(), &error.remedy()})
        text.append(part->c_str()).push_back('\0');
    return text;
}

[[noreturn]] void throw_told(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 2; at < text.size(); at += parts.back().size() + 1) parts.emplace_back(text.c_str() + at);
    parts.resize(3);
    throw Error(static_cast<ErrorCode>(text[1]), parts[0], parts[1], parts[2]);
}

rlim_t address_space_bytes() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void set_limit(decltype(RLIMIT_AS) of, rlim_t max) {
    const rlimit limit{max, max};
    setrlimit(of, &limit);
}

[[noreturn]] void run_in_copy(const std::function<void()>& work, const TrialBounds& bounds, int tell) {
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) signal(fault, SIG_DFL);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_AS, address_space_bytes() + static_cast<rlim_t>(bounds.max_bytes));
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);  // last words of the C library
    alarm(bounds.longest_s);
    std::string end{came_to_its_end};
    try {
        work();
    } catch (const Error& error) {
        end = told(error);
    } catch (...) {  // no memory
        _exit(1);
    }
    _exit(write(tell, end.data(), end.size()) == std::ssize(end) ? 0 : 1);
}

std::string heard(int from) {
    std::string all;
    std::array<char, 4096> some{};
    for (;;) {
        const ssize_t count = read(from, some.data(), some.size());
        if (count > 0) all.append(some.data(), static_cast<std::size_t>(count));
        if (count == 0 || (count < 0 && errno != EINTR)) return all;
    }
}

}  // namespace

bool survives(const std::function<void()>& work, const TrialBounds& bounds) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return true;
    const pid_t copy = fork();
    if (copy == 0) run_in_copy(work, bounds, ends[1]);
    close(ends[1]);
    const std::string text = copy > 0 ? heard(ends[0]) : std::string{came_to_its_end};
    close(ends[0]);
    while (copy > 0 && waitpid(copy, nullptr, 0) < 0 && errno == EINTR) continue;
    if (text.size() > 2 && text.front() == was_refused) throw_told(text);
    return !text.empty() && text.front() == came_to_its_end;
}

}  // namespace echolux
