// An outside program: claims a key, is refused it a second time, gives it back and takes it again. Tells what it saw.
#include <iostream>

#include "tenure/space.h"

int main() {
  auto space = tenure::Space::open("memory:");
  if (!space) {
    std::cerr << space.error().message << '\n';
    return 1;
  }
  const auto key = tenure::Key::parse("deploy");
  auto lease = space->claim(*key);
  if (!lease) {
    std::cerr << lease.error().message << '\n';
    return 1;
  }
  const auto first = lease->epoch();
  std::cout << "held: " << lease->key().text() << '\n';

  const auto second = space->claim(*key);
  std::cout << "again: " << (second ? "granted" : tenure::facts(second.error().code).name) << '\n';

  std::cout << "released: " << lease->release().value_or(false) << '\n';
  auto third = space->claim(*key);
  std::cout << "higher: " << (third && third->epoch() > first) << '\n';
  return 0;
}
