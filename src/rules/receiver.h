// The verdict on a process that a record of pi-amq names: pid, start, boot id and host name, and no namespace.
//
// pi-amq's own order (host, pid, start, executable, boot) calls a process gone that it cannot see. Here dead needs
// proof, and two of its questions are none: a host may be renamed, and a program's file replaced, while the process
// runs.
#pragma once

#include "model/evidence.h"
#include "model/receiver_record.h"
#include "tenure/holder.h"

namespace tenure::rules {

struct ReceiverVerdict {
  Verdict verdict;
  // Of an unknown one: it was recorded under another host name, in a boot that is not ours. pi-amq's "remote".
  bool elsewhere = false;
};

// Whether the pid and the start can be compared with those of processes here: not of records of other systems, whose
// start is a date in words.
bool comparable(const ReceiverProcess& recorded);

// `anywhere`: whether such a process runs under this kernel; only asked where comparable(). `shared_folder`: other
// machines write to the folder as well, so another boot may be another machine's.
//   recorded in this boot       found: live; nowhere: dead; unseen: unknown
//   recorded in another boot    dead, if the folder is this machine's alone and the record bears its name; else unknown
//   no boot recorded            found: live; else unknown
ReceiverVerdict judge_receiver_process(const ReceiverProcess& recorded, Anywhere anywhere, bool shared_folder,
                                       const Standpoint& self);

}  // namespace tenure::rules
