// Manual pages in the language of man(7), made from the tables of commands, options and errors.
#pragma once

#include <string>

#include "cli/command.h"

namespace tenure::cli {

// tenure(1). Its SEE ALSO names the page of every command.
std::string program_page();
// tenure-COMMAND(1).
std::string command_page(const Command& command);

// As text of a page: what roff would take for its own is escaped, and what is not ASCII is named.
std::string roff(std::string_view text);

}  // namespace tenure::cli
