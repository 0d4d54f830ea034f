// Named points at which a test may end, stop or look at this process: after each store that matters inside a section,
// and where threads may meet.
// In the library that is delivered they are nothing.
#pragma once

#ifdef TENURE_FAULT_POINTS
namespace tenure::local {
// Called with the name of each point that is passed; set by tests, before any thread runs.
extern void (*fault_hook)(const char* point);
}  // namespace tenure::local
#define TENURE_POINT(name)                                                         \
  do {                                                                             \
    if (::tenure::local::fault_hook != nullptr) ::tenure::local::fault_hook(name); \
  } while (false)
#else
#define TENURE_POINT(name) \
  do {                     \
  } while (false)
#endif
