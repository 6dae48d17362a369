# One little source a header: it compiles only if the header includes all that it needs.
file(GLOB_RECURSE headers RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS
     ${CMAKE_SOURCE_DIR}/src/*.h ${CMAKE_SOURCE_DIR}/include/*.h)
set(header_sources)
foreach(header ${headers})
  string(REPLACE "/" "_" name ${header})
  set(source ${CMAKE_BINARY_DIR}/headers/${name}.cpp)
  string(REGEX REPLACE "^(src|include)/" "" path ${header})
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${path}\"\n#include \"${path}\"\n")
  list(APPEND header_sources ${source})
endforeach()
add_library(barchan_headers OBJECT EXCLUDE_FROM_ALL ${header_sources})
target_link_libraries(barchan_headers PRIVATE barchan_core)
target_compile_options(barchan_headers PRIVATE -fsyntax-only)
