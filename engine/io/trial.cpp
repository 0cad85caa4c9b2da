// Trials in a forked process: see trial.h. The copy has this thread alone, touches nothing but the file, writes nothing
// and ends without the cleaning up that is this process's.
#include "engine/io/trial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace echolux {
namespace {

constexpr char came_to_its_end = 1;

[[noreturn]] void run_in_copy(const std::function<void()>& work, unsigned longest_s, int tell) {
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) signal(fault, SIG_DFL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);  // last words of the C library
    alarm(longest_s);
    try {
        work();
    } catch (...) {  // will be thrown here once more
    }
    _exit(write(tell, &came_to_its_end, 1) == 1 ? 0 : 1);
}

}  // namespace

bool survives(const std::function<void()>& work, unsigned longest_s) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return true;
    const pid_t copy = fork();
    if (copy == 0) run_in_copy(work, longest_s, ends[1]);
    close(ends[1]);
    char told = 0;
    while (copy > 0 && read(ends[0], &told, 1) < 0 && errno == EINTR) continue;
    close(ends[0]);
    while (copy > 0 && waitpid(copy, nullptr, 0) < 0 && errno == EINTR) continue;
    return copy < 0 || told == came_to_its_end;
}

}  // namespace echolux
