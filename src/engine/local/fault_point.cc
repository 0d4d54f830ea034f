#include "engine/local/fault_point.h"

#ifdef TENURE_FAULT_POINTS
namespace tenure::local {
void (*fault_hook)(const char* point) = nullptr;
}
#endif
