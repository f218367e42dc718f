#pragma once

// What a header needs to declare a generator without RapidCheck's own headers.
namespace rc {
template <class T>
class Gen;
}  // namespace rc
