// What the password database says of a user.
//
// /etc/passwd is read first. Where it does not have the user, getent(1) is asked, and with it whatever else the system
// is set up to ask (LDAP, SSSD): a program that is linked whole cannot load what glibc would ask them with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tenure::os {

struct PasswordEntry {
  std::string name;
  std::string home;
};

// nullopt: nobody knows the user, or nobody answered within five seconds. Each user is asked about once in a process.
// Thread-safe.
std::optional<PasswordEntry> password_entry(std::uint32_t user);

}  // namespace tenure::os
