// A process of its own that reads one file with a library that was not written for hostile files: engine/reader/. What
// goes wrong there goes wrong there: it has a bound on memory and time, can open no file, reach no network and start
// nothing.
//
// It is a program of its own (`echolux-reader`) and not a copy of this one. A fork of a process with threads stops
// those that hold locks in the midst of it; it doubles page tables of many GiB; and while files are written without the
// cache of the system (O_DIRECT), as the recorder does, it can make them wrong (open(2), BUGS).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "engine/io/contained/descriptor.h"
#include "engine/io/contained/wire.h"

namespace echolux {

class ReaderProcess {
  public:
    // Reads `file`, and can do nothing else with it; what it is about says `order`. Throws Error{device}: the program
    // is not there or does not start.
    ReaderProcess(const OpenOrder& order, const Descriptor& file);
    ~ReaderProcess();
    ReaderProcess(const ReaderProcess&) = delete;
    ReaderProcess& operator=(const ReaderProcess&) = delete;

    // Turns to what `file` holds now: other files of a series need no process of their own.
    void open_again(const OpenOrder& order);

    // Asks; the answer is to be waited for before the next is asked.
    void ask(const Frame& frame);

    // Throws the Error that happened there; Error{bad_file} naming order.path, after which the process is gone: it
    // crashed, hung, wanted too much memory, or tried what it may not.
    std::string answer(Says expected, double longest_s);

    // Memory that both see, at least so much from its beginning. What the process writes there is bytes, nothing more.
    std::span<const std::byte> memory(std::int64_t bytes);

    bool is_over() const { return process_ < 0; }

    // False: it is over, or has worked for so long that another one is to take its place: longest_work_s is near.
    bool can_go_on() const;

  private:
    void start();
    [[noreturn]] void fail(double longest_s, bool is_late);
    void end();

    OpenOrder order_;
    Descriptor socket_, memory_file_;
    int process_ = -1;
    std::byte* memory_ = nullptr;
    std::int64_t memory_bytes_ = 0;
    int file_;
    double worked_s_ = 0;  // at most: so long it was waited for
};

// The program that reads: of ECHOLUX_READER, else beside the program or library that this code is part of, or in the
// folder bin of its installation. Throws Error{device} where there is none.
std::filesystem::path reader_program();

// Of the program or library `file`. Never looks into the current folder.
std::filesystem::path reader_program_for(const std::filesystem::path& file);

}  // namespace echolux
