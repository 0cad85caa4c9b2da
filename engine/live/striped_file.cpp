#include "engine/live/striped_file.h"

#include <utility>

namespace echolux {

StripedFile::StripedFile(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes)
    : striping_(files.size(), stripe_bytes), turn_(static_cast<std::ptrdiff_t>(files.size())) {
    for (auto& file : files) parts_.push_back({std::move(file)});
    threads_.reserve(parts_.size());
    try {
        for (std::size_t part = 1; part < parts_.size(); ++part) {
            threads_.emplace_back([this, part] {
                for (;;) {
                    turn_.arrive_and_wait();
                    if (!work_) return;
                    work_on(part);
                    turn_.arrive_and_wait();
                }
            });
        }
    } catch (...) {  // no more threads: leave the barrier for the missing ones
        for (std::size_t part = 1 + threads_.size(); part < parts_.size(); ++part) turn_.arrive_and_drop();
        turn_.arrive_and_wait();
        throw;
    }
}

StripedFile::~StripedFile() {
    work_ = {};
    turn_.arrive_and_wait();
}

// Runs `work` on all disks in parallel. When all are done, rethrows the first part's exception.
void StripedFile::each(std::function<void(std::size_t)> work) {
    work_ = std::move(work);
    turn_.arrive_and_wait();
    work_on(0);
    turn_.arrive_and_wait();
    std::exception_ptr problem;
    for (Part& part : parts_) {
        const std::exception_ptr its = std::exchange(part.problem, {});
        if (!problem) problem = its;
    }
    if (problem) std::rethrow_exception(problem);
}

void StripedFile::work_on(std::size_t part) noexcept {
    try {
        work_(part);
    } catch (...) {
        parts_[part].problem = std::current_exception();
    }
}

void StripedFile::write(std::int64_t place, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    each([=, this](std::size_t part) { write_part(part, place, bytes); });
}

void StripedFile::write_part(std::size_t part, std::int64_t place, std::span<const std::byte> bytes) {
    Part& one = parts_[part];
    const std::int64_t end = place + static_cast<std::int64_t>(bytes.size());
    for (std::int64_t at = place; at < end;) {
        const Striping::Piece piece = striping_.piece_at(at, end);
        if (piece.part == part) {
            one.file->write(piece.place,
                            bytes.subspan(static_cast<std::size_t>(at - place), static_cast<std::size_t>(piece.bytes)));
            one.end = piece.place + piece.bytes;
        }
        at += piece.bytes;
    }
    const std::int64_t length = striping_.bytes_of(part, end);
    if (one.end >= length) return;
    constexpr std::byte zero{};
    one.file->write(length - 1, {&zero, 1});
    one.end = length;
}

bool StripedFile::reserve(std::int64_t end) {
    bool has_room = true;
    for (std::size_t part = 0; part < parts_.size(); ++part)
        has_room &= parts_[part].file->reserve(striping_.bytes_of(part, end));
    return has_room;
}

void StripedFile::sync() {
    each([this](std::size_t part) { parts_[part].file->sync(); });
}

void StripedFile::end_at(std::int64_t size) {
    for (std::size_t part = 0; part < parts_.size(); ++part) parts_[part].file->end_at(striping_.bytes_of(part, size));
}

std::unique_ptr<DurableFile> as_one(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes) {
    if (files.size() == 1) return std::move(files.front());
    return std::make_unique<StripedFile>(std::move(files), stripe_bytes);
}

}  // namespace echolux
