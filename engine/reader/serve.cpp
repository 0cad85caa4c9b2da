#include "engine/reader/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/contained/wire.h"

namespace echolux {

namespace {

// The shared memory, mapped up to the largest size requested.
class SharedMemory {
  public:
    std::span<std::byte> at(std::int64_t place, std::int64_t bytes) {
        const auto wanted = index(place + bytes);
        if (wanted > bytes_) {
            void* begin = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, reader_memory, 0);
            if (begin == MAP_FAILED) throw std::bad_alloc();
            if (begin_ != nullptr) munmap(begin_, bytes_);
            begin_ = static_cast<std::byte*>(begin);
            bytes_ = wanted;
        }
        return {begin_ + place, index(bytes)};
    }

  private:
    std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

// Builds the answer to an open request: capabilities and headers of all levels.
Frame header_frame(const ImageReader& reader) {
    const std::vector<ImageHeader> levels = reader.levels();
    Frame frame(Response::header);
    frame.add(static_cast<std::int64_t>(reader.reads_boxes())).add(reader.slices_together()).add(std::ssize(levels));
    for (const ImageHeader& level : levels) frame.add(level);
    return frame;
}

// Reads the requested voxels into the shared memory.
Frame answer_to(const ReadOrder& order, ImageReader& reader, SharedMemory& memory, const std::string& where) {
    const std::vector<std::byte> voxels = order.level < 0
                                              ? reader.read(order.time_point, order.box.slices)
                                              : reader.read_box(order.time_point, index(order.level), order.box);
    if (std::ssize(voxels) != order.bytes) {
        throw Error(ErrorCode::bad_file, fmt::format("returned {} of {}", plural(voxels.size(), "bytes"), order.bytes),
                    where, "copy the file again");
    }
    std::memcpy(memory.at(order.place, order.bytes).data(), voxels.data(), voxels.size());
    return Frame(Response::done);
}

// Converts exceptions to error frames. An alarm ends answers that hang, even if the program is gone. A compromised
// process could cancel the alarm, but not the sandbox's limit of processor time.
Frame answered(const OpenOrder& opened, std::int64_t bytes, const std::function<Frame()>& work) {
    alarm(static_cast<unsigned>(opened.longest_s +
                                static_cast<std::int64_t>(static_cast<double>(bytes) / slowest_reading)));
    Frame answer(Response::done);
    try {
        answer = work();
    } catch (const Error& error) {
        answer = frame_of(error);
    } catch (const std::bad_alloc&) {
        answer = frame_of(Error(ErrorCode::bad_file,
                                fmt::format("needs more than {} MiB of memory to be read: it is damaged or malicious",
                                            opened.max_bytes >> 20),
                                opened.path, "copy the file again"));
    } catch (const std::exception& error) {
        answer = frame_of(Error(ErrorCode::bad_file, std::string("cannot be read: ") + error.what(), opened.path,
                                "copy the file again"));
    }
    alarm(0);
    return answer;
}

}  // namespace

int serve_reader(const OpenReader& open) {
    const std::optional<std::string> first = receive_frame(reader_socket);
    if (!first) return 1;
    FrameReader order(*first);
    OpenOrder opened = OpenOrder::of(order);
    const std::int64_t first_work_s = opened.longest_s + opened.max_bytes / static_cast<std::int64_t>(slowest_reading);
    const std::string missing = enter_cage(opened.max_bytes, longest_work_s + 2 * first_work_s);
    if (!missing.empty()) {
        send_frame(reader_socket, frame_of(Error(ErrorCode::device, "cannot be read safely: " + missing, opened.path,
                                                 "read it on a system whose kernel has seccomp")));
        return 1;
    }
    std::unique_ptr<ImageReader> reader;
    const auto open_it = [&] {
        return answered(opened, 0, [&] {
            reader.reset();
            reader = open(opened);
            return header_frame(*reader);
        });
    };
    bool listens = send_frame(reader_socket, open_it());
    SharedMemory memory;
    while (listens) {
        const std::optional<std::string> asked = receive_frame(reader_socket);
        if (!asked) return 0;
        FrameReader frame(*asked);
        if (frame.what() == Response::open) {
            opened = OpenOrder::of(frame);
            listens = send_frame(reader_socket, open_it());
            continue;
        }
        if (!reader) return 0;
        const ReadOrder wanted = ReadOrder::of(frame);
        listens = send_frame(reader_socket, answered(opened, wanted.bytes,
                                                     [&] { return answer_to(wanted, *reader, memory, opened.path); }));
    }
    return 0;
}

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "reader processes know the system calls of x86-64 and of 64-bit ARM"
#endif

// Memory, time and exit: calls without effect on files or other processes.
// clang-format off
constexpr int harmless[] = {
    SYS_read, SYS_pread64, SYS_lseek, SYS_fstat, SYS_close, SYS_munmap, SYS_mremap, SYS_brk,
    SYS_madvise, SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_rt_sigprocmask,
    SYS_sigaltstack, SYS_getpid, SYS_gettid, SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday,
    SYS_getrandom, SYS_sched_yield, SYS_setitimer, SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_restart_syscall,
    SYS_sched_getaffinity, SYS_set_robust_list, SYS_rseq, SYS_membarrier,
#ifdef SYS_alarm
    SYS_alarm, SYS_time,
#endif
};
// clang-format on

// Calls that no benign reader makes: the process reports the call and exits. All others fail with EPERM.
// clang-format off
constexpr int fatal_syscalls[] = {
    SYS_execve, SYS_execveat, SYS_kill, SYS_tkill, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendmsg, SYS_sendmmsg,
    SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_symlinkat, SYS_mknodat, SYS_fchmodat,
    SYS_fchownat, SYS_truncate, SYS_ftruncate, SYS_fchmod, SYS_fchown, SYS_mount, SYS_umount2, SYS_chroot,
    SYS_pivot_root, SYS_unshare, SYS_setns, SYS_bpf, SYS_io_uring_setup, SYS_userfaultfd, SYS_memfd_create,
    SYS_init_module, SYS_openat2, SYS_setuid, SYS_setgid, SYS_seccomp, SYS_pwrite64,
#ifdef SYS_fork
    SYS_fork, SYS_vfork, SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir, SYS_link, SYS_symlink, SYS_creat, SYS_chmod,
    SYS_chown, SYS_mknod,
#endif
};
// clang-format on

constexpr sock_filter statement(std::uint16_t code, std::uint32_t value) {
    return {code, 0, 0, value};
}

constexpr sock_filter jump(std::uint16_t code, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    return {code, if_true, if_false, value};
}

// Assumes a little-endian machine: the low half of an argument is first.
constexpr std::uint32_t low(int argument) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * index(argument));
}

