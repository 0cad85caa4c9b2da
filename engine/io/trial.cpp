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

[[noreturn]] void run_in_copy(const std::function<void()>& work, unsigned longest_s) {
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
    _exit(0);
}

}  // namespace

bool survives(const std::function<void()>& work, unsigned longest_s) {
    const pid_t copy = fork();
    if (copy < 0) return true;
    if (copy == 0) run_in_copy(work, longest_s);
    int status = 0;
    while (waitpid(copy, &status, 0) < 0) {
        if (errno != EINTR) return true;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace echolux
