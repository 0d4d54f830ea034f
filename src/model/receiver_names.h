// The names in a namespace of a receiver lease, pi-amq's and ours: made here and nowhere else.
//
// A generation may be any text. In a name each character of it outside A-Za-z0-9._- becomes '_' (one past U+FFFF two
// of them, as where text is UTF-16), and what comes after kNameGenerationBytes is left out, so that every name fits a
// file name. A uuid is one as uuid_of() makes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenure/time.h"

namespace tenure::receiver {

// pi-amq's, in the namespace.
inline constexpr char kLease[] = "receiver.lock";                  // a folder: the lease
inline constexpr char kGuard[] = "receiver.lifecycle.guard.json";  // whoever changes it
inline constexpr char kReclaims[] = "lifecycle-reclaims";          // folder of the intents
inline constexpr char kQuarantine[] = "quarantine";                // folder of the evidence
// pi-amq's, in the lease.
inline constexpr char kOwner[] = "owner.json";
// Ours, in the lease: they go where it goes and are deleted with it.
inline constexpr char kSidecar[] = "tenure.json";
inline constexpr char kSidecarNew[] = "tenure.json.new";
inline constexpr char kLife[] = "tenure.guard";  // a guard record of the holder, locked while it lives
// Ours, in the namespace. None of them looks like one of pi-amq's.
inline constexpr char kEpochs[] = "tenure.epochs";
inline constexpr char kEpochsNew[] = "tenure.epochs.new";
inline constexpr char kRevoked[] = "tenure.revoked.json";
inline constexpr char kRevokedNew[] = "tenure.revoked.json.new";

inline constexpr std::size_t kNameGenerationBytes = 180;

using Random16 = std::array<std::uint8_t, 16>;

// A UUID of version 4: lower case, with dashes.
std::string uuid_of(const Random16& random);
bool is_uuid(std::string_view text);
// "tenure-" and a UUID.
std::string generation_of(const Random16& random);
// Begins with "tenure-".
bool is_ours(std::string_view generation);

// A lease in the making. pi-amq's have six letters and digits in place of "tenure-<uuid>".
std::string prepared(std::string_view uuid);
bool is_prepared(std::string_view name);
bool is_own_prepared(std::string_view name);

// A lease that was given back and is being deleted.
std::string released(std::string_view generation, std::string_view uuid);
bool is_released(std::string_view name);

// In kReclaims. Whatever begins and ends so is an intent, also one that nobody of us would write.
std::string intent(std::string_view generation);
bool is_intent(std::string_view name);

// In kQuarantine. The time is that of the move, in milliseconds.
std::string quarantined_lease(std::string_view generation, WallTime moved, std::string_view uuid);
std::string quarantined_guard(std::string_view generation, WallTime moved, std::string_view uuid);
bool is_quarantined(std::string_view name);
// When it was moved there; nullopt for other names.
std::optional<WallTime> moved_at(std::string_view name);

// A stale guard that was moved away and is being looked at before it goes into quarantine, or back.
std::string taken_guard(std::string_view uuid);
bool is_taken_guard(std::string_view name);
// A guard in the making, of somebody who holds no lease.
std::string guard_draft(std::string_view uuid);
bool is_guard_draft(std::string_view name);

}  // namespace tenure::receiver