// Loads a 32-bit word of seccomp_data.
constexpr sock_filter load(std::uint32_t place) {
    return statement(BPF_LD | BPF_W | BPF_ABS, place);
}

constexpr sock_filter ret(std::uint32_t verdict) {
    return statement(BPF_RET | BPF_K, verdict);
}

constexpr std::uint32_t refused = SECCOMP_RET_ERRNO | EPERM;

// Builds the BPF program: a sequence of comparisons of the call number, each followed by its verdict. The default is
// EPERM.
class Filter {
  public:
    Filter() {
        add({load(offsetof(seccomp_data, arch)), jump(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0),
             ret(SECCOMP_RET_KILL_PROCESS), load(offsetof(seccomp_data, nr))});
#ifdef __x86_64__
        constexpr std::uint32_t other_numbers = 0x40000000;  // of the x32 ABI
        add({jump(BPF_JMP | BPF_JGE | BPF_K, other_numbers, 0, 1), ret(SECCOMP_RET_KILL_PROCESS)});
#endif
        for (const int call : harmless) on(call, {ret(SECCOMP_RET_ALLOW)});
        for (const int call : fatal_syscalls) on(call, {ret(SECCOMP_RET_TRAP)});
        // Memory, but not executable.
        for (const int call : {SYS_mmap, SYS_mprotect}) {
            on(call, {load(low(2)), jump(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), ret(SECCOMP_RET_TRAP),
                      ret(SECCOMP_RET_ALLOW)});
        }
        on(SYS_newfstatat, {ret(SECCOMP_RET_TRAP)});  // see answer_fstat()
        // Allows only the existing socket. Output of libraries is discarded.
        on(SYS_write, {load(low(0)), jump(BPF_JMP | BPF_JEQ | BPF_K, reader_socket, 0, 1), ret(SECCOMP_RET_ALLOW),
                       jump(BPF_JMP | BPF_JEQ | BPF_K, STDOUT_FILENO, 1, 0),
                       jump(BPF_JMP | BPF_JEQ | BPF_K, STDERR_FILENO, 0, 1), ret(refused), ret(SECCOMP_RET_TRAP)});
        on(SYS_sendto, {load(low(0)), jump(BPF_JMP | BPF_JEQ | BPF_K, reader_socket, 0, 3), load(low(4)),
                        jump(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), ret(SECCOMP_RET_ALLOW), ret(SECCOMP_RET_TRAP)});
        // Allows threads, which some codecs use, but not processes. A filter cannot check the flags of clone3, so it
        // returns ENOSYS and the C library falls back to clone.
        on(SYS_clone, {load(low(0)), jump(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1), ret(SECCOMP_RET_ALLOW),
                       ret(SECCOMP_RET_TRAP)});
        on(SYS_clone3, {ret(SECCOMP_RET_ERRNO | ENOSYS)});
        // abort() sends a signal to its own process.
        on(SYS_tgkill, {load(low(0)), jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(getpid()), 0, 1),
                        ret(SECCOMP_RET_ALLOW), ret(SECCOMP_RET_TRAP)});
        on(SYS_fcntl,
           {load(low(1)), jump(BPF_JMP | BPF_JEQ | BPF_K, F_GETFL, 0, 1), ret(SECCOMP_RET_ALLOW), ret(refused)});
        // Opening for reading fails quietly, because libraries look for configuration files. Opening for writing is a
        // violation.
        on(SYS_openat, opening(2));
#ifdef SYS_open
        on(SYS_open, opening(1));
#endif
        add({ret(refused)});
    }

    bool install() {
        const sock_fprog program{.len = static_cast<unsigned short>(code_.size()), .filter = code_.data()};
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }

  private:
    void add(const std::vector<sock_filter>& some) {
        code_.insert(code_.end(), some.begin(), some.end());
    }

    // Appends a verdict for one call.
    void on(long call, const std::vector<sock_filter>& then) {
        add({jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0,
                  static_cast<std::uint8_t>(then.size()))});
        add(then);
    }

    // Verdict for open calls; `flags` is the index of the flags argument.
    static std::vector<sock_filter> opening(int flags) {
        constexpr std::uint32_t to_write = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
        return {load(low(flags)), jump(BPF_JMP | BPF_JSET | BPF_K, to_write, 0, 1), ret(SECCOMP_RET_TRAP),
                ret(refused)};
    }

    std::vector<sock_filter> code_;
};

