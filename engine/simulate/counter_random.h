// Random numbers by counting: every scatterer and every noise sample has a name, and its value is a hash of that name,
// so nothing depends on the order of work or on the number of threads. Hash: the finaliser of splitmix64
// (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace echolux {

inline std::uint64_t hashed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// The key of a name made of several numbers, most general first.
template <class... Rest>
std::uint64_t hashed(std::uint64_t x, std::uint64_t y, Rest... rest) {
    return hashed(hashed(x) ^ y, static_cast<std::uint64_t>(rest)...);
}

// [0, 1): the upper 53 bits.
inline double fraction(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

// [0, 1): the lower and the upper half.
inline double low_fraction(std::uint64_t bits) {
    return static_cast<double>(bits & 0xffffffffU) * 0x1p-32;
}
inline double high_fraction(std::uint64_t bits) {
    return static_cast<double>(bits >> 32) * 0x1p-32;
}

}  // namespace echolux
