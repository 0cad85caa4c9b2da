#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace echolux::faults {
namespace {

std::atomic<bool> is_on = false;
std::atomic<std::int64_t> count = 0;
std::int64_t fail_at = -1;
thread_local int not_counted = 0;

bool fails() {
    if (!is_on || not_counted > 0) return false;
    return count++ == fail_at;
}

}  // namespace

void Allocations::begin(std::int64_t at) {
    count = 0;
    fail_at = at;
    is_on = true;
}

std::int64_t Allocations::end() {
    is_on = false;
    return count;
}

UncountedScope::UncountedScope() {
    ++not_counted;
}
UncountedScope::~UncountedScope() {
    --not_counted;
}

namespace {

void* memory(std::size_t bytes, std::size_t alignment) {
    if (fails()) return nullptr;
    const std::size_t whole = bytes == 0 ? 1 : bytes;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(whole);
    return std::aligned_alloc(alignment, (whole + alignment - 1) / alignment * alignment);
}

void* memory_or_throw(std::size_t bytes, std::size_t alignment) {
    void* const got = memory(bytes, alignment);
    if (got == nullptr) throw std::bad_alloc();
    return got;
}

}  // namespace
}  // namespace echolux::faults

using echolux::faults::memory;
using echolux::faults::memory_or_throw;

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void* operator new(std::size_t bytes) {
    return memory_or_throw(bytes, 1);
}
EXPORTED void* operator new[](std::size_t bytes) {
    return memory_or_throw(bytes, 1);
}
EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return memory_or_throw(bytes, static_cast<std::size_t>(alignment));
}
EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return memory_or_throw(bytes, static_cast<std::size_t>(alignment));
}
EXPORTED void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return memory(bytes, 1);
}
EXPORTED void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return memory(bytes, 1);
}
EXPORTED void operator delete(void* memory) noexcept {
    std::free(memory);
}
EXPORTED void operator delete[](void* memory) noexcept {
    std::free(memory);
}
EXPORTED void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
EXPORTED void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
EXPORTED void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
EXPORTED void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
EXPORTED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
EXPORTED void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
