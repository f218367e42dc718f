# How our own sources are compiled. Nobody who links the libraries inherits these: a kernel under test
# keeps its own arithmetic.
#   -ffp-contract=off  error bounds are proven for the operations as written; fused multiply-adds are
#                      written where they are wanted
#   -fno-fast-math     the same, whatever a parent project puts in CMAKE_CXX_FLAGS
# Three warnings of g++ 12 are false here: designated initializers that leave out members with
# defaults, nlohmann/json's iterators at -O3, and std::string's operator+ (GCC bug 105651).
set(POSGAUGE_FALSE_ALARMS -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND POSGAUGE_FALSE_ALARMS -Wno-maybe-uninitialized -Wno-restrict)
endif()
add_library(posgauge_flags INTERFACE)
target_compile_options(posgauge_flags INTERFACE
                       -ffp-contract=off -fno-fast-math
                       -Wall -Wextra -Wconversion -Wshadow ${POSGAUGE_FALSE_ALARMS}
                       $<$<BOOL:${POSGAUGE_WERROR}>:-Werror>)

# "posgauge/room/file.h" is one spelling in the tree and installed: the build folder holds a link to
# each room.
set(POSGAUGE_INCLUDE ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${POSGAUGE_INCLUDE}/posgauge)
foreach(room schemes reference verify fast properties golden cli)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${room} ${POSGAUGE_INCLUDE}/posgauge/${room} SYMBOLIC)
endforeach()
# The one header that other people's kernels include.
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/verify/kernel.h ${POSGAUGE_INCLUDE}/posgauge/kernel.h
     SYMBOLIC)

# posgauge_parse_once(target header...): with POSGAUGE_PRECOMPILE, other people's large headers that
# most files of a target include. Every file still includes what it uses: the release preset, without
# it, shows whether. (Optimised, g++ 12 warns of what it inlines from precompiled headers.)
function(posgauge_parse_once target)
  if(POSGAUGE_PRECOMPILE)
    list(TRANSFORM ARGN REPLACE "(.+)" "<\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
    endif()
  endif()
endfunction()

# posgauge_library(room): the library target posgauge_<room> (alias posgauge::<room>) of all sources
# in the room's folder, except those that are programs or plug-ins of their own (*_main.cc).
function(posgauge_library room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_main\\.cc$")
  add_library(posgauge_${room} STATIC ${sources})
  add_library(posgauge::${room} ALIAS posgauge_${room})
  set_target_properties(posgauge_${room} PROPERTIES EXPORT_NAME ${room})
  target_include_directories(posgauge_${room} PUBLIC
                             $<BUILD_INTERFACE:${POSGAUGE_INCLUDE}>
                             $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(posgauge_${room} PUBLIC cxx_std_20)
  target_link_libraries(posgauge_${room} PRIVATE $<BUILD_INTERFACE:posgauge_flags>)
  set_property(GLOBAL APPEND PROPERTY POSGAUGE_LIBRARIES posgauge_${room})
endfunction()
