# cmake -DPROGRAM=tenure -DFOLDER=… -P pages.cmake: writes the manual pages and completions of the program.

function(say file)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man1)
say(tenure.bash completion bash)
say(_tenure completion zsh)
say(tenure.fish completion fish)
say(man1/tenure.1 manual)

# tenure(1) names the page of every command: ".BR tenure\\-run (1),"
file(STRINGS ${FOLDER}/man1/tenure.1 references REGEX "^\\.BR tenure")
if(NOT references)
  message(FATAL_ERROR "tenure(1) names no page of a command")
endif()
foreach(reference ${references})
  string(REGEX REPLACE "^\\.BR tenure[^a-z]*([a-z]+) .*" "\\1" command ${reference})
  say(man1/tenure-${command}.1 manual ${command})
endforeach()
file(TOUCH ${FOLDER}/made)
