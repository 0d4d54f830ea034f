// A descriptor table of the calling thread's own, in which the folder of a space is open and locked (shared): out of
// reach of closefrom(3) in the host, and of no forked child.
#pragma once

#include "os/linux/local_place.h"

namespace tenure::os {

// From now on no number that the other threads know means anything in this thread; the folder lies under 0, 1 and 2, so
// that nothing opened later can be taken for a standard stream. It is let go when the thread ends. False: the system
// does not allow a table of its own (then nothing changed), or the folder could not be locked.
bool keep_folder_privately(const LocalPlace& place);

}  // namespace tenure::os