// The C library implements fstat() as newfstatat() with an empty path. A filter cannot read paths, and with a path the
// call would reveal which files exist. The call is therefore trapped and replaced by fstat().
void answer_fstat(ucontext_t& context) {
    auto& machine = context.uc_mcontext;
#if defined(__x86_64__)
    const auto file = machine.gregs[REG_RDI], path = machine.gregs[REG_RSI], status = machine.gregs[REG_RDX],
               flags = machine.gregs[REG_R10];
    auto& result = machine.gregs[REG_RAX];
#else
    const auto file = machine.regs[0], path = machine.regs[1], status = machine.regs[2], flags = machine.regs[3];
    auto& result = machine.regs[0];
#endif
    const int number = errno;
    const bool is_of_open_file = (flags & AT_EMPTY_PATH) != 0 && *reinterpret_cast<const char*>(path) == '\0';
    const long answer = is_of_open_file ? syscall(SYS_fstat, file, status) : -1;
    const int problem = is_of_open_file ? errno : EPERM;
    result = static_cast<std::remove_reference_t<decltype(result)>>(answer == 0 ? 0 : -problem);
    errno = number;
}

// Reports the forbidden system call and exits. The frame is built by hand, because a signal handler may only write.
void handle_trap(int, siginfo_t* what, void* context) {
    if (what->si_syscall == SYS_newfstatat) return answer_fstat(*static_cast<ucontext_t*>(context));
    struct [[gnu::packed]] {
        std::uint64_t length = 9;
        char response = static_cast<char>(Response::stopped);
        std::int64_t call = 0;
    } frame;
    frame.call = what->si_syscall;
    [[maybe_unused]] const ssize_t written = write(reader_socket, &frame, sizeof frame);
    _exit(1);
}

// Returns the current size of the address space.
rlim_t address_space_bytes() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

bool limit(decltype(RLIMIT_AS) of, rlim_t soft, rlim_t hard) {
    const rlimit both{soft, hard};
    return setrlimit(of, &both) == 0;
}

}  // namespace

std::string enter_cage(std::int64_t max_bytes, std::int64_t max_work_s) {
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        signal(signal_number, SIG_IGN);  // the process ends when its socket is closed
    signal(SIGALRM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    struct sigaction on_trap {};
    on_trap.sa_sigaction = handle_trap;
    on_trap.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &on_trap, nullptr);
    close_range(reader_file + 1, ~0U, 0);
    mallopt(M_ARENA_MAX, 1);  // otherwise each thread reserves 128 MiB of address space
    const rlim_t space = address_space_bytes() + static_cast<rlim_t>(max_bytes);
    const auto work_s = static_cast<rlim_t>(max_work_s);
    const bool has_limits = limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_FSIZE, 0, 0) && limit(RLIMIT_AS, space, space) &&
                            limit(RLIMIT_CPU, work_s, work_s + 1);  // SIGXCPU first, which gives the reason
    if (!has_limits) return std::string("limits cannot be set: ") + std::strerror(errno);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || !Filter().install())
        return std::string("this system offers no seccomp filter: ") + std::strerror(errno);
    return {};
}

}  // namespace echolux
